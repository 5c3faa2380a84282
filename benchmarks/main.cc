// cnn_benchmarks: parse, select, prepare, run. --help says what the exit codes mean.
#include <benchmark/benchmark.h>

#include <cstdio>
#include <iostream>
#include <opencv2/core/utility.hpp>

#include "benchmarks/allocator.h"
#include "benchmarks/context.h"
#include "benchmarks/google_flags.h"
#include "benchmarks/reporter.h"
#include "benchmarks/suite.h"
#include "dataset/text.h"
#include "fixtures/fixture.h"

namespace {

int Print(const std::string& text) {
  std::fputs(text.c_str(), stdout);
  return 0;
}

int Run(int argc, char** argv) {
  using namespace cnn;
  const std::vector<char*> original(argv, argv + argc + 1);
  const GoogleFlags flags = TakeGoogleFlags(argc, argv);
  InitializeGoogleBenchmark(argc, argv);
  Options options = ParseOptions(argc, argv);
  UseAllocator(options.allocator, original.data());
  UseExactFloat32();
  cv::setNumThreads(1);  // the loader's workers are the threads of the data path
  if (options.list_devices) return Print(DescribeMachine(options));
  if (options.print_networks != NetworkListing::kNone) return Print(DescribeNetworks(options));

  options.devices = SelectDevices(options);
  std::vector<WorkloadData> workloads = SelectWorkloads(options);
  if (options.verify_data) return VerifyData(options, workloads) ? 0 : 1;
  const auto cases = Filter(MakeCases(options, workloads), benchmark::GetBenchmarkFilter());
  if (flags.list_tests) return Print(JoinNames(cases));

  CheckTrainings(cases, options, flags);
  const bool shows_epochs = ShowsEpochs(options, flags);
  Display display(flags, WidestName(cases, flags, shows_epochs));
  ResultFile file(flags);
  PrintPreamble(options, cases);
  PrepareData(options, SourcesNeeded(cases, workloads.size()), workloads);
  AddContext(options, cases, workloads);
  int failures = 0;
  const auto on_epoch = [&](const benchmark::BenchmarkReporter::Run& row) {
    if (shows_epochs) display.ReportRuns({row});
    file.ReportRuns({row});
  };
  Register(cases, options, flags, workloads, on_epoch, failures);
  HandleInterrupts();
  benchmark::RunSpecifiedBenchmarks(&display, &file, ".");
  return file.Conclude(failures);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const int code = Run(argc, argv);
    if (std::fflush(stdout) == 0 && std::cout.flush()) return code;
    std::fputs("cnn_benchmarks: cannot write to the standard output\n", stderr);
    return 1;
  } catch (const std::bad_alloc&) {
    std::fputs("cnn_benchmarks: out of memory\n", stderr);
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "cnn_benchmarks: %s\n", cnn::PrintableLines(error.what()).c_str());
    return 2;
  }
}
