#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <stdexcept>
#include <vector>

#include "tools/export_testing.h"
#include "tools/export_text.h"

namespace cnn {
namespace {

using Json = nlohmann::json;

// Refuses what nlohmann_json lets pass: a key twice in an object.
Json ParseStrict(const std::string& text) {
  std::vector<std::set<std::string>> keys;
  const auto check = [&](int, Json::parse_event_t event, Json& parsed) {
    if (event == Json::parse_event_t::object_start) keys.emplace_back();
    if (event == Json::parse_event_t::object_end) keys.pop_back();
    if (event == Json::parse_event_t::key && !keys.back().insert(parsed).second) {
      throw std::runtime_error("twice: " + parsed.get<std::string>());
    }
    return true;
  };
  return Json::parse(text, check);
}

std::vector<Json> ParseLines(const std::string& text) {
  std::vector<Json> rows;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) rows.push_back(ParseStrict(line));
  return rows;
}

Json FindRow(const std::vector<Json>& rows, const std::string& benchmark,
             const std::string& metric) {
  for (const Json& row : rows) {
    if (row.at("benchmark") == benchmark && row.at("metric") == metric) return row;
  }
  throw std::runtime_error("no row of " + benchmark + " " + metric);
}

TEST(ExportJson, StrictReaderRefusesDuplicateKeys) {
  EXPECT_THROW(ParseStrict(R"({"a":{"b":1,"b":2}})"), std::runtime_error);
  EXPECT_NO_THROW(ParseStrict(R"({"a":{"b":1},"c":{"b":2}})"));
}

TEST(ExportNdjson, SaysEverythingInEveryRow) {
  const std::string name = "Layer/eight_kinds/conv1/device:cpu/batch:32";
  const auto rows =
      ParseLines(Exported({File({TimedRow(name, 0.5), TimedRow(name, 1.5)})}, "ndjson"));
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0], ParseStrict(R"({"schema_version": 1, "time": "2026-12-01T18:36:31Z",
      "file": "run.json", "host": "vm", "git_commit": "abc123",
      "benchmark": "Layer/eight_kinds/conv1/device:cpu/batch:32",
      "family": "Layer", "subject": "eight_kinds/conv1", "device": "cpu", "batch": "32",
      "state": "measured", "message": null, "label": null, "metric": "real_time", "unit": "s",
      "value": 1.0, "nonfinite": null, "lower": 0.5, "upper": 1.5, "spread": "min_max", "n": 2,
      "better": "lower"})"));
}

TEST(ExportNdjson, WritesWhatIsNotFiniteAsNullWithItsName) {
  const auto rows = ParseLines(Exported({HostileFile()}, "ndjson"));
  const Json wild = FindRow(rows, "Counters", "cpu_time");
  EXPECT_TRUE(wild.at("value").is_null());
  EXPECT_EQ(wild.at("nonfinite"), "NaN");
  EXPECT_EQ(FindRow(rows, "Counters", "items_per_second").at("nonfinite"), "Infinity");
  EXPECT_EQ(FindRow(rows, "Counters", "loss").at("nonfinite"), "-Infinity");
  EXPECT_EQ(FindRow(rows, "Counters", "real_time_counter").at("value"), 123);
}

TEST(ExportNdjson, HasTheSameKeysForErrorsAndSkips) {
  const auto rows = ParseLines(Exported(
      {File({TimedRow("a", 1), FailedRow("b", "why"), SkippedRow("c", "not")})}, "ndjson"));
  ASSERT_EQ(rows.size(), 4U);
  const auto keys = [](const Json& row) {
    std::set<std::string> names;
    for (const auto& item : row.items()) names.insert(item.key());
    return names;
  };
  EXPECT_EQ(keys(rows[0]), keys(rows[2]));
  EXPECT_EQ(keys(rows[0]), keys(rows[3]));
  EXPECT_EQ(rows[2].at("state"), "error");
  EXPECT_EQ(rows[2].at("message"), "why");
  EXPECT_TRUE(rows[2].at("value").is_null());
  EXPECT_EQ(rows[3].at("state"), "skipped");
}

TEST(ExportNdjson, KeepsNamesAsJsonCan) {
  const auto rows = ParseLines(Exported({HostileFile()}, "ndjson"));
  std::set<std::string> names;
  for (const Json& row : rows) names.insert(row.at("benchmark").get<std::string>());
  for (const std::string& name : HostileNames()) {
    EXPECT_EQ(names.count(name.empty() ? "(no name)" : ValidUtf8(name)), 1U) << name;
  }
  EXPECT_EQ(names.count(""), 0U);
  EXPECT_EQ(names.size(), HostileNames().size() + 5);
}

