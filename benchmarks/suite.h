// The suite is one table of families. Cases are made from it and the options by a loop, after the
// flags are parsed.
#pragma once

#include <benchmark/benchmark.h>

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "benchmarks/data.h"
#include "benchmarks/google_flags.h"
#include "benchmarks/options.h"
#include "fixtures/fixtures.h"

namespace cnn {

/// A case with what is needed to run it.
struct SuiteCase {
  Case id;
  std::size_t workload = 0;  // index into the WorkloadData
  int threads = 1;           // LibTorch's
  std::function<std::unique_ptr<Fixture>(const Case&, const CaseConfig&)> make;
  std::optional<SourceKind> source;  // where it reads images from; not set: it reads none
  std::int64_t epochs = 0;           // of Train, each a row of its own; 0 elsewhere
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
/// does, naming the nearest families, or when the expression is malformed. A Train case is selected
/// by the name of any of its epochs too.
std::vector<SuiteCase> Filter(std::vector<SuiteCase> cases, const std::string& filter);

/// By workload: the sources that the cases read from.
std::vector<std::set<SourceKey>> SourcesNeeded(const std::vector<SuiteCase>& cases,
                                               std::size_t workloads);

/// Throws UsageError where the flags ask of trainings what they cannot give: one file of several,
/// several things in one file, a warm-up.
void CheckTrainings(const std::vector<SuiteCase>& cases, const Options& options,
                    const GoogleFlags& flags);

/// Registers with Google Benchmark. `on_epoch` gets the rows of Train's epochs as they end.
/// `workloads` and `failures`, which counts cases that an error ended, must outlive the run. Throws
/// UsageError when a checkpoint cannot be written or continued.
void Register(const std::vector<SuiteCase>& cases, const Options& options, const GoogleFlags& flags,
              const std::vector<WorkloadData>& workloads,
              const std::function<void(const benchmark::BenchmarkReporter::Run&)>& on_epoch,
              int& failures);

/// The names, a line each.
std::string JoinNames(const std::vector<SuiteCase>& cases);

/// Of the names that a run shows, those of aggregates included, and of epochs where it shows them.
std::size_t WidestName(const std::vector<SuiteCase>& cases, const GoogleFlags& flags,
                       bool shows_epochs);

/// What --progress comes to on this stderr.
Progress ProgressFor(const Options& options);

/// Whether stdout has a row for each epoch: not where the same terminal shows their progress.
bool ShowsEpochs(const Options& options, const GoogleFlags& flags);

/// A line for each family: name and what it measures.
std::string DescribeFamilies();

/// The networks that the options select, as options.print_networks says: the summary of each, or
/// JSON that --network reads. Throws as ChosenWorkloads does.
std::string DescribeNetworks(const Options& options);

}  // namespace cnn
