#include "tools/comparison.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "tools/comparison_testing.h"

namespace cnn {
namespace {

// --- Verdicts of measurements -------------------------------------------------------------------

TEST(Verdict, SlowerNeedsTestLowEndAndEffect) {
  const Comparison comparison = Compare(Runs(Steady()), Runs(Times(1.05)));
  const ComparisonRow& row = Find(comparison, "A", "cpu_time");
  EXPECT_EQ(row.verdict, Verdict::kWorse);
  EXPECT_EQ(VerdictText(row), "slower");
  EXPECT_TRUE(row.fails);
  EXPECT_TRUE(row.is_tested);
  EXPECT_DOUBLE_EQ(row.p_worse, 1.0 / 924);
  EXPECT_NEAR(row.effect.estimate, 1.05, 1e-3);
  EXPECT_GT(row.effect.lower, 1.04);
  EXPECT_DOUBLE_EQ(row.base_best, 99.8e-3);
  EXPECT_EQ(ExitCode(comparison, {}), 1);
}

TEST(Verdict, NotSlowerWhenTheLowEndStays) {
  std::vector<double> some_fast = Times(1.05);
  some_fast.front() = 100.31;  // above nearly all of base, but no change of the low end
  EXPECT_EQ(VerdictOf(Runs(Steady()), Runs(some_fast)), Verdict::kInconclusive);
}

TEST(Verdict, NotSlowerWithoutTheRankTest) {
  EXPECT_EQ(VerdictOf(Runs({100, 101}), Runs({120, 121})), Verdict::kInconclusive);
}

TEST(Verdict, FasterIsTheMirrorAndNeverFails) {
  const Comparison comparison = Compare(Runs(Times(1.05)), Runs(Steady()));
  EXPECT_EQ(Find(comparison, "A", "cpu_time").verdict, Verdict::kBetter);
  EXPECT_EQ(VerdictText(Find(comparison, "A", "cpu_time")), "faster");
  EXPECT_EQ(ExitCode(comparison, {}), 0);
}

TEST(Verdict, SameNeedsTheIntervalInsideTheThreshold) {
  EXPECT_EQ(VerdictOf(Runs(Steady()), Runs(Times(1.001))), Verdict::kSame);
  EXPECT_EQ(VerdictOf(Runs(Steady()), Runs(Times(1.01))), Verdict::kSame);  // significant, small
  const std::vector<double> noisy = {100, 130, 90, 110, 140, 95};
  const Comparison comparison = Compare(Runs(noisy), Runs(Times(1.001, noisy)));
  const ComparisonRow& row = Find(comparison, "A", "cpu_time");
  EXPECT_EQ(row.verdict, Verdict::kInconclusive);
  EXPECT_GT(row.runs_needed, 100U);
  EXPECT_EQ(ExitCode(comparison, {}), 0);
}

TEST(Verdict, InconclusiveNamesTheRunsThatWouldDecide) {
  const Comparison comparison = Compare(Runs({100, 101}), Runs({120, 121}));
  EXPECT_EQ(Find(comparison, "A", "cpu_time").runs_needed, 3U);  // 1 / C(6, 3) = 5 %
  EXPECT_FALSE(comparison.summary.can_fire);
  EXPECT_EQ(comparison.summary.runs_to_fire, 3U);
  EXPECT_TRUE(Warns(comparison, "too few runs"));
}

TEST(Verdict, HolmCountsAllTimesTested) {
  Files base;
  Files contender;
  for (const double value : {100.0, 100.1, 99.9, 100.2, 99.8}) {  // 1 / 252 is below 5 % / 12
    base.push_back(File({}));
    contender.push_back(File({}));
    for (int i = 0; i < 12; ++i) {
      const std::string name = "B" + std::to_string(i);
      base.back().rows.push_back(Row(name, value));
      contender.back().rows.push_back(Row(name, i == 0 ? value * 1.1 : value));
    }
  }
  Comparison comparison = Compare(base, contender);
  EXPECT_EQ(comparison.summary.tested_times, 12U);
  EXPECT_EQ(Find(comparison, "B0", "cpu_time").verdict, Verdict::kWorse);
  for (std::size_t i = 0; i < base.size(); ++i) {
    base[i].rows.push_back(Row("B12", 100 + static_cast<double>(i)));
    contender[i].rows.push_back(Row("B12", 100 + static_cast<double>(i)));
  }
  comparison = Compare(base, contender);
  const ComparisonRow& row = Find(comparison, "B0", "cpu_time");
  EXPECT_EQ(row.verdict, Verdict::kInconclusive);
  EXPECT_EQ(row.runs_needed, 6U);
  EXPECT_TRUE(Warns(comparison, "6 files a side"));
}

TEST(Verdict, ConstantsAreSameAndCostNoPower) {
  const Comparison comparison = Compare(Runs({7, 7, 7}), Runs({7, 7, 7}));
  const ComparisonRow& row = Find(comparison, "A", "cpu_time");
  EXPECT_EQ(row.verdict, Verdict::kSame);
  EXPECT_FALSE(row.is_tested);
  EXPECT_EQ(comparison.summary.tested, 0U);
  EXPECT_EQ(comparison.summary.compared, 1U);
  EXPECT_EQ(ExitCode(comparison, {}), 0);
}

TEST(Verdict, TimesHaveAnAbsoluteFloor) {
  // 4 ns of 20 ns are 20 %, and less than a tick.
  EXPECT_NE(VerdictOf(Runs(Times(2e-7)), Runs(Times(2.4e-7))), Verdict::kWorse);
  CompareOptions options;
  options.time_floor = 1e-9;
  EXPECT_EQ(VerdictOf(Runs(Times(2e-7)), Runs(Times(2.4e-7)), "cpu_time", options),
            Verdict::kWorse);
}

TEST(Verdict, ThresholdIsAnOption) {
  CompareOptions options;
  options.threshold = 0.1;
  EXPECT_EQ(VerdictOf(Runs(Steady()), Runs(Times(1.05)), "cpu_time", options), Verdict::kSame);
  EXPECT_EQ(VerdictOf(Runs(Steady()), Runs(Times(1.12)), "cpu_time", options), Verdict::kWorse);
}

TEST(Verdict, HigherIsBetterIsTheOtherWay) {
  const Files few = CounterRuns("accuracy", {0.80, 0.801, 0.802, 0.799});
  const Files many = CounterRuns("accuracy", {0.90, 0.901, 0.902, 0.899});
  EXPECT_EQ(VerdictOf(few, many, "accuracy"), Verdict::kBetter);
  const Comparison comparison = Compare(many, few);
  const ComparisonRow& row = Find(comparison, "A", "accuracy");
  EXPECT_EQ(row.verdict, Verdict::kWorse);
  EXPECT_EQ(VerdictText(row), "worse");
  EXPECT_LT(row.effect.estimate, 1);
  EXPECT_DOUBLE_EQ(row.base_best, 0.902);
  EXPECT_EQ(ExitCode(comparison, {}), 1);
}

TEST(Verdict, ZerosAndNegativesAreDifferences) {
  const Comparison comparison = Compare(CounterRuns("page_faults_per_step", {0, 0, 0, 0.2}),
                                        CounterRuns("page_faults_per_step", {50, 51, 52, 53}));
  const ComparisonRow& row = Find(comparison, "A", "page_faults_per_step");
  EXPECT_EQ(row.verdict, Verdict::kWorse);
  EXPECT_FALSE(row.is_ratio);
  EXPECT_NEAR(row.effect.estimate, 51.5, 0.5);
  // Less than one fault a step does not matter.
  EXPECT_EQ(
      VerdictOf(CounterRuns("page_faults_per_step", {0, 0, 0, 0.1}),
                CounterRuns("page_faults_per_step", {0.5, 0.6, 0.5, 0.5}), "page_faults_per_step"),
      Verdict::kSame);
  EXPECT_EQ(VerdictOf(CounterRuns("loss", {-1.00, -1.01, -1.02, -1.03}),
                      CounterRuns("loss", {-2.00, -2.01, -2.02, -2.03}), "loss"),
            Verdict::kBetter);
}

TEST(Verdict, UnknownDirectionIsChangedAndNeverFails) {
  CompareOptions options;
  options.fail_on_changed = true;
  const Comparison comparison = Compare(CounterRuns("widgets", {5, 5, 5, 5, 5, 5}),
                                        CounterRuns("widgets", {9, 9, 9, 9, 9, 9}), options);
  const ComparisonRow& row = Find(comparison, "A", "widgets");
  EXPECT_EQ(row.verdict, Verdict::kChanged);
  EXPECT_EQ(row.role, Role::kShown);
  EXPECT_EQ(ExitCode(comparison, options), 0);
}

TEST(Verdict, ExactIsNotTested) {
  CompareOptions options;
  options.directions = {{"widgets", Direction::kExact}};
  const Files five = CounterRuns("widgets", {5});
  EXPECT_EQ(VerdictOf(five, five, "widgets", options), Verdict::kSame);
  const Comparison changed = Compare(five, CounterRuns("widgets", {6}), options);
  EXPECT_EQ(Find(changed, "A", "widgets").verdict, Verdict::kChanged);
  EXPECT_EQ(ExitCode(changed, options), 0);
  options.fail_on_changed = true;
  EXPECT_EQ(ExitCode(Compare(five, CounterRuns("widgets", {6}), options), options), 1);
  const Comparison varies = Compare(CounterRuns("widgets", {5, 6}), five, options);
  EXPECT_EQ(Find(varies, "A", "widgets").verdict, Verdict::kInconclusive);
}

TEST(Verdict, NonFiniteIsWorseOnlyWhenItIsNew) {
  const Files good = CounterRuns("loss", {1});
  const Files bad = CounterRuns("loss", {kNan});
  const Comparison broke = Compare(good, bad);
  const ComparisonRow& row = Find(broke, "A", "loss");
  EXPECT_EQ(row.verdict, Verdict::kWorse);
  EXPECT_EQ(row.why, "became non-finite");
  EXPECT_FALSE(row.has_effect);
  EXPECT_EQ(ExitCode(broke, {}), 1);  // with one file a side too: no matter of chance
  EXPECT_EQ(VerdictOf(bad, bad, "loss"), Verdict::kSame);
  EXPECT_EQ(ExitCode(Compare(bad, bad), {}), 0);
  EXPECT_EQ(VerdictOf(bad, good, "loss"), Verdict::kBetter);
  EXPECT_EQ(VerdictOf(Runs({1, 2}), Runs({1, kNan})), Verdict::kWorse);
  EXPECT_EQ(VerdictOf(CounterRuns("widgets", {1}), CounterRuns("widgets", {kNan}), "widgets"),
            Verdict::kChanged);
}

TEST(Verdict, SaysHowManyFilesHaveIt) {
  Files contender = Runs(Steady());
  for (std::size_t i = 2; i < contender.size(); ++i) contender[i].rows = {Row("B", 1)};
  const Comparison comparison = Compare(Runs(Steady()), contender);
  EXPECT_EQ(Find(comparison, "A", "cpu_time").why, "in 2 of 6 new files");
  EXPECT_TRUE(Warns(Compare(Runs({1, 2}), Runs({1, 2})), "a side with 2 files"));
}

TEST(Verdict, AFlakyBaseDoesNotHideWhatIsNeverFinite) {
  const Files flaky = CounterRuns("loss", {kNan, 1, 1, 1, 1, 1});
  const Files never = CounterRuns("loss", std::vector<double>(6, kNan));
  EXPECT_EQ(VerdictOf(flaky, never, "loss"), Verdict::kWorse);
  EXPECT_EQ(VerdictOf(never, flaky, "loss"), Verdict::kBetter);
  EXPECT_EQ(VerdictOf(flaky, flaky, "loss"), Verdict::kInconclusive);
}

TEST(Verdict, UnequalNumbersOfFilesAreAllUsed) {
  const Comparison comparison = Compare(Runs(Steady()), Runs({120, 121, 122}));
  const ComparisonRow& row = Find(comparison, "A", "cpu_time");
  EXPECT_EQ(row.base.size(), 6U);
  EXPECT_EQ(row.contender.size(), 3U);
  EXPECT_EQ(row.verdict, Verdict::kWorse);  // 1 / C(9, 3)
}

// --- Verdicts of benchmarks ---------------------------------------------------------------------

TEST(State, ErrorsAreNeverNumbers) {
  const Files good = One(Row("A", 1));
  const Files bad = One(Failed("A", RowState::kError, "out of memory"));
  const Comparison broke = Compare(good, bad);
  const ComparisonRow& row = Find(broke, "A", "");
  EXPECT_EQ(row.verdict, Verdict::kBroke);
  EXPECT_EQ(row.why, "out of memory");
  EXPECT_FALSE(Has(broke, "A", "cpu_time"));
  EXPECT_EQ(ExitCode(broke, {}), 1);
  const Comparison fixed = Compare(bad, good);
  EXPECT_EQ(Find(fixed, "A", "").verdict, Verdict::kFixed);
  EXPECT_EQ(ExitCode(fixed, {}), 4);  // nothing else was compared
  const Comparison still = Compare(bad, bad);
  EXPECT_EQ(Find(still, "A", "").verdict, Verdict::kStillBroken);
  EXPECT_EQ(ExitCode(still, {}), 4);
  const Comparison new_and_bad = Compare(One(Row("B", 1)), bad);
  EXPECT_EQ(Find(new_and_bad, "A", "").verdict, Verdict::kBroke);
}

TEST(State, OneFailingProcessOfManyIsBroke) {
  Files contender = Runs(Steady());
  contender[3] = File({Failed("A", RowState::kError, "crash")});
  const Comparison broke = Compare(Runs(Steady()), contender);
  EXPECT_EQ(Find(broke, "A", "").verdict, Verdict::kBroke);
  EXPECT_EQ(Find(broke, "A", "").why, "crash (1 of 6 files)");
  const Comparison fixed = Compare(contender, Runs(Times(1.1)));  // 5 of 6 can be compared
  EXPECT_EQ(Find(fixed, "A", "").verdict, Verdict::kFixed);
  EXPECT_EQ(Find(fixed, "A", "cpu_time").verdict, Verdict::kWorse);
}

TEST(State, AFlakyBaseDoesNotHideWhatFailsAlways) {
  Files base;
  Files contender;
  for (int i = 0; i < 6; ++i) {
    base.push_back(File({i == 0 ? Failed("A", RowState::kError, "no") : Row("A", 1)}));
    contender.push_back(File({Failed("A", RowState::kError, "no")}));
  }
  const Comparison broke = Compare(base, contender);
  EXPECT_EQ(Find(broke, "A", "").verdict, Verdict::kBroke);
  EXPECT_EQ(Find(broke, "A", "").why, "no (6 of 6 files, before 1 of 6 files)");
  EXPECT_EQ(Find(Compare(base, base), "A", "").verdict, Verdict::kStillBroken);
}

TEST(State, SkippedIsNeutralUnlessAsked) {
  const Files good = One(Row("A", 1));
  const Files skipped = One(Failed("A", RowState::kSkipped, "no GPU"));
  Comparison comparison = Compare(good, skipped);
  EXPECT_EQ(Find(comparison, "A", "").verdict, Verdict::kSkipped);
  EXPECT_EQ(Find(comparison, "A", "").why, "no GPU");
  EXPECT_EQ(comparison.summary.failures, 0U);
  CompareOptions options;
  options.fail_on_skipped = true;
  EXPECT_EQ(ExitCode(Compare(good, skipped, options), options), 1);
  EXPECT_EQ(Compare(skipped, skipped, options).summary.failures, 0U);
  EXPECT_EQ(Find(Compare(skipped, good), "A", "").verdict, Verdict::kAdded);
}

TEST(State, AddedAndRemovedAreListed) {
  const Files base = {File({Row("A", 1), Row("B", 1)})};
  const Files contender = {File({Row("A", 1), Row("C", 1)})};
  CompareOptions options;
  const Comparison comparison = Compare(base, contender, options);
  EXPECT_EQ(Find(comparison, "B", "").verdict, Verdict::kRemoved);
  EXPECT_EQ(Find(comparison, "C", "").verdict, Verdict::kAdded);
  EXPECT_EQ(ExitCode(comparison, options), 0);
  options.fail_on_removed = true;
  EXPECT_EQ(ExitCode(Compare(base, contender, options), options), 1);
  EXPECT_EQ(ExitCode(Compare(contender, {File({Row("A", 1), Row("C", 1), Row("D", 1)})}, options),
                     options),
            0);
}

TEST(State, AbsentFromAnIncompleteFileIsNotRun) {
  const Files base = {File({Row("A", 1), Row("B", 1)})};
  Files contender = {File({Row("A", 1)})};
  CompareOptions options;
  options.fail_on_removed = true;
  contender.front().is_incomplete = true;
  EXPECT_EQ(Find(Compare(base, contender, options), "B", "").verdict, Verdict::kNotRun);
  EXPECT_EQ(ExitCode(Compare(base, contender, options), options), 3);
  EXPECT_EQ(Find(Compare(contender, base), "B", "").verdict, Verdict::kNotRun);
}

TEST(State, MetricsAreAddedAndRemovedToo) {
  const Files with = One(Row("A", 1, {{"loss", 1}}));
  const Files without = One(Row("A", 1));
  EXPECT_EQ(VerdictOf(with, without, "loss"), Verdict::kRemoved);
  EXPECT_EQ(VerdictOf(without, with, "loss"), Verdict::kAdded);
  CompareOptions options;
  options.fail_on_removed = true;
  EXPECT_EQ(ExitCode(Compare(with, without, options), options), 1);
}

TEST(State, ComplexityIsAClass) {
  const auto verdict = [](const std::string& from, const std::string& to) {
    const Comparison comparison = Compare(One(Complexity(from)), One(Complexity(to)));
    return Find(comparison, "Sort_BigO", "complexity").verdict;
  };
  EXPECT_EQ(verdict("N", "N"), Verdict::kSame);
  EXPECT_EQ(verdict("N", "N^2"), Verdict::kWorse);
  EXPECT_EQ(verdict("N^2", "NlgN"), Verdict::kBetter);
  EXPECT_EQ(verdict("N", "f(N)"), Verdict::kChanged);
  const Files linear = {File({Complexity("N")}), File({Complexity("N")})};
  const Files square = {File({Complexity("N^2")}), File({Complexity("N^2")})};
  EXPECT_EQ(ExitCode(Compare(linear, square), {}), 1);
  const Files mixed = {File({Complexity("N")}), File({Complexity("N^2")})};
  EXPECT_EQ(Find(Compare(linear, mixed), "Sort_BigO", "complexity").verdict,
            Verdict::kInconclusive);
}

// --- Metrics ------------------------------------------------------------------------------------

TEST(Direction, IsParsed) {
  for (const char* text : {"lower", "higher", "exact", "unknown", "ignore"}) {
    EXPECT_EQ(DirectionText(ParseDirection(text)), text);
  }
  EXPECT_THROW(ParseDirection("up"), std::invalid_argument);
}

TEST(Direction, IsAnOption) {
  CompareOptions options;
  options.directions = {{"widgets", Direction::kHigher}, {"loss", Direction::kIgnore}};
  const Files base = CounterRuns("widgets", {10, 11, 12, 13});
  const Files fewer = CounterRuns("widgets", {1, 2, 3, 4});
  EXPECT_EQ(VerdictOf(base, fewer, "widgets", options), Verdict::kWorse);
  const Files loss = CounterRuns("loss", {1});
  EXPECT_FALSE(Has(Compare(loss, loss, options), "A", "loss"));
}

// One file of repetitions in which images per second are 32 / real_time.
ResultFile Throughput(double factor, double images) {
  ResultFile file = File({});
  for (const double value : Steady()) {
    const double seconds = value * factor;
    file.rows.push_back(Row("A", seconds,
                            {{"items_per_second", images / seconds},
                             {"ms_per_step", seconds * 1e3},
                             {"images_per_iteration", images}}));
    file.rows.back().metrics[1].value *=
        1.5 + value / 1000;  // cpu_time is a measurement of its own
  }
  return file;
}

TEST(Derived, ReciprocalOfTheTimeIsShownNotTested) {
  CompareOptions options;
  options.time_metric = TimeMetric::kReal;
  const Comparison comparison = Compare({Throughput(1, 32)}, {Throughput(1.3, 32)}, options);
  const ComparisonRow& row = Find(comparison, "A", "items_per_second");
  EXPECT_EQ(row.role, Role::kDerived);
  EXPECT_FALSE(row.is_tested);
  EXPECT_EQ(row.why, "follows real_time: not tested");
  EXPECT_EQ(row.verdict, Find(comparison, "A", "real_time").verdict);
  EXPECT_EQ(row.verdict, Verdict::kWorse);
  EXPECT_EQ(Find(comparison, "A", "ms_per_step").role, Role::kDerived);
  EXPECT_EQ(Find(comparison, "A", "cpu_time").role, Role::kShown);
  EXPECT_EQ(comparison.summary.tested_times + comparison.summary.tested_counters, 1U);
  EXPECT_EQ(comparison.summary.tested, 2U);
  EXPECT_EQ(Count(comparison, Verdict::kWorse), 1U);
}

TEST(Derived, NotWhenTheWorkChanged) {
  const Comparison comparison = Compare({Throughput(1, 32)}, {Throughput(1, 20)});
  EXPECT_EQ(Find(comparison, "A", "items_per_second").role, Role::kCounter);
  EXPECT_EQ(Find(comparison, "A", "items_per_second").verdict, Verdict::kWorse);
}

std::string GateTime(const std::string& name, const std::vector<ContextEntry>& context,
                     std::int64_t threads = 1, const CompareOptions& options = {}) {
  ResultRow row = Row(name, 1);
  row.threads = threads;
  return Compare({File({row}, context)}, {File({row}, context)}, options).time_metric;
}

TEST(TimeMetric, IsChosenByNameThreadsAndContext) {
  EXPECT_EQ(GateTime("A", {}), "cpu_time");
  EXPECT_EQ(GateTime("A/real_time", {}), "real_time");
  EXPECT_EQ(GateTime("A/manual_time", {}), "real_time");
  EXPECT_EQ(GateTime("A/process_time", {}), "real_time");
  EXPECT_EQ(GateTime("A/threads:2", {}, 2), "real_time");
  EXPECT_EQ(GateTime("A", {{"suite_schema_version", "1"}}), "real_time");
  EXPECT_EQ(GateTime("A", {{"device_cuda", "H200"}}), "real_time");
  EXPECT_EQ(GateTime("A", {{"gpu_name", "H200"}}), "real_time");
  EXPECT_EQ(GateTime("A", {{"cuda", "none"}, {"device_cpu", "Xeon"}}), "cpu_time");
  CompareOptions options;
  options.time_metric = TimeMetric::kReal;
  EXPECT_EQ(GateTime("A", {}, 1, options), "real_time");
  options.time_metric = TimeMetric::kCpu;
  EXPECT_EQ(GateTime("A/real_time", {}, 1, options), "cpu_time");
  const Files both = {File({Row("A", 1), Row("B/real_time", 1)})};
  EXPECT_EQ(Compare(both, both).time_metric, "real_time, cpu_time");
}

TEST(Gate, TimesAndCountersAreTwoFamilies) {
  const Counters counters = {{"loss", 1}, {"forward_ms", 3}};
  const Files files = {File({Row("A", 1, counters)})};
  Comparison comparison = Compare(files, files);
  EXPECT_EQ(Find(comparison, "A", "cpu_time").role, Role::kTime);
  EXPECT_EQ(Find(comparison, "A", "real_time").role, Role::kShown);
  EXPECT_EQ(Find(comparison, "A", "loss").role, Role::kCounter);
  EXPECT_EQ(Find(comparison, "A", "forward_ms").role, Role::kShown);  // part of a time
  CompareOptions options;
  options.gate_metrics = {"forward_ms", "real_time"};
  comparison = Compare(files, files, options);
  EXPECT_EQ(Find(comparison, "A", "cpu_time").role, Role::kShown);
  EXPECT_EQ(Find(comparison, "A", "real_time").role, Role::kTime);
  EXPECT_EQ(Find(comparison, "A", "loss").role, Role::kShown);
  EXPECT_EQ(Find(comparison, "A", "forward_ms").role, Role::kCounter);
  options.gate_metrics = {"nothing"};
  EXPECT_EQ(ExitCode(Compare(files, files, options), options), 4);
}

TEST(Gate, ShownMetricsNeverFail) {
  const Comparison comparison =
      Compare(CounterRuns("forward_ms", Steady()), CounterRuns("forward_ms", Times(1.5)));
  EXPECT_EQ(Find(comparison, "A", "forward_ms").verdict, Verdict::kWorse);
  EXPECT_EQ(VerdictText(Find(comparison, "A", "forward_ms")), "slower");
  EXPECT_EQ(ExitCode(comparison, {}), 0);
}

TEST(Summary, IsMinimumOfTimesAndMedianOfCounters) {
  ResultFile file = File({});
  for (const double value : {5.0, 1.0, 3.0, 2.0, 4.0}) {
    file.rows.push_back(Row("A", value, {{"loss", value}, {"accuracy", value}}));
  }
  const Files files = {file, file};
  const auto value = [&](const char* metric, Summary summary) {
    CompareOptions options;
    options.summary = summary;
    return Find(Compare(files, files, options), "A", metric).base.front();
  };
  EXPECT_EQ(value("cpu_time", Summary::kDefault), 1);
  EXPECT_EQ(value("loss", Summary::kDefault), 3);
  EXPECT_EQ(value("cpu_time", Summary::kMedian), 3);
  EXPECT_DOUBLE_EQ(value("cpu_time", Summary::kQ10), 1.4);
  EXPECT_DOUBLE_EQ(value("accuracy", Summary::kQ10), 4.6);  // the good end
  EXPECT_EQ(value("accuracy", Summary::kMinimum), 5);
}

// --- Files --------------------------------------------------------------------------------------

ResultFile Repetitions(double factor) {
  ResultFile file = File({});
  for (const double value : Times(factor)) {
    file.rows.push_back(Row("A", value));
    file.rows.back().repetition_index = static_cast<std::int64_t>(file.rows.size() - 1);
  }
  return file;
}

TEST(SingleFiles, AreAdvisory) {
  CompareOptions options;
  const Comparison comparison = Compare({Repetitions(1)}, {Repetitions(1.2)}, options);
  EXPECT_TRUE(comparison.is_advisory);
  EXPECT_TRUE(Warns(comparison, "advisory"));
  EXPECT_EQ(Find(comparison, "A", "cpu_time").verdict, Verdict::kWorse);
  EXPECT_EQ(Find(comparison, "A", "cpu_time").base.size(), 6U);
  EXPECT_EQ(ExitCode(comparison, options), 0);
  options.gate_single = true;
  EXPECT_EQ(ExitCode(Compare({Repetitions(1)}, {Repetitions(1.2)}, options), options), 1);
  // 5 % is within the wide threshold of single files.
  EXPECT_EQ(VerdictOf({Repetitions(1)}, {Repetitions(1.05)}), Verdict::kSame);
  EXPECT_FALSE(Compare({Repetitions(1)}, {Repetitions(1), Repetitions(1)}).is_advisory);
}

TEST(AggregatesOnly, UseTheMedianAndSaySo) {
  const auto file = [](double factor, double deviation) {
    return File({Aggregate("A", "mean", 2 * factor), Aggregate("A", "median", factor),
                 Aggregate("A", "stddev", deviation), Aggregate("A", "cv", 0.5)});
  };
  const Comparison single = Compare({file(1, 0.01)}, {file(1.3, 0.01)});
  const ComparisonRow& row = Find(single, "A", "cpu_time");
  EXPECT_EQ(row.base, Samples{1});
  EXPECT_EQ(row.why, "no raw samples: no rank test");
  EXPECT_FALSE(row.is_tested);
  EXPECT_EQ(row.verdict, Verdict::kInconclusive);
  EXPECT_EQ(row.effect.method, Method::kNormalApproximation);
  EXPECT_NEAR(row.effect.upper, 1.3 * (1 + 1.96 * 0.01 * std::sqrt((1 + 1 / 1.69) / 10)), 1e-3);
  EXPECT_EQ(VerdictOf({file(1, 0.01)}, {file(1.01, 0.01)}), Verdict::kSame);
  EXPECT_EQ(VerdictOf({file(1, 1)}, {file(1.01, 1)}), Verdict::kInconclusive);
  EXPECT_EQ(single.rows.size(), 2U);  // no rows for stddev and cv
  EXPECT_EQ(VerdictOf(One(Aggregate("A", "mean", 1)), One(Aggregate("A", "mean", 1))),
            Verdict::kSame);
  // Several files have a median each, which is a sample.
  const Files base(4, file(1, 0.1));
  const Files contender(4, file(1.3, 0.1));
  EXPECT_EQ(VerdictOf(base, contender), Verdict::kWorse);
  EXPECT_EQ(Find(Compare(base, contender), "A", "cpu_time").why, "no raw samples");
}

TEST(Drift, OfRepetitionsIsWarnedOf) {
  ResultFile warming = File({});
  for (std::int64_t i = 9; i >= 0; --i) {  // interleaved: not in the file's order
    warming.rows.push_back(Row("A", 2 - 0.1 * static_cast<double>(i)));
    warming.rows.back().repetition_index = i;
  }
  const Comparison comparison = Compare({warming}, {Repetitions(1)});
  EXPECT_TRUE(Warns(comparison, "base: later repetitions are faster: warming up"));
  EXPECT_FALSE(Warns(comparison, "new: later"));
}

TEST(Drift, OfFilesIsWarnedOf) {
  Files drifting;
  for (int i = 0; i < 7; ++i) {
    drifting.push_back(File({Row("A", 1 + 0.01 * i)},
                            {{"date", "2026-12-02T01:0" + std::to_string(i) + ":00+00:00"}}));
  }
  std::reverse(drifting.begin(), drifting.end());  // dates count, not the order given
  EXPECT_TRUE(Warns(Compare(drifting, Runs(Steady())), "base: later files are slower"));
}

// --- Summaries ----------------------------------------------------------------------------------

TEST(GeometricMeans, AreOfComparablePairs) {
  Files base;
  Files contender;
  for (const double value : Steady()) {
    base.push_back(File({Row("A", value), Row("B", 5 * value), Row("C", value), Row("D", value)}));
    contender.push_back(File({Row("A", 1.21 * value), Row("B", 5 * value),
                              Failed("C", RowState::kError, "no"), Row("E", value)}));
  }
  const Comparison comparison = Compare(base, contender);
  ASSERT_FALSE(comparison.geometric_means.empty());
  for (const GeometricMeanRow& mean : comparison.geometric_means) {
    EXPECT_EQ(mean.pairs, 2U);
    EXPECT_NEAR(mean.ratio.estimate, 1.1, 1e-3);
    EXPECT_TRUE(mean.ratio.HasInterval());
    EXPECT_GT(mean.ratio.lower, 1.09);
    if (mean.metric != comparison.time_metric) continue;
    ASSERT_EQ(mean.excluded.size(), 3U);
    EXPECT_EQ(mean.excluded[0], "C (broke: no (6 of 6 files))");
    EXPECT_EQ(mean.excluded[1], "D (removed)");
    EXPECT_EQ(mean.excluded[2], "E (added)");
  }
}

TEST(GeometricMeans, HaveNoIntervalWhereARunLacksABenchmark) {
  Files base = Runs(Steady());
  base.front().rows.push_back(Row("B", 1));
  Files contender = Runs(Steady());
  contender.back().rows.push_back(Row("B", 4));
  const Comparison comparison = Compare(base, contender);
  EXPECT_NEAR(comparison.geometric_means.front().ratio.estimate, 2, 1e-9);
  EXPECT_FALSE(comparison.geometric_means.front().ratio.HasInterval());
}

TEST(GeometricMeans, LeaveOutWhatHasNoLogarithm) {
  const Files files = {File({Row("A", 1, {{"loss", 0}}), Row("B", 1, {{"loss", 2}})})};
  const Comparison comparison = Compare(files, files);
  const auto mean =
      std::find_if(comparison.geometric_means.begin(), comparison.geometric_means.end(),
                   [](const auto& row) { return row.metric == "loss"; });
  ASSERT_NE(mean, comparison.geometric_means.end());
  EXPECT_EQ(mean->pairs, 1U);
  EXPECT_EQ(mean->excluded.front(), "A (a value is not above zero)");
}

TEST(Summary, CountsAndBoundsFalseAlarms) {
  const Comparison comparison =
      Compare(CounterRuns("loss", {1, 2, 3}), CounterRuns("loss", {1, 2}));
  EXPECT_EQ(comparison.summary.tested_times + comparison.summary.tested_counters, 1U);
  EXPECT_DOUBLE_EQ(comparison.summary.uncorrected_false_alarms, 0.05);
  EXPECT_DOUBLE_EQ(comparison.summary.false_alarm_bound, 0.05);
  EXPECT_EQ(comparison.base_files, 3U);
  EXPECT_EQ(comparison.contender_files, 2U);
}

TEST(Summary, AsymmetryIsASignTest) {
  Files base;
  Files contender;
  for (const double value : {100.0, 100.1, 99.9, 100.2, 99.8, 100.3}) {
    base.push_back(File({}));
    contender.push_back(File({}));
    for (int i = 0; i < 8; ++i) {
      base.back().rows.push_back(Row("B" + std::to_string(i), value));
      contender.back().rows.push_back(Row("B" + std::to_string(i), value * 1.1));
    }
  }
  const Comparison comparison = Compare(base, contender);
  EXPECT_EQ(Count(comparison, Verdict::kWorse), 8U);
  EXPECT_NEAR(comparison.summary.asymmetry_p, 2.0 / 256, 1e-12);
}

TEST(Rows, AreSortedWorstFirst) {
  Files base;
  Files contender;
  for (const double value : {100.0, 100.1, 99.9, 100.2, 99.8, 100.3}) {
    base.push_back(File({Row("same", value), Row("slow", value), Row("slower", value),
                         Row("fast", value), Row("broke", value), Row("removed", value)}));
    contender.push_back(File({Row("same", value), Row("slow", 1.1 * value),
                              Row("slower", 1.5 * value), Row("fast", value / 2),
                              Failed("broke", RowState::kError, "no"), Row("added", value)}));
  }
  const Comparison comparison = Compare(base, contender);
  std::vector<std::string> names;
  for (const ComparisonRow& row : comparison.rows) {
    if (row.metric.empty() || row.role == Role::kTime) names.push_back(row.benchmark);
  }
  EXPECT_EQ(names, (std::vector<std::string>{"broke", "slower", "slow", "removed", "added", "same",
                                             "fast"}));
}

TEST(ExitCode, OfNothingComparedIsFour) {
  CompareOptions options;
  EXPECT_EQ(ExitCode(Compare({File({})}, {File({})}), options), 4);
  EXPECT_EQ(ExitCode(Compare(One(Row("A", 1)), One(Row("B", 1))), options), 4);
  options.require = 2;
  const Files one = One(Row("A", 1));
  EXPECT_EQ(ExitCode(Compare(one, one, options), options), 4);
  options.require = 1;
  EXPECT_EQ(ExitCode(Compare(one, one, options), options), 0);
}

TEST(ExitCode, OfARegressionComesFirst) {
  Files contender = One(Failed("A", RowState::kError, "no"));
  contender.front().is_incomplete = true;
  EXPECT_EQ(ExitCode(Compare(One(Row("A", 1)), contender), {}), 1);
}

TEST(Compare, RefusesNonsense) {
  CompareOptions options;
  EXPECT_THROW(Compare({}, Runs({1})), std::invalid_argument);
  EXPECT_THROW(Compare(Runs({1}), {}), std::invalid_argument);
  options.alpha = 0;
  EXPECT_THROW(Compare(Runs({1}), Runs({1}), options), std::invalid_argument);
  options = {};
  options.threshold = kNan;
  EXPECT_THROW(Compare(Runs({1}), Runs({1}), options), std::invalid_argument);
}

// --- Simulation ---------------------------------------------------------------------------------

// SplitMix64 (Steele and others, 2014) and Box and Muller: the same numbers everywhere.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  double Uniform() {  // in (0, 1)
    std::uint64_t z = state_ += 0x9E3779B97F4A7C15;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    return (static_cast<double>((z ^ (z >> 31)) >> 11) + 0.5) / 9007199254740992.0;
  }
  double Normal() {
    return std::sqrt(-2 * std::log(Uniform())) * std::cos(6.283185307179586 * Uniform());
  }

