#include <gtest/gtest.h>

#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <vector>

#include "tools/export_testing.h"
#include "tools/export_text.h"

namespace cnn {
namespace {

using Labels = std::map<std::string, std::string>;

struct Sample {
  std::string name;
  Labels labels;
  double value = 0;
  std::optional<double> time;
};

struct Family {
  std::string name, type, unit, help;
  std::vector<Sample> samples;
};

// OpenMetrics 1.0, as far as gauges go: families whole and once, metadata before samples,
// the unit at the end of the name, each series together, with times that rise, # EOF at the end.
class OpenMetricsReader {
 public:
  std::vector<Family> Read(std::string_view text) {
    const auto lines = Split(text, '\n');
    if (lines.size() < 2 || lines[lines.size() - 2] != "# EOF" || !lines.back().empty()) {
      throw std::runtime_error("no # EOF line at the end");
    }
    for (std::size_t i = 0; i + 2 < lines.size(); ++i) {
      line_ = lines[i];
      at_ = 0;
      if (line_.substr(0, 2) == "# ") {
        ReadMetadata();
      } else {
        ReadSample();
      }
    }
    return families_;
  }

 private:
  [[noreturn]] void Fail(const std::string& what) const {
    throw std::runtime_error(what + " at byte " + std::to_string(at_) + " of " +
                             std::string(line_));
  }
  char Peek() const { return at_ < line_.size() ? line_[at_] : '\0'; }
  char Next() {
    if (at_ >= line_.size()) Fail("cut");
    return line_[at_++];
  }
  void Expect(std::string_view wanted) {
    for (const char c : wanted) {
      if (Next() != c) Fail("no '" + std::string(wanted) + "'");
    }
  }
  std::string ReadWord() {
    std::string word;
    while (at_ < line_.size() && Peek() != ' ') word += Next();
    return word;
  }
  std::string ReadName() {
    std::string name;
    const auto is_letter = [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    };
    while (is_letter(Peek()) || (!name.empty() && Peek() >= '0' && Peek() <= '9')) name += Next();
    if (name.empty()) Fail("no name");
    return name;
  }
  // Up to `end`, with \\, \" and \n.
  std::string ReadEscaped(char end) {
    std::string text;
    while (at_ < line_.size() && Peek() != end) {
      char c = Next();
      if (c == '\\') {
        c = Next();
        if (c != '\\' && c != '"' && c != 'n') Fail("escape");
        if (c == 'n') c = '\n';
      }
      text += c;
    }
    return text;
  }

  void ReadMetadata() {
    Expect("# ");
    const std::string kind = ReadWord();
    Expect(" ");
    const std::string name = ReadName();
    Expect(" ");
    if (families_.empty() || families_.back().name != name) {
      if (!names_.insert(name).second) Fail("family twice");
      families_.push_back({name, "", "", "", {}});
      series_.clear();
    }
    Family& family = families_.back();
    if (!family.samples.empty()) Fail("metadata after samples");
    if (kind == "TYPE") {
      family.type = ReadWord();
      if (family.type != "gauge") Fail("type");
    } else if (kind == "UNIT") {
      family.unit = ReadWord();
      const std::string end = "_" + family.unit;
      if (name.size() <= end.size() || name.substr(name.size() - end.size()) != end) Fail("unit");
    } else if (kind == "HELP") {
      family.help = ReadEscaped('\0');
      if (family.help.find('"') != std::string::npos) Fail("a quote, which 0.0.4 reads otherwise");
    } else {
      Fail("comment");
    }
  }

  double ReadNumber(const std::string& word) {
    if (word == "NaN") return std::nan("");
    if (word == "+Inf") return INFINITY;
    if (word == "-Inf") return -INFINITY;
    double value = 0;
    const char* end = word.data() + word.size();
    const auto result = std::from_chars(word.data(), end, value);
    if (word.empty() || result.ptr != end || !std::isfinite(value)) Fail("number " + word);
    return value;
  }

