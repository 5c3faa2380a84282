#include "tools/export_pool.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "tools/benchmark_name.h"
#include "tools/benchmark_table.h"
#include "tools/context_keys.h"
#include "tools/export_text.h"
#include "tools/statistics.h"

namespace cnn {
namespace {

struct MetricSamples {
  std::string metric;
  std::vector<double> values;
  std::int64_t count = 0;
  double stddev = std::nan("");
};

// A benchmark of a run while its rows are being read.
struct Series {
  PooledBenchmark benchmark;
  std::vector<MetricSamples> samples;
  bool has_measured = false;
};

// What a file has of a benchmark decides which of its rows count.
struct Coverage {
  bool has_iterations = false;
  bool has_median = false;
};

bool IsValueRow(const ResultRow& row) {
  if (row.kind == RowKind::kIteration) return true;
  return row.kind == RowKind::kAggregate && !row.is_percentage;
}

std::string KeyOf(const std::string& name, std::size_t ordinal) {
  return name + '\0' + FormatInteger(static_cast<std::int64_t>(ordinal));
}

// A key has the same names in every run.
class NameTable {
 public:
  struct Names {
    std::string raw;
    std::string visible;
  };

  const Names& Find(const std::string& raw, const std::string& key) {
    const auto [entry, is_new] = names_.try_emplace(key);
    if (is_new) {
      std::string base = VisibleText(raw);
      if (base.empty()) base = "(no name)";
      entry->second.visible = unique_.Take(base, " #");
      // The raw name differs from others exactly where the visible one does.
      entry->second.raw = (raw.empty() ? base : raw) + entry->second.visible.substr(base.size());
    }
    return entry->second;
  }