TEST(ExportNdjson, WritesIntegersAsReals) {
  EXPECT_NE(Exported({File({TimedRow("a", 5)})}, "ndjson").find("\"value\":5.0,"),
            std::string::npos);
}

TEST(ExportNdjson, LeavesNothingBlankWhereTheFileSaysNothing) {
  ResultFile file;
  file.path = "x";
  file.rows = {TimedRow("a", 1)};
  const auto rows = ParseLines(Exported({file}, "ndjson"));
  for (const char* key : {"time", "host", "git_commit"}) EXPECT_TRUE(rows[0].at(key).is_null());
}

TEST(ExportJson, IsTheLinesOfNdjsonInAnArray) {
  const std::vector<ResultFile> files = {HostileFile(), File({TimedRow("a", 1)}, "2.json")};
  EXPECT_EQ(ParseStrict(Exported(files, "json")), Json(ParseLines(Exported(files, "ndjson"))));
}

TEST(ExportJson, IsEmptyWithoutResults) {
  EXPECT_EQ(Exported({}, "ndjson"), "");
  EXPECT_EQ(Exported({}, "json"), "[]\n");
  EXPECT_EQ(Exported({File({})}, "json"), "[]\n");
  EXPECT_EQ(Exported({File({})}, "bmf"), "{}\n");
  EXPECT_EQ(Exported({}, "gha-smaller"), "[]\n");
  EXPECT_EQ(Exported({File({FailedRow("a", "b")})}, "gha-bigger"), "[]\n");
}

TEST(ExportBmf, HasBenchersMeasures) {
  ResultRow row = TimedRow("a/b", 0.25);
  row.metrics.push_back({"items_per_second", 100});
  row.metrics.push_back({"peak_memory_mb", 3});
  const Json results = ParseStrict(Exported({File({row, TimedRow("a/b", 0.75)})}, "bmf"));
  EXPECT_EQ(results, ParseStrict(R"({"a/b": {
      "latency": {"value": 0.5e9, "lower_value": 0.25e9, "upper_value": 0.75e9},
      "cpu-time": {"value": 1e9, "lower_value": 0.5e9, "upper_value": 1.5e9},
      "throughput": {"value": 100}, "peak-memory-mb": {"value": 3}}})"));
}

