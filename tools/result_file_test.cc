// The numbers in the names (Trap03...) are the rows of the table of traps that a reader of Google
// Benchmark's files meets; what is not a matter of reading (verdicts, exports) is tested elsewhere.
#include "tools/result_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace cnn {
namespace {

constexpr ReadOptions kLenient{true, false};
constexpr ReadOptions kSalvage{false, true};
constexpr ReadOptions kBoth{true, true};
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// As 1.9 writes it, laid out like its files.
const char kContext[] = R"({
  "context": {
    "date": "2026-03-01T12:00:00+00:00",
    "host_name": "machine",
    "executable": "./bench",
    "num_cpus": 2,
    "mhz_per_cpu": 2600,
    "cpu_scaling_enabled": false,
    "caches": [
      {
        "type": "Data",
        "level": 1,
        "size": 49152,
        "num_sharing": 1
      }
    ],
    "load_avg": [0.89,1.35,1.33],
    "library_version": "v1.9.4",
    "library_build_type": "release",
    "json_schema_version": 1
  },
  "benchmarks": [
)";

std::string File(const std::string& rows) { return kContext + rows + "\n  ]\n}\n"; }

// An iteration row; `more` stands before its end.
std::string Row(const std::string& name, const std::string& more = "", int index = 0) {
  return "    {\n      \"name\": \"" + name + R"(",
      "family_index": 0,
      "per_family_instance_index": 3,
      "run_name": ")" +
         name + R"(",
      "run_type": "iteration",
      "repetitions": 3,
      "repetition_index": )" +
         std::to_string(index) + R"(,
      "threads": 1,
      "iterations": 1000,
      "real_time": 2.5000000000000000e+02,
      "cpu_time": 1.2500000000000000e+02,
      "time_unit": "ns")" +
         (more.empty() ? "" : ",\n      " + more) + "\n    }";
}

std::string Replaced(std::string text, std::string_view old, std::string_view by) {
  const std::size_t at = text.find(old);
  EXPECT_NE(at, std::string::npos) << old;
  if (at != std::string::npos) text.replace(at, old.size(), by);
  return text;
}

ResultFile Parse(std::string_view text, const ReadOptions& options = {}) {
  return ParseResultFile(text, "some.json", options);
}

std::string Refusal(std::string_view text, const ReadOptions& options = {}) {
  try {
    Parse(text, options);
  } catch (const ReadError& error) {
    return error.what();
  }
  return "";
}

bool Contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

std::string Place(std::string_view text, std::size_t at) {
  std::size_t line = 1, column = 1;
  for (const char c : text.substr(0, at)) {
    ++column;
    if (c == '\n') ++line, column = 1;
  }
  return "some.json:" + std::to_string(line) + ":" + std::to_string(column) + ": ";
}

// Refused at the byte where `at` stands, for the reason and with the advice in `parts`.
void ExpectRefused(const std::string& text, std::string_view at,
                   const std::vector<std::string>& parts, const ReadOptions& options = {}) {
  const std::size_t offset = text.find(at);
  ASSERT_NE(offset, std::string::npos) << at;
  const std::string message = Refusal(text, options);
  const std::string place = Place(text, offset);
  EXPECT_EQ(message.substr(0, place.size()), place) << message;
  EXPECT_TRUE(Contains(message, "(byte " + std::to_string(offset) + ")")) << message;
  for (const std::string& part : parts) EXPECT_TRUE(Contains(message, part)) << message;
}

// The one warning of a file, which must begin with its place.
void ExpectWarning(const ResultFile& file, std::string_view part) {
  ASSERT_EQ(file.warnings.size(), 1U) << testing::PrintToString(file.warnings);
  EXPECT_TRUE(Contains(file.warnings[0], part)) << file.warnings[0];
  EXPECT_EQ(file.warnings[0].rfind("some.json:", 0), 0U) << file.warnings[0];
}

// The k-th metric of that name.
double Value(const ResultRow& row, std::string_view name, int k = 0) {
  for (const Metric& metric : row.metrics) {
    if (metric.name == name && k-- == 0) return metric.value;
  }
  ADD_FAILURE() << "no metric " << name;
  return 0;
}

std::vector<std::string> MetricNames(const ResultRow& row) {
  std::vector<std::string> names;
  for (const Metric& metric : row.metrics) names.push_back(metric.name);
  return names;
}

bool Same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

bool Same(const ResultRow& a, const ResultRow& b) {
  if (a.metrics.size() != b.metrics.size()) return false;
  for (std::size_t i = 0; i < a.metrics.size(); ++i) {
    if (a.metrics[i].name != b.metrics[i].name || !Same(a.metrics[i].value, b.metrics[i].value)) {
      return false;
    }
  }
  return a.name == b.name && a.run_name == b.run_name && a.kind == b.kind && a.state == b.state &&
         a.message == b.message && a.aggregate_name == b.aggregate_name && a.label == b.label &&
         a.repetition_index == b.repetition_index && a.iterations == b.iterations;
}

const char kBigORows[] = R"(    {
      "name": "BM_f_BigO",
      "family_index": 0,
      "per_family_instance_index": 0,
      "run_name": "BM_f",
      "run_type": "aggregate",
      "repetitions": 2,
      "threads": 1,
      "aggregate_name": "BigO",
      "aggregate_unit": "time",
      "cpu_coefficient": 2.0000000000000000e+00,
      "real_coefficient": 3.0000000000000000e+00,
      "big_o": "N^2",
      "time_unit": "us"
    },
    {
      "name": "BM_f_RMS",
      "family_index": 0,
      "per_family_instance_index": 0,
      "run_name": "BM_f",
      "run_type": "aggregate",
      "repetitions": 2,
      "threads": 1,
      "aggregate_name": "RMS",
      "aggregate_unit": "percentage",
      "rms": 1.5000000000000000e-02
    })";

std::string Aggregate(const std::string& name, const std::string& unit, const std::string& time) {
  return "    {\n      \"name\": \"BM_f_" + name + R"(",
      "run_name": "BM_f",
      "run_type": "aggregate",
      "repetitions": 3,
      "threads": 1,
      "aggregate_name": ")" +
         name + R"(",
      "aggregate_unit": ")" +
         unit + R"(",
      "iterations": 3,
      "real_time": )" +
         time + R"(,
      "cpu_time": )" +
         time + R"(,
      "time_unit": "ns"
    })";
}

