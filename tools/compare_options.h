// The command line of cnn_compare.
#pragma once

#include <cstddef>
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

struct RunCommand {
  CompareCommand compare;  // without files
  std::string base;        // programs, as given
  std::string contender;
  std::vector<std::string> base_flags;  // those of both sides are in each
  std::vector<std::string> new_flags;
  std::size_t rounds = 0;              // 0: five, or more where it takes more to find a change
  std::string folder;                  // empty: a new one
  std::vector<std::string> judgement;  // the flags that a later confirm must repeat
};

struct ConfirmCommand {
  CompareCommand compare;  // without files
  std::string folder;
  std::size_t rounds = 0;  // 0: five, or more where it takes more
  bool undecided = false;
};

struct SelftestCommand {
  std::string program;  // empty: built-in data only
  std::vector<std::string> flags;
  double handicap = 0.05;
  std::size_t rounds = 6;
  std::string folder;  // empty: a new one
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
RunCommand ParseRun(const std::vector<std::string>& arguments);
SelftestCommand ParseSelftest(const std::vector<std::string>& arguments);
ExportCommand ParseExport(const std::vector<std::string>& arguments);
CalibrateCommand ParseCalibrate(const std::vector<std::string>& arguments);
SpeedupCommand ParseSpeedup(const std::vector<std::string>& arguments);

/// `judgement` is RunCommand's: what was asked for once holds until it is asked for otherwise.
ConfirmCommand ParseConfirm(const std::vector<std::string>& arguments,
                            const std::vector<std::string>& judgement = {});

/// Splits at blanks, but for those in quotes and after a backslash, as a shell does: "a 'b c'" is a
/// and b c. Throws UsageError for a quote that is not closed.
std::vector<std::string> SplitFlags(const std::string& text);

/// 0.02 of "2%", "+2%", "0.02" and "1.02x". Throws UsageError; also for a bare 1 or more, which was
/// most likely meant as percent, and for what is negative.
double ParseShare(const std::string& flag, const std::string& text);

}  // namespace cnn
