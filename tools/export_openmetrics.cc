// OpenMetrics 1.0 text, https://prometheus.io/docs/specs/om/open_metrics_spec/: a family of gauges
// for each metric and each end of its spread, in seconds and bytes,
//
//   # TYPE benchmark_real_time_seconds gauge
//   # UNIT benchmark_real_time_seconds seconds
//   # HELP benchmark_real_time_seconds real_time, median of the repetitions; lower is better
//   benchmark_real_time_seconds{benchmark="…",family="…",host="…",metric="real_time"} 0.0072
//
// with `_lower` and `_upper` before the unit, benchmark_repetitions, benchmark_failed and
// benchmark_skipped (0 or 1, for all benchmarks) and benchmark_run_info with what was measured.
//
// Node exporter's textfile collector and promtool check read the older text format 0.0.4. A file
// without timestamps is that as well: gauges only (it has no type info, though a metric may be
// called so), no quotes in HELP, where the one format wants them escaped and the other does not.
//
// A family's samples must stand together, so everything is pooled before the first line. A
// counter's name becomes one of Prometheus's alphabet, unique; the label `metric` keeps the
// original. NaN and infinities are values here.
#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include "tools/export_metric.h"
#include "tools/export_pool.h"
#include "tools/export_text.h"
#include "tools/export_writers.h"

namespace cnn {
namespace {

std::string Escaped(std::string_view text) { return BackslashEscaped(VisibleText(text), "\"\\"); }

// "{key="value",…}" from labels; those without a value are left out, as Prometheus does.
std::string LabelSet(const std::vector<Label>& labels) {
  std::string text;
  for (const Label& label : labels) {
    if (label.value.empty()) continue;
    text += (text.empty() ? "" : ",") + label.key + "=\"" + Escaped(label.value) + '"';
  }
  return '{' + text + '}';
}

std::string Number(double value) {
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  return FormatReal(value);
}

// A benchmark in a run.
struct Point {
  const PooledBenchmark* benchmark;
  const Run* run;
  std::size_t series;  // the same for a name on a host, in order of appearance
};

// A series must stand together too, in the order of time.
std::vector<Point> PointsOf(const std::vector<Run>& runs) {
  std::vector<Point> points;
  std::unordered_map<std::string, std::size_t> series;
  for (const Run& run : runs) {
    for (const PooledBenchmark& benchmark : run.benchmarks) {
      const std::string key = run.host + '\0' + benchmark.name;
      points.push_back({&benchmark, &run, series.try_emplace(key, series.size()).first->second});
    }
  }
  std::stable_sort(points.begin(), points.end(), [](const Point& a, const Point& b) {
    return std::tie(a.series, a.run->time) < std::tie(b.series, b.run->time);
  });
  return points;
}

enum class Part { kValue, kLower, kUpper };

constexpr std::array<std::string_view, 3> kInfixes = {"", "lower", "upper"};
constexpr std::array<std::string_view, 3> kMeanings = {
    "median of the repetitions", "low end of the spread", "high end of the spread"};

struct Sample {
  const Point* point;
  const PooledMetric* metric;
};

// A metric and one end of it, or its value.
struct Family {
  std::string name;
  std::string metric;
  Part part;
  std::vector<Sample> samples;
};

class Families {
 public:
  void Add(const std::vector<Point>& points) {
    for (const Point& point : points) {
      for (const PooledMetric& metric : point.benchmark->metrics) {
        Add(point, metric, Part::kValue);
        if (metric.spread == Spread::kNone) continue;
        Add(point, metric, Part::kLower);
        Add(point, metric, Part::kUpper);
      }
    }
  }

  const std::vector<Family>& all() const { return families_; }

 private:
  void Add(const Point& point, const PooledMetric& metric, Part part) {
    auto& of_part = index_[static_cast<std::size_t>(part)];
    const auto [entry, is_new] = of_part.try_emplace(metric.name, families_.size());
    if (is_new) families_.push_back({NewName(metric.name, part), metric.name, part, {}});
    families_[entry->second].samples.push_back({&point, &metric});
  }

  // The unit stays at the end of a name, so that what makes it unique goes before it.
  std::string NewName(const std::string& metric, Part part) {
    const std::string infix(kInfixes[static_cast<std::size_t>(part)]);
    std::string number;
    for (std::int64_t i = 2;; ++i) {
      const std::string stem = infix + (infix.empty() || number.empty() ? "" : "_") + number;
      std::string name = "benchmark_" + Identifier(BaseUnitName(metric, stem));
      if (taken_.insert(name).second) return name;
      number = FormatInteger(i);
    }
  }

  std::vector<Family> families_;
  std::array<std::unordered_map<std::string, std::size_t>, 3> index_;
  std::unordered_set<std::string> taken_ = {"benchmark_failed", "benchmark_skipped",
                                            "benchmark_repetitions", "benchmark_run_info"};
};

class Writer {
 public:
  Writer(const ExportOptions& options, std::ostream& out) : options_(options), out_(out) {}