 private:
  UniqueNames unique_;
  std::unordered_map<std::string, Names> names_;
};

std::string Quoted(std::string_view value) {
  return value.empty() ? "absent" : '\'' + VisibleText(value) + '\'';
}

void CheckSameOrigin(const ResultFile& a, const ResultFile& b, const std::string& benchmark) {
  const std::string_view key = DifferenceOfOrigin(a, b);
  if (key.empty()) return;
  throw std::runtime_error("this format takes files as runs of one thing, but '" + a.path +
                           "' and '" + b.path + "' both have '" + benchmark + "' and differ in " +
                           VisibleText(key) + " (" + Quoted(a.ContextValue(key)) + ", " +
                           Quoted(b.ContextValue(key)) +
                           "): export them one at a time, or as ndjson, json or csv");
}

// Rows list their metrics in one order, so the wanted one is nearly always at `hint`.
MetricSamples& SamplesOf(Series& series, std::size_t hint, const std::string& metric) {
  auto& all = series.samples;
  if (hint < all.size() && all[hint].metric == metric) return all[hint];
  const auto found = std::find_if(
      all.begin(), all.end(), [&](const MetricSamples& entry) { return entry.metric == metric; });
  if (found != all.end()) return *found;
  all.push_back({});
  all.back().metric = metric;
  return all.back();
}

// An aggregate's iterations are the repetitions it is of.
std::int64_t RepetitionsIn(const ResultRow& row) {
  if (row.kind == RowKind::kIteration) return 1;
  return row.iterations >= 1 && row.iterations < 1e15 ? static_cast<std::int64_t>(row.iterations)
                                                      : 1;
}

void AddSamples(const ResultRow& row, bool is_stddev, Series& series) {
  const std::vector<std::string> names = MetricNames(row);
  for (std::size_t i = 0; i < names.size(); ++i) {
    MetricSamples& samples = SamplesOf(series, i, names[i]);
    if (is_stddev) {
      samples.stddev = row.metrics[i].value;
    } else {
      samples.values.push_back(row.metrics[i].value);
      samples.count += RepetitionsIn(row);
    }
  }
  series.has_measured = true;
}

bool IsTimeUnit(std::string_view unit) {
  return unit == "ns" || unit == "us" || unit == "ms" || unit == "s";
}

// A failure beats everything, a measurement beats a skip.
void AddState(const ResultRow& row, Series& series) {
  PooledBenchmark& benchmark = series.benchmark;
  if (benchmark.state == RowState::kError || row.state == RowState::kMeasured) return;
  benchmark.state = row.state;
  benchmark.message = VisibleText(row.message);
}

void AddRow(const ResultRow& row, const Coverage& coverage, Series& series) {
  PooledBenchmark& benchmark = series.benchmark;
  if (benchmark.label.empty()) benchmark.label = VisibleText(row.label);
  if (benchmark.time_unit.empty() && IsTimeUnit(row.time_unit)) benchmark.time_unit = row.time_unit;
  AddState(row, series);
  if (row.state != RowState::kMeasured) return;
  if (row.kind == RowKind::kIteration) {
    benchmark.from_aggregates = false;
    AddSamples(row, false, series);
  } else if (!coverage.has_iterations) {
    const bool is_value = row.aggregate_name == (coverage.has_median ? "median" : "mean");
    if (is_value || row.aggregate_name == "stddev") AddSamples(row, !is_value, series);
  }
}

PooledMetric Summarize(const MetricSamples& samples) {
  PooledMetric metric;
  metric.name = samples.metric;
  metric.count = samples.count;
  const auto& values = samples.values;
  const auto wild = std::find_if(values.begin(), values.end(),
                                 [](double value) { return !std::isfinite(value); });
  metric.value = wild != values.end() ? *wild : Median(values);
  if (wild != values.end()) return metric;
  if (values.size() > 1) {
    const auto [smallest, largest] = std::minmax_element(values.begin(), values.end());
    metric.spread = Spread::kMinMax;
    metric.lower = *smallest;
    metric.upper = *largest;
  } else if (std::isfinite(samples.stddev)) {
    metric.spread = Spread::kStddev;
    metric.lower = metric.value - samples.stddev;
    metric.upper = metric.value + samples.stddev;
  }
  return metric;
}

PooledBenchmark Finish(Series& series) {
  PooledBenchmark& benchmark = series.benchmark;
  if (benchmark.state == RowState::kSkipped && series.has_measured) {
    benchmark.state = RowState::kMeasured;
    benchmark.message.clear();
  }
  if (benchmark.time_unit.empty()) benchmark.time_unit = "s";
  if (benchmark.state == RowState::kMeasured) {
    for (const MetricSamples& samples : series.samples) {
      if (!samples.values.empty()) benchmark.metrics.push_back(Summarize(samples));
    }
  }
  return std::move(benchmark);
}

// Collects one run.
class Pooler {
 public:
  explicit Pooler(NameTable& names) : names_(names) {}

  void Add(const ResultFile& file) {
    same_origin_ = {&file};
    Namesakes namesakes(file);
    std::vector<std::pair<const ResultRow*, std::size_t>> rows;  // and their series
    std::unordered_map<std::size_t, Coverage> coverage;
    for (const ResultRow& row : file.rows) {
      if (!IsValueRow(row)) continue;
      const std::size_t series =
          FindSeries(row, namesakes.OrdinalOf(BenchmarkName(row), row), file);
      rows.emplace_back(&row, series);
      coverage[series].has_iterations |= row.kind == RowKind::kIteration;
      coverage[series].has_median |= row.aggregate_name == "median";
    }
    for (const auto& [row, series] : rows) AddRow(*row, coverage[series], series_[series]);
  }

  std::vector<PooledBenchmark> Finished() {
    std::vector<PooledBenchmark> benchmarks;
    benchmarks.reserve(series_.size());
    for (Series& series : series_) benchmarks.push_back(Finish(series));
    return benchmarks;
  }

