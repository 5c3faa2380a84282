// The table on stdout: a line per benchmark with the columns that answer the family's question, in
// places that line up. The result file holds every counter.
#pragma once

#include <benchmark/benchmark.h>

#include <string>

namespace cnn {

class Table final : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context& context) override;
  void ReportRuns(const std::vector<Run>& runs) override;

 private:
  void PrintHeading(const Run& run, const std::string& family);
  void PrintRow(const Run& run);

  std::size_t name_width_ = 0;
  std::string family_;  // of the last row
};

}  // namespace cnn
