#include "benchmarks/google_flags.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <map>
#include <optional>
#include <vector>

#include "benchmarks/options.h"

namespace cnn {
namespace {

using Values = std::map<std::string, std::string>;  // flag -> value

constexpr const char* kOut = "benchmark_out";
constexpr const char* kOutFormat = "benchmark_out_format";
constexpr const char* kListTests = "benchmark_list_tests";
constexpr const char* kFormat = "benchmark_format";
constexpr const char* kTabular = "benchmark_counters_tabular";
constexpr const char* kTimeUnit = "benchmark_time_unit";
constexpr const char* kColor = "benchmark_color";
constexpr const char* kReportAggregates = "benchmark_report_aggregates_only";
constexpr const char* kDisplayAggregates = "benchmark_display_aggregates_only";
constexpr const char* kInterleaving = "benchmark_enable_random_interleaving";
constexpr const char* kRepetitions = "benchmark_repetitions";
constexpr const char* kMinTime = "benchmark_min_time";
constexpr const char* kWarmUp = "benchmark_min_warmup_time";
constexpr const char* kKnown[] = {
    kOut,   kOutFormat,        kListTests,         kFormat,       kTabular,     kTimeUnit,
    kColor, kReportAggregates, kDisplayAggregates, kInterleaving, kRepetitions, kMinTime,
    kWarmUp};

// Value of `--name=value` when `argument` is that flag; "true" for the bare flag.
std::optional<std::string> FlagValue(const char* argument, const std::string& name) {
  const std::string prefix = "--" + name;
  if (std::strncmp(argument, prefix.c_str(), prefix.size()) != 0) return std::nullopt;
  const char* rest = argument + prefix.size();
  if (*rest == '\0') return "true";
  if (*rest == '=') return rest + 1;
  return std::nullopt;
}

std::string EnvironmentName(std::string flag) {
  for (char& c : flag) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return flag;
}

std::string Lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

void CheckWord(const Values& values, const char* flag, const std::vector<std::string>& words,
               bool in_any_case = false) {
  const auto value = values.find(flag);
  if (value == values.end()) return;
  const std::string given = in_any_case ? Lower(value->second) : value->second;
  std::string list;
  for (const std::string& word : words) {
    if (given == word) return;
    list += (list.empty() ? "" : ", ") + word;
  }
  throw UsageError("--" + std::string(flag) + ": '" + value->second + "' is none of " + list);
}

// Seconds; newer versions of Google Benchmark also take "2s" and "10x".
void CheckDuration(const Values& values, const char* flag) {
  const auto value = values.find(flag);
  if (value == values.end()) return;
  const std::string& text = value->second;
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string suffix(end, text.data() + text.size());
  const bool is_number = error == std::errc{} && std::isfinite(number) && number >= 0;
  if (!is_number || !(suffix.empty() || suffix == "s" || suffix == "x")) {
    throw UsageError("--" + std::string(flag) + ": '" + text +
                     "' is not a number of seconds from 0");
  }
}

int ParseRepetitions(const Values& values) {
  const auto value = values.find(kRepetitions);
  if (value == values.end()) return 1;
  const std::string& text = value->second;
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || number < 1) {
    throw UsageError("--benchmark_repetitions: '" + text + "' is not a whole number from 1");
  }
  return number;
}

// As Google Benchmark reads a truth value.
bool IsTrue(const Values& values, const char* flag) {
  const auto value = values.find(flag);
  if (value == values.end()) return false;
  const std::string word = Lower(value->second);
  const char* const no[] = {"false", "0", "f", "n", "no", "off"};
  return std::find(std::begin(no), std::end(no), word) == std::end(no);
}

void PrintHelp() {
  PrintOptionsHelp();
  benchmark::PrintDefaultHelp();
}

}  // namespace

GoogleFlags TakeGoogleFlags(int& argc, char** argv) {
  Values values;
  for (const char* flag : kKnown) {
    const char* value = std::getenv(EnvironmentName(flag).c_str());
    if (value != nullptr && *value != '\0') values[flag] = value;
  }
  int kept = 1;
  for (int i = 1; i < argc; ++i) {
    bool is_ours = false;
    for (const char* flag : kKnown) {
      const auto value = FlagValue(argv[i], flag);
      if (!value) continue;
      values[flag] = *value;
      is_ours = flag == kOut || flag == kOutFormat || flag == kListTests;
      if (flag == kOut && (value->empty() || std::strchr(argv[i], '=') == nullptr)) {
        throw UsageError("--benchmark_out: names no file");
      }
    }
    if (!is_ours) argv[kept++] = argv[i];
  }
  argc = kept;
  argv[argc] = nullptr;

  CheckWord(values, kFormat, {"console", "json", "csv"});
  CheckWord(values, kOutFormat, {"console", "json", "csv"});
  CheckWord(values, kTimeUnit, {"ns", "us", "ms", "s"});
  std::vector<std::string> truths = {"true", "false", "yes", "no", "on", "off",
                                     "1",    "0",     "t",   "f",  "y",  "n"};
  for (const char* flag :
       {kListTests, kTabular, kReportAggregates, kDisplayAggregates, kInterleaving}) {
    CheckWord(values, flag, truths, /*in_any_case=*/true);
  }
  truths.emplace_back("auto");
  CheckWord(values, kColor, truths, /*in_any_case=*/true);
  CheckDuration(values, kMinTime);
  CheckDuration(values, kWarmUp);

  GoogleFlags flags;
  flags.repetitions = ParseRepetitions(values);
  const auto warm_up = values.find(kWarmUp);
  flags.warms_up =
      warm_up != values.end() && warm_up->second.find_first_of("123456789") != std::string::npos;
  if (values.count(kOut) > 0) flags.out = values[kOut];
  if (values.count(kOutFormat) > 0) flags.out_format = values[kOutFormat];
  if (values.count(kFormat) > 0) flags.format = values[kFormat];
  flags.list_tests = IsTrue(values, kListTests);
  flags.own_table = flags.format == "console" && !IsTrue(values, kTabular);
  flags.own_time_units = values.count(kTimeUnit) == 0;
  return flags;
}

void InitializeGoogleBenchmark(int& argc, char** argv) {
  // Google Benchmark takes a reporter for a file only with a file; ours knows its own. This also
  // undoes BENCHMARK_OUT, which was read before main.
  std::string no_file = "--benchmark_out=/dev/null";
  std::string no_list = "--benchmark_list_tests=false";
  std::vector<char*> arguments(argv, argv + argc);
  arguments.insert(arguments.end(), {no_file.data(), no_list.data(), nullptr});
  int count = argc + 2;
  benchmark::Initialize(&count, arguments.data(), PrintHelp);
  std::copy(arguments.begin(), arguments.begin() + count, argv);
  argc = count;
}

}  // namespace cnn