// Something of everything, for what must hold at each of its bytes.
std::string Mixed() {
  return File(Row("BM_f", "\"loss\": NaN,\n      \"label\": \"\x1B[0m \\\"\\u00e9\xFF\"") + ",\n" +
              Row("BM_f", "\"real_time\": 1.2e+02", 1) + ",\n" +
              Aggregate("cv", "percentage", "0.1") + ",\n" + kBigORows);
}

TEST(ReadResultFile, ReadsEveryField) {
  const ResultFile file =
      Parse(File(Row("BM_f/8", "\"loss\": 0.5,\n      \"label\": \"text\"", 2)));
  EXPECT_EQ(file.path, "some.json");
  EXPECT_FALSE(file.is_incomplete);
  EXPECT_TRUE(file.warnings.empty());
  ASSERT_EQ(file.rows.size(), 1U);
  const ResultRow& row = file.rows[0];
  EXPECT_EQ(row.name, "BM_f/8");
  EXPECT_EQ(row.run_name, "BM_f/8");
  EXPECT_EQ(row.kind, RowKind::kIteration);
  EXPECT_EQ(row.state, RowState::kMeasured);
  EXPECT_EQ(row.family_index, 0);
  EXPECT_EQ(row.per_family_instance_index, 3);
  EXPECT_EQ(row.repetitions, 3);
  EXPECT_EQ(row.repetition_index, 2);
  EXPECT_EQ(row.threads, 1);
  EXPECT_EQ(row.iterations, 1000);
  EXPECT_EQ(row.time_unit, "ns");
  EXPECT_EQ(row.label, "text");
  EXPECT_EQ(MetricNames(row), (std::vector<std::string>{"real_time", "cpu_time", "loss"}));
  EXPECT_DOUBLE_EQ(Value(row, "real_time"), 250e-9);
  EXPECT_DOUBLE_EQ(Value(row, "cpu_time"), 125e-9);
  EXPECT_EQ(Value(row, "loss"), 0.5);
}

TEST(ReadResultFile, KeepsTheContextInOrder) {
  const ResultFile file = Parse(File(Row("BM_f")));
  ASSERT_EQ(file.context.size(), 11U);
  EXPECT_EQ(file.context[0].key, "date");
  EXPECT_EQ(file.ContextValue("host_name"), "machine");
  EXPECT_EQ(file.ContextValue("num_cpus"), "2");
  EXPECT_EQ(file.ContextValue("cpu_scaling_enabled"), "false");
  EXPECT_EQ(file.ContextValue("caches"),
            R"([{"type":"Data","level":1,"size":49152,"num_sharing":1}])");
  EXPECT_EQ(file.ContextValue("load_avg"), "[0.89,1.35,1.33]");
  EXPECT_EQ(file.ContextValue("absent"), "");
}

TEST(ReadResultFile, KeepsNestedTextWhole) {
  const ResultFile file = Parse(
      Replaced(File(Row("BM_f")), "[0.89,1.35,1.33]", R"([ "a \" [ b\\" , { "c d" : null } ])"));
  EXPECT_EQ(file.ContextValue("load_avg"), R"(["a \" [ b\\",{"c d":null}])");
}

TEST(ReadResultFile, ReadsAnyOrderOfKeys) {
  // As jq -S and Python's sort_keys write it.
  const ResultFile file = Parse(
      R"({"benchmarks": [{"big_o": "N", "cpu_coefficient": 2, "name": "f_BigO", "run_name": "f",
      "run_type": "aggregate", "time_unit": "ms"}, {"aggregate_name": "cv", "aggregate_unit":
      "percentage", "cpu_time": 0.5, "name": "f_cv", "real_time": 0.25, "run_name": "f",
      "run_type": "aggregate", "time_unit": "ms"}], "context": {"num_cpus": 2}})");
  EXPECT_EQ(file.rows[0].kind, RowKind::kBigO);
  EXPECT_DOUBLE_EQ(Value(file.rows[0], "cpu_coefficient"), 2e-3);
  EXPECT_EQ(Value(file.rows[1], "real_time"), 0.25);
  EXPECT_EQ(file.ContextValue("num_cpus"), "2");
}

TEST(ReadResultFile, ReadsNumbersAsOtherToolsWriteThem) {
  std::string text = Replaced(File(Row("BM_f")), "\"threads\": 1,", "\"threads\": 8.0,");
  text = Replaced(text, "\"iterations\": 1000", "\"iterations\": 1e3");
  text = Replaced(text, "\"family_index\": 0,", "\"family_index\": 4.0000000000000000e+00,");
  text = Replaced(text, "2.5000000000000000e+02", "250");
  const ResultFile file = Parse(text);
  EXPECT_TRUE(file.warnings.empty());
  EXPECT_EQ(file.rows[0].threads, 8);
  EXPECT_EQ(file.rows[0].iterations, 1000);
  EXPECT_EQ(file.rows[0].family_index, 4);
  EXPECT_DOUBLE_EQ(Value(file.rows[0], "real_time"), 250e-9);
}

TEST(ReadResultFile, RefusesNumbersBeyondDouble) {
  for (const std::string number : {"1e999", "-1e999", "1e-999"}) {
    ExpectRefused(File(Row("BM_f", "\"loss\": " + number)), number, {"beyond", number});
  }
}

TEST(ReadResultFile, RefusesWhatIsNoNumber) {
  for (const std::string word : {"1.5x", "0x10", "None", "--5", "+5", "e5", "nanx", "1e", "-"}) {
    ExpectRefused(File(Row("BM_f", "\"loss\": " + word)), word + "\n", {"expected"});
  }
}

TEST(ReadResultFile, TakesNullAsNaN) {
  const ResultFile file = Parse(File(Row("BM_f", "\"loss\": null")));
  EXPECT_TRUE(std::isnan(Value(file.rows[0], "loss")));
  ExpectWarning(file, "null");
}

TEST(ReadResultFile, IgnoresFieldsOfTheFuture) {
  const ResultFile file = Parse(
      Replaced(File(Row("BM_f", R"("tags": {"a": [1, {"b": "c"}]}, "note": "x", "hot": true)")),
               "{\n", "{ \"generator\": [1.5, {}],\n"));
  EXPECT_TRUE(file.warnings.empty());
  EXPECT_EQ(file.rows[0].metrics.size(), 2U);
}

