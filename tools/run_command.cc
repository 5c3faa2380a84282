#include "tools/run_command.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "tools/benchmark_name.h"
#include "tools/compare_files.h"
#include "tools/compare_options.h"
#include "tools/confirmation.h"
#include "tools/exit_codes.h"
#include "tools/export_text.h"
#include "tools/name_filter.h"
#include "tools/output_file.h"
#include "tools/process.h"
#include "tools/readable.h"
#include "tools/rounds.h"
#include "tools/run_record.h"

namespace cnn {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kDefaultRounds = 5;
constexpr const char* kSameTwice =
    "both sides are the same program with the same flags: whatever differs is noise (an A/A "
    "comparison)";

void Say(const std::string& text) { std::fprintf(stderr, "cnn_compare: %s\n", text.c_str()); }

// Found out now and not after an hour of measuring.
void RequireOutputFolder(const std::string& out) {
  if (out.empty()) return;
  const fs::path folder = fs::absolute(out).parent_path();
  if (!fs::is_directory(folder)) {
    throw OutputError(out + ": cannot be written: there is no folder " + folder.string());
  }
}

// DIR/confirm-1, or the first number that is free.
std::string NewConfirmFolder(const std::string& run_folder) {
  std::error_code error;
  for (int number = 1;; ++number) {
    std::string path = (fs::path(run_folder) / ("confirm-" + std::to_string(number))).string();
    if (fs::create_directory(path, error)) return path;
    if (error) throw OutputError(path + ": cannot be created: " + error.message());
  }
}

std::size_t EarlierConfirmations(const std::string& confirm_folder) {
  const std::string name = fs::path(confirm_folder).filename().string();
  return std::stoul(name.substr(name.rfind('-') + 1)) - 1;
}

// The report of whole rounds. `record` says how many there are.
void TakeFiles(const RunRecord& record, const std::string& run_folder, CompareCommand& command) {
  command.base = CompletePaths(record, run_folder, "base");
  command.contender = CompletePaths(record, run_folder, "new");
}

std::string InterruptText(const RunRecord& record) {
  return "interrupted after " + Plural(record.completed, "complete round") + " of " +
         std::to_string(record.rounds);
}

void MarkInterrupted(const std::string& how, Comparison& comparison) {
  comparison.is_incomplete = true;
  comparison.why_incomplete = how;
  comparison.warnings.push_back(how);
}

// --- Confirm ------------------------------------------------------------------------------------

// The selected names that the files of a side have: a filter that selects nothing is an error to
// most programs.
std::vector<std::string> NamesOf(const std::vector<ResultFile>& files,
                                 const std::vector<std::string>& benchmarks) {
  std::unordered_map<std::string, std::string> known;  // as selected: as written
  for (const ResultFile& file : files) {
    for (const ResultRow& row : file.rows) {
      const std::string& name = BenchmarkName(row);
      known.emplace(SelectedName(name), name);
    }
  }
  std::vector<std::string> names;
  for (const std::string& benchmark : benchmarks) {
    const auto found = known.find(SelectedName(benchmark));
    if (found != known.end()) names.push_back(found->second);
  }
  return names;
}

void SelectOnly(const std::vector<std::string>& names, SideRecord& side) {
  constexpr std::size_t kLongest = 128 * 1024 - 1;  // of one argument, on Linux
  constexpr std::string_view kFlag = "--benchmark_filter";
  side.flags.erase(std::remove_if(side.flags.begin(), side.flags.end(),
                                  [&](const std::string& flag) {
                                    return flag.substr(0, flag.find('=')) == kFlag;
                                  }),
                   side.flags.end());
  side.flags.push_back(std::string(kFlag) + '=' + FilterOfNames(names));
  if (side.flags.back().size() > kLongest) {
    throw UsageError(Plural(names.size(), "benchmark") +
                     " to measure again: their names are longer than the 128 KiB that one argument "
                     "may have; confirm some at a time with --filter=REGEX, or fewer with a larger "
                     "--threshold");
  }
}

void RequireSameProgram(const std::string& flag, const SideRecord& side) {
  RequireProgram(flag, side.program);
  SideRecord now = side;
  Identify(now);
  if (now.size == side.size && now.fingerprint == side.fingerprint) return;
  throw CompareError(side.program +
                     " is not the program any more that was measured; measure it with cnn_compare "
                     "run");
}

std::size_t RoundsOf(const ConfirmCommand& command, const Comparison& first,
                     const std::vector<std::string>& benchmarks) {
  const CompareOptions& options = command.compare.options;
  const std::size_t needed = RoundsToConfirm(first, benchmarks, options.alpha);
  if (command.rounds == 0) return std::max(kDefaultRounds, needed);
  const bool decides_alone = command.rounds == 1 && options.gate_single;
  if (command.rounds < needed && !decides_alone) {
    throw UsageError("--rounds=" + std::to_string(command.rounds) +
                     ": too few to confirm anything; " + Plural(benchmarks.size(), "benchmark") +
                     (benchmarks.size() == 1 ? " needs " : " need ") + std::to_string(needed));
  }
  return command.rounds;
}

// The first round tells how many benchmarks there are, each of which is a test: with too few rounds
// no slowdown, however large, could be told from chance.
std::size_t RoundsAfterTheFirst(CompareCommand command, const RunRecord& record, bool is_given,
                                const std::string& run_folder) {
  TakeFiles(record, run_folder, command);
  const std::size_t tests = std::max<std::size_t>(1, CompareSides(command).summary.compared);
  const std::size_t needed = RunsToReject(command.options.alpha, tests);
  const bool decides_alone = record.rounds == 1 && command.options.gate_single;
  if (record.rounds >= needed || decides_alone) return record.rounds;
  if (!is_given) {
    Say(Plural(tests, "benchmark") + ": " + std::to_string(needed) + " rounds instead of " +
        std::to_string(record.rounds) + ", with fewer no change could be told from chance");
    return needed;
  }
  Say("warning: " + Plural(tests, "benchmark") +
      ", and with --rounds=" + std::to_string(record.rounds) +
      " no change can be told from chance; it takes " + std::to_string(needed));
  return record.rounds;
}

}  // namespace

