// The command line of cnn_compare.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "tools/comparison.h"
#include "tools/export.h"
#include "tools/report.h"
#include "tools/result_file.h"

namespace cnn {

/// Exit code 2.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// --help: the text to print.
struct HelpRequest {
  std::string text;
};

enum class Colour { kAuto, kAlways, kNever };

struct CompareCommand {
  std::vector<std::string> base;
  std::vector<std::string> contender;
  CompareOptions options;  // but for the calibration, which is yet to be read
  ReadOptions read;
  std::string filter;
  std::string calibration;
  ReportFormat format = ReportFormat::kTable;
  ReportOptions report;
  Colour colour = Colour::kAuto;
  std::string out;  // empty: stdout
};

struct ExportCommand {
  std::vector<std::string> files;
  ReadOptions read;
  std::string filter;
  ExportFormat format = ExportFormat::kNdjson;
  ExportOptions options;
  std::string out;
};

struct CalibrateCommand {
  std::vector<std::string> files;
  ReadOptions read;
  CompareOptions options;
  double floor = 0.01;
  std::string out;
};

struct SpeedupCommand {
  std::vector<std::string> files;
  ReadOptions read;
  std::string filter;
  std::string by = "device";
  std::string out;
};

/// Arguments after the program's name, or after the command's. Throw UsageError and HelpRequest.
CompareCommand ParseCompare(const std::vector<std::string>& arguments);
ExportCommand ParseExport(const std::vector<std::string>& arguments);
CalibrateCommand ParseCalibrate(const std::vector<std::string>& arguments);
SpeedupCommand ParseSpeedup(const std::vector<std::string>& arguments);

/// 0.02 of "2%", "+2%", "0.02" and "1.02x". Throws UsageError; also for a bare 1 or more, which was
/// most likely meant as percent, and for what is negative.
double ParseShare(const std::string& flag, const std::string& text);

}  // namespace cnn
