// One value per benchmark and metric from the rows of one or several files.
//
// The value is the median of the repetitions. A repetition that failed fails the benchmark, and one
// that is not finite makes the value not finite: a dashboard that hides a diverged loss behind four
// good ones is of no use. Rows of fitted complexity, and shares such as cv, are not values.
//
// Two benchmarks of one name in a file (their family indices tell) stay two: "name", "name #2".
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/export_labels.h"
#include "tools/result_file.h"

namespace cnn {

enum class Spread {
  kNone,    // one repetition
  kMinMax,  // of the repetitions
  kStddev   // the value give or take the standard deviation: a file with aggregates only
};

/// "min_max", "stddev" or "".
std::string_view SpreadName(Spread spread);

/// "measured", "error" or "skipped".
std::string_view StateName(RowState state);

struct PooledMetric {
  std::string name;
  double value = 0;  // times in seconds
  Spread spread = Spread::kNone;
  double lower = 0;  // of a spread that is there; finite
  double upper = 0;
  std::int64_t count = 0;  // repetitions
};

struct PooledBenchmark {
  std::string raw_name;  // as in the file, perhaps with a number to be unique among ValidUtf8 names
  std::string name;      // its VisibleText: unique, and never empty
  std::vector<Label> labels;  // of `name`
  RowState state = RowState::kMeasured;
  std::string message;  // VisibleText, as is the label
  std::string label;
  std::string time_unit;               // ns, us, ms or s
  bool from_aggregates = false;        // no file had rows of single repetitions
  std::vector<PooledMetric> metrics;   // empty unless measured
  const ResultFile* source = nullptr;  // the first file that has it
};

/// The most that a metric of it has.
std::int64_t RepetitionsOf(const PooledBenchmark& benchmark);

struct Run {
  std::vector<const ResultFile*> files;
  std::string host;                  // VisibleText
  std::optional<std::int64_t> time;  // seconds since 1970
  std::vector<PooledBenchmark> benchmarks;
};

enum class Grouping {
  kTogether,  // one run
  kByTime,    // a run for each host and second
  kByFile     // a run for each file
};

/// Runs and benchmarks in the order of the files; without files no run. Throws std::runtime_error
/// when a run has a benchmark from files of different origin, see DifferenceOfOrigin.
std::vector<Run> Pool(const std::vector<ResultFile>& files, Grouping grouping);

/// The benchmarks of one run of all files.
std::vector<PooledBenchmark> PoolTogether(const std::vector<ResultFile>& files);

/// The names of a row's metrics, each once and none empty: a counter that is named like a time gets
/// "_counter" after its name.
std::vector<std::string> MetricNames(const ResultRow& row);

}  // namespace cnn
