// What becomes of the rows. Display shows them on stdout as they come. ResultFile writes the result
// file again after every benchmark, whole and in one rename, so that it is valid at any moment.
//
// Both leave out rows that a signal cut off and values that are not finite, which JSON cannot hold,
// and give rows the names of their cases, without Google Benchmark's suffixes for clock and
// iterations.
#pragma once

#include <benchmark/benchmark.h>

#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "benchmarks/google_flags.h"

namespace cnn {

class Display final : public benchmark::BenchmarkReporter {
 public:
  Display(const GoogleFlags& flags, std::size_t longest_name);

  bool ReportContext(const Context& context) override;
  void ReportRuns(const std::vector<Run>& runs) override;
  void Finalize() override;

 private:
  std::size_t longest_name_;
  std::unique_ptr<benchmark::BenchmarkReporter> reporter_;  // none: CSV, all at the end
  std::vector<Run> csv_rows_;
};

class ResultFile final : public benchmark::BenchmarkReporter {
 public:
  /// Creates missing folders. Throws std::runtime_error when the file could not be written.
  explicit ResultFile(const GoogleFlags& flags);

  bool ReportContext(const Context& context) override;
  /// A file that cannot be written any more is said on stderr; the run goes on.
  void ReportRuns(const std::vector<Run>& runs) override;
  void Finalize() override;

  /// Says on stderr where the results are and what went wrong; `failures` counts cases that failed.
  /// Returns the program's exit code.
  int Conclude(int failures) const;

 private:
  void Write();

  std::string path_;
  std::string format_;
  std::ofstream
      stream_;  // open where the path is a device, pipe or descriptor: written once, at the end
  std::unique_ptr<benchmark::BenchmarkReporter> reporter_;  // none: CSV
  std::ostringstream text_;
  std::vector<Run> rows_;
  bool written_ = true;  // the last attempt succeeded
};

}  // namespace cnn