int RunAndCompare(const std::vector<std::string>& arguments) {
  RunCommand command = ParseRun(arguments);
  RunRecord record;
  record.folder = fs::current_path().string();
  record.rounds = command.rounds == 0 ? kDefaultRounds : command.rounds;
  record.base = {RequireProgram("--base", command.base), 0, 0, command.base_flags};
  record.contender = {RequireProgram("--new", command.contender), 0, 0, command.new_flags};
  record.judgement = command.judgement;
  RefuseOwnFlags(record.base.flags);
  RefuseOwnFlags(record.contender.flags);
  Identify(record.base);
  Identify(record.contender);
  LoadCalibration(command.compare);
  RequireOutputFolder(command.compare.out);
  MakeRunFolder("compare", command.folder);
  Say(Plural(record.rounds, "round") + " of both programs; results are kept in " + command.folder);
  if (record.IsSameTwice()) Say(std::string("warning: ") + kSameTwice);

  Interrupts interrupts;
  const auto decide = [&] {
    return RoundsAfterTheFirst(command.compare, record, command.rounds > 0, command.folder);
  };
  MeasureRounds(record, command.folder, command.compare.read, interrupts, decide);
  if (interrupts.signal() != 0) Say(InterruptText(record));
  if (record.completed == 0) return kExitUnusable;
  TakeFiles(record, command.folder, command.compare);
  Comparison comparison = CompareSides(command.compare);
  if (record.IsSameTwice()) comparison.warnings.emplace_back(kSameTwice);
  if (interrupts.signal() != 0) MarkInterrupted(InterruptText(record), comparison);
  command.compare.report.run_folder = command.folder;
  return PrintComparison(comparison, command.compare);
}

int ConfirmRun(const std::vector<std::string>& arguments) {
  const std::string folder = ParseConfirm(arguments).folder;
  RunRecord record = ReadRunRecord(folder);
  ConfirmCommand command = ParseConfirm(arguments, record.judgement);
  if (record.completed == 0)
    throw CompareError(folder + ": the run has no complete round to judge");
  LoadCalibration(command.compare);
  TakeFiles(record, folder, command.compare);
  const auto& [options, read, filter] =
      std::tie(command.compare.options, command.compare.read, command.compare.filter);
  const std::vector<ResultFile> base = ReadFiles(command.compare.base, read, filter);
  const std::vector<ResultFile> contender = ReadFiles(command.compare.contender, read, filter);
  Comparison first = Compare(base, contender, options);
  if (record.completed < record.rounds) {
    MarkInterrupted("the run ended after " + Plural(record.completed, "complete round") + " of " +
                        std::to_string(record.rounds),
                    first);
  }

  const std::vector<std::string> benchmarks = BenchmarksToConfirm(first, command.undecided);
  const std::vector<std::string> base_names = NamesOf(base, benchmarks);
  const std::vector<std::string> new_names = NamesOf(contender, benchmarks);
  if (base_names.empty() || new_names.empty()) {
    Say(benchmarks.empty() ? "nothing failed: there is nothing to confirm"
                           : "what failed is on one side only: it cannot be confirmed");
    return PrintComparison(first, command.compare);
  }
  RequireOutputFolder(command.compare.out);
  record.rounds = RoundsOf(command, first, benchmarks);
  RequireSameProgram("base", record.base);
  RequireSameProgram("new", record.contender);
  SelectOnly(base_names, record.base);
  SelectOnly(new_names, record.contender);
  const std::string confirm_folder = NewConfirmFolder(folder);
  Say("measuring " + Plural(benchmarks.size(), "benchmark") + " again, " +
      Plural(record.rounds, "round") + "; results are kept in " + confirm_folder);

  Interrupts interrupts;
  MeasureRounds(record, confirm_folder, read, interrupts);
  const bool is_interrupted = interrupts.signal() != 0;
  if (is_interrupted) Say(InterruptText(record));
  if (record.completed <
      std::min(record.rounds, RoundsToConfirm(first, benchmarks, options.alpha))) {
    Say("too few to confirm anything: the first judgement stands");
    return kExitUnusable;
  }
  TakeFiles(record, confirm_folder, command.compare);
  Comparison result = Confirm(first, CompareSides(command.compare), command.undecided);
  if (is_interrupted) MarkInterrupted("second stage " + InterruptText(record), result);
  const std::size_t earlier = EarlierConfirmations(confirm_folder);
  if (earlier > 0) {
    result.warnings.push_back(Plural(earlier, "confirmation") +
                              " of this run before this one: measuring until nothing fails proves "
                              "nothing");
  }
  return PrintComparison(result, command.compare);
}

}  // namespace cnn
