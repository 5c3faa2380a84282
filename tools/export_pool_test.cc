#include "tools/export_pool.h"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

#include "tools/export_testing.h"

namespace cnn {
namespace {

std::vector<PooledBenchmark> PoolOne(std::vector<ResultRow> rows) {
  return Pool({File(std::move(rows))}, Grouping::kTogether).at(0).benchmarks;
}

// "" where the files can be pooled.
std::string PoolError(const std::vector<ResultFile>& files) {
  try {
    Pool(files, Grouping::kTogether);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return {};
}

TEST(ExportPool, TakesTheMedianOfRepetitions) {
  const auto benchmarks = PoolOne({TimedRow("a", 3), TimedRow("b", 9), TimedRow("a", 1),
                                   TimedRow("a", 2), AggregateRow("a", "mean", 7)});
  ASSERT_EQ(benchmarks.size(), 2U);
  const PooledMetric& metric = benchmarks[0].metrics.at(0);
  EXPECT_EQ(metric.name, "real_time");
  EXPECT_EQ(metric.value, 2);
  EXPECT_EQ(metric.lower, 1);
  EXPECT_EQ(metric.upper, 3);
  EXPECT_EQ(metric.spread, Spread::kMinMax);
  EXPECT_EQ(metric.count, 3);
  EXPECT_EQ(benchmarks[1].metrics.at(0).spread, Spread::kNone);
  EXPECT_FALSE(benchmarks[0].from_aggregates);
}

TEST(ExportPool, TakesTheMiddleOfTwoEvenWhereTheirSumOverflows) {
  const auto benchmarks = PoolOne({TimedRow("a", 1e308), TimedRow("a", 1.5e308)});
  EXPECT_DOUBLE_EQ(benchmarks[0].metrics.at(0).value, 1.25e308);
}

TEST(ExportPool, TakesTheMedianOfAggregatesOnly) {
  const auto benchmarks =
      PoolOne({AggregateRow("a", "mean", 7), AggregateRow("a", "median", 6),
               AggregateRow("a", "stddev", 0.5), AggregateRow("a", "cv", 0.07)});
  ASSERT_EQ(benchmarks.size(), 1U);
  const PooledMetric& metric = benchmarks[0].metrics.at(0);
  EXPECT_EQ(metric.value, 6);
  EXPECT_EQ(metric.lower, 5.5);
  EXPECT_EQ(metric.upper, 6.5);
  EXPECT_EQ(metric.spread, Spread::kStddev);
  EXPECT_EQ(metric.count, 5);
  EXPECT_TRUE(benchmarks[0].from_aggregates);
}

TEST(ExportPool, TakesTheMeanWhereThereIsNoMedian) {
  const auto benchmarks = PoolOne({AggregateRow("a", "mean", 7), AggregateRow("a", "max", 9)});
  EXPECT_EQ(benchmarks[0].metrics.at(0).value, 7);
}

TEST(ExportPool, LeavesFitsOut) {
  ResultRow fit = Row("Fit", {{"cpu_coefficient", 1}});
  fit.kind = RowKind::kBigO;
  ResultRow rms = Row("Fit", {{"rms", 1}});
  rms.kind = RowKind::kRms;
  EXPECT_TRUE(PoolOne({fit, rms}).empty());
}

TEST(ExportPool, FailsWithOneRepetition) {
  const auto benchmarks =
      PoolOne({TimedRow("a", 1), FailedRow("a", "first"), FailedRow("a", "second")});
  EXPECT_EQ(benchmarks[0].state, RowState::kError);
  EXPECT_EQ(benchmarks[0].message, "first");
  EXPECT_TRUE(benchmarks[0].metrics.empty());
}

TEST(ExportPool, CountsAMeasurementAboveASkip) {
  const auto benchmarks =
      PoolOne({SkippedRow("a", "why"), TimedRow("a", 1), SkippedRow("b", "why")});
  EXPECT_EQ(benchmarks[0].state, RowState::kMeasured);
  EXPECT_EQ(benchmarks[0].message, "");
  EXPECT_EQ(benchmarks[0].metrics.at(0).value, 1);
  EXPECT_EQ(benchmarks[1].state, RowState::kSkipped);
}

TEST(ExportPool, ShowsARepetitionThatIsNotFinite) {
  const auto benchmarks =
      PoolOne({TimedRow("a", 1), TimedRow("a", std::nan("")), TimedRow("a", 1)});
  EXPECT_TRUE(std::isnan(benchmarks[0].metrics.at(0).value));
  EXPECT_EQ(benchmarks[0].metrics.at(0).spread, Spread::kNone);
}

TEST(ExportPool, KeepsTwoBenchmarksOfOneNameApart) {
  std::vector<ResultRow> rows = {TimedRow("a", 1), TimedRow("a", 2), TimedRow("a", 3)};
  rows[0].family_index = 0;
  rows[1].family_index = 1;
  rows[2].family_index = 0;
  const auto benchmarks = PoolOne(rows);
  ASSERT_EQ(benchmarks.size(), 2U);
  EXPECT_EQ(benchmarks[0].name, "a");
  EXPECT_EQ(benchmarks[0].metrics.at(0).count, 2);
  EXPECT_EQ(benchmarks[1].name, "a #2");
  EXPECT_EQ(benchmarks[1].raw_name, "a #2");
}

TEST(ExportPool, KeepsNamesApartThatLookTheSame) {
  const auto benchmarks = PoolOne(
      {TimedRow("a\xff", 1), TimedRow("a\xfe", 2), TimedRow("", 3), TimedRow("(no name)", 4)});
  ASSERT_EQ(benchmarks.size(), 4U);
  EXPECT_EQ(benchmarks[1].name, benchmarks[0].name + " #2");
  EXPECT_EQ(benchmarks[2].name, "(no name)");
  EXPECT_EQ(benchmarks[3].name, "(no name) #2");
}

TEST(ExportPool, PoolsFilesAsTheFormatWants) {
  const std::vector<ResultFile> files = {
      File({TimedRow("a", 1)}, "1.json"), File({TimedRow("a", 5)}, "2.json"),
      With(File({TimedRow("a", 9)}, "3.json"), "date", "2026-12-01T18:36:32+00:00")};
  EXPECT_EQ(Pool(files, Grouping::kByFile).size(), 3U);
  const auto by_time = Pool(files, Grouping::kByTime);
  ASSERT_EQ(by_time.size(), 2U);
  EXPECT_EQ(by_time[0].benchmarks.at(0).metrics.at(0).value, 3);
  EXPECT_EQ(by_time[1].time, 1796150192);
  const auto together = Pool(files, Grouping::kTogether);
  ASSERT_EQ(together.size(), 1U);
  EXPECT_EQ(together[0].benchmarks.at(0).metrics.at(0).value, 5);
  EXPECT_TRUE(Pool({}, Grouping::kTogether).empty());
}

TEST(ExportPool, RefusesAMedianOverTwoCommits) {
  const ResultFile a = File({TimedRow("a", 1)}, "1.json");
  const ResultFile b = With(File({TimedRow("a", 1)}, "2.json"), "git_commit", "def");
  EXPECT_EQ(
      PoolError({a, b}),
      "this format takes files as runs of one thing, but '1.json' and '2.json' both have 'a' and "
      "differ in git_commit ('abc123', 'def'): export them one at a time, or as ndjson, json "
      "or csv");
  EXPECT_NO_THROW(Pool({a, b}, Grouping::kByFile));
}

TEST(ExportPool, RefusesAMedianOverTwoAllocators) {
  ResultFile a = File({TimedRow("a", 1)}, "1.json");
  const ResultFile bare = a;
  ResultFile b = a;
  a.context.push_back({"allocator", "jemalloc"});
  b.context.push_back({"allocator", "li\x1b[0mbc"});
  EXPECT_NE(PoolError({a, b}).find("differ in allocator ('jemalloc', 'li\xE2\x90\x9B[0mbc')"),
            std::string::npos);
  EXPECT_NE(PoolError({bare, a}).find("differ in allocator (absent, 'jemalloc')"),
            std::string::npos);
  EXPECT_EQ(PoolError({a, a}), "");
}

TEST(ExportPool, ComparesEachFileWithTheFirstOfEachBenchmark) {
  const ResultFile a = File({TimedRow("a", 1)}, "1.json");
  const ResultFile b = With(File({TimedRow("b", 1)}, "2.json"), "git_commit", "def");
  const ResultFile both = File({TimedRow("a", 1), TimedRow("b", 1)}, "3.json");
  EXPECT_EQ(PoolError({a, b}), "");
  EXPECT_NE(PoolError({a, b, both}).find("'2.json' and '3.json' both have 'b'"), std::string::npos);
}

TEST(ExportPool, KeepsHostsApartThatLookTheSame) {
  const ResultFile a = With(File({TimedRow("a", 1)}, "1.json"), "host_name", "vm\xff");
  const ResultFile b = With(File({TimedRow("a", 1)}, "2.json"), "host_name", "vm\xfe");
  EXPECT_THROW(Pool({a, b}, Grouping::kByTime), std::runtime_error) << "one would hide the other";
}

TEST(ExportPool, TakesOtherBenchmarksFromOtherPrograms) {
  const ResultFile a = File({TimedRow("a", 1)}, "1.json");
  const ResultFile b = With(File({TimedRow("b", 1)}, "2.json"), "executable", "other");
  EXPECT_EQ(Pool({a, b}, Grouping::kTogether).at(0).benchmarks.size(), 2U);
  const ResultFile same =
      With(File({TimedRow("a", 1)}, "3.json"), "executable", "/x/cnn_benchmarks");
  EXPECT_NO_THROW(Pool({a, same}, Grouping::kTogether)) << "the same program by another path";
}

TEST(ExportPool, RenamesACounterThatIsNamedLikeATime) {
  EXPECT_EQ(MetricNames(Row("a", {{"real_time", 1}, {"real_time", 2}, {"real_time", 3}, {"", 4}})),
            (std::vector<std::string>{"real_time", "real_time_counter", "real_time_counter_counter",
                                      "counter"}));
}

}  // namespace
}  // namespace cnn
