#include "benchmarks/reporter.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>

#include "benchmarks/table.h"
#include "dataset/testing.h"
#include "fixtures/fixture.h"

namespace cnn {
namespace {

using Row = benchmark::BenchmarkReporter::Run;

Row MakeRow(const std::string& name) {
  Row row;
  row.run_name.function_name = name;
  row.iterations = 3;
  row.real_accumulated_time = 6;
  row.cpu_accumulated_time = 9;
  row.time_unit = benchmark::kMillisecond;
  row.counters["items_per_second"] = 123.456;
  row.counters["wait_ms"] = 0.5;
  return row;
}

Row MakeFailure(const std::string& name, const std::string& why) {
  Row row = MakeRow(name);
#ifdef CNN_BENCHMARK_HAS_SKIPPED
  row.skipped = benchmark::internal::SkippedWithError;
  row.skip_message = why;
#else
  row.error_occurred = true;
  row.error_message = why;
#endif
  return row;
}

class ResultFileTest : public testing::Test {
 protected:
  std::filesystem::path path() const { return dir_.path() / "run"; }

  GoogleFlags Output(const std::string& format = "json") const {
    GoogleFlags flags;
    flags.out = path().string();
    flags.out_format = format;
    return flags;
  }

  nlohmann::json Content() const { return nlohmann::json::parse(ReadText(path())); }

  TempDir dir_;
};

TEST_F(ResultFileTest, IsValidAfterEveryBenchmark) {
  ResultFile file(Output());
  EXPECT_FALSE(std::filesystem::exists(path()));
  file.ReportContext({});
  for (std::size_t count = 1; count <= 3; ++count) {
    file.ReportRuns({MakeRow("Layer/" + std::to_string(count))});
    EXPECT_EQ(Content()["benchmarks"].size(), count);
  }
  file.Finalize();
  EXPECT_EQ(Content()["benchmarks"].size(), 3U);
  EXPECT_EQ(file.Conclude(0), 0);
  const std::filesystem::directory_iterator entries(dir_.path());
  EXPECT_EQ(std::distance(begin(entries), end(entries)), 1) << "something was left beside it";
}

TEST_F(ResultFileTest, NamesAreThoseOfTheCases) {
  ResultFile file(Output());
  file.ReportContext({});
  Row row = MakeRow("Epoch/x");
  row.run_name.time_type = "process_time/real_time";
  row.run_name.iterations = "iterations:3";
  file.ReportRuns({row});
  EXPECT_EQ(Content()["benchmarks"][0]["name"], "Epoch/x");
  EXPECT_EQ(Content()["benchmarks"][0]["run_name"], "Epoch/x");
}

TEST_F(ResultFileTest, ValuesThatAreNotFiniteStayOut) {
  ResultFile file(Output());
  file.ReportContext({});
  Row row = MakeRow("Epoch/x");
  row.counters["cv"] = std::numeric_limits<double>::quiet_NaN();
  row.counters["ratio"] = std::numeric_limits<double>::infinity();
  file.ReportRuns({row});
  EXPECT_FALSE(Content()["benchmarks"][0].contains("cv"));
  EXPECT_FALSE(Content()["benchmarks"][0].contains("ratio"));
  EXPECT_TRUE(Content()["benchmarks"][0].contains("wait_ms"));
}

TEST_F(ResultFileTest, KeepsFailuresAndConcludesWithOne) {
  ResultFile file(Output());
  file.ReportContext({});
  file.ReportRuns({MakeRow("Epoch/a")});
  file.ReportRuns({MakeFailure("Epoch/b", "no such file")});
  EXPECT_EQ(Content()["benchmarks"].size(), 2U);
  EXPECT_EQ(file.Conclude(1), 1);
}

TEST_F(ResultFileTest, RowsThatWereCutOffAreNoResults) {
  WriteText(path(), "an older result");
  ResultFile file(Output());
  file.ReportContext({});
  file.ReportRuns({MakeFailure("Epoch/a", kInterruptedMessage)});
  file.Finalize();
  EXPECT_EQ(ReadText(path()), "an older result");
}

TEST_F(ResultFileTest, ASymbolicLinkStaysOne) {
  WriteText(dir_.path() / "target", "");
  std::filesystem::create_symlink(dir_.path() / "target", path());
  ResultFile file(Output());
  file.ReportContext({});
  file.ReportRuns({MakeRow("Epoch/a")});
  EXPECT_TRUE(std::filesystem::is_symlink(path()));
  EXPECT_NE(ReadText(dir_.path() / "target").find("Epoch/a"), std::string::npos);
}

TEST_F(ResultFileTest, ADeviceIsWrittenToNotReplaced) {
  GoogleFlags flags;
  flags.out = "/dev/null";
  ResultFile file(flags);
  file.ReportContext({});
  file.ReportRuns({MakeRow("Epoch/a")});
  file.Finalize();
  EXPECT_EQ(file.Conclude(0), 0);
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
}

// A folder of memory below /dev holds ordinary files.
TEST_F(ResultFileTest, AFileBelowDevIsReplacedLikeAnyOther) {
  if (access("/dev/shm", W_OK) != 0) GTEST_SKIP() << "no /dev/shm that can be written";
  GoogleFlags flags;
  flags.out = "/dev/shm/cnn_result_file_test_" + std::to_string(getpid());
  for (int run = 0; run < 2; ++run) {
    ResultFile file(flags);
    file.ReportContext({});
    file.ReportRuns({MakeRow("Epoch/a")});
    file.Finalize();
    EXPECT_EQ(nlohmann::json::parse(ReadText(flags.out))["benchmarks"].size(), 1U);
  }
  std::filesystem::remove(flags.out);
}

TEST_F(ResultFileTest, AFileThatCannotBeWrittenAnyMoreIsAFailureNotTheEnd) {
  GoogleFlags flags;
  flags.out = (dir_.path() / "folder" / "run").string();
  ResultFile file(flags);
  file.ReportContext({});
  std::filesystem::remove_all(dir_.path() / "folder");
  file.ReportRuns({MakeRow("Epoch/a")});
  EXPECT_EQ(file.Conclude(0), 1);
  std::filesystem::create_directory(dir_.path() / "folder");
  file.ReportRuns({MakeRow("Epoch/b")});
  EXPECT_EQ(file.Conclude(0), 0);
  EXPECT_NE(ReadText(flags.out).find("Epoch/a"), std::string::npos);
}

TEST_F(ResultFileTest, AFolderCannotBeTheFile) {
  GoogleFlags flags;
  flags.out = dir_.path().string();
  EXPECT_THROW(ResultFile{flags}, std::runtime_error);
}

TEST_F(ResultFileTest, CsvHasOneHeadingForAllCounters) {
  ResultFile file(Output("csv"));
  file.ReportContext({});
  Row other = MakeRow("Model/\"b\"");
  other.counters = {{"peak_memory_mb", 5}};
  file.ReportRuns({MakeRow("Epoch/a")});
  file.ReportRuns({other, MakeFailure("Epoch/c", "no such file")});
  std::istringstream lines(ReadText(path()));
  std::string line;
  std::getline(lines, line);
  EXPECT_EQ(line,
            "name,repetition_index,iterations,real_time,cpu_time,time_unit,items_per_second,"
            "peak_memory_mb,wait_ms,label,error_message");
  std::getline(lines, line);
  EXPECT_EQ(line, "\"Epoch/a\",0,3,2000,3000,ms,123.456,,0.5,,");
  std::getline(lines, line);
  EXPECT_EQ(line, "\"Model/\"\"b\"\"\",0,3,2000,3000,ms,,5,,,");
  std::getline(lines, line);
  EXPECT_EQ(line, "\"Epoch/c\",,,,,,,,,,\"no such file\"");
}

// As Google Benchmark makes it: the share stands where times stand.
TEST_F(ResultFileTest, CsvLeavesSharesUnscaled) {
  ResultFile file(Output("csv"));
  file.ReportContext({});
  Row cv = MakeRow("Epoch/a");
  cv.run_type = Row::RT_Aggregate;
  cv.aggregate_name = "cv";
  cv.aggregate_unit = benchmark::kPercentage;
  cv.real_accumulated_time = 0.25;
  cv.cpu_accumulated_time = 0.5;
  file.ReportRuns({cv});
  EXPECT_NE(ReadText(path()).find("\"Epoch/a_cv\",,3,0.25,0.5,,"), std::string::npos)
      << ReadText(path());
}

TEST_F(ResultFileTest, NothingAtAllIsNoSuccess) {
  ResultFile file(Output());
  file.ReportContext({});
  file.Finalize();
  EXPECT_EQ(file.Conclude(0), 2);
}

class TableTest : public testing::Test {
 protected:
  TableTest() {
    table_.SetOutputStream(&text_);
    benchmark::BenchmarkReporter::Context context;
    context.name_field_width = 20;
    table_.ReportContext(context);
  }

