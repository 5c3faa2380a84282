#include "tools/confirmation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tools/export_testing.h"

namespace cnn {
namespace {

using Files = std::vector<ResultFile>;
using Names = std::vector<std::string>;

constexpr double kNoise[] = {1.0, 1.001, 0.999, 1.002, 1.0005, 0.998};

bool Has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// A file per value of the noise; "A" and "B" take so many milliseconds.
Files Runs(double a, double b) {
  Files files;
  for (const double noise : kNoise) {
    files.push_back(File({TimedRow("A", 1e-3 * a * noise), TimedRow("B", 1e-3 * b * noise)}));
  }
  return files;
}

Files Broken() {
  Files files;
  for (const double noise : kNoise) {
    files.push_back(File({FailedRow("A", "out of memory"), TimedRow("B", 2e-3 * noise)}));
  }
  return files;
}

const ComparisonRow& RowOf(const Comparison& comparison, const std::string& benchmark,
                           const std::string& metric) {
  for (const ComparisonRow& row : comparison.rows) {
    if (row.benchmark == benchmark && row.metric == metric) return row;
  }
  ADD_FAILURE() << "no row " << benchmark << ' ' << metric;
  return comparison.rows.front();
}

std::string GateOf(const Comparison& comparison) { return comparison.time_metric; }

TEST(Confirm, KeepsWhatFailsTwiceWithTheSecondNumbers) {
  const Comparison first = Compare(Runs(1, 2), Runs(1.061, 2));
  const Comparison second = Compare(Runs(1, 2), Runs(1.09, 2));
  const Comparison result = Confirm(first, second);
  const ComparisonRow& row = RowOf(result, "A", GateOf(first));
  EXPECT_EQ(row.verdict, Verdict::kWorse);
  EXPECT_TRUE(row.fails);
  EXPECT_EQ(row.why, "confirmed: +6.1 % then +9 %");
  EXPECT_NEAR(row.effect.estimate, 1.09, 1e-6);
  EXPECT_EQ(result.summary.failures, 1U);
  EXPECT_EQ(ExitCode(result, {}), 1);
}

TEST(Confirm, TakesBackWhatFailsOnce) {
  const Comparison first = Compare(Runs(1, 2), Runs(1.1, 2));
  const Comparison second = Compare(Runs(1, 2), Runs(1.004, 2));
  const Comparison result = Confirm(first, second);
  const ComparisonRow& row = RowOf(result, "A", GateOf(first));
  EXPECT_EQ(row.verdict, Verdict::kInconclusive);
  EXPECT_FALSE(row.fails);
  EXPECT_TRUE(row.is_unconfirmed);
  EXPECT_EQ(row.why, "not confirmed: +10 % then +0.4 %");
  EXPECT_NEAR(row.effect.estimate, 1.1, 1e-6) << "the numbers that were flagged";
  EXPECT_EQ(result.summary.failures, 0U);
  EXPECT_EQ(result.summary.rows[static_cast<std::size_t>(Verdict::kWorse)], 0U);
  EXPECT_EQ(ExitCode(result, {}), 0);
  EXPECT_EQ(result.summary.compared, first.summary.compared);
}

TEST(Confirm, FlagsNothingThatTheFirstDidNot) {
  const Comparison first = Compare(Runs(1, 2), Runs(1.1, 2));
  const Comparison second = Compare(Runs(1, 2), Runs(1.1, 3));
  const Comparison result = Confirm(first, second);
  const ComparisonRow& row = RowOf(result, "B", GateOf(first));
  EXPECT_EQ(row.verdict, Verdict::kSame);
  EXPECT_EQ(row.why, RowOf(first, "B", GateOf(first)).why);
  EXPECT_EQ(result.summary.failures, 1U);
  EXPECT_EQ(result.rows.size(), first.rows.size());
}

TEST(Confirm, KeepsAFailureThatWasNotMeasuredAgain) {
  const Comparison first = Compare(Runs(1, 2), Runs(1.1, 3));
  Files only_a = Runs(1, 2);
  for (ResultFile& file : only_a) file.rows.pop_back();
  const Comparison result = Confirm(first, Compare(only_a, only_a));
  EXPECT_FALSE(RowOf(result, "A", GateOf(first)).fails);
  const ComparisonRow& row = RowOf(result, "B", GateOf(first));
  EXPECT_TRUE(row.fails);
  EXPECT_EQ(row.why, "could not be measured again");
}

TEST(Confirm, JudgesBrokenBenchmarksAsAWhole) {
  const Comparison broke = Compare(Runs(1, 2), Broken());
  const Comparison slow = Compare(Runs(1, 2), Runs(1.1, 2));
  const Comparison same = Compare(Runs(1, 2), Runs(1, 2));

  const Comparison twice = Confirm(broke, broke);
  EXPECT_EQ(twice.rows.front().verdict, Verdict::kBroke);
  EXPECT_TRUE(Has(twice.rows.front().why, "confirmed: broke (out of memory")) << twice.rows[0].why;

  const Comparison once = Confirm(broke, same);
  const ComparisonRow& row = RowOf(once, "A", "");
  EXPECT_EQ(row.verdict, Verdict::kInconclusive);
  EXPECT_TRUE(Has(row.why, "not confirmed: broke (out of memory")) << row.why;
  EXPECT_EQ(ExitCode(once, {}), 0);

  const Comparison then_slow = Confirm(broke, slow);
  EXPECT_EQ(then_slow.rows.front().verdict, Verdict::kWorse);
  EXPECT_TRUE(Has(then_slow.rows.front().why, "then +10 %")) << then_slow.rows[0].why;

  const Comparison then_broke = Confirm(slow, broke);
  EXPECT_TRUE(RowOf(then_broke, "A", GateOf(slow)).fails);
  EXPECT_TRUE(Has(RowOf(then_broke, "A", GateOf(slow)).why, "confirmed: +10 % then broke"));
}

TEST(Confirm, LetsMetricsFollowTheirTime) {
  const auto runs = [](double factor) {
    Files files = Runs(factor, 2);
    for (ResultFile& file : files) {
      ResultRow& row = file.rows.front();
      row.metrics.push_back({"items_per_second", 1 / row.metrics.front().value});
    }
    return files;
  };
  const Comparison first = Compare(runs(1), runs(1.1));
  ASSERT_EQ(RowOf(first, "A", "items_per_second").role, Role::kDerived);
  ASSERT_EQ(RowOf(first, "A", "items_per_second").verdict, Verdict::kWorse);
  EXPECT_EQ(RowOf(Confirm(first, Compare(runs(1), runs(1))), "A", "items_per_second").verdict,
            Verdict::kInconclusive);
  const Comparison twice = Confirm(first, Compare(runs(1), runs(1.2)));
  EXPECT_EQ(RowOf(twice, "A", "items_per_second").verdict, Verdict::kWorse);
  EXPECT_NEAR(RowOf(twice, "A", "items_per_second").effect.estimate, 1 / 1.2, 1e-3);
}

TEST(Confirm, DecidesTheUndecidedOnlyWhenAsked) {
  Files wide = Runs(1, 2);
  for (std::size_t i = 0; i < wide.size(); ++i) {
    for (Metric& metric : wide[i].rows.front().metrics) {
      metric.value *= i % 2 == 0 ? 0.9 : 1.1;
    }
  }
  const Comparison first = Compare(wide, wide);
  const std::string gate = GateOf(first);
  ASSERT_EQ(RowOf(first, "A", gate).verdict, Verdict::kInconclusive);
  EXPECT_EQ(BenchmarksToConfirm(first, false), Names{});
  EXPECT_EQ(BenchmarksToConfirm(first, true), Names{"A"});
  const Comparison same = Compare(Runs(1, 2), Runs(1, 2));
  EXPECT_EQ(RowOf(Confirm(first, same), "A", gate).verdict, Verdict::kInconclusive);
  EXPECT_EQ(RowOf(Confirm(first, same, true), "A", gate).verdict, Verdict::kSame);
  EXPECT_TRUE(Has(RowOf(Confirm(first, same, true), "A", gate).why, "decided: "));
  const Comparison worse = Confirm(first, Compare(Runs(1, 2), Runs(1.1, 2)), true);
  EXPECT_EQ(RowOf(worse, "A", gate).verdict, Verdict::kInconclusive) << "one stage flags it";
  EXPECT_TRUE(Has(RowOf(worse, "A", gate).why, "worse only the second time: "));
  EXPECT_EQ(ExitCode(worse, {}), 0);
}

TEST(Confirm, CountsTheRoundsThatItTakes) {
  const Comparison first = Compare(Runs(1, 2), Runs(1.1, 3));
  EXPECT_EQ(BenchmarksToConfirm(first, false).size(), 2U);
  EXPECT_EQ(RoundsToConfirm(first, {"A"}, 0.05), RunsToReject(0.05, 1));
  EXPECT_EQ(RoundsToConfirm(first, {"A", "B"}, 0.05), RunsToReject(0.05, 2));
  const Comparison broke = Compare(Runs(1, 2), Broken());
  EXPECT_EQ(RoundsToConfirm(broke, {"A"}, 0.05), 1U) << "no matter of chance";
}

}  // namespace
}  // namespace cnn
