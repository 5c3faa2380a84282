#include <gtest/gtest.h>

#include <charconv>
#include <map>
#include <set>
#include <stdexcept>
#include <vector>

#include "tools/export_testing.h"
#include "tools/export_text.h"

namespace cnn {
namespace {

struct Point {
  std::string measurement;
  std::map<std::string, std::string> tags;
  std::map<std::string, std::string> fields;  // values as written
  std::string time;
};

// The grammar of the documentation, without what readers differ in: a backslash stands only before
// a comma, an equals sign or a space, or in a quoted text before a quote or a backslash. InfluxDB
// keeps `time` and a leading underscore for itself, and InfluxDB 3 has one column for a tag and a
// field of one name.
class LineReader {
 public:
  explicit LineReader(std::string_view line) : line_(line) {}

  Point Read() {
    Point point;
    point.measurement = ReadUntil(", ");
    std::string last;
    while (Peek() == ',') {
      const auto [key, value] = ReadTag();
      if (key <= last) Fail("tags are not sorted, or twice");
      last = key;
      point.tags[key] = value;
    }
    do {
      Expect(point.fields.empty() ? ' ' : ',');
      const std::string key = ReadUntil("=, ");
      Expect('=');
      if (!point.fields.emplace(key, ReadValue()).second) Fail("field twice");
    } while (Peek() == ',');
    for (const auto& [key, value] : point.fields) {
      if (key == "time" || key[0] == '_') Fail("reserved: " + key);
    }
    if (at_ < line_.size()) {
      Expect(' ');
      point.time = line_.substr(at_);
      if (point.time.find_first_not_of("0123456789") != std::string::npos) Fail("time");
    }
    return point;
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
  void Expect(char wanted) {
    if (Next() != wanted) Fail(std::string("no ") + wanted);
  }

  std::string ReadUntil(std::string_view ends) {
    std::string text;
    while (at_ < line_.size() && ends.find(Peek()) == std::string_view::npos) {
      char c = Next();
      if (c == '\\') {
        c = Next();
        if (c != ',' && c != '=' && c != ' ') Fail("backslash");
      }
      text += c;
    }
    if (text.empty()) Fail("empty");
    return text;
  }

  std::pair<std::string, std::string> ReadTag() {
    Expect(',');
    std::string key = ReadUntil("=, ");
    Expect('=');
    return {key, ReadUntil("=, ")};
  }

  std::string ReadValue() {
    if (Peek() == '"') return ReadQuoted();
    std::string value;
    while (at_ < line_.size() && Peek() != ',' && Peek() != ' ') value += Next();
    if (value == "true" || value == "false") return value;
    const bool is_integer = !value.empty() && value.back() == 'i';
    double number = 0;
    const char* end = value.data() + value.size() - (is_integer ? 1 : 0);
    const auto result = std::from_chars(value.data(), end, number);
    if (result.ec != std::errc() || result.ptr != end || !std::isfinite(number)) Fail("number");
    return value;
  }

  std::string ReadQuoted() {
    std::string text = "\"";
    Next();
    while (Peek() != '"') {
      char c = Next();
      if (c == '\\') c = Next();
      text += c;
    }
    Next();
    return text;
  }

  std::string_view line_;
  std::size_t at_ = 0;
};

// Text, integer, truth or real number: InfluxDB keeps the first that a field has.
char TypeOf(const std::string& value) {
  if (value[0] == '"' || value[0] == 't' || value[0] == 'f') return value[0] == '"' ? '"' : 't';
  return value.back() == 'i' ? 'i' : '1';
}

std::vector<Point> ReadPoints(const std::string& text) {
  std::vector<Point> points;
  std::set<std::string> series;
  std::map<std::string, char> types;
  std::set<std::string> tags;
  for (const std::string_view line : Split(text, '\n')) {
    if (line.empty()) continue;
    points.push_back(LineReader(line).Read());
    std::string key = points.back().time;
    for (const auto& [name, value] : points.back().tags) {
      key += '\n' + name + '\0' + value;
      tags.insert(name);
    }
    if (!series.insert(key).second) throw std::runtime_error("overwrites: " + std::string(line));
    for (const auto& [name, value] : points.back().fields) {
      if (types.try_emplace(name, TypeOf(value)).first->second != TypeOf(value)) {
        throw std::runtime_error("another type: " + name);
      }
    }
  }
  for (const std::string& tag : tags) {
    if (types.count(tag) > 0) throw std::runtime_error("a tag and a field: " + tag);
  }
  return points;
}

TEST(ExportInflux, StrictReaderRefusesLooseText) {
  EXPECT_NO_THROW(LineReader("m,a=b c=1.0,d=\"x\\\"\",e=2i 12").Read());
  EXPECT_THROW(ReadPoints("m c=1.0\nm,a=1 c=1i\n"), std::runtime_error);
  EXPECT_THROW(ReadPoints("m,a=1 c=1.0\nm,b=1 a=1\n"), std::runtime_error);
  for (const char* line :
       {"m time=1", "m _c=1", "m,a= c=1", "m,b=1,a=1 c=1", "m,a=1,a=1 c=1", "m,a=1", "m,a=1 c=NaN",
        "m,a=1 c=", "m c=1 x", "m,a\\b=1 c=1", "m c=\"x", "m c=1,c=2", ""}) {
    EXPECT_THROW(LineReader(line).Read(), std::runtime_error) << line;
  }
}

TEST(ExportInflux, WritesSecondsAndBytes) {
  ResultRow row = TimedRow("Epoch/dogs/device:cpu", 0.5);
  row.metrics.push_back({"forward_ms", 250});
  row.metrics.push_back({"peak_memory_mb", 3});
  row.label = "a \"b\"";
  EXPECT_EQ(
      Exported({File({row})}, "influx"),
      "benchmark,benchmark=Epoch/dogs/device:cpu,device=cpu,family=Epoch,host=vm,subject=dogs "
      "real_time_seconds=0.5,cpu_time_seconds=1.0,forward_seconds=0.25,"
      "peak_memory_bytes=3e+06,repetitions=1i,git_commit=\"abc123\","
      "label=\"a \\\"b\\\"\" 1796150191000000000\n");
}

TEST(ExportInflux, SurvivesHostileText) {
  const auto points = ReadPoints(Exported({HostileFile()}, "influx"));
  std::set<std::string> names;
  for (const Point& point : points) {
    EXPECT_EQ(point.measurement, "benchmark");
    names.insert(point.tags.at("benchmark"));
    EXPECT_EQ(point.tags.count("time"), 0U) << "InfluxDB keeps it for itself";
  }
  // All but AllWild, which has no field left.
  EXPECT_EQ(points.size(), HostileNames().size() + 4);
  EXPECT_EQ(names.size(), points.size());
  EXPECT_EQ(names.count("a=b,c=d e=f/device:x=y,z w"), 1U);
  EXPECT_EQ(names.count("back\xEF\xBC\xBCslash\xEF\xBC\xBC"), 1U);
}

TEST(ExportInflux, DropsWhatIsNotFinite) {
  for (const Point& point : ReadPoints(Exported({HostileFile()}, "influx"))) {
    if (point.tags.at("benchmark") != "Counters") continue;
    EXPECT_EQ(point.fields.count("cpu_time_seconds"), 0U);
    EXPECT_EQ(point.fields.count("loss"), 0U);
    EXPECT_EQ(point.fields.at("forward_seconds"), "0.0025");
    EXPECT_EQ(point.fields.at("forward_seconds_2"), "1.0") << "another counter, the same name";
    EXPECT_EQ(point.fields.at("real_time_counter"), "123.0");
    EXPECT_EQ(point.fields.at("repetitions"), "1i");
    EXPECT_EQ(point.fields.at("repetitions_2"), "5.0") << "a counter, of another type than ours";
    EXPECT_EQ(point.fields.at("time_2"), "1.0");
    EXPECT_EQ(point.fields.at("counter_field"), "2.0");
    EXPECT_EQ(point.fields.at("family_2"), "3.0");
    EXPECT_EQ(point.fields.at("device_2"), "7.0") << "a tag of another point";
  }
}

TEST(ExportInflux, SaysWhatFailed) {
  const auto points = ReadPoints(
      Exported({File({FailedRow("a", "no \"x\"\\"), SkippedRow("b", "why")})}, "influx"));
  ASSERT_EQ(points.size(), 2U);
  EXPECT_EQ(points[0].fields.at("failed"), "true");
  EXPECT_EQ(points[0].fields.at("message"), "\"no \"x\"\\");
  EXPECT_EQ(points[1].fields.at("skipped"), "true");
  EXPECT_EQ(points[0].fields.count("repetitions"), 0U);
}

TEST(ExportInflux, HasAPointForEachTime) {
  const ResultFile first = File({TimedRow("a", 1)}, "1.json");
  const ResultFile same = File({TimedRow("a", 3)}, "2.json");
  const ResultFile later = With(first, "date", "2026-12-01T18:36:32+00:00");
  const auto points = ReadPoints(Exported({first, same, later}, "influx"));
  ASSERT_EQ(points.size(), 2U);
  EXPECT_EQ(points[0].fields.at("real_time_seconds"), "2.0");
  EXPECT_EQ(points[0].fields.at("real_time_lower_seconds"), "1.0");
  EXPECT_EQ(points[0].fields.at("real_time_upper_seconds"), "3.0");
  EXPECT_EQ(points[0].fields.at("repetitions"), "2i");
  EXPECT_EQ(points[1].time, "1796150192000000000");
}

TEST(ExportInflux, LeavesTheTimeToTheDatabaseWithoutOne) {
  const auto points = ReadPoints(Exported({With(File({TimedRow("a", 1)}), "date", "")}, "influx"));
  EXPECT_EQ(points.at(0).time, "");
  EXPECT_EQ(Exported({}, "influx"), "");
}

}  // namespace
}  // namespace cnn
