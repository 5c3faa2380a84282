// The formats that are JSON. What JSON cannot hold: NaN and infinities (a null and a note, or left
// out), a key twice in an object (names are unique), invalid UTF-8 (U+FFFD).
//
// ndjson and json: flat objects with the same keys in each, "schema_version" first, so that DuckDB,
// ClickHouse, Elasticsearch, pandas, Grafana and Vega-Lite take them as they are. `json` is an
// array of the lines of `ndjson`. Version 1:
//
//   schema_version       1
//   time                 "2026-12-01T18:36:31Z", of the file; null where it does not say
//   file, host, git_commit   the latter two null where the file does not say
//   benchmark            the whole name
//   family, subject, …   its parts; every key:value of the name has a key of its own
//   state                "measured", "error" or "skipped"; the latter two have no metric
//   message, label       null where there is none
//   metric, unit         "real_time", "s"; a counter's unit is what its name says, else null
//   value                the median; null with the reason in `nonfinite` ("NaN", "-Infinity")
//   lower, upper, spread the smallest and largest ("min_max"), value ∓ "stddev", or null
//   n                    repetitions
//   better               "lower", "higher" or null
#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "tools/export_metric.h"
#include "tools/export_pool.h"
#include "tools/export_text.h"
#include "tools/export_writers.h"

namespace cnn {
namespace {

constexpr std::string_view kSchemaVersion = "1";

// Objects with one key after the other.
class JsonObject {
 public:
  void Add(std::string_view key, std::string_view json) {
    text_ += (text_.empty() ? "" : ",") + JsonString(key) + ':' + std::string(json);
  }
  void AddText(std::string_view key, std::string_view text) { Add(key, JsonString(text)); }
  void AddTextOrNull(std::string_view key, std::string_view text) {
    Add(key, text.empty() ? "null" : JsonString(text));
  }

  bool empty() const { return text_.empty(); }
  std::string Text() const { return '{' + text_ + '}'; }

 private:
  std::string text_;
};

std::string JsonNumber(double value) { return std::isfinite(value) ? FormatReal(value) : "null"; }

void AddRunKeys(const Run& run, JsonObject& row) {
  const ResultFile& file = *run.files[0];
  row.Add("schema_version", kSchemaVersion);
  row.AddTextOrNull("time", run.time ? FormatTime(*run.time) + 'Z' : "");
  row.AddText("file", file.path);
  row.AddTextOrNull("host", run.host);
  row.AddTextOrNull("git_commit", file.ContextValue("git_commit"));
}

void AddBenchmarkKeys(const PooledBenchmark& benchmark, JsonObject& row) {
  row.AddText("benchmark", benchmark.raw_name);
  for (const Label& label : benchmark.labels) row.AddText(label.key, label.value);
  row.AddText("state", StateName(benchmark.state));
  row.AddTextOrNull("message", benchmark.message);
  row.AddTextOrNull("label", benchmark.label);
}

// Of a benchmark without metrics: nothing, under the same keys.
PooledMetric NoMetric() {
  PooledMetric metric;
  metric.value = std::nan("");
  return metric;
}

void AddMetricKeys(const PooledMetric& metric, const ExportOptions& options, JsonObject& row) {
  const bool is_wild = !metric.name.empty() && !std::isfinite(metric.value);
  const bool has_spread = metric.spread != Spread::kNone;
  row.AddTextOrNull("metric", metric.name);
  row.AddTextOrNull("unit", UnitOf(metric.name).unit);
  row.Add("value", JsonNumber(metric.value));
  row.AddTextOrNull("nonfinite", is_wild ? FormatReal(metric.value) : "");
  row.Add("lower", has_spread ? JsonNumber(metric.lower) : "null");
  row.Add("upper", has_spread ? JsonNumber(metric.upper) : "null");
  row.AddTextOrNull("spread", SpreadName(metric.spread));
  row.Add("n", FormatInteger(metric.count));
  row.AddTextOrNull("better", BetterText(options.direction(metric.name)));
}

void ForEachRow(const ResultFiles& files, const ExportOptions& options,
                const std::function<void(const std::string&)>& write) {
  for (const Run& run : Pool(files, Grouping::kByFile)) {
    JsonObject of_run;
    AddRunKeys(run, of_run);
    for (const PooledBenchmark& benchmark : run.benchmarks) {
      JsonObject of_benchmark = of_run;
      AddBenchmarkKeys(benchmark, of_benchmark);
      const auto write_row = [&](const PooledMetric& metric) {
        JsonObject row = of_benchmark;
        AddMetricKeys(metric, options, row);
        write(row.Text());
      };
      for (const PooledMetric& metric : benchmark.metrics) write_row(metric);
      if (benchmark.metrics.empty()) write_row(NoMetric());
    }
  }
}

// Writes the separators of a list in brackets.
class JsonList {
 public:
  JsonList(std::ostream& out, char open, char close) : out_(out), close_(close) { out_ << open; }
  void Add(const std::string& json) {
    out_ << (is_first_ ? "\n" : ",\n") << json;
    is_first_ = false;
  }
  void End() { out_ << (is_first_ ? "" : "\n") << close_ << '\n'; }

