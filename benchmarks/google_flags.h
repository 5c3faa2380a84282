// Google Benchmark's own flags, as far as we must know them. It takes junk for some of them and
// then prints its help and exits with 0, or runs nothing; it opens the result file before there is
// a result. So values are checked first, on the command line and in the environment, and what
// concerns the results is ours.
#pragma once

#include <string>

namespace cnn {

struct GoogleFlags {
  std::string out = "results/latest.json";  // --benchmark_out
  std::string out_format = "json";          // --benchmark_out_format: json, csv or console
  bool list_tests = false;                  // --benchmark_list_tests
  std::string format = "console";           // --benchmark_format
  /// Our table on stdout: unless --benchmark_format or --benchmark_counters_tabular asks for one of
  /// Google Benchmark's displays.
  bool own_table = true;
  bool own_time_units = true;  // unless --benchmark_time_unit asks for one
  int repetitions = 1;         // --benchmark_repetitions
  bool warms_up = false;       // --benchmark_min_warmup_time
};

/// Reads the flags from the environment (BENCHMARK_OUT, ...) and argv, which wins, and takes the
/// first three out of argv. Throws UsageError naming the flag and the value.
GoogleFlags TakeGoogleFlags(int& argc, char** argv);

/// benchmark::Initialize, with our own part of --help, which prints and exits.
void InitializeGoogleBenchmark(int& argc, char** argv);

}  // namespace cnn