 private:
  std::uint64_t state_;
};

struct Noise {
  double run = 0.01;         // of a benchmark in a process, log-normal
  double process = 0.005;    // of all benchmarks of a process
  double repetition = 0.01;  // inside the process
  double outliers = 0.05;    // share of repetitions that a neighbour makes up to half longer
};

ResultFile Simulated(Random& random, std::size_t benchmarks, double slowdown, const Noise& noise) {
  ResultFile file = File({}, {{"suite_schema_version", "1"}});
  const double process = noise.process * random.Normal();
  for (std::size_t i = 0; i < benchmarks; ++i) {
    const double run = process + noise.run * random.Normal();
    for (std::int64_t repetition = 0; repetition < 3; ++repetition) {
      double seconds = 1e-3 * static_cast<double>(i + 1) * slowdown;
      seconds *= std::exp(run + noise.repetition * random.Normal());
      if (random.Uniform() < noise.outliers) seconds *= 1 + 0.5 * random.Uniform();
      const double faults = 1000 * std::exp(noise.run * random.Normal());
      file.rows.push_back(
          Row("B" + std::to_string(i), seconds,
              {{"items_per_second", 32 / seconds}, {"page_faults_per_step", faults}}));
      file.rows.back().repetition_index = repetition;
      file.rows.back().family_index = static_cast<std::int64_t>(i);
    }
  }
  return file;
}