  void WriteHead(const std::string& family, std::string_view unit, const std::string& help) {
    out_ << "# TYPE " << family << " gauge\n";
    if (!unit.empty()) out_ << "# UNIT " << family << ' ' << unit << '\n';
    std::string quoteless = help;
    std::replace(quoteless.begin(), quoteless.end(), '"', '\'');
    out_ << "# HELP " << family << ' ' << Escaped(quoteless) << '\n';
  }

  void WriteSample(const std::string& name, const std::vector<Label>& labels, double value,
                   const Run& run) {
    out_ << name << LabelSet(labels) << ' ' << Number(value) << TimeOf(run) << '\n';
  }

  void WriteFamily(const Family& family) {
    const MetricUnit unit = UnitOf(family.metric);
    WriteHead(family.name, unit.base_unit, HelpOf(family));
    for (const Sample& sample : family.samples) {
      std::vector<Label> labels = LabelsOf(*sample.point);
      labels.push_back({"metric", family.metric});
      WriteSample(family.name, labels, ValueOf(*sample.metric, family.part) * unit.to_base,
                  *sample.point->run);
    }
  }

  // One sample for each benchmark, `value(benchmark)`.
  template <typename Value>
  void WritePoints(const std::string& name, const std::string& help,
                   const std::vector<Point>& points, Value value) {
    if (points.empty()) return;
    WriteHead(name, "", help);
    for (const Point& point : points) {
      WriteSample(name, LabelsOf(point), value(*point.benchmark), *point.run);
    }
  }

  std::string TimeOf(const Run& run) const {
    const bool is_wanted = options_.openmetrics_timestamps && run.time.has_value();
    return is_wanted ? ' ' + FormatInteger(*run.time) : "";
  }

 private:
  static std::vector<Label> LabelsOf(const Point& point) {
    std::vector<Label> labels = {{"benchmark", point.benchmark->name}};
    const auto& parts = point.benchmark->labels;
    labels.insert(labels.end(), parts.begin(), parts.end());
    labels.push_back({"host", point.run->host});
    return labels;
  }

  static double ValueOf(const PooledMetric& metric, Part part) {
    if (part == Part::kValue) return metric.value;
    return part == Part::kLower ? metric.lower : metric.upper;
  }

  std::string HelpOf(const Family& family) const {
    const std::string_view better = BetterText(options_.direction(family.metric));
    return family.metric + ", " + std::string(kMeanings[static_cast<std::size_t>(family.part)]) +
           (better.empty() ? "" : "; " + std::string(better) + " is better");
  }

  const ExportOptions& options_;
  std::ostream& out_;
};

// What was measured, once for each different text and time, in the order that families need.
void WriteRunInfo(const std::vector<Run>& runs, const ExportOptions& options, std::ostream& out) {
  Writer writer(options, out);
  std::vector<std::pair<std::string, const Run*>> infos;
  for (const Run& run : runs) {
    for (const ResultFile* file : run.files) {
      std::vector<Label> labels = {{"host", run.host}};
      for (const char* key : {"git_commit", "executable", "build_type", "library_version"}) {
        labels.push_back({key, std::string(file->ContextValue(key))});
      }
      infos.emplace_back(LabelSet(labels), &run);
    }
  }
  if (infos.empty()) return;
  std::stable_sort(infos.begin(), infos.end(), [](const auto& a, const auto& b) {
    return std::tie(a.first, a.second->time) < std::tie(b.first, b.second->time);
  });
  writer.WriteHead("benchmark_run_info", "", "what was measured");
  std::string last;
  for (const auto& [labels, run] : infos) {
    std::string line = "benchmark_run_info" + labels + " 1" + writer.TimeOf(*run) + '\n';
    if (line != last) out << line;
    last = std::move(line);
  }
}

// Samples of one series have all a time or none.
void CheckTimes(const ResultFiles& files) {
  for (const ResultFile& file : files) {
    if (ParseTime(file.ContextValue("date"))) continue;
    throw std::runtime_error(file.path +
                             ": has no date with an offset, so its samples cannot have timestamps: "
                             "leave the file out, or the timestamps");
  }
}

}  // namespace

void WriteOpenMetrics(const ResultFiles& files, const ExportOptions& options, std::ostream& out) {
  if (options.openmetrics_timestamps) CheckTimes(files);
  const std::vector<Run> runs =
      Pool(files, options.openmetrics_timestamps ? Grouping::kByTime : Grouping::kTogether);
  const std::vector<Point> points = PointsOf(runs);
  Families families;
  families.Add(points);
  Writer writer(options, out);
  for (const Family& family : families.all()) writer.WriteFamily(family);
  writer.WritePoints("benchmark_repetitions", "measurements that a value is of", points,
                     [](const PooledBenchmark& benchmark) {
                       return static_cast<double>(RepetitionsOf(benchmark));
                     });
  writer.WritePoints("benchmark_failed", "1: the benchmark reported an error", points,
                     [](const PooledBenchmark& benchmark) {
                       return benchmark.state == RowState::kError ? 1.0 : 0.0;
                     });
  writer.WritePoints("benchmark_skipped", "1: the benchmark was skipped", points,
                     [](const PooledBenchmark& benchmark) {
                       return benchmark.state == RowState::kSkipped ? 1.0 : 0.0;
                     });
  WriteRunInfo(runs, options, out);
  out << "# EOF\n";
}

}  // namespace cnn
