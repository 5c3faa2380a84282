// Result files made by hand, and what comparisons say of them.
#pragma once

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/comparison.h"

namespace cnn {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
using Files = std::vector<ResultFile>;
using Counters = std::vector<Metric>;

inline ResultRow Row(const std::string& name, double seconds, const Counters& counters = {}) {
  ResultRow row;
  row.name = row.run_name = name;
  row.time_unit = "ms";
  row.family_index = 0;
  row.per_family_instance_index = 0;
  row.iterations = 10;
  row.metrics = {{"real_time", seconds}, {"cpu_time", seconds}};
  row.metrics.insert(row.metrics.end(), counters.begin(), counters.end());
  return row;
}

inline ResultRow Failed(const std::string& name, RowState state, const std::string& message) {
  ResultRow row = Row(name, 0);
  row.state = state;
  row.message = message;
  return row;
}

inline ResultRow Aggregate(const std::string& name, const std::string& kind, double seconds) {
  ResultRow row = Row(name, seconds);
  row.name += "_" + kind;
  row.kind = RowKind::kAggregate;
  row.aggregate_name = kind;
  return row;
}

inline ResultRow Complexity(const std::string& big_o) {
  ResultRow row;
  row.name = "Sort_BigO";
  row.run_name = "Sort";
  row.kind = RowKind::kBigO;
  row.big_o = big_o;
  return row;
}

inline ResultFile File(std::vector<ResultRow> rows, std::vector<ContextEntry> context = {}) {
  ResultFile file;
  file.path = "run.json";
  file.rows = std::move(rows);
  file.context = std::move(context);
  return file;
}

// A file per value, of one benchmark "A" in milliseconds.
inline Files Runs(const std::vector<double>& milliseconds) {
  Files files;
  for (const double value : milliseconds) files.push_back(File({Row("A", value * 1e-3)}));
  return files;
}

// A file per value of a counter, at a steady time.
inline Files CounterRuns(const std::string& name, const std::vector<double>& values) {
  Files files;
  for (const double value : values) files.push_back(File({Row("A", 1, {{name, value}})}));
  return files;
}

inline const std::vector<double>& Steady() {
  static const std::vector<double> values = {100, 100.3, 99.8, 100.1, 100.2, 99.9};
  return values;
}

inline std::vector<double> Times(double factor, std::vector<double> values = Steady()) {
  for (double& value : values) value *= factor;
  return values;
}

inline const ComparisonRow& Find(const Comparison& comparison, std::string_view benchmark,
                                 std::string_view metric) {
  for (const ComparisonRow& row : comparison.rows) {
    if (row.benchmark == benchmark && row.metric == metric) return row;
  }
  throw std::logic_error("no row " + std::string(benchmark) + " " + std::string(metric));
}

inline bool Has(const Comparison& comparison, std::string_view benchmark, std::string_view metric) {
  return std::any_of(comparison.rows.begin(), comparison.rows.end(), [&](const auto& row) {
    return row.benchmark == benchmark && row.metric == metric;
  });
}

inline Verdict VerdictOf(const Files& base, const Files& contender,
                         std::string_view metric = "cpu_time", const CompareOptions& options = {}) {
  return Find(Compare(base, contender, options), "A", metric).verdict;
}

inline bool Warns(const Comparison& comparison, std::string_view text) {
  return std::any_of(comparison.warnings.begin(), comparison.warnings.end(),
                     [&](const auto& w) { return w.find(text) != std::string::npos; });
}

inline std::size_t Count(const Comparison& comparison, Verdict verdict) {
  return comparison.summary.rows[static_cast<std::size_t>(verdict)];
}

inline Files One(ResultRow row) { return {File({std::move(row)})}; }

}  // namespace cnn