struct Rates {
  double suites = 0;      // with one or more failures
  double benchmarks = 0;  // whose time was found slower
  double same = 0;        // or the same
};

Rates Simulate(std::size_t suites, std::size_t files, double slowdown, const Noise& noise) {
  constexpr std::size_t kBenchmarks = 11;
  Random random(20261202);
  Rates rates;
  for (std::size_t suite = 0; suite < suites; ++suite) {
    Files base;
    Files contender;
    for (std::size_t i = 0; i < files; ++i) {
      base.push_back(Simulated(random, kBenchmarks, 1, noise));
      contender.push_back(Simulated(random, kBenchmarks, slowdown, noise));
    }
    const Comparison comparison = Compare(base, contender);
    if (comparison.summary.failures > 0) ++rates.suites;
    for (const ComparisonRow& row : comparison.rows) {
      if (row.role != Role::kTime) continue;
      if (row.verdict == Verdict::kWorse) ++rates.benchmarks;
      if (row.verdict == Verdict::kSame) ++rates.same;
    }
  }
  rates.suites /= static_cast<double>(suites);
  rates.benchmarks /= static_cast<double>(suites * kBenchmarks);
  rates.same /= static_cast<double>(suites * kBenchmarks);
  return rates;
}

TEST(Simulation, IdenticalSuitesRaiseNoAlarms) {
  EXPECT_LE(Simulate(300, 10, 1, {}).suites, 0.01);
  EXPECT_GE(Simulate(50, 10, 1, {}).same, 0.5);
}

// Where noise hides the threshold, the correction is what is left: 5 % for times, and for counters.
TEST(Simulation, NoiseRaisesNoMoreAlarmsThanAlpha) {
  EXPECT_LE(Simulate(200, 5, 1, {}).suites, 0.1);
  EXPECT_LE(Simulate(200, 10, 1, {0.03, 0.02, 0.03, 0.1}).suites, 0.1);
}

TEST(Simulation, FivePercentAreFound) {
  EXPECT_GE(Simulate(100, 10, 1.05, {}).benchmarks, 0.95);
  EXPECT_GE(Simulate(100, 10, 1.10, {}).benchmarks, 0.99);
}

}  // namespace
}  // namespace cnn