  std::vector<std::string> Lines() const {
    std::vector<std::string> lines;
    std::istringstream in(text_.str());
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
  }

  std::ostringstream text_;
  Table table_;
};

TEST_F(TableTest, ColumnsLineUpUnderTheirHeading) {
  table_.ReportRuns({MakeRow("Epoch/a"), MakeRow("Epoch/longer_name")});
  const auto lines = Lines();
  ASSERT_EQ(lines.size(), 3U);
  for (const char* heading : {"time ms", "cores", "images/s", "wait ms", "1st loss", "loss"}) {
    EXPECT_NE(lines[0].find(heading), std::string::npos) << heading;
  }
  const std::size_t end = lines[0].find("images/s") + 8;
  EXPECT_EQ(lines[1].substr(end - 5, 5), "123.5");
  EXPECT_EQ(lines[2].substr(end - 5, 5), "123.5");
  EXPECT_NE(lines[1].find(" 2000 "), std::string::npos);   // 6 s in 3 iterations, in ms
  EXPECT_NE(lines[1].find(" 1.500 "), std::string::npos);  // 9 s of CPU in 6 s
}

TEST_F(TableTest, EveryFamilyHasItsHeading) {
  table_.ReportRuns({MakeRow("Layer/a"), MakeRow("Layer/b"), MakeRow("Epoch/a")});
  const auto lines = Lines();
  ASSERT_EQ(lines.size(), 6U);  // heading, 2 rows, blank, heading, row
  EXPECT_EQ(lines[0].rfind("Layer ", 0), 0U);
  EXPECT_EQ(lines[4].rfind("Epoch ", 0), 0U);
}

TEST_F(TableTest, AFailureSaysWhy) {
  table_.ReportRuns({MakeFailure("Epoch/a", "no such file")});
  EXPECT_NE(text_.str().find("FAILED: no such file"), std::string::npos);
}

TEST_F(TableTest, LongNamesAreKeptWhole) {
  const std::string name = "Epoch/" + std::string(80, 'x');
  table_.ReportRuns({MakeRow(name)});
  EXPECT_NE(text_.str().find(name + " "), std::string::npos);
}

}  // namespace
}  // namespace cnn