TEST(ReadResultFile, LeavesOutFieldsOfTheWrongType) {
  const ResultFile file = Parse(File(Row("BM_f", R"("label": true)")));
  ExpectWarning(file, "'label' is not what it should be");
  EXPECT_EQ(file.rows[0].label, "");
}

TEST(ReadResultFile, AcceptsBomAndCrLf) {
  std::string text = "\xEF\xBB\xBF";
  for (const char c : File(Row("BM_f"))) text += c == '\n' ? "\r\n" : std::string(1, c);
  const ResultFile file = Parse(text);
  EXPECT_TRUE(file.warnings.empty());
  EXPECT_EQ(file.rows.size(), 1U);
  EXPECT_EQ(Refusal("\xEF\xBB\xBF{]").substr(0, 17), "some.json:1:2: ex");
}

TEST(ReadResultFile, DecodesEscapes) {
  const ResultFile file =
      Parse(File(Row("BM_f", R"("label": "\"\\\/\b\f\n\r\t\u00e9\u20AC\ud83d\ude00")")));
  EXPECT_TRUE(file.warnings.empty());
  EXPECT_EQ(file.rows[0].label, "\"\\/\b\f\n\r\t\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80");
}

TEST(ReadResultFile, KeepsLoneSurrogatesApart) {
  // Python's json.dumps of bytes that were no UTF-8.
  const ResultFile file =
      Parse(File(Row("BM_\\udcff") + ",\n" + Row("BM_\\udcfe") + ",\n" + Row("BM_\\ud800\\u0041")));
  EXPECT_NE(file.rows[0].name, file.rows[1].name);
  EXPECT_EQ(file.rows[2].name,
            "BM_\xED\xA0\x80"
            "A");
  ExpectWarning(file, "not UTF-8");
}

TEST(ReadResultFile, RefusesUnknownEscapes) {
  ExpectRefused(Replaced(File(Row("BM_f")), "./bench", R"(C:\work\x.exe)"), R"(\work)",
                {"escape", "before 1.5"});
  ExpectRefused(File(Row("BM_f", R"("label": "\u12g4")")), "12g4", {"hexadecimal"});
}

TEST(ReadResultFile, KeepsEscapedKeysOfNestedValues) {
  const std::string key = "\\u0061 key long enough to need memory of its own";
  const ResultFile file = Parse(
      Replaced(File(Row("BM_f", "\"" + key + "\": 5")), "\"date\":",
               "\"" + key + "\": {\"\\u0062" + std::string(200, 'b') + "\": \"\\n\"}, \"date\":"));
  EXPECT_EQ(file.context[0].key, "a key long enough to need memory of its own");
  EXPECT_EQ(Value(file.rows[0], file.context[0].key), 5);
}

TEST(ReadResultFile, RefusesALineBreakInAString) {
  ExpectRefused(File(Row("BM_f", "\"label\": \"a[W warning]\n\"")), "\n\"\n", {"inside a string"});
}

TEST(ReadResultFile, AcceptsTheMissingCommaOf154) {
  const std::string text = Replaced(File(Row("BM_f")), "\"json_schema_version\": 1",
                                    "\"build\": \"x\"\n    \"seed\": \"7\"");
  const ResultFile file = Parse(text);
  EXPECT_EQ(file.ContextValue("seed"), "7");
  ExpectWarning(file, "comma");
  // Not in a row, where nobody ever wrote it.
  ExpectRefused(File(Row("BM_f", "\"a\": 1 \"b\": 2")), "\"b\"", {"expected ',' or '}'"});
}

TEST(ReadResultFile, NamesWhatIsWrongBetweenTokens) {
  const std::string text = File(Row("BM_f") + ",\n" + Row("BM_g"));
  ExpectRefused(Replaced(text, "\"context\": {", "\"context\": [{"), "[{", {"'{' of the context"});
  ExpectRefused(Replaced(text, "\"threads\": 1,", "\"threads\" 1,"), "1,\n      \"iter", {"':'"});
  ExpectRefused(Replaced(text, "\"threads\": 1,", "\"threads\": 1,,"), ",\n      \"iter",
                {"a key"});
  ExpectRefused(Replaced(text, "\"name\"", "name"), "name:", {"a key"});
}

TEST(ReadResultFile, QuotesTheFileSafely) {
  const std::string message =
      Refusal(File(Row("BM_f") + "\x1B[31m\x07red" + std::string(500, 'x')));
  EXPECT_TRUE(Contains(message, "\\x1b[31m\\x07red")) << message;
  EXPECT_FALSE(Contains(message, "\x1B"));
  EXPECT_LT(message.size(), 300U);
}

TEST(ReadResultFile, RefusesRowsWithoutName) {
  const std::string text = File(Row("BM_f") + ",\n    { \"real_time\": 1, \"time_unit\": \"ns\" }");
  ExpectRefused(text, "{ \"real_time", {"row 2", "no name"});
  ExpectRefused(Replaced(text, "{ \"real", "{ \"name\": 7.0, \"real"), "{ \"name", {"counter"});
}

TEST(ReadResultFile, RefusesUnknownKinds) {
  ExpectRefused(Replaced(File(Row("BM_f")), "\"iteration\"", "\"warmup\""), "{\n      \"name",
                {"'BM_f'", "run_type", "'warmup'"});
  ExpectRefused(File(Aggregate("p99", "furlong", "1")), "{\n      \"name",
                {"aggregate_unit", "'furlong'"});
}

TEST(ReadResultFile, LeavesOutCountersWithoutName) {
  const ResultFile file = Parse(File(Row("BM_f", "\"\": 5")));
  EXPECT_EQ(file.rows[0].metrics.size(), 2U);
  ExpectWarning(file, "without a name");
}

TEST(ReadResultFile, WarnsOfRowsWithoutTimes) {
  const ResultFile file = Parse(File(Row("BM_f") + ", { \"name\": \"BM_g\", \"loss\": 5 }"));
  ExpectWarning(file, "without times");
}

TEST(ReadResultFile, CountsEqualWarningsAndLimitsOthers) {
  std::string rows;
  for (int i = 0; i < 500; ++i) {
    const std::string counter = "\"c" + std::to_string(i) + "\": 1";
    rows += (i == 0 ? "" : ",\n") + Row("BM_f", counter + ", " + counter + ", \"name\": 7", i);
  }
  const ResultFile file = Parse(File(rows));
  ASSERT_EQ(file.warnings.size(), 51U);
  EXPECT_TRUE(Contains(testing::PrintToString(file.warnings), "'name' (the first of 500)"));
  EXPECT_TRUE(Contains(file.warnings[50], "451 more warnings")) << file.warnings[50];
}

TEST(ReadResultFile, RefusesOtherPrograms) {
  EXPECT_TRUE(Contains(Refusal(R"({"machine_info": {}, "benchmarks": [{"name": "test_a", "stats":
      {"min": 1}}]})"),
                       "none of its rows has a time"));
  EXPECT_TRUE(Contains(Refusal(R"([{"name": "a", "value": 1, "unit": "ns"}])"), "not JSON: '[{"));
  EXPECT_TRUE(Contains(Refusal(R"({"results": []})"), "no \"benchmarks\""));
  EXPECT_TRUE(Contains(Refusal("\177ELF\x02"), "a program"));
  EXPECT_TRUE(Contains(Refusal("\x1F\x8B\x08"), "compressed"));
  EXPECT_TRUE(Contains(Refusal("<html>"), "not JSON: '<html>'"));
  EXPECT_TRUE(Contains(Refusal(R"({"context": 5})"), "'{' of the context"));
  EXPECT_TRUE(Contains(Refusal(R"({"benchmarks": {}})"), "'[' of the benchmarks"));
}