// The rules of Bencher's own types: names of 1 to 1024 bytes, slugs of 1 to 64.
TEST(ExportBmf, KeepsToBenchersLimits) {
  std::vector<ResultRow> rows = HostileFile().rows;
  rows.push_back(Row("Long", {{std::string(70, 'm') + "1", 1},
                              {std::string(70, 'm') + "2", 2},
                              {"latency", 3},
                              {"real_time", 4},
                              {std::string(64, 's'), 5},
                              {std::string(64, 'S'), 5},
                              {std::string(51, 'e') + "_" + std::string(20, 'e'), 5},
                              {"A-b", 5},
                              {"a_b", 6}}));
  const Json results = ParseStrict(Exported({File(rows)}, "bmf"));
  for (const auto& benchmark : results.items()) {
    EXPECT_GE(benchmark.key().size(), 1U);
    EXPECT_LE(benchmark.key().size(), 1024U);
    for (const auto& measure : benchmark.value().items()) {
      const std::string& slug = measure.key();
      EXPECT_LE(slug.size(), 64U);
      EXPECT_EQ(slug.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-"), std::string::npos);
      EXPECT_TRUE(slug.front() != '-' && slug.back() != '-') << slug;
      EXPECT_EQ(slug.find("--"), std::string::npos) << slug;
      for (const auto& number : measure.value().items()) EXPECT_TRUE(number.value().is_number());
      EXPECT_TRUE(measure.value().contains("value"));
    }
  }
  EXPECT_EQ(results.at("Long").size(), 9U);
  EXPECT_EQ(results.at("Counters").count("throughput"), 0U) << "infinite";
  EXPECT_EQ(results.count("AllWild"), 0U);
  EXPECT_EQ(results.count("Failed/device:cuda"), 0U);
  EXPECT_EQ(results.at("Aggregates").at("latency"),
            ParseStrict(R"({"value": 0.5e9, "lower_value": 0.49e9, "upper_value": 0.51e9})"));
}

// The schema of github-action-benchmark's custom tools, and how it reads a range.
void CheckGha(const Json& entries) {
  std::set<std::string> names;
  for (const Json& entry : entries) {
    EXPECT_TRUE(names.insert(entry.at("name")).second) << entry;
    EXPECT_TRUE(entry.at("value").is_number()) << entry;
    EXPECT_FALSE(entry.at("unit").get<std::string>().empty()) << entry;
    for (const auto& item : entry.items()) {
      const std::set<std::string> known = {"name", "value", "unit", "range", "extra"};
      EXPECT_EQ(known.count(item.key()), 1U) << item.key();
    }
    if (!entry.contains("range")) continue;
    const std::string range = entry.at("range");
    ASSERT_EQ(range.compare(0, 3, "\xC2\xB1 "), 0) << "± and the blank";
    ASSERT_GE(range.size(), 5U) << "its pattern wants a digit and one character more";
  }
}

TEST(ExportGha, SplitsByDirection) {
  ResultRow row = TimedRow("a", 0.002);
  row.metrics.push_back({"items_per_second", 100});
  row.metrics.push_back({"page_faults_per_step", 3});
  row.metrics.push_back({"compute_threads", 2});
  ResultRow other = row;
  other.metrics[0].value = 0.004;
  const std::vector<ResultFile> files = {File({row, other})};
  const Json smaller = ParseStrict(Exported(files, "gha-smaller"));
  const Json bigger = ParseStrict(Exported(files, "gha-bigger"));
  CheckGha(smaller);
  CheckGha(bigger);
  ASSERT_EQ(smaller.size(), 3U);
  EXPECT_EQ(smaller[0], ParseStrict(R"({"name": "a", "unit": "us", "value": 3000.0,
      "range": "± 1000.0", "extra": "repetitions: 2"})"));
  EXPECT_EQ(smaller[1].at("name"), "a cpu_time");
  EXPECT_EQ(smaller[2].at("unit"), "page_faults_per_step");
  ASSERT_EQ(bigger.size(), 1U);
  EXPECT_EQ(bigger[0], ParseStrict(R"({"name": "a items_per_second", "unit": "items/s",
      "value": 100.0, "range": "± 0.0", "extra": "repetitions: 2"})"));
}

TEST(ExportGha, HasUniqueNamesAndFiniteValues) {
  std::vector<ResultRow> rows = HostileFile().rows;
  rows.push_back(TimedRow("Counters cpu_time", 1));
  for (const char* format : {"gha-smaller", "gha-bigger"}) {
    const Json entries = ParseStrict(Exported({File(rows)}, format));
    CheckGha(entries);
    EXPECT_FALSE(entries.empty());
    for (const Json& entry : entries) EXPECT_NE(entry.at("name"), "AllWild");
  }
}

TEST(ExportGha, ScalesTimesWithoutNoise) {
  ResultRow row = TimedRow("a", 3e-9);
  row.time_unit = "ns";
  ResultRow endless = TimedRow("b", 1e-9);
  endless.time_unit = "ns";
  ResultRow other = endless;
  endless.metrics[0].value = other.metrics[0].value = 1e305;
  const Json entries = ParseStrict(Exported({File({row, endless, other})}, "gha-smaller"));
  CheckGha(entries);
  ASSERT_EQ(entries.size(), 3U) << "without the time that is infinite in nanoseconds";
  EXPECT_EQ(entries[0].at("value").dump(), "3.0");
}

TEST(ExportGha, TakesTheDirectionsOfItsOptions) {
  ExportOptions options;
  options.direction = [](std::string_view) { return Direction::kHigher; };
  EXPECT_EQ(Exported({File({TimedRow("a", 1)})}, "gha-smaller", options), "[]\n");
  EXPECT_EQ(ParseStrict(Exported({File({TimedRow("a", 1)})}, "gha-bigger", options)).size(), 2U);
}

TEST(ExportGha, PoolsFiles) {
  const Json entries = ParseStrict(
      Exported({File({TimedRow("a", 1)}), File({TimedRow("a", 2)}), File({TimedRow("a", 6)})},
               "gha-smaller"));
  ASSERT_EQ(entries.size(), 2U);
  EXPECT_EQ(entries[0].at("value"), 2e6);
}

}  // namespace
}  // namespace cnn
