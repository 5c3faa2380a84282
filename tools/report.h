// A comparison for people and programs: a table for terminals, Markdown for pull requests, JSON.
//
// Worst first, and by default only what one should look at: everything that is the same, was not
// run or is shown without being a gate is counted, and --all shows it. The last lines say what to
// do next: which benchmarks to measure again, and how many runs would decide.
#pragma once

#include <cstddef>
#include <ostream>
#include <string>
#include <vector>

#include "tools/comparison.h"

namespace cnn {

enum class ReportFormat { kTable, kMarkdown, kJson };

struct ReportOptions {
  bool all = false;        // every row
  bool colour = false;     // escape codes in the table
  std::string run_folder;  // of `cnn_compare run`: what failed can be measured again by confirm
  std::size_t markdown_limit = 65000;  // bytes: a comment on GitHub holds 65,536 characters
};

/// What the result is, in one line, and what to do about it.
struct Advice {
  int exit_code = 0;
  std::string headline;  // "REGRESSION: 1 row got worse"
  std::vector<std::string> steps;
  // For --benchmark_filter: the benchmarks that fail or are undecided; empty without them and when
  // it is too long for a command line.
  std::string filter;
};

/// With `run_folder`, ReportOptions', a step names the command that measures again.
Advice AdviceOf(const Comparison& comparison, const CompareOptions& options,
                const std::string& run_folder = {});

/// `out` is not checked: whoever opened it does.
void WriteReport(const Comparison& comparison, const CompareOptions& options, ReportFormat format,
                 const ReportOptions& report, std::ostream& out);

}  // namespace cnn