TEST(ReadResultFile, RefusesUtf16) {
  for (const std::size_t lead : {std::size_t{0}, std::size_t{1}}) {  // little, big endian
    std::string text(lead, '\0');
    for (const char c : std::string("{\"context\"")) text += {c, '\0'};
    EXPECT_TRUE(Contains(Refusal(text), "UTF-16")) << lead;
    EXPECT_TRUE(Contains(Refusal((lead == 0 ? "\xFF\xFE" : "\xFE\xFF") + text), "UTF-16")) << lead;
    EXPECT_TRUE(Contains(Refusal(text, kBoth), "UTF-16")) << lead;
  }
}

TEST(ReadResultFile, RefusesTheTableForPeople) {
  const std::string text =
      "Run on (2 X 2600 MHz CPU s)\n--------------\nBenchmark      Time       CPU Iterations\n";
  EXPECT_TRUE(Contains(Refusal(text), "table for people"));
}

TEST(ReadResultFile, RefusesTwoRunsInOneFile) {
  const std::string run = File(Row("BM_f"));
  for (const ReadOptions& options : {ReadOptions{}, kLenient, kSalvage, kBoth}) {
    EXPECT_TRUE(Contains(Refusal(run + run, options), "one file for each run")) << options.lenient;
  }
  // The first one died, and the program was started again.
  EXPECT_TRUE(Contains(Refusal(run.substr(0, run.size() - 30) + "\n" + run, kBoth),
                       "one file for each run"));
  EXPECT_TRUE(Contains(Refusal(R"({"benchmarks": [], "benchmarks": []})"), "a second"));
  EXPECT_TRUE(Contains(Refusal(R"({"context": {}, "context": {}})"), "a second"));
}

TEST(ReadResultFile, RefusesNulBytes) {
  std::string text = File(Row("BM_f") + ",\n" + Row("BM_g"));
  const std::string nul(1, '\0');
  ExpectRefused(text + nul, nul, {"NUL", "after the JSON"});
  ExpectRefused(Replaced(text, "BM_g", "BM" + nul), nul, {"NUL", "in a string"});
  ExpectRefused(Replaced(text, "    {\n", nul), nul, {"NUL"});
  ExpectRefused(nul + nul, nul, {"NUL"});
}

TEST(ReadResultFile, SalvagesBlocksOfZeros) {
  const std::string text = File(Row("BM_f") + ",\n" + Row("BM_g"));
  const std::string cut = text.substr(0, text.find("BM_g") + 2) + std::string(4096, '\0');
  EXPECT_TRUE(Contains(Refusal(cut), "NUL"));
  const ResultFile file = Parse(cut, kSalvage);
  EXPECT_TRUE(file.is_incomplete);
  EXPECT_EQ(file.rows.size(), 1U);
  EXPECT_EQ(file.warnings.size(), 2U);
  EXPECT_FALSE(Parse(text + std::string(4096, '\0'), kSalvage).is_incomplete);
}

TEST(ReadResultFile, ReadsFilesWithoutRowsOrContext) {
  const ResultFile file = Parse(R"({"benchmarks": []})");
  EXPECT_TRUE(file.rows.empty());
  ExpectWarning(file, "no context");
  EXPECT_TRUE(Parse(File("")).warnings.empty());
}

// Files

std::string WriteTemporary(const std::string& text) {
  const std::string path = testing::TempDir() + "result_file_test." + std::to_string(getpid());
  std::ofstream(path, std::ios::binary) << text;
  return path;
}

TEST(ReadResultFile, ReadsRegularFiles) {
  std::string rows;
  for (int i = 0; i < 2000; ++i) rows += (i == 0 ? "" : ",\n") + Row("BM_f", "", i);
  const std::string path = WriteTemporary(File(rows));
  const ResultFile file = ReadResultFile(path);
  std::filesystem::remove(path);
  EXPECT_EQ(file.path, path);
  ASSERT_EQ(file.rows.size(), 2000U);
  EXPECT_EQ(file.rows[1999].repetition_index, 1999);
}

TEST(ReadResultFile, ReadsPipes) {
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe(ends.data()), 0);
  std::string rows = Row("BM_f");
  for (int i = 1; i < 1000; ++i) rows += ",\n" + Row("BM_f", "", i);  // more than a pipe holds
  const std::string text = File(rows);
  std::thread writer([&] {
    for (std::size_t sent = 0; sent < text.size();) {
      const ssize_t n = write(ends[1], text.data() + sent, text.size() - sent);
      if (n <= 0) break;
      sent += static_cast<std::size_t>(n);
    }
    close(ends[1]);
  });
  const ResultFile file = ReadResultFile("/dev/fd/" + std::to_string(ends[0]));
  writer.join();
  close(ends[0]);
  EXPECT_EQ(file.rows.size(), 1000U);
}