 private:
  std::size_t FindSeries(const ResultRow& row, std::size_t ordinal, const ResultFile& file) {
    const std::string key = KeyOf(BenchmarkName(row), ordinal);
    const auto [entry, is_new] = index_.try_emplace(key, series_.size());
    if (is_new) {
      const NameTable::Names& names = names_.Find(BenchmarkName(row), key);
      Series series;
      series.benchmark.raw_name = names.raw;
      series.benchmark.name = names.visible;
      series.benchmark.labels = NameLabels(names.visible);
      series.benchmark.from_aggregates = true;
      series.benchmark.source = &file;
      series_.push_back(std::move(series));
    }
    const PooledBenchmark& benchmark = series_[entry->second].benchmark;
    if (same_origin_.insert(benchmark.source).second) {
      CheckSameOrigin(*benchmark.source, file, benchmark.name);
    }
    return entry->second;
  }

  NameTable& names_;
  std::unordered_set<const ResultFile*> same_origin_;  // as the file that is being added
  std::vector<Series> series_;
  std::unordered_map<std::string, std::size_t> index_;
};

// Files of one run have the same text.
std::string GroupOf(const ResultFile& file, std::size_t index, Grouping grouping) {
  switch (grouping) {
    case Grouping::kTogether:
      return "";
    case Grouping::kByTime: {
      const std::optional<std::int64_t> time = ParseTime(file.ContextValue("date"));
      return VisibleText(file.ContextValue("host_name")) + '\0' +
             (time ? FormatInteger(*time) : "");
    }
    case Grouping::kByFile:
      break;
  }
  return FormatInteger(static_cast<std::int64_t>(index));
}

std::vector<std::vector<const ResultFile*>> Groups(const std::vector<ResultFile>& files,
                                                   Grouping grouping) {
  std::vector<std::vector<const ResultFile*>> groups;
  std::unordered_map<std::string, std::size_t> index;
  for (std::size_t i = 0; i < files.size(); ++i) {
    const auto [entry, is_new] = index.try_emplace(GroupOf(files[i], i, grouping), groups.size());
    if (is_new) groups.emplace_back();
    groups[entry->second].push_back(&files[i]);
  }
  return groups;
}

}  // namespace

std::string_view SpreadName(Spread spread) {
  switch (spread) {
    case Spread::kMinMax:
      return "min_max";
    case Spread::kStddev:
      return "stddev";
    case Spread::kNone:
      break;
  }
  return "";
}

std::int64_t RepetitionsOf(const PooledBenchmark& benchmark) {
  std::int64_t most = 0;
  for (const PooledMetric& metric : benchmark.metrics) most = std::max(most, metric.count);
  return most;
}

std::string_view StateName(RowState state) {
  switch (state) {
    case RowState::kError:
      return "error";
    case RowState::kSkipped:
      return "skipped";
    case RowState::kMeasured:
      break;
  }
  return "measured";
}

std::vector<Run> Pool(const std::vector<ResultFile>& files, Grouping grouping) {
  std::vector<Run> runs;
  NameTable names;
  for (auto& group : Groups(files, grouping)) {
    Pooler pooler(names);
    for (const ResultFile* file : group) pooler.Add(*file);
    Run run;
    run.host = VisibleText(group[0]->ContextValue("host_name"));
    run.time = ParseTime(group[0]->ContextValue("date"));
    run.benchmarks = pooler.Finished();
    run.files = std::move(group);
    runs.push_back(std::move(run));
  }
  return runs;
}

std::vector<PooledBenchmark> PoolTogether(const std::vector<ResultFile>& files) {
  std::vector<Run> runs = Pool(files, Grouping::kTogether);
  return runs.empty() ? std::vector<PooledBenchmark>() : std::move(runs[0].benchmarks);
}

std::vector<std::string> MetricNames(const ResultRow& row) {
  std::vector<std::string> names;
  std::unordered_set<std::string_view> taken;
  names.reserve(row.metrics.size());  // so that `taken` may point into it
  for (const Metric& metric : row.metrics) {
    names.push_back(metric.name.empty() ? "counter" : metric.name);
    while (!taken.insert(names.back()).second) names.back() += "_counter";
  }
  return names;
}

}  // namespace cnn
