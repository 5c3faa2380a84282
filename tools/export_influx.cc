// InfluxDB's line protocol, which VictoriaMetrics, QuestDB and Telegraf read too:
//
//   benchmark,benchmark=…,family=…,host=… real_time_seconds=0.5,repetitions=3i 1764614191000000000
//
// A point per benchmark and run; seconds and bytes. Tags are what series are told apart by, so the
// commit and the label, of which there may be thousands, are fields. What is not finite has no
// field, and a point without fields is left out. A failed benchmark has failed=true and its
// message.
//
// A field has one type in all points, keeps its name from tags and is not called `time`, nor
// something with an underscore first; a counter whose name would be one of these gets another.
//
// Tags are unquoted: no newline (control characters are pictures), no empty value, and no
// backslash, because readers disagree on what it does before a comma; it becomes its full-width
// form (U+FF3C). The same series and time again would overwrite fields, so files of one host and
// second are pooled.
#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "tools/export_metric.h"
#include "tools/export_pool.h"
#include "tools/export_text.h"
#include "tools/export_writers.h"

namespace cnn {
namespace {

std::string Key(std::string_view text) {
  std::string key;
  for (const char character : text) {
    if (character == '\\') {
      key += "\xEF\xBC\xBC";
      continue;
    }
    if (character == ',' || character == '=' || character == ' ') key += '\\';
    key += character;
  }
  return key;
}

std::string Quoted(std::string_view text) {
  return '"' + BackslashEscaped(VisibleText(text), "\"\\") + '"';
}

// ",key=value" for each, sorted as InfluxDB advises.
std::string Tags(const Run& run, const PooledBenchmark& benchmark) {
  std::vector<Label> tags = benchmark.labels;
  tags.push_back({"benchmark", benchmark.name});
  if (!run.host.empty()) tags.push_back({"host", run.host});
  std::sort(tags.begin(), tags.end(), [](const Label& a, const Label& b) { return a.key < b.key; });
  std::string text;
  for (const Label& tag : tags) text += ',' + Key(tag.key) + '=' + Key(tag.value);
  return text;
}

// What no counter may be called: a tag of any point, a field of ours, InfluxDB's `time`.
UniqueNames TakenNames(const std::vector<Run>& runs) {
  std::set<std::string> keys = {"benchmark", "host",        "time",       "failed", "skipped",
                                "message",   "repetitions", "git_commit", "label"};
  for (const Run& run : runs) {
    for (const PooledBenchmark& benchmark : run.benchmarks) {
      for (const Label& label : benchmark.labels) keys.insert(label.key);
    }
  }
  UniqueNames names;
  for (const std::string& key : keys) names.Take(key, "_");
  return names;
}

class Fields {
 public:
  explicit Fields(UniqueNames taken) : names_(std::move(taken)) {}

  void Add(std::string_view key, std::string_view value) {
    text_ += (text_.empty() ? "" : ",") + Key(key) + '=' + std::string(value);
  }
  void AddText(std::string_view key, std::string_view text) {
    if (!text.empty()) Add(key, Quoted(text));
  }
  // Under its own name or one like it.
  void AddValue(const std::string& name, double value) {
    if (!std::isfinite(value)) return;
    const std::string key = VisibleText(name[0] == '_' ? "counter" + name : name);
    Add(names_.Take(key, "_"), FormatReal(value));
  }
  bool empty() const { return text_.empty(); }
  const std::string& text() const { return text_; }

 private:
  UniqueNames names_;
  std::string text_;
};

void AddMetric(const PooledMetric& metric, Fields& fields) {
  if (!std::isfinite(metric.value)) return;
  const double scale = UnitOf(metric.name).to_base;
  fields.AddValue(BaseUnitName(metric.name), metric.value * scale);
  if (metric.spread == Spread::kNone) return;
  fields.AddValue(BaseUnitName(metric.name, "lower"), metric.lower * scale);
  fields.AddValue(BaseUnitName(metric.name, "upper"), metric.upper * scale);
}

Fields FieldsOf(const PooledBenchmark& benchmark, const UniqueNames& taken) {
  Fields fields(taken);
  if (benchmark.state != RowState::kMeasured) {
    fields.Add(benchmark.state == RowState::kError ? "failed" : "skipped", "true");
    fields.AddText("message", benchmark.message);
  }
  for (const PooledMetric& metric : benchmark.metrics) AddMetric(metric, fields);
  if (fields.empty()) return fields;
  if (!benchmark.metrics.empty()) {
    fields.Add("repetitions", FormatInteger(RepetitionsOf(benchmark)) + 'i');
  }
  fields.AddText("git_commit", benchmark.source->ContextValue("git_commit"));
  fields.AddText("label", benchmark.label);
  return fields;
}

}  // namespace

void WriteInflux(const ResultFiles& files, const ExportOptions&, std::ostream& out) {
  const std::vector<Run> runs = Pool(files, Grouping::kByTime);
  const UniqueNames taken = TakenNames(runs);
  for (const Run& run : runs) {
    // Without a time the database takes its own.
    const std::string time = run.time ? ' ' + FormatInteger(*run.time) + "000000000" : "";
    for (const PooledBenchmark& benchmark : run.benchmarks) {
      const Fields fields = FieldsOf(benchmark, taken);
      if (fields.empty()) continue;
      out << "benchmark" << Tags(run, benchmark) << ' ' << fields.text() << time << '\n';
    }
  }
}

}  // namespace cnn