TEST(ReadResultFile, NamesWhatCannotBeRead) {
  const auto refusal = [](const std::string& path) -> std::string {
    try {
      ReadResultFile(path);
    } catch (const ReadError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(refusal("/no/such/file"), "/no/such/file: cannot be read: No such file or directory");
  EXPECT_EQ(refusal("/"), "/: cannot be read: Is a directory");
  EXPECT_TRUE(Contains(refusal("/dev/null"), "/dev/null:1:1: an empty file"));
  if (geteuid() != 0) {
    const std::string path = WriteTemporary("{}");
    chmod(path.c_str(), 0);
    EXPECT_EQ(refusal(path), path + ": cannot be read: Permission denied");
    std::filesystem::remove(path);
  }
}

// Traps

TEST(ReadResultFile, Trap01NonFiniteNumbers) {
  struct {
    const char* written;
    double value;
  } const cases[] = {
      {"NaN", NAN},
      {"nan", NAN},
      {"-nan", NAN},
      {"-NaN", NAN},
      {"NAN", NAN},
      {"nan(ind)", NAN},
      {"-nan(ind)", NAN},
      {"nan(snan)", NAN},
      {"1.#QNAN", NAN},
      {"-1.#IND", NAN},
      {"1.#IND00", NAN},
      {"Infinity", kInfinity},
      {"inf", kInfinity},
      {"INF", kInfinity},
      {"infinity", kInfinity},
      {"1.#INF", kInfinity},
      {"-1.#INF", -kInfinity},
      {"-Infinity", -kInfinity},
      {"-inf", -kInfinity},
  };
  for (const auto& c : cases) {
    const ResultFile file = Parse(File(Replaced(Row("BM_f", std::string("\"loss\": ") + c.written),
                                                "1.2500000000000000e+02", c.written)));
    EXPECT_TRUE(Same(Value(file.rows[0], "loss"), c.value)) << c.written;
    EXPECT_TRUE(Same(Value(file.rows[0], "cpu_time"), c.value)) << c.written;
    EXPECT_TRUE(file.warnings.empty()) << c.written;
  }
}

TEST(ReadResultFile, Trap02TextBeforeTheJson) {
  const std::string json = File(Row("BM_f"));
  for (const std::string noise :
       {"[W 12:00 Warning] {\"a\": 1} cuda\n", "-- LOG(0): min_time {\n", "{\"level\": \"warn\"}\n",
        "{ not JSON\n", "{\"context\": 5}\n", "Running ./bench\n  \"benchmarks\": no\n"}) {
    const std::string message = Refusal(noise + json);
    EXPECT_FALSE(message.empty()) << noise;
    EXPECT_EQ(message.rfind("some.json:1:", 0) != 0 && message.rfind("some.json:2:", 0) != 0, false)
        << message;
    const ResultFile file = Parse(noise + json, kLenient);
    ASSERT_EQ(file.rows.size(), 1U) << noise;
    ExpectWarning(file, "skipped " + std::to_string(noise.size()) + " bytes before the JSON");
  }
  ExpectRefused("[W Warning] cuda\n" + json, "[W", {"'[W Warning] cuda'", "byte 17", "--lenient"});
}

TEST(ReadResultFile, Trap02TextAfterTheJson) {
  const std::string json = File(Row("BM_f"));
  ExpectRefused(json + "ok\nterminate called", "ok\n", {"text after the JSON: 'ok'", "--lenient"});
  const ResultFile file = Parse(json + "ok\nterminate called", kLenient);
  EXPECT_EQ(file.rows.size(), 1U);
  ExpectWarning(file, "skipped 19 bytes after the JSON: 'ok'");
}

TEST(ReadResultFile, Trap02TextInsideIsNeverSkipped) {
  const std::string noise = "[W Warning] cuda";
  const std::string glued = File(Row("BM_f") + noise + ",\n" + Row("BM_g"));
  const std::string in_row = Replaced(File(Row("BM_f")), "\"threads\"", noise + "\"threads\"");
  for (const ReadOptions& options : {ReadOptions{}, kLenient, kSalvage, kBoth}) {
    ExpectRefused(glued, noise, {"behind row 1", noise, "--benchmark_out"}, options);
    ExpectRefused(in_row, noise, {"expected a key", noise}, options);
  }
}

TEST(ReadResultFile, Trap03TruncationAtEveryByte) {
  const std::string text = Mixed();
  const ResultFile whole = Parse(text);
  ASSERT_EQ(whole.rows.size(), 5U);
  const std::size_t end = text.rfind('}') + 1;
  for (std::size_t cut = 1; cut < end; ++cut) {
    const std::string part = text.substr(0, cut);
    std::size_t rows = 0;
    for (std::size_t at = 0; (at = part.find("\n    }", at)) != std::string::npos; ++at) {
      if (at > text.find("\"benchmarks\"")) ++rows;
    }
    const std::string message = Refusal(part);
    EXPECT_TRUE(Contains(message, "breaks off; complete rows: " + std::to_string(rows) + " (byte"))
        << cut << ": " << message;
    EXPECT_TRUE(Contains(message, "(byte " + std::to_string(cut) + ")")) << message;
    for (const ReadOptions& options : {kSalvage, kBoth}) {
      const ResultFile file = Parse(part, options);
      EXPECT_TRUE(file.is_incomplete);
      ASSERT_EQ(file.rows.size(), rows) << cut;
      for (std::size_t i = 0; i < rows; ++i) EXPECT_TRUE(Same(file.rows[i], whole.rows[i])) << cut;
      EXPECT_TRUE(Contains(file.warnings.back(), "breaks off")) << file.warnings.back();
    }
  }
  EXPECT_FALSE(Parse(text.substr(0, end)).is_incomplete);  // only the last line's end is lost
}

TEST(ReadResultFile, Trap03LastWordsOfAProgram) {
  std::string text = File(Row("BM_f"));
  text = text.substr(0, text.rfind("\n  ]")) + ",\nterminate called after throwing 'x'\nAborted\n";
  EXPECT_TRUE(Contains(Refusal(text, kSalvage), "a row behind row 1"));
  EXPECT_TRUE(Contains(Refusal(text, kLenient), "a row behind row 1"));
  const ResultFile file = Parse(text, kBoth);
  EXPECT_TRUE(file.is_incomplete);
  EXPECT_EQ(file.rows.size(), 1U);
  EXPECT_EQ(file.warnings.size(), 2U);
}

TEST(ReadResultFile, Trap03SalvageOfAWholeFileIsTheFile) {
  const ResultFile file = Parse(Mixed(), kSalvage);
  EXPECT_FALSE(file.is_incomplete);
  EXPECT_EQ(file.warnings, Parse(Mixed()).warnings);
}

TEST(ReadResultFile, Trap04EmptyFile) {
  for (const std::string text : {"", " \n", "\xEF\xBB\xBF", "\xEF\xBB", "\xEF\xBB\xBF\n"}) {
    for (const ReadOptions& options : {ReadOptions{}, kLenient, kSalvage, kBoth}) {
      const std::string message = Refusal(text, options);
      EXPECT_TRUE(Contains(message, "some.json:1:1: an empty file (byte 0); did")) << message;
      EXPECT_TRUE(Contains(message, "--benchmark_filter")) << message;
    }
  }
}

TEST(ReadResultFile, Trap05FullDisk) {  // cut at a block
  std::string rows = Row("BM_f");
  for (int i = 1; i < 20; ++i) rows += ",\n" + Row("BM_f", "", i);
  EXPECT_TRUE(Contains(Refusal(File(rows).substr(0, 4096)), "the disk was full"));
}

TEST(ReadResultFile, Trap06ErrorRows) {
  for (const char* head : {"\"run_type\": \"iteration\", \"repetition_index\": 1, ", ""}) {
    const ResultFile file = Parse(File(std::string("{\"name\": \"BM_f\", ") + head + R"(
        "error_occurred": true, "error_message": "no \"GPU\"", "iterations": 3,
        "real_time": 0.0000000000000000e+00, "cpu_time": 0.0, "time_unit": "ns"})"));
    EXPECT_EQ(file.rows[0].state, RowState::kError);
    EXPECT_EQ(file.rows[0].message, "no \"GPU\"");
    EXPECT_TRUE(file.rows[0].metrics.empty());  // a zero would be the fastest of all
    EXPECT_TRUE(file.warnings.empty());
  }
  EXPECT_EQ(Parse(File(Row("BM_f", "\"error_occurred\": false"))).rows[0].state,
            RowState::kMeasured);
}

TEST(ReadResultFile, Trap07SkippedRows) {
  const ResultFile file =
      Parse(File(Row("BM_f", R"("skipped": true, "skip_message": "no GPU", "loss": 5)")));
  EXPECT_EQ(file.rows[0].state, RowState::kSkipped);
  EXPECT_EQ(file.rows[0].message, "no GPU");
  EXPECT_EQ(MetricNames(file.rows[0]), std::vector<std::string>{"loss"});
}

TEST(ReadResultFile, Trap09UnitsBecomeSeconds) {
  for (const auto& [unit, seconds] : {std::pair{"ns", 250e-9}, std::pair{"us", 250e-6},
                                      std::pair{"ms", 250e-3}, std::pair{"s", 250.0}}) {
    const ResultFile file =
        Parse(Replaced(File(Row("BM_f")), "\"ns\"", "\"" + std::string(unit) + "\""));
    EXPECT_EQ(file.rows[0].time_unit, unit);
    EXPECT_DOUBLE_EQ(Value(file.rows[0], "real_time"), seconds);
  }
}

TEST(ReadResultFile, Trap09UnknownUnitsAreNamed) {
  ExpectRefused(Replaced(File(Row("BM_f")), "\"ns\"", "\"min\""), "{\n      \"name",
                {"'BM_f'", "'min'", "ns, us, ms and s"});
  ExpectRefused(Replaced(File(Row("BM_f")), ",\n      \"time_unit\": \"ns\"", ""),
                "{\n      \"name", {"no time_unit"});
}

TEST(ReadResultFile, Trap11RowsOfOneNameStayApart) {
  const ResultFile file = Parse(File(
      Row("BM_f") + ",\n" + Replaced(Row("BM_f"), "\"family_index\": 0", "\"family_index\": 1")));
  EXPECT_EQ(file.rows[0].family_index, 0);
  EXPECT_EQ(file.rows[1].family_index, 1);
}

TEST(ReadResultFile, Trap15AggregatesOnly) {
  const ResultFile file =
      Parse(File(Aggregate("mean", "time", "250.0") + ",\n" + Aggregate("stddev", "time", "2.5")));
  for (const ResultRow& row : file.rows) {
    EXPECT_EQ(row.kind, RowKind::kAggregate);
    EXPECT_EQ(row.run_name, "BM_f");
    EXPECT_EQ(row.iterations, 3);
    EXPECT_EQ(row.repetition_index, -1);
  }
  EXPECT_EQ(file.rows[1].name, "BM_f_stddev");
  EXPECT_EQ(file.rows[1].aggregate_name, "stddev");
  EXPECT_DOUBLE_EQ(Value(file.rows[1], "real_time"), 2.5e-9);
}

TEST(ReadResultFile, Trap16PercentagesAreFractions) {
  const ResultFile file = Parse(File(Aggregate("cv", "percentage", "0.02") + ",\n" +
                                     Aggregate("share", "percentage", "0.5")));
  EXPECT_TRUE(file.rows[0].is_percentage);
  EXPECT_EQ(Value(file.rows[0], "real_time"), 0.02);
  EXPECT_EQ(file.rows[0].time_unit, "ns");
  EXPECT_EQ(Value(file.rows[1], "cpu_time"), 0.5);
}

TEST(ReadResultFile, Trap17BigOAndRms) {
  const ResultFile file = Parse(File(kBigORows));
  EXPECT_TRUE(file.warnings.empty());
  EXPECT_EQ(file.rows[0].kind, RowKind::kBigO);
  EXPECT_EQ(file.rows[0].big_o, "N^2");
  EXPECT_EQ(file.rows[0].run_name, "BM_f");
  EXPECT_DOUBLE_EQ(Value(file.rows[0], "cpu_coefficient"), 2e-6);
  EXPECT_DOUBLE_EQ(Value(file.rows[0], "real_coefficient"), 3e-6);
  EXPECT_EQ(file.rows[1].kind, RowKind::kRms);
  EXPECT_EQ(file.rows[1].time_unit, "");
  EXPECT_TRUE(file.rows[1].is_percentage);
  EXPECT_EQ(Value(file.rows[1], "rms"), 0.015);
}

TEST(ReadResultFile, Trap17CountersNamedLikeAFitAreCounters) {
  const ResultFile file = Parse(File(Row("BM_f", "\"rms\": 3, \"cpu_coefficient\": 4")));
  EXPECT_EQ(file.rows[0].kind, RowKind::kIteration);
  EXPECT_EQ(Value(file.rows[0], "rms"), 3);
  EXPECT_EQ(Value(file.rows[0], "cpu_coefficient"), 4);
  EXPECT_TRUE(file.warnings.empty());
}

TEST(ReadResultFile, Trap20CountersNamedLikeAField) {
  const ResultFile file = Parse(File(
      Row("BM_f",
          R"("label": NaN, "name": 7.0, "real_time": 123.0, "threads": 2.5, "label": "text")")));
  const ResultRow& row = file.rows[0];
  EXPECT_EQ(row.name, "BM_f");
  EXPECT_EQ(row.threads, 1);
  EXPECT_EQ(row.label, "text");
  EXPECT_DOUBLE_EQ(Value(row, "real_time", 0), 250e-9);
  EXPECT_EQ(Value(row, "real_time", 1), 123);
  EXPECT_EQ(Value(row, "name"), 7);
  EXPECT_EQ(Value(row, "threads"), 2.5);
  EXPECT_TRUE(std::isnan(Value(row, "label")));
  ASSERT_EQ(file.warnings.size(), 4U);
  for (const std::string& warning : file.warnings) {
    EXPECT_TRUE(Contains(warning, "a counter bears the name of the field '")) << warning;
  }
}

TEST(ReadResultFile, Trap20DuplicateContextKeys) {
  const ResultFile file = Parse(Replaced(File(Row("BM_f")), "\"json_schema_version\": 1",
                                         "\"json_schema_version\": 1,\n    \"num_cpus\": \"99\""));
  EXPECT_EQ(file.ContextValue("num_cpus"), "2");
  EXPECT_EQ(file.context.size(), 11U);
  ExpectWarning(file, "context key 'num_cpus' again");
}

TEST(ReadResultFile, Trap20CountersTwiceAreKept) {
  const ResultFile file = Parse(File(Row("BM_f", "\"loss\": 1, \"loss\": 2")));
  EXPECT_EQ(Value(file.rows[0], "loss", 1), 2);
  ExpectWarning(file, "counter 'loss' twice");
}

TEST(ReadResultFile, Trap21RawControlBytes) {
  const ResultFile file = Parse(File(Row("BM_\x1B[31m", "\"label\": \"\x1B[0m\x7F\t\x01\"")));
  EXPECT_EQ(file.rows[0].name, "BM_\x1B[31m");
  EXPECT_EQ(file.rows[0].label, "\x1B[0m\x7F\t\x01");
  ExpectWarning(file, "control bytes in a string, kept as they are (the first of 3)");
}

TEST(ReadResultFile, Trap22InvalidUtf8) {
  for (const std::string bad : {"\xFF", "\xC3", "\x80", "\xC0\xAF", "\xE2\x82", "\xED\xA0\x80",
                                "\xF4\x90\x80\x80", "\xF8\x88\x80\x80\x80", "\xE0\x80\xAF"}) {
    const ResultFile file = Parse(File(Row("BM_" + bad)));
    EXPECT_EQ(file.rows[0].run_name, "BM_" + bad);
    ExpectWarning(file, "not UTF-8, kept as it is (the first of 2)");
  }
  const std::string good = "\xC3\xA9\xE2\x82\xAC\xEF\xBF\xBF\xF0\x9F\x98\x80\xF4\x8F\xBF\xBF";
  EXPECT_TRUE(Parse(File(Row(good))).warnings.empty());
}

TEST(ReadResultFile, Trap24CommaLocale) {
  struct {
    const char *old, *by, *at;
  } const cases[] = {
      {"2.5000000000000000e+02", "2,5000000000000000e+02", "5000000000000000e"},
      {"\"iterations\": 1000", "\"iterations\": 46.554.966", "46.554"},
      {"\"iterations\": 1000", "\"iterations\": 46.554", "\"iterations\""},
      {"\"iterations\": 1000", "\"iterations\": 1.000", "\"iterations\""},
      {"\"iterations\": 1000", "\"iterations\": 46,554,966", "554,966"},
      {"\"iterations\": 1000", "\"iterations\": 46'554'966", "46'554"},
      {"\"iterations\": 1000", "\"iterations\": 46 554 966", "554 966"},
      {"\"iterations\": 1000",
       "\"iterations\": 46\xC2\xA0"
       "554",
       "46\xC2"},
      {"[0.89,1.35,1.33]", "[4,61,5,50]", "\"load_avg\""},
      {"\"mhz_per_cpu\": 2600", "\"mhz_per_cpu\": 2,600", "600,"},
      {"\"size\": 49152", "\"size\": 49,152", "152,\n"},
      {"\"size\": 49152", "\"size\": 503.316.480", "503."},
  };
  for (const auto& c : cases) {
    const std::string text = Replaced(File(Row("BM_f")), c.old, c.by);
    ExpectRefused(text, c.at, {"comma locale", "LC_ALL=C"});
  }
}

TEST(ReadResultFile, Trap26AbsentLibraryVersion) {  // before 1.8.4
  std::string text = Replaced(File(Row("BM_f")), "    \"library_version\": \"v1.9.4\",\n", "");
  text = Replaced(text, ",\n    \"json_schema_version\": 1", "");
  const ResultFile file = Parse(text);
  EXPECT_EQ(file.ContextValue("library_version"), "");
  EXPECT_TRUE(file.warnings.empty());
}

TEST(ReadResultFile, Trap28SchemaVersion) {
  const std::string text = File(Row("BM_f"));
  for (const std::string version : {"2", "1.5", "\"2\"", "null", "[1]"}) {
    ExpectRefused(Replaced(text, "version\": 1", "version\": " + version), "\"json_schema",
                  {"json_schema_version", "is not 1"});
  }
  EXPECT_NO_THROW(Parse(Replaced(text, "version\": 1", "version\": 1.0")));
}

TEST(ReadResultFile, Trap28FieldsAbsentBefore155) {  // no indices
  std::string text = Replaced(File(Row("BM_f")), "      \"family_index\": 0,\n", "");
  text = Replaced(text, "      \"per_family_instance_index\": 3,\n", "");
  const ResultFile file = Parse(text);
  EXPECT_EQ(file.rows[0].family_index, -1);
  EXPECT_EQ(file.rows[0].per_family_instance_index, -1);
  EXPECT_TRUE(file.warnings.empty());
}

TEST(ReadResultFile, Trap28AggregatesBefore15) {
  const auto row = [](const std::string& name) {
    return "{\"name\": \"" + name +
           "\", \"iterations\": 5, \"real_time\": 1, \"cpu_time\": 1, \"time_unit\": \"ns\"}";
  };
  const ResultFile file = Parse(File(
      row("BM_f") + "," + row("BM_f") + "," + row("BM_f_mean") + "," + row("BM_f_stddev") + "," +
      row("BM_g_mean") + "," + row("BM_g_median") + "," + row("BM_h_mean") + "," + row("BM_k") +
      R"(, {"name": "BM_k_BigO", "cpu_coefficient": 1, "real_coefficient": 1, "big_o": "N",
            "time_unit": "ns"}, {"name": "BM_k_RMS", "rms": 0.1})"));
  EXPECT_EQ(file.rows[2].kind, RowKind::kAggregate);
  EXPECT_EQ(file.rows[2].run_name, "BM_f");
  EXPECT_EQ(file.rows[2].aggregate_name, "mean");
  EXPECT_EQ(file.rows[3].aggregate_name, "stddev");
  EXPECT_EQ(file.rows[4].run_name, "BM_g");  // only aggregates were reported
  EXPECT_EQ(file.rows[5].run_name, "BM_g");
  EXPECT_EQ(file.rows[6].kind, RowKind::kIteration);  // a benchmark of that name
  EXPECT_EQ(file.rows[6].run_name, "BM_h_mean");
  EXPECT_EQ(file.rows[8].kind, RowKind::kBigO);
  EXPECT_EQ(file.rows[8].run_name, "BM_k");
  EXPECT_EQ(file.rows[9].kind, RowKind::kRms);
  EXPECT_EQ(file.rows[9].run_name, "BM_k");
  ExpectWarning(file, "without run_type");
}

TEST(ReadResultFile, Trap28NamesAreNotStrippedWhenTheKindIsKnown) {
  const ResultFile file = Parse(File(Row("BM_f") + ",\n" + Row("BM_f_mean")));
  EXPECT_EQ(file.rows[1].kind, RowKind::kIteration);
  EXPECT_EQ(file.rows[1].run_name, "BM_f_mean");
}

TEST(ReadResultFile, Trap31NamesWithEveryCharacter) {
  const std::string name = "BM_x<float, 3>/8|[a](b) + *:\\\"^$ \xE2\x82\xAC";
  const ResultFile file = Parse(File(Row(Replaced(name, "\\\"", "\\\\\\\""))));
  EXPECT_EQ(file.rows[0].run_name, name);
}

TEST(ReadResultFile, Trap32CsvIsRefused) {
  const std::string header =
      "name,iterations,real_time,cpu_time,time_unit,bytes_per_second,items_per_second,label\n";
  for (const std::string& text : {header, "Running ./bench\nRun on (2 X 2600 MHz)\n" + header}) {
    const std::string message = Refusal(text + "\"BM_f\",1,2,3,ns,,,\n");
    EXPECT_TRUE(Contains(message, "CSV")) << message;
    EXPECT_TRUE(Contains(message, "--benchmark_out_format=json")) << message;
  }
}

TEST(ReadResultFile, Trap34DepthIsLimited) {
  for (const char* opening : {"[", "{\"a\":"}) {
    std::string deep;
    for (int i = 0; i < 1000000; ++i) deep += opening;
    for (const std::string& text : {File(Row("BM_f", "\"a\": " + deep)), "{\"a\": " + deep,
                                    Replaced(File(Row("BM_f")), "[0.89,1.35,1.33]", deep)}) {
      for (const ReadOptions& options : {ReadOptions{}, kLenient, kSalvage, kBoth}) {
        EXPECT_TRUE(Contains(Refusal(text, options), "nested deeper than 64"));
      }
    }
  }
  const std::string deep = std::string(60, '[') + std::string(60, ']');
  EXPECT_NO_THROW(Parse(File(Row("BM_f", "\"a\": " + deep))));
}

TEST(ReadResultFile, Trap34ManyRowsAndManyCounters) {
  std::string rows = "{\"name\": \"BM_f\", \"real_time\": 1, \"time_unit\": \"s\"";
  for (int i = 0; i < 20000; ++i) rows += ", \"c" + std::to_string(i) + "\": " + std::to_string(i);
  rows += "}";
  for (int i = 0; i < 20000; ++i) rows += ",\n" + Row("BM_g", "\"label\": \"\x01\"", i);
  const ResultFile file = Parse(File(rows));
  ASSERT_EQ(file.rows.size(), 20001U);
  EXPECT_EQ(Value(file.rows[0], "c19999"), 19999);
  EXPECT_EQ(file.rows[20000].repetition_index, 19999);
  ExpectWarning(file, "the first of 20000");
}

TEST(ReadResultFile, Trap34ManyContextKeys) {
  std::string keys;
  for (int i = 0; i < 20000; ++i) keys += "\"k" + std::to_string(i) + "\": \"v\",\n";
  EXPECT_EQ(Parse(Replaced(File(Row("BM_f")), "\"date\"", keys + "\"date\"")).context.size(),
            20011U);
}

TEST(ReadResultFile, ListsAreNotResults) {
  const std::string list = "{\"benchmarks\": [\n{\"name\": \"BM_f\"},\n{\"name\": \"BM_g\"}\n]}";
  for (const ReadOptions& options : {ReadOptions{}, kLenient, kSalvage, kBoth}) {
    ExpectRefused(list, "{", {"a list, not results", "--benchmark_list_tests"}, options);
  }
}

// Whatever happens to a byte, the answer is a file that keeps its promises or a ReadError.
TEST(ReadResultFile, SurvivesEveryChangedByte) {
  const std::string text = Mixed();
  constexpr char kBytes[] = "\0\n \",:[]{}\\-.059aeN\x1B\x80\xFF";
  const std::string_view changes(kBytes, sizeof(kBytes) - 1);
  for (std::size_t at = 0; at < text.size(); ++at) {
    for (std::size_t k = 0; k < changes.size(); ++k) {
      std::string changed = text;
      if (k % 3 == 0) {
        changed.insert(at, 1, changes[k]);
      } else {
        changed[at] = changes[k];
      }
      if (k % 5 == 0) changed.erase(at, k);
      for (const ReadOptions& options : {ReadOptions{}, kBoth}) {
        try {
          for (const ResultRow& row : Parse(changed, options).rows) {
            for (const Metric& metric : row.metrics) ASSERT_FALSE(metric.name.empty());
          }
        } catch (const ReadError& error) {
          const std::string message = error.what();
          ASSERT_TRUE(Contains(message, "some.json:") && Contains(message, "(byte ")) << message;
        }
      }
    }
  }
}

}  // namespace
}  // namespace cnn
