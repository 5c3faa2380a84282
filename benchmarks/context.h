// What must be known to judge a number: the program, its libraries, the machine, the data, the
// settings. It stands in every result file and, shorter, on stderr before the first result.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "benchmarks/data.h"
#include "benchmarks/options.h"
#include "benchmarks/suite.h"

namespace cnn {

/// Key and value; explained in results/README.md.
using ContextEntries = std::vector<std::pair<std::string, std::string>>;
ContextEntries CollectContext(const Options& options, const std::vector<SuiteCase>& cases,
                              const std::vector<WorkloadData>& workloads);

/// Adds them to Google Benchmark's own.
void AddContext(const Options& options, const std::vector<SuiteCase>& cases,
                const std::vector<WorkloadData>& workloads);

/// The first lines of a run, and --list_devices: libraries, devices or why there is no GPU,
/// threads, allocator.
std::string DescribeMachine(const Options& options);

/// What may make the numbers of this run worse or less certain than they need be, a line each with
/// the remedy.
std::vector<std::string> Warnings(const Options& options, const std::vector<SuiteCase>& cases);

/// DescribeMachine and Warnings, to stderr.
void PrintPreamble(const Options& options, const std::vector<SuiteCase>& cases);

}  // namespace cnn
