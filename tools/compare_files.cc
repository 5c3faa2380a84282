#include "tools/compare_files.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "tools/calibration.h"
#include "tools/name_filter.h"
#include "tools/output_file.h"

namespace cnn {
namespace {

bool IsColoured(const CompareCommand& command) {
  if (command.colour != Colour::kAuto) return command.colour == Colour::kAlways;
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string_view(value == nullptr ? "" : value);
  };
  return command.out.empty() && variable("NO_COLOR").empty() && variable("TERM") != "dumb" &&
         ::isatty(STDOUT_FILENO) != 0;
}

// A file that is given twice would count as two processes.
void RefuseRepeated(const std::vector<std::string>& paths) {
  for (std::size_t i = 0; i < paths.size(); ++i) {
    for (std::size_t k = 0; k < i; ++k) {
      std::error_code error;  // what cannot be looked at cannot be read either
      if (!std::filesystem::is_regular_file(paths[i], error) ||
          !std::filesystem::equivalent(paths[i], paths[k], error)) {
        continue;
      }
      throw CompareError(paths[i] +
                         " stands twice among the files: each counts as a process of its "
                         "own; name it once");
    }
  }
}

}  // namespace

std::vector<ResultFile> ReadFiles(const std::vector<std::string>& paths, const ReadOptions& options,
                                  const std::string& filter) {
  RefuseRepeated(paths);
  std::vector<ResultFile> files;
  for (const std::string& path : paths) {
    files.push_back(ReadResultFile(path, options));
    for (const std::string& warning : files.back().warnings) {
      std::fprintf(stderr, "cnn_compare: warning: %s\n", warning.c_str());
    }
    if (!filter.empty()) NameFilter(filter).Apply(files.back());
  }
  return files;
}

void LoadCalibration(CompareCommand& command) {
  if (!command.calibration.empty()) {
    command.options.calibration = ReadCalibration(command.calibration);
  }
}

Comparison CompareSides(const CompareCommand& command) {
  return Compare(ReadFiles(command.base, command.read, command.filter),
                 ReadFiles(command.contender, command.read, command.filter), command.options);
}

int PrintComparison(const Comparison& comparison, const CompareCommand& command) {
  ReportOptions report = command.report;
  report.colour = IsColoured(command);
  WriteOutput(command.out, [&](std::ostream& out) {
    WriteReport(comparison, command.options, command.format, report, out);
  });
  return ExitCode(comparison, command.options);
}

}  // namespace cnn
