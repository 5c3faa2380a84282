#include "tools/selftest.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <random>
#include <utility>

#include "tools/compare_files.h"
#include "tools/compare_options.h"
#include "tools/exit_codes.h"
#include "tools/export_text.h"
#include "tools/process.h"
#include "tools/readable.h"
#include "tools/result_file.h"
#include "tools/rounds.h"
#include "tools/run_record.h"

namespace cnn {
namespace {

// --- Data made here -----------------------------------------------------------------------------

constexpr std::size_t kFiles = 6;  // a side
constexpr std::size_t kBenchmarks = 12;
constexpr std::size_t kRepetitions = 3;
constexpr std::size_t kSuites = 50;
constexpr double kNoise = 0.01;  // mean of what a measurement is too slow by, relative

// Uniform in [0, 1), from the bits alone: the library's distributions differ between platforms.
double Uniform(std::mt19937_64& bits) { return static_cast<double>(bits() >> 11U) * 0x1p-53; }

// A time in ms with noise as computers have it: never faster than the work, sometimes much slower.
double Noisy(double milliseconds, std::mt19937_64& bits) {
  return milliseconds * (1 - kNoise * std::log1p(-Uniform(bits)));
}

struct MadeSuite {
  double first_factor = 1;  // of the first benchmark's time, against the others'
  double factor = 1;        // of all times
  bool fails = false;       // the first benchmark ends with an error
  std::size_t benchmarks = kBenchmarks;
  std::string family = "Made";
};

std::string MadeName(const MadeSuite& suite, std::size_t benchmark) {
  return suite.family + "/case" + std::to_string(benchmark) + "/batch:4";
}

// As Google Benchmark writes it.
std::string MadeRow(const MadeSuite& suite, std::size_t benchmark, std::size_t repetition,
                    std::mt19937_64& bits) {
  const std::string name = JsonString(MadeName(suite, benchmark));
  const bool fails = suite.fails && benchmark == 0;
  const double factor = suite.factor * (benchmark == 0 ? suite.first_factor : 1);
  const double time =
      fails ? 0 : Noisy(factor * std::exp2(static_cast<double>(benchmark) - 4), bits);
  return "{\"name\": " + name + ", \"family_index\": " + std::to_string(benchmark) +
         ", \"per_family_instance_index\": 0, \"run_name\": " + name +
         ", \"run_type\": \"iteration\", \"repetitions\": " + std::to_string(kRepetitions) +
         ", \"repetition_index\": " + std::to_string(repetition) + ", \"threads\": 1, " +
         (fails ? "\"error_occurred\": true, \"error_message\": \"made to fail\", " : "") +
         "\"iterations\": 100, \"real_time\": " + FormatReal(time) +
         ", \"cpu_time\": " + FormatReal(time) + ", \"time_unit\": \"ms\"}";
}

std::string MadeText(const MadeSuite& suite, std::mt19937_64& bits) {
  std::string text =
      R"({"context": {"host_name": "made", "num_cpus": 2, "library_build_type": "release"}, )"
      R"("benchmarks": [)";
  for (std::size_t benchmark = 0; benchmark < suite.benchmarks; ++benchmark) {
    for (std::size_t repetition = 0; repetition < kRepetitions; ++repetition) {
      text += (text.back() == '[' ? "" : ", ") + MadeRow(suite, benchmark, repetition, bits);
    }
  }
  return text + "]}";
}

std::vector<ResultFile> MadeFiles(const MadeSuite& suite, std::mt19937_64& bits) {
  std::vector<ResultFile> files;
  for (std::size_t i = 0; i < kFiles; ++i) {
    files.push_back(ParseResultFile(MadeText(suite, bits), "made.json"));
  }
  return files;
}

struct Outcome {
  int exit_code = 0;
  std::size_t failures = 0;
  bool names_the_first = false;
};

Outcome JudgeMade(const MadeSuite& base, const MadeSuite& contender, std::uint64_t seed,
                  const CompareOptions& options = {}) {
  std::mt19937_64 bits(seed);
  const std::vector<ResultFile> base_files = MadeFiles(base, bits);
  const Comparison comparison = Compare(base_files, MadeFiles(contender, bits), options);
  Outcome outcome = {ExitCode(comparison, options), comparison.summary.failures, false};
  for (const ComparisonRow& row : comparison.rows) {
    outcome.names_the_first |= row.fails && row.benchmark == MadeName(base, 0);
  }
  return outcome;
}

// Every suite must have the exit code; of a regression, the first benchmark and no other must fail.
SelftestResult TestSuites(const std::string& what, const MadeSuite& contender, int exit_code) {
  std::size_t right = 0;
  for (std::uint64_t seed = 1; seed <= kSuites; ++seed) {
    const Outcome outcome = JudgeMade({}, contender, seed);
    const bool names_it = outcome.failures == 1 && outcome.names_the_first;
    if (outcome.exit_code == exit_code && (exit_code != kExitRegression || names_it)) ++right;
  }
  const std::string wanted = ": exit code " + std::to_string(exit_code) +
                             (exit_code == kExitRegression ? ", that benchmark and no other" : "");
  return {right == kSuites, what + wanted,
          std::to_string(right) + " of " + std::to_string(kSuites) + " suites"};
}

SelftestResult TestCode(const std::string& what, int wanted, int found) {
  return {found == wanted, what + ": exit code " + std::to_string(wanted),
          "exit code " + std::to_string(found)};
}

int CodeOfText(const std::string& text) {
  try {
    ParseResultFile(text, "made.json");
    return kExitOk;
  } catch (const ReadError&) {
    return kExitUnusable;
  }
}

// --- Real runs ----------------------------------------------------------------------------------

std::string CodeText(int code, const Comparison& comparison) {
  return "exit code " + std::to_string(code) + ", " +
         Plural(comparison.summary.compared, "benchmark") + " compared, " +
         Plural(comparison.summary.failures, "row") + " failed";
}

std::size_t SlowerTimes(const Comparison& comparison) {
  return static_cast<std::size_t>(
      std::count_if(comparison.rows.begin(), comparison.rows.end(), [](const ComparisonRow& row) {
        return row.fails && row.role == Role::kTime && row.verdict == Verdict::kWorse;
      }));
}

// Ten layers of milliseconds, from arithmetic to memory: two minutes with six rounds.
const std::vector<std::string>& DefaultFlags() {
  static const std::vector<std::string> flags = {
      "--devices=cpu",
      "--threads=1",
      "--batches=4",
      "--benchmark_filter=^Layer/dogs_vs_cats/(conv2|conv3|relu1|pool1|dense1)/",
      "--benchmark_repetitions=3",
      "--benchmark_min_time=0.02",
      "--benchmark_enable_random_interleaving=true"};
  return flags;
}

bool Print(const SelftestResult& result) {
  std::printf("  %-6s  %s (%s)\n", result.is_ok ? "ok" : "FAILED", result.what.c_str(),
              result.found.c_str());
  std::fflush(stdout);
  return result.is_ok;
}

// The program against itself with `more_flags`. Throws CompareError when it is interrupted.
Comparison CompareRuns(const SelftestCommand& command, const std::string& run_folder,
                       const std::vector<std::string>& more_flags) {
  RunRecord record;
  record.folder = std::filesystem::current_path().string();
  record.rounds = command.rounds;
  record.base.program = RequireProgram("--program", command.program);
  record.base.flags = command.flags.empty() ? DefaultFlags() : command.flags;
  RefuseOwnFlags(record.base.flags);
  record.contender = record.base;
  record.contender.flags.insert(record.contender.flags.end(), more_flags.begin(), more_flags.end());
  std::string folder = run_folder;
  MakeRunFolder("selftest", folder);
  Interrupts interrupts;
  MeasureRounds(record, folder, {}, interrupts);
  if (interrupts.signal() != 0) throw CompareError("interrupted: nothing is proven");
  return Compare(ReadFiles(CompletePaths(record, folder, "base"), {}),
                 ReadFiles(CompletePaths(record, folder, "new"), {}));
}

bool TestProgram(SelftestCommand command) {
  RequireProgram("--program", command.program);
  MakeRunFolder("selftest", command.folder);
  std::printf("%s, %s, files in %s:\n", command.program.c_str(),
              Plural(command.rounds, "round").c_str(), command.folder.c_str());
  const CompareOptions options;
  const bool keeps_still =
      Print(JudgeSame(CompareRuns(command, command.folder + "/same", {}), options));
  const std::string flag = "--handicap=" + FormatDecimal(command.handicap);
  const Comparison slowed = CompareRuns(command, command.folder + "/handicap", {flag});
  return Print(JudgeHandicap(slowed, options, command.handicap)) && keeps_still;
}

}  // namespace

std::vector<SelftestResult> TestBuiltIn() {
  MadeSuite slower_5;
  slower_5.first_factor = 1.05;
  MadeSuite slower_10;
  slower_10.first_factor = 1.10;
  MadeSuite faster;
  faster.factor = 0.9;
  MadeSuite failing;
  failing.fails = true;
  MadeSuite fewer;
  fewer.benchmarks = kBenchmarks - 1;
  MadeSuite other;
  other.family = "Other";
  CompareOptions strict;
  strict.fail_on_removed = true;
  std::mt19937_64 bits(1);
  const std::string whole = MadeText({}, bits);
  return {
      TestSuites("the same twice", {}, kExitOk),
      TestSuites("one of 12 benchmarks 5 % slower", slower_5, kExitRegression),
      TestSuites("one of 12 benchmarks 10 % slower", slower_10, kExitRegression),
      TestSuites("all 10 % faster", faster, kExitOk),
      TestSuites("one that fails now", failing, kExitRegression),
      TestCode("one that is gone", kExitOk, JudgeMade({}, fewer, 1).exit_code),
      TestCode("one that is gone, with --fail-on-removed", kExitRegression,
               JudgeMade({}, fewer, 1, strict).exit_code),
      TestCode("no benchmark in common", kExitNothing, JudgeMade({}, other, 1).exit_code),
      TestCode("an empty file", kExitUnusable, CodeOfText("")),
      TestCode("a file that breaks off", kExitUnusable,
               CodeOfText(whole.substr(0, whole.size() / 2))),
  };
}

SelftestResult JudgeSame(const Comparison& comparison, const CompareOptions& options) {
  const int code = ExitCode(comparison, options);
  return {code == kExitOk && comparison.summary.can_fire, "the same program twice: exit code 0",
          CodeText(code, comparison)};
}

SelftestResult JudgeHandicap(const Comparison& comparison, const CompareOptions& options,
                             double handicap) {
  const int code = ExitCode(comparison, options);
  const std::size_t found = SlowerTimes(comparison);
  return {code == kExitRegression && found > 0,
          "slowed down by --handicap=" + FormatDecimal(handicap) + ": exit code 1",
          CodeText(code, comparison) + ", " + std::to_string(found) + " of " +
              std::to_string(comparison.summary.compared) + " slowdowns found"};
}

int RunSelftest(const std::vector<std::string>& arguments) {
  const SelftestCommand command = ParseSelftest(arguments);
  std::printf("built-in data, %zu against %zu files, noise of %s %%:\n", kFiles, kFiles,
              FourDigits(100 * kNoise).c_str());
  bool is_ok = true;
  for (const SelftestResult& result : TestBuiltIn()) is_ok = Print(result) && is_ok;
  if (!command.program.empty()) is_ok = TestProgram(command) && is_ok;
  std::printf("%s\n", is_ok ? "OK: a slowdown is found, and noise is not taken for one"
                            : "FAILED: do not trust the verdicts on this machine");
  return is_ok ? kExitOk : kExitRegression;
}

}  // namespace cnn
