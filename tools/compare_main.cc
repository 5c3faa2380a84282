// Measures, compares, exports and calibrates: see --help, comparison.h, run_command.h and export.h.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "tools/calibration.h"
#include "tools/compare_files.h"
#include "tools/compare_options.h"
#include "tools/output_file.h"
#include "tools/process.h"
#include "tools/run_command.h"
#include "tools/selftest.h"
#include "tools/speedup.h"

namespace cnn {
namespace {

enum ExitCodes { kFine = 0, kUsage = 2, kUnusable = 3, kNothing = 4 };

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
  if (IsAnyIncomplete(files)) return kUnusable;
  const bool is_empty = std::all_of(files.begin(), files.end(),
                                    [](const ResultFile& file) { return file.rows.empty(); });
  return is_empty ? Report(kNothing, "no benchmarks to export") : kFine;
}

int CalibrateFiles(const Arguments& arguments) {
  const CalibrateCommand command = ParseCalibrate(arguments);
  const Calibration calibration =
      Calibrate(ReadFiles(command.files, command.read), command.options, command.floor);
  if (calibration.bands.empty()) {
    std::fputs("cnn_compare: no benchmark is in all of the files\n", stderr);
    return kNothing;
  }
  WriteOutput(command.out, [&](std::ostream& out) { WriteCalibration(calibration, out); });
  return kFine;
}

int ShowSpeedups(const Arguments& arguments) {
  const SpeedupCommand command = ParseSpeedup(arguments);
  const std::vector<ResultFile> files = ReadFiles(command.files, command.read, command.filter);
  std::string table;
  try {
    table = SpeedupTable(files, command.by);
  } catch (const NothingToPair& error) {
    return Report(kNothing, error.what());
  } catch (const std::invalid_argument& error) {
    return Report(kUsage, error.what());
  }
  WriteOutput(command.out, [&](std::ostream& out) { out << table; });
  return IsAnyIncomplete(files) ? kUnusable : kFine;
}

int Dispatch(const Arguments& arguments) {
  const std::string command = arguments.empty() ? "" : arguments.front();
  const Arguments rest(arguments.begin() + (arguments.empty() ? 0 : 1), arguments.end());
  if (command == "run") return RunAndCompare(rest);
  if (command == "confirm") return ConfirmRun(rest);
  if (command == "selftest") return RunSelftest(rest);
  if (command == "export") return ExportFiles(rest);
  if (command == "speedup") return ShowSpeedups(rest);
  if (command == "calibrate") return CalibrateFiles(rest);
  return CompareFiles(arguments);
}

int Main(const Arguments& arguments) {
  try {
    return Dispatch(arguments);
  } catch (const HelpRequest& help) {
    std::fputs(help.text.c_str(), stdout);
    return kFine;
  } catch (const UsageError& error) {
    return Report(kUsage, error.what());
  } catch (const StartError& error) {
    return Report(kUsage, error.what());
  } catch (const OutputError& error) {
    return Report(kUsage, error.what());
  } catch (const std::exception& error) {
    return Report(kUnusable, error.what());
  }
}

}  // namespace
}  // namespace cnn

int main(int argc, char** argv) { return cnn::Main({argv + 1, argv + argc}); }
