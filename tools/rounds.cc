#include "tools/rounds.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "tools/compare_options.h"
#include "tools/export_text.h"
#include "tools/output_file.h"
#include "tools/progress.h"
#include "tools/readable.h"

namespace cnn {
namespace {

namespace fs = std::filesystem;

struct OwnFlag {
  const char* name;
  const char* variable;
  const char* why;
};
constexpr std::array<OwnFlag, 4> kOwnFlags = {{
    {"--benchmark_out", "BENCHMARK_OUT", "each process gets a file of its own in --dir"},
    {"--benchmark_out_format", "BENCHMARK_OUT_FORMAT", "the files must be JSON"},
    {"--benchmark_format", "BENCHMARK_FORMAT", "the output goes to a log; results are in --dir"},
    {"--benchmark_list_tests", "BENCHMARK_LIST_TESTS", "nothing would be measured"},
}};

// The end of a log, as it may be shown on a terminal.
std::string LastLines(const std::string& path) {
  constexpr std::streamoff kBytes = 4096;
  constexpr std::size_t kLines = 10;
  std::ifstream in(path, std::ios::binary);
  in.seekg(0, std::ios::end);
  const std::streamoff size = in.tellg();
  in.seekg(std::max<std::streamoff>(0, size - kBytes));
  const std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  std::vector<std::string_view> lines = Split(text, '\n');
  while (!lines.empty() && lines.back().empty()) lines.pop_back();
  std::string last;
  for (std::size_t i = lines.size() - std::min(lines.size(), kLines); i < lines.size(); ++i) {
    last += "\n  | " + VisibleText(lines[i]);
  }
  return last;
}

void CreateFolder(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) throw OutputError(path + ": cannot be created: " + error.message());
}

class Measurement {
 public:
  Measurement(RunRecord& record, const std::string& run_folder, const ReadOptions& read,
              Interrupts& interrupts)
      : record_(record),
        run_folder_(run_folder),
        read_(read),
        interrupts_(interrupts),
        progress_(record.rounds) {}

  // Returns when all is done, or with the first interrupt.
  void Run(const RoundsDecision& decide) {
    WriteRunRecord(record_, run_folder_);
    for (std::size_t round = 1; round <= record_.rounds; ++round) {
      const bool is_base_first = round % 2 == 1;
      for (const std::size_t side :
           {is_base_first ? kBase : kContender, is_base_first ? kContender : kBase}) {
        interrupts_.Poll();
        if (interrupts_.signal() != 0 || !Measure(round, side)) return;
      }
      record_.completed = round;
      if (round == 1 && decide) {
        record_.rounds = decide();
        progress_.SetRounds(record_.rounds);
      }
      WriteRunRecord(record_, run_folder_);
    }
  }

 private:
  bool Measure(std::size_t round, std::size_t side) {
    const SideRecord& of_side = side == kBase ? record_.base : record_.contender;
    // The program runs in the folder of the record, which need not be ours.
    const std::string file =
        fs::absolute(RunFile(run_folder_, kSideNames[side], round, ".json")).string();
    ProcessOptions process;
    process.program = of_side.program;
    process.arguments = of_side.flags;
    process.arguments.push_back("--benchmark_out=" + file);
    process.arguments.emplace_back("--benchmark_out_format=json");
    process.folder = record_.folder;
    process.log = RunFile(run_folder_, kSideNames[side], round, ".log");
    for (const OwnFlag& flag : kOwnFlags) process.unset.emplace_back(flag.variable);
    progress_.Start(round, side);
    const ProcessEnd end = RunProcess(process, interrupts_, [this] { progress_.Tick(); });
    if (end.interrupt != 0) {
      std::error_code ignored;  // the program may not have written any
      fs::rename(file, file + ".unfinished", ignored);
      return false;
    }
    if (end.signal != 0 || end.exit_code > 1) Fail(process, EndText(end));
    try {
      ReadResultFile(file, read_);
    } catch (const ReadError& error) {
      const bool is_absent = !fs::exists(file);
      Fail(process, EndText(end) + ", and " +
                        (is_absent ? "it wrote no result file: is it a Google Benchmark program?"
                                   : std::string("its result file is unusable: ") + error.what()));
    }
    progress_.Finish(end.seconds, end.exit_code == 0 ? "" : "some cases failed (exit status 1)");
    return true;
  }

  [[noreturn]] void Fail(const ProcessOptions& process, const std::string& how) const {
    std::string message = process.program + ": " + how + LastLines(process.log) +
                          "\n  its whole output: " + process.log;
    if (record_.completed > 0) {
      message += "\n  " + Plural(record_.completed, "complete round") + " kept in " + run_folder_;
    }
    throw RunError(message);
  }

  RunRecord& record_;
  const std::string& run_folder_;
  const ReadOptions& read_;
  Interrupts& interrupts_;
  Progress progress_;
};

}  // namespace

void RefuseOwnFlags(const std::vector<std::string>& flags) {
  for (const std::string& flag : flags) {
    const std::string name = flag.substr(0, flag.find('='));
    for (const OwnFlag& own : kOwnFlags) {
      if (name == own.name) throw UsageError(name + " cannot be given: " + own.why);
    }
  }
}

std::string RequireProgram(const std::string& flag, const std::string& path) {
  const auto refuse = [&](const char* why) {
    throw UsageError(flag + ": " + path + " cannot be started: " + why);
  };
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) refuse("there is no such file (PATH is not searched)");
  if (!fs::is_regular_file(status)) refuse("it is no program");
  if (::access(path.c_str(), X_OK) != 0) refuse("it is not executable");
  return fs::absolute(path).string();
}

void MakeRunFolder(const std::string& what, std::string& folder) {
  if (!folder.empty()) {
    if (HoldsResults(folder)) {
      throw UsageError("--dir: " + folder +
                       " already holds result files; name another folder, or none for a new one");
    }
    return CreateFolder(folder);
  }
  std::string time = FormatTime(static_cast<std::int64_t>(std::time(nullptr)));
  time.erase(std::remove_if(time.begin(), time.end(), [](char c) { return c == '-' || c == ':'; }),
             time.end());
  const std::string stem = "results/" + what + '-' + time + 'Z';
  folder = stem;
  CreateFolder("results");
  std::error_code error;
  for (int number = 2; !fs::create_directory(folder, error); ++number) {
    if (error) throw OutputError(folder + ": cannot be created: " + error.message());
    folder = stem + '-' + std::to_string(number);
  }
}

void MeasureRounds(RunRecord& record, const std::string& run_folder, const ReadOptions& read,
                   Interrupts& interrupts, const RoundsDecision& decide) {
  record.completed = 0;
  Measurement(record, run_folder, read, interrupts).Run(decide);
}

std::vector<std::string> CompletePaths(const RunRecord& record, const std::string& run_folder,
                                       const std::string& side) {
  std::vector<std::string> paths;
  for (std::size_t round = 1; round <= record.completed; ++round) {
    paths.push_back(RunFile(run_folder, side, round, ".json"));
  }
  return paths;
}

}  // namespace cnn
