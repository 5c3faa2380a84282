// Measures, compares, exports and calibrates: see --help, comparison.h, run_command.h and export.h.
#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "tools/calibration.h"
#include "tools/compare_files.h"
#include "tools/compare_options.h"
#include "tools/exit_codes.h"
#include "tools/export_text.h"
#include "tools/output_file.h"
#include "tools/process.h"
#include "tools/run_command.h"
#include "tools/selftest.h"
#include "tools/speedup.h"

namespace cnn {
namespace {

using Arguments = std::vector<std::string>;

int Report(int exit_code, const char* message) {
  std::fprintf(stderr, "cnn_compare: %s\n", message);
  return exit_code;
}

bool IsAnyIncomplete(const std::vector<ResultFile>& files) {
  return std::any_of(files.begin(), files.end(),
                     [](const ResultFile& file) { return file.is_incomplete; });
}

int CompareFiles(const Arguments& arguments) {
  CompareCommand command = ParseCompare(arguments);
  LoadCalibration(command);
  return PrintComparison(CompareSides(command), command);
}

int ExportFiles(const Arguments& arguments) {
  const ExportCommand command = ParseExport(arguments);
  const std::vector<ResultFile> files = ReadFiles(command.files, command.read, command.filter);
  WriteOutput(command.out,
              [&](std::ostream& out) { Export(files, command.format, command.options, out); });
  if (IsAnyIncomplete(files)) return kExitUnusable;
  const bool is_empty = std::all_of(files.begin(), files.end(),
                                    [](const ResultFile& file) { return file.rows.empty(); });
  return is_empty ? Report(kExitNothing, "no benchmarks to export") : kExitOk;
}

int CalibrateFiles(const Arguments& arguments) {
  const CalibrateCommand command = ParseCalibrate(arguments);
  const Calibration calibration =
      Calibrate(ReadFiles(command.files, command.read), command.options, command.floor);
  if (calibration.bands.empty()) {
    std::fputs("cnn_compare: no benchmark is in all of the files\n", stderr);
    return kExitNothing;
  }
  WriteOutput(command.out, [&](std::ostream& out) { WriteCalibration(calibration, out); });
  return kExitOk;
}

int ShowSpeedups(const Arguments& arguments) {
  const SpeedupCommand command = ParseSpeedup(arguments);
  const std::vector<ResultFile> files = ReadFiles(command.files, command.read, command.filter);
  std::string table;
  try {
    table = SpeedupTable(files, command.by);
  } catch (const NothingToPair& error) {
    return Report(kExitNothing, error.what());
  } catch (const std::invalid_argument& error) {
    return Report(kExitUsage, error.what());
  }
  WriteOutput(command.out, [&](std::ostream& out) { out << table; });
  return IsAnyIncomplete(files) ? kExitUnusable : kExitOk;
}

struct Command {
  std::string_view name;
  int (*run)(const Arguments&);
};

constexpr std::array<Command, 6> kCommands = {{{"run", RunAndCompare},
                                               {"confirm", ConfirmRun},
                                               {"selftest", RunSelftest},
                                               {"export", ExportFiles},
                                               {"calibrate", CalibrateFiles},
                                               {"speedup", ShowSpeedups}}};

// A command with a slip of the pen? Letters only: most files have a point or a slash in their name.
bool IsUnknownWord(const std::string& argument) {
  const auto is_letter = [](unsigned char c) { return std::isalpha(c) != 0; };
  std::error_code error;
  return !argument.empty() && std::all_of(argument.begin(), argument.end(), is_letter) &&
         !std::filesystem::exists(argument, error);
}

int Dispatch(const Arguments& arguments) {
  if (arguments.empty()) return CompareFiles(arguments);
  std::vector<std::string> names;
  for (const Command& command : kCommands) {
    if (command.name == arguments.front()) {
      return command.run(Arguments(arguments.begin() + 1, arguments.end()));
    }
    names.emplace_back(command.name);
  }
  if (!IsUnknownWord(arguments.front())) return CompareFiles(arguments);
  throw UsageError(arguments.front() + ": there is no such command or file; the commands are " +
                   Joined(names, ", "));
}

int Main(const Arguments& arguments) {
  try {
    return Dispatch(arguments);
  } catch (const HelpRequest& help) {
    std::fputs(help.text.c_str(), stdout);
    return kExitOk;
  } catch (const UsageError& error) {
    return Report(kExitUsage, error.what());
  } catch (const StartError& error) {
    return Report(kExitUsage, error.what());
  } catch (const OutputError& error) {
    return Report(kExitUsage, error.what());
  } catch (const std::exception& error) {
    return Report(kExitUnusable, error.what());
  }
}

}  // namespace
}  // namespace cnn

int main(int argc, char** argv) { return cnn::Main({argv + 1, argv + argc}); }