 private:
  std::ostream& out_;
  const char close_;
  bool is_first_ = true;
};

// Bencher. A name has at most 1024 bytes and a measure, by its slug, 64; its own measures are
// `latency` in nanoseconds and `throughput`, others it makes when it meets them.
constexpr std::size_t kBmfNameSize = 1024;
constexpr std::size_t kBmfSlugSize = 64;

// With room for the number that makes it unique.
std::string CutName(const std::string& name, std::size_t size) {
  return std::string(CutUtf8(name, size - 12));
}

std::string SlugOf(std::string_view metric) {
  if (metric == "real_time") return "latency";
  if (metric == "items_per_second") return "throughput";
  std::string slug;
  for (const char c : Identifier(metric)) {
    if (c != '_') {
      slug += static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
    } else if (!slug.empty() && slug.back() != '-') {
      slug += '-';
    }
  }
  slug = CutName(slug, kBmfSlugSize);
  while (!slug.empty() && slug.back() == '-') slug.pop_back();
  return slug.empty() ? "measure" : slug;
}

std::string BmfMeasures(const PooledBenchmark& benchmark) {
  JsonObject measures;
  UniqueNames slugs;
  for (const PooledMetric& metric : benchmark.metrics) {
    const double scale = IsTime(metric.name) ? 1e9 : 1;
    if (!std::isfinite(metric.value * scale)) continue;
    JsonObject measure;
    measure.Add("value", FormatReal(metric.value * scale));
    if (metric.spread != Spread::kNone && std::isfinite(metric.lower * scale) &&
        std::isfinite(metric.upper * scale)) {
      measure.Add("lower_value", FormatReal(metric.lower * scale));
      measure.Add("upper_value", FormatReal(metric.upper * scale));
    }
    measures.Add(slugs.Take(SlugOf(metric.name), "-"), measure.Text());
  }
  return measures.empty() ? "" : measures.Text();
}

// github-action-benchmark. It rescales times between s, ms, us and ns, so a time is in the unit of
// its benchmark.
double PerSecond(std::string_view unit) {
  if (unit == "ns") return 1e9;
  if (unit == "us") return 1e6;
  return unit == "ms" ? 1e3 : 1;
}

void AddGhaEntry(const PooledBenchmark& benchmark, const PooledMetric& metric, UniqueNames& names,
                 JsonList& list) {
  const bool is_time = IsTime(metric.name);
  const double scale = is_time ? PerSecond(benchmark.time_unit) : 1;
  // A null would be read as 0, which is an improvement of 100 %.
  if (!std::isfinite(metric.value * scale)) return;
  const std::string unit = is_time ? benchmark.time_unit : UnitOf(metric.name).unit;
  // Real times keep the name that the action's own reader of Google Benchmark gives them.
  const std::string metric_text = metric.name == "real_time" ? "" : ' ' + metric.name;
  JsonObject entry;
  // Of two entries of one name the action sees the first.
  entry.AddText("name", names.Take(ValidUtf8(benchmark.raw_name + metric_text), " #"));
  entry.AddText("unit", unit.empty() ? metric.name : unit);
  entry.Add("value", FormatReal(metric.value * scale));
  const double range = std::max(metric.value - metric.lower, metric.upper - metric.value) * scale;
  // The action's pattern for a range wants two characters or more after the blank.
  if (metric.spread != Spread::kNone && std::isfinite(range)) {
    entry.AddText("range", "± " + FormatReal(range));
  }
  std::string extra = "repetitions: " + FormatInteger(metric.count);
  if (!benchmark.label.empty()) extra += "\nlabel: " + benchmark.label;
  entry.AddText("extra", extra);
  list.Add(entry.Text());
}

void WriteGha(const ResultFiles& files, const ExportOptions& options, Direction better,
              std::ostream& out) {
  const std::vector<PooledBenchmark> benchmarks = PoolTogether(files);
  JsonList list(out, '[', ']');
  UniqueNames names;
  for (const PooledBenchmark& benchmark : benchmarks) {
    for (const PooledMetric& metric : benchmark.metrics) {
      if (options.direction(metric.name) == better) AddGhaEntry(benchmark, metric, names, list);
    }
  }
  list.End();
}

}  // namespace

void WriteNdjson(const ResultFiles& files, const ExportOptions& options, std::ostream& out) {
  ForEachRow(files, options, [&](const std::string& row) { out << row << '\n'; });
}

void WriteJson(const ResultFiles& files, const ExportOptions& options, std::ostream& out) {
  JsonList list(out, '[', ']');
  ForEachRow(files, options, [&](const std::string& row) { list.Add(row); });
  list.End();
}

void WriteBmf(const ResultFiles& files, const ExportOptions&, std::ostream& out) {
  const std::vector<PooledBenchmark> benchmarks = PoolTogether(files);
  JsonList object(out, '{', '}');
  UniqueNames names;
  for (const PooledBenchmark& benchmark : benchmarks) {
    const std::string measures = BmfMeasures(benchmark);
    if (measures.empty()) continue;
    const std::string name = CutName(ValidUtf8(benchmark.raw_name), kBmfNameSize);
    object.Add(JsonString(names.Take(name, " #")) + ':' + measures);
  }
  object.End();
}

void WriteGhaSmaller(const ResultFiles& files, const ExportOptions& options, std::ostream& out) {
  WriteGha(files, options, Direction::kLower, out);
}

void WriteGhaBigger(const ResultFiles& files, const ExportOptions& options, std::ostream& out) {
  WriteGha(files, options, Direction::kHigher, out);
}

}  // namespace cnn