  void ReadSample() {
    if (families_.empty()) Fail("sample without family");
    Family& family = families_.back();
    Sample sample;
    sample.name = ReadName();
    if (sample.name != family.name) Fail("other family");
    Expect("{");
    while (Peek() != '}') {
      if (!sample.labels.empty()) Expect(",");
      const std::string key = ReadName();
      Expect("=\"");
      const std::string value = ReadEscaped('"');
      Expect("\"");
      if (!sample.labels.emplace(key, value).second) Fail("label twice");
    }
    Expect("} ");
    sample.value = ReadNumber(ReadWord());
    if (at_ < line_.size()) {
      Expect(" ");
      sample.time = ReadNumber(ReadWord());
    }
    if (at_ != line_.size()) Fail("more than a sample");
    CheckOrder(family, sample);
    family.samples.push_back(sample);
  }

  void CheckOrder(const Family& family, const Sample& sample) {
    if (series_.insert(sample.labels).second) return;
    const Sample& last = family.samples.back();
    if (last.labels != sample.labels) Fail("series is not together");
    if (!last.time || !sample.time || *sample.time <= *last.time) Fail("time does not rise");
  }

  std::string_view line_;
  std::size_t at_ = 0;
  std::vector<Family> families_;
  std::set<std::string> names_;
  std::set<Labels> series_;
};

std::vector<Family> ReadFamilies(const std::string& text) { return OpenMetricsReader().Read(text); }

const Family& Find(const std::vector<Family>& families, const std::string& name) {
  for (const Family& family : families) {
    if (family.name == name) return family;
  }
  throw std::runtime_error("no family " + name);
}

const Sample& SampleOf(const Family& family, const std::string& benchmark) {
  for (const Sample& sample : family.samples) {
    if (sample.labels.at("benchmark") == benchmark) return sample;
  }
  throw std::runtime_error("no sample of " + benchmark);
}

TEST(ExportOpenMetrics, StrictReaderRefusesLooseText) {
  const std::string head = "# TYPE a gauge\n";
  EXPECT_NO_THROW(ReadFamilies(head + "a{b=\"c\\\\\\\"\\n\"} 1.0\n# EOF\n"));
  for (const char* line :
       {"a 1", "b{} 1", "a{b=\"c\",b=\"d\"} 1", "a{b=\"\\x\"} 1", "a{} nan", "a{} 1\na{} 2",
        "a{} 1 2\na{} 1 2", "a{b=\"1\"} 1 1\na{} 1\na{b=\"1\"} 1 2",
        "a{} 1\n# TYPE b gauge\nb{} 1\n# TYPE a gauge", "a{} 1\n# HELP a x", "# UNIT a seconds", "",
        "# comment", "a{b=c} 1", "a{1=\"c\"} 1"}) {
    EXPECT_THROW(ReadFamilies(head + line + "\n# EOF\n"), std::runtime_error) << line;
  }
  EXPECT_THROW(ReadFamilies(head + "a{} 1\n"), std::runtime_error);
  EXPECT_THROW(ReadFamilies(head + "a{} 1\n# EOF"), std::runtime_error);
}

TEST(ExportOpenMetrics, WritesSecondsAndBytes) {
  ResultRow row = TimedRow("Epoch/dogs/device:cpu", 0.5);
  row.metrics.push_back({"forward_ms", 250});
  row.metrics.push_back({"peak_memory_mb", 3});
  const auto families = ReadFamilies(Exported({File({row})}, "openmetrics"));
  const Family& time = Find(families, "benchmark_real_time_seconds");
  EXPECT_EQ(time.type, "gauge");
  EXPECT_EQ(time.unit, "seconds");
  EXPECT_EQ(time.help, "real_time, median of the repetitions; lower is better");
  EXPECT_EQ(time.samples.at(0).value, 0.5);
  EXPECT_FALSE(time.samples.at(0).time);
  EXPECT_EQ(time.samples.at(0).labels, (Labels{{"benchmark", "Epoch/dogs/device:cpu"},
                                               {"family", "Epoch"},
                                               {"subject", "dogs"},
                                               {"device", "cpu"},
                                               {"host", "vm"},
                                               {"metric", "real_time"}}));
  EXPECT_EQ(Find(families, "benchmark_forward_seconds").samples.at(0).value, 0.25);
  EXPECT_EQ(Find(families, "benchmark_peak_memory_bytes").samples.at(0).value, 3e6);
  EXPECT_EQ(Find(families, "benchmark_run_info").samples.at(0).labels,
            (Labels{{"host", "vm"},
                    {"git_commit", "abc123"},
                    {"executable", "./build/cnn_benchmarks"},
                    {"build_type", "Release"}}));
}

TEST(ExportOpenMetrics, SurvivesHostileText) {
  const auto families = ReadFamilies(Exported({HostileFile()}, "openmetrics"));
  const Family& time = Find(families, "benchmark_real_time_seconds");
  EXPECT_EQ(time.samples.size(), HostileNames().size() + 3);
  EXPECT_TRUE(std::isnan(SampleOf(time, "AllWild").value));
  EXPECT_EQ(SampleOf(time, "quote\"s and 'apostrophes'/a:b").value, 0.001);
  EXPECT_EQ(SampleOf(time, "back\\slash\\").value, 0.001);
  EXPECT_EQ(Find(families, "benchmark_items_per_second").samples.at(0).value, INFINITY);
  EXPECT_EQ(Find(families, "benchmark_loss").samples.at(0).value, -INFINITY);
  EXPECT_EQ(Find(families, "benchmark_a_b").samples.at(0).labels.at("metric"), "a b");
  EXPECT_EQ(Find(families, "benchmark_a_b_2").samples.at(0).labels.at("metric"), "a_b");
  EXPECT_EQ(Find(families, "benchmark_forward_2_seconds").samples.at(0).labels.at("metric"),
            "forward_seconds");
  EXPECT_EQ(Find(families, "benchmark_run_info_2").samples.at(0).value, 1)
      << "a counter that is called as our info is";
}

TEST(ExportOpenMetrics, SaysWhatFailed) {
  const auto families = ReadFamilies(Exported({HostileFile()}, "openmetrics"));
  EXPECT_EQ(SampleOf(Find(families, "benchmark_failed"), "Failed/device:cuda").value, 1);
  EXPECT_EQ(SampleOf(Find(families, "benchmark_failed"), "Skipped").value, 0);
  EXPECT_EQ(SampleOf(Find(families, "benchmark_skipped"), "Skipped").value, 1);
  EXPECT_EQ(SampleOf(Find(families, "benchmark_repetitions"), "Aggregates").value, 5);
  const Family& lower = Find(families, "benchmark_real_time_lower_seconds");
  EXPECT_EQ(SampleOf(lower, "Aggregates").value, 0.49);
}

TEST(ExportOpenMetrics, FillsInHistoryWithTimestamps) {
  ExportOptions options;
  options.openmetrics_timestamps = true;
  const ResultFile late = File({TimedRow("a", 3), TimedRow("b", 3)}, "1.json");
  const ResultFile early = With(File({TimedRow("a", 1), TimedRow("b", 1)}, "2.json"), "date",
                                "2026-11-01T00:00:00+00:00");
  const ResultFile other = With(early, "host_name", "other");
  const auto families =
      ReadFamilies(Exported({late, With(early, "git_commit", "x"), other}, "openmetrics", options));
  const Family& time = Find(families, "benchmark_real_time_seconds");
  ASSERT_EQ(time.samples.size(), 6U);
  EXPECT_EQ(time.samples[0].value, 1);
  EXPECT_EQ(time.samples[0].time, 1793491200);
  EXPECT_EQ(time.samples[1].value, 3);
  EXPECT_EQ(time.samples[1].time, 1796150191);
  EXPECT_EQ(time.samples[4].labels.at("host"), "other");
  EXPECT_EQ(Find(families, "benchmark_run_info").samples.size(), 3U);
}

TEST(ExportOpenMetrics, RefusesTimestampsWhereAFileHasNoTime) {
  ExportOptions options;
  options.openmetrics_timestamps = true;
  const ResultFile file = File({TimedRow("a", 3)}, "1.json");
  const ResultFile old = With(file, "date", "2015/03/17-18:40:25");
  EXPECT_THROW(Exported({file, old}, "openmetrics", options), std::runtime_error);
  EXPECT_NO_THROW(ReadFamilies(Exported({file, old}, "openmetrics")));
}

TEST(ExportOpenMetrics, IsAnEndWithoutResults) {
  EXPECT_EQ(Exported({}, "openmetrics"), "# EOF\n");
  EXPECT_NO_THROW(ReadFamilies(Exported({File({})}, "openmetrics")));
}

}  // namespace
}  // namespace cnn
