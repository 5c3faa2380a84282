// The text of Go's benchmarks, https://go.dev/design/14313-benchmark-format, for benchstat:
//
//   pkg: cnn_benchmarks
//   cpu: Intel(R) Xeon(R) Processor, 2 logical cores, 23.5 GiB
//   Unit images/s better=higher
//   BenchmarkLayer/eight_kinds/conv1/device=cpu/batch=32-1 91 0.0072 sec/op 4406.7 images/s
//
// A line per repetition: benchstat does its own statistics. Of a benchmark with aggregates only,
// one line with the median.
//
// A name has no spaces, and an upper-case letter after "Benchmark"; key:value becomes key=value,
// which benchstat can group by (-col /device). Everything it could misread is percent-encoded, and
// so are "%" and "=" themselves: the original can be had back. "-1" ends every name because a
// number after a dash is GOMAXPROCS to benchstat, whatever was meant.
//
// benchstat makes a table of its own for each different set of configuration lines. Two commits on
// one machine must come into the same table, so commit and date are comments. Errors and skips are
// comments as well, as `go test` prints them, and values that are not finite are left out.
#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "tools/benchmark_name.h"
#include "tools/export_metric.h"
#include "tools/export_pool.h"
#include "tools/export_text.h"
#include "tools/export_writers.h"

namespace cnn {
namespace {

bool IsUpper(char c) { return c >= 'A' && c <= 'Z'; }

// Spaces, control characters and `special` ones as %20. Beyond ASCII everything: among it are more
// spaces than one wants to know.
std::string PercentEncoded(std::string_view text, std::string_view special) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string encoded;
  for (const char character : text) {
    const auto byte = static_cast<unsigned char>(character);
    const bool is_plain = byte > 0x20 && byte < 0x7F && character != '%' &&
                          special.find(character) == std::string_view::npos;
    if (is_plain) {
      encoded += character;
    } else {
      encoded += '%';
      encoded += kDigits[byte >> 4];
      encoded += kDigits[byte & 0x0FU];
    }
  }
  return encoded;
}

std::string GoName(const std::string& name) {
  std::string text = "Benchmark";
  // "X_" makes a letter; before a name that has one, so that it can be taken off again.
  if (name.empty() || !IsUpper(name[0]) || name.compare(0, 2, "X_") == 0) text += "X_";
  for (const NamePart& part : NameParts(name)) {
    if (part.value.data() != name.data()) text += '/';
    if (!part.key.empty()) text += std::string(part.key) + '=';
    text += PercentEncoded(part.value, "=");
  }
  return text + "-1";
}

struct GoUnit {
  std::string name;
  double scale;
};

// Times as benchstat calls them, "B/s" so that it says "GiB/s", and images where they are images.
GoUnit GoUnitOf(const std::string& metric, bool is_our_suite) {
  if (metric == "real_time") return {"sec/op", 1};
  if (metric == "cpu_time") return {"cpu-sec/op", 1};
  // benchstat turns these into the units above and below, and would not tell two values of one unit
  // apart.
  if (metric == "ns/op") return {"sec/op", 1e-9};
  if (metric == "MB/s") return {"B/s", 1e6};
  if (metric == "items_per_second") return {is_our_suite ? "images/s" : "items/s", 1};
  const MetricUnit unit = UnitOf(metric);
  std::string name = PercentEncoded(unit.stem, "");
  if (unit.base_unit == "seconds") return {name + "-sec", unit.to_base};
  if (unit.base_unit == "bytes") return {name + "-bytes", unit.to_base};
  if (!unit.unit.empty()) return {PercentEncoded(unit.unit, ""), 1};
  // page_faults_per_step is page_faults/step.
  const std::size_t per = name.find("_per_");
  if (per != std::string::npos && per > 0) name.replace(per, 5, "/");
  return {name, 1};
}

class GoWriter {
 public:
  GoWriter(const ExportOptions& options, std::ostream& out) : options_(options), out_(out) {}

  void Start(const ResultFile& file) {
    is_our_suite_ = !file.ContextValue("suite_schema_version").empty();
    out_ << "# " << VisibleText(file.path) << ": commit "
         << VisibleText(file.ContextValue("git_commit")) << ", "
         << VisibleText(file.ContextValue("date")) << '\n';
    // Without a value a line takes back what the file before it said.
    out_ << "pkg: " << VisibleText(BaseName(file.ContextValue("executable"))) << '\n';
    out_ << "cpu: " << VisibleText(file.ContextValue("device_cpu")) << '\n';
  }

  void WriteFailure(const ResultRow& row) {
    out_ << "--- " << (row.state == RowState::kError ? "FAIL" : "SKIP") << ": "
         << GoName(BenchmarkName(row)) << ": " << VisibleText(row.message) << '\n';
  }

  void WriteRow(const ResultRow& row) {
    const std::vector<std::string> names = MetricNames(row);
    Begin();
    for (std::size_t i = 0; i < names.size(); ++i) Add(names[i], row.metrics[i].value);
    End(BenchmarkName(row), row.iterations);
  }

  void WriteAggregate(const PooledBenchmark& benchmark) {
    Begin();
    for (const PooledMetric& metric : benchmark.metrics) Add(metric.name, metric.value);
    End(benchmark.raw_name, static_cast<double>(RepetitionsOf(benchmark)));
  }

 private:
  void Begin() {
    values_.clear();
    units_of_line_ = UniqueNames();
  }

  void Add(const std::string& metric, double value) {
    const GoUnit unit = GoUnitOf(metric, is_our_suite_);
    if (!std::isfinite(value * unit.scale)) return;
    const std::string name = units_of_line_.Take(unit.name, "_");
    values_ += ' ' + FormatReal(value * unit.scale) + ' ' + name;
    const std::string_view better = BetterText(options_.direction(metric));
    if (!described_.insert(name).second || better.empty()) return;
    out_ << "Unit " << name << " better=" << better << '\n';
  }

  void End(const std::string& name, double iterations) {
    if (values_.empty()) return;
    const bool is_count = iterations >= 1 && iterations < 1e15;
    out_ << GoName(name) << ' '
         << FormatInteger(is_count ? static_cast<std::int64_t>(iterations) : 1) << values_ << '\n';
  }

  const ExportOptions& options_;
  std::ostream& out_;
  bool is_our_suite_ = false;
  std::string values_;
  UniqueNames units_of_line_;
  std::unordered_set<std::string> described_;
};

}  // namespace

void WriteGoBench(const ResultFiles& files, const ExportOptions& options, std::ostream& out) {
  GoWriter writer(options, out);
  const std::vector<Run> runs = Pool(files, Grouping::kByFile);
  for (const Run& run : runs) {
    const ResultFile& file = *run.files[0];
    writer.Start(file);
    for (const ResultRow& row : file.rows) {
      if (row.kind != RowKind::kIteration) continue;
      if (row.state == RowState::kMeasured) {
        writer.WriteRow(row);
      } else {
        writer.WriteFailure(row);
      }
    }
    for (const PooledBenchmark& benchmark : run.benchmarks) {
      if (benchmark.from_aggregates) writer.WriteAggregate(benchmark);
    }
  }
}

}  // namespace cnn
