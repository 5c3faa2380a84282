// The suite is one table of families. Cases are made from it and the options by a loop, after the
// flags are parsed.
#pragma once

#include <benchmark/benchmark.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "benchmarks/google_flags.h"
#include "benchmarks/options.h"
#include "fixtures/fixtures.h"

namespace cnn {

/// A workload with the images it trains on.
struct WorkloadData {
  Workload workload;
  Dataset dataset;  // no classes yet where it is to be the synthetic set
};

/// The workloads that the options select; --data_dir goes to the one it fits. Throws UsageError.
std::vector<WorkloadData> SelectWorkloads(const Options& options);

/// A case with what is needed to run it.
struct SuiteCase {
  Case id;
  std::size_t workload = 0;  // index into the WorkloadData
  int threads = 1;           // LibTorch's
  std::function<std::unique_ptr<Fixture>(const Case&, const CaseConfig&)> make;
  bool reads_images = false;
  benchmark::TimeUnit unit = benchmark::kMillisecond;
  std::int64_t iterations = 0;  // 0: as many as Google Benchmark wants
};

/// The devices to run on: those asked for, which must be there, or all that are. Throws UsageError
/// saying which one cannot be used and why.
std::vector<Device> SelectDevices(const Options& options);

/// All cases of all families on `options.devices`, in the families' order.
std::vector<SuiteCase> MakeCases(const Options& options,
                                 const std::vector<WorkloadData>& workloads);

/// Those whose name matches `filter`, a regular expression as Google Benchmark takes it: POSIX
/// extended, searched anywhere in the name, negated by a leading '-'. Throws UsageError when none
/// does, naming the nearest families, or when the expression is malformed.
std::vector<SuiteCase> Filter(std::vector<SuiteCase> cases, const std::string& filter);

/// Fills in the synthetic data set where a benchmark needs it and has no other, and says on stderr
/// what images were found.
void PrepareData(const std::vector<SuiteCase>& cases, std::vector<WorkloadData>& workloads);

/// Registers with Google Benchmark. `workloads` and `failures`, which counts cases that an error
/// ended, must outlive the run.
void Register(const std::vector<SuiteCase>& cases, const Options& options, bool own_time_units,
              const std::vector<WorkloadData>& workloads, int& failures);

/// The names, a line each.
std::string JoinNames(const std::vector<SuiteCase>& cases);

/// Of the names that a run shows, those of aggregates included.
std::size_t WidestName(const std::vector<SuiteCase>& cases, const GoogleFlags& flags);

/// A line for each family: name and what it measures.
std::string DescribeFamilies();

/// The summaries of the published networks.
std::string DescribeNetworks();

}  // namespace cnn
