// JUnit XML as Jenkins, GitLab and GitHub's test reporters read it: a test suite per file, a test
// case per benchmark with its family as class and its real time as duration. An error is a failure,
// a skip is skipped, and a file that breaks off has an error of its own: its missing benchmarks
// would otherwise look like ones that were never there. All values are in system-out.
//
// XML 1.0 has no control characters, not even escaped: they are pictures. A duration is a decimal
// number without exponent. Counts come before the cases. Jenkins checks files against a schema
// (junit-10.xsd of its xUnit plugin), by which only a suite may say how many were skipped.
#include <cmath>

#include "tools/export_metric.h"
#include "tools/export_pool.h"
#include "tools/export_text.h"
#include "tools/export_writers.h"

namespace cnn {
namespace {

void ReplaceAll(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at)) {
    text.replace(at, from.size(), to);
    at += to.size();
  }
}

std::string Xml(std::string_view text) {
  std::string xml;
  for (const char character : VisibleText(text)) {
    switch (character) {
      case '&':
        xml += "&amp;";
        break;
      case '<':
        xml += "&lt;";
        break;
      case '>':
        xml += "&gt;";
        break;
      case '"':
        xml += "&quot;";
        break;
      default:
        xml += character;
    }
  }
  // U+FFFE and U+FFFF are characters of Unicode but not of XML.
  ReplaceAll(xml, "\xEF\xBF\xBE", "\xEF\xBF\xBD");
  ReplaceAll(xml, "\xEF\xBF\xBF", "\xEF\xBF\xBD");
  return xml;
}

// ` name="text"`
std::string Attribute(std::string_view name, std::string_view text) {
  return ' ' + std::string(name) + "=\"" + Xml(text) + '"';
}

struct Counts {
  std::int64_t tests = 0;
  std::int64_t failures = 0;
  std::int64_t errors = 0;
  std::int64_t skipped = 0;
  double seconds = 0;

  void Add(const Counts& other) {
    tests += other.tests;
    failures += other.failures;
    errors += other.errors;
    seconds += other.seconds;
  }

  std::string Attributes() const {
    return Attribute("tests", FormatInteger(tests)) +
           Attribute("failures", FormatInteger(failures)) +
           Attribute("errors", FormatInteger(errors)) + Attribute("time", FormatDecimal(seconds));
  }
};

double SecondsOf(const PooledBenchmark& benchmark) {
  for (const PooledMetric& metric : benchmark.metrics) {
    if (metric.name == "real_time" && std::isfinite(metric.value)) return metric.value;
  }
  return 0;
}

Counts CountsOf(const Run& run) {
  Counts counts;
  for (const PooledBenchmark& benchmark : run.benchmarks) {
    ++counts.tests;
    counts.failures += benchmark.state == RowState::kError ? 1 : 0;
    counts.skipped += benchmark.state == RowState::kSkipped ? 1 : 0;
    counts.seconds += SecondsOf(benchmark);
  }
  if (run.files[0]->is_incomplete) {
    ++counts.tests;
    ++counts.errors;
  }
  return counts;
}

std::string FamilyOf(const PooledBenchmark& benchmark) {
  for (const Label& label : benchmark.labels) {
    if (label.key == "family") return label.value;
  }
  return benchmark.name;
}

std::string MetricLine(const PooledMetric& metric) {
  std::string line = metric.name + ": " + FormatReal(metric.value);
  const std::string unit = UnitOf(metric.name).unit;
  if (!unit.empty()) line += ' ' + unit;
  if (metric.spread != Spread::kNone) {
    line += " [" + FormatReal(metric.lower) + ", " + FormatReal(metric.upper) + ']';
  }
  return line + ", n = " + FormatInteger(metric.count);
}

void WriteResult(const PooledBenchmark& benchmark, std::ostream& out) {
  if (benchmark.state == RowState::kError) {
    out << "      <failure" << Attribute("message", benchmark.message)
        << Attribute("type", "benchmark error") << "/>\n";
  } else if (benchmark.state == RowState::kSkipped) {
    out << "      <skipped" << Attribute("message", benchmark.message) << "/>\n";
  }
  if (benchmark.metrics.empty() && benchmark.label.empty()) return;
  out << "      <system-out>";
  if (!benchmark.label.empty()) out << "label: " << Xml(benchmark.label) << '\n';
  for (const PooledMetric& metric : benchmark.metrics) out << Xml(MetricLine(metric)) << '\n';
  out << "</system-out>\n";
}

void WriteCase(const PooledBenchmark& benchmark, std::ostream& out) {
  out << "    <testcase" << Attribute("classname", FamilyOf(benchmark))
      << Attribute("name", benchmark.name) << Attribute("time", FormatDecimal(SecondsOf(benchmark)))
      << ">\n";
  WriteResult(benchmark, out);
  out << "    </testcase>\n";
}

void WriteSuite(const Run& run, std::ostream& out) {
  const ResultFile& file = *run.files[0];
  const Counts counts = CountsOf(run);
  out << "  <testsuite" << Attribute("name", file.path) << counts.Attributes()
      << Attribute("skipped", FormatInteger(counts.skipped));
  if (run.time) out << Attribute("timestamp", FormatTime(*run.time));
  if (!run.host.empty()) out << Attribute("hostname", run.host);
  out << ">\n";
  for (const PooledBenchmark& benchmark : run.benchmarks) WriteCase(benchmark, out);
  if (file.is_incomplete) {
    out << "    <testcase" << Attribute("classname", "file") << Attribute("name", "complete")
        << Attribute("time", "0.0") << ">\n      <error"
        << Attribute("message", "the file breaks off: the program did not end") << "/>\n"
        << "    </testcase>\n";
  }
  out << "  </testsuite>\n";
}

}  // namespace

void WriteJUnit(const ResultFiles& files, const ExportOptions&, std::ostream& out) {
  const std::vector<Run> runs = Pool(files, Grouping::kByFile);
  Counts all;
  for (const Run& run : runs) all.Add(CountsOf(run));
  out << "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites" << all.Attributes() << ">\n";
  for (const Run& run : runs) WriteSuite(run, out);
  out << "</testsuites>\n";
}

}  // namespace cnn
