#include "tools/comparison.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cnn {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
using Files = std::vector<ResultFile>;
using Counters = std::vector<Metric>;

ResultRow Row(const std::string& name, double seconds, const Counters& counters = {}) {
  ResultRow row;
  row.name = row.run_name = name;
  row.time_unit = "ms";
  row.family_index = 0;
  row.per_family_instance_index = 0;
  row.iterations = 10;
  row.metrics = {{"real_time", seconds}, {"cpu_time", seconds}};
  row.metrics.insert(row.metrics.end(), counters.begin(), counters.end());
  return row;
}

ResultRow Failed(const std::string& name, RowState state, const std::string& message) {
  ResultRow row = Row(name, 0);
  row.state = state;
  row.message = message;
  return row;
}

ResultRow Aggregate(const std::string& name, const std::string& kind, double seconds) {
  ResultRow row = Row(name, seconds);
  row.name += "_" + kind;
  row.kind = RowKind::kAggregate;
  row.aggregate_name = kind;
  return row;
}

ResultRow Complexity(const std::string& big_o) {
  ResultRow row;
  row.name = "Sort_BigO";
  row.run_name = "Sort";
  row.kind = RowKind::kBigO;
  row.big_o = big_o;
  return row;
}

ResultFile File(std::vector<ResultRow> rows, std::vector<ContextEntry> context = {}) {
  ResultFile file;
  file.path = "run.json";
  file.rows = std::move(rows);
  file.context = std::move(context);
  return file;
}

// A file per value, of one benchmark "A" in milliseconds.
Files Runs(const std::vector<double>& milliseconds) {
  Files files;
  for (const double value : milliseconds) files.push_back(File({Row("A", value * 1e-3)}));
  return files;
}

// A file per value of a counter, at a steady time.
Files CounterRuns(const std::string& name, const std::vector<double>& values) {
  Files files;
  for (const double value : values) files.push_back(File({Row("A", 1, {{name, value}})}));
  return files;
}

const std::vector<double>& Steady() {
  static const std::vector<double> values = {100, 100.3, 99.8, 100.1, 100.2, 99.9};
  return values;
}

std::vector<double> Times(double factor, std::vector<double> values = Steady()) {
  for (double& value : values) value *= factor;
  return values;
}

const ComparisonRow& Find(const Comparison& comparison, std::string_view benchmark,
                          std::string_view metric) {
  for (const ComparisonRow& row : comparison.rows) {
    if (row.benchmark == benchmark && row.metric == metric) return row;
  }
  throw std::logic_error("no row " + std::string(benchmark) + " " + std::string(metric));
}

bool Has(const Comparison& comparison, std::string_view benchmark, std::string_view metric) {
  return std::any_of(comparison.rows.begin(), comparison.rows.end(), [&](const auto& row) {
    return row.benchmark == benchmark && row.metric == metric;
  });
}

Verdict VerdictOf(const Files& base, const Files& contender, std::string_view metric = "cpu_time",
                  const CompareOptions& options = {}) {
  return Find(Compare(base, contender, options), "A", metric).verdict;
}

bool Warns(const Comparison& comparison, std::string_view text) {
  return std::any_of(comparison.warnings.begin(), comparison.warnings.end(),
                     [&](const auto& w) { return w.find(text) != std::string::npos; });
}

std::size_t Count(const Comparison& comparison, Verdict verdict) {
  return comparison.summary.rows[static_cast<std::size_t>(verdict)];
}

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

TEST(Verdict, UnequalNumbersOfFilesAreAllUsed) {
  const Comparison comparison = Compare(Runs(Steady()), Runs({120, 121, 122}));
  const ComparisonRow& row = Find(comparison, "A", "cpu_time");
  EXPECT_EQ(row.base.size(), 6U);
  EXPECT_EQ(row.contender.size(), 3U);
  EXPECT_EQ(row.verdict, Verdict::kWorse);  // 1 / C(9, 3)
}

// --- Verdicts of benchmarks ---------------------------------------------------------------------

Files One(ResultRow row) { return {File({std::move(row)})}; }

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

TEST(State, AbsentFromAnIncompleteOrFilteredFileIsNotRun) {
  const Files base = {File({Row("A", 1), Row("B", 1)})};
  Files contender = {File({Row("A", 1)})};
  CompareOptions options;
  options.is_filtered = true;
  options.fail_on_removed = true;
  EXPECT_EQ(Find(Compare(base, contender, options), "B", "").verdict, Verdict::kNotRun);
  EXPECT_EQ(ExitCode(Compare(base, contender, options), options), 0);
  options.is_filtered = false;
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
  EXPECT_EQ(comparison.summary.tested_times, 1U);
  EXPECT_EQ(comparison.summary.tested_counters, 0U);
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

TEST(Metrics, CounterNamedLikeATimeIsApart) {
  const Files files = {File({Row("A", 1, {{"real_time", 123}})})};
  const Comparison comparison = Compare(files, files);
  EXPECT_EQ(Find(comparison, "A", "real_time").base, Samples{1});
  EXPECT_EQ(Find(comparison, "A", "real_time (counter)").base, Samples{123});
}

TEST(Metrics, UnitChangeIsNoted) {
  Files contender = One(Row("A", 1));
  contender.front().rows.front().time_unit = "ns";
  const Comparison comparison = Compare(One(Row("A", 1)), contender);
  EXPECT_EQ(Find(comparison, "A", "cpu_time").verdict, Verdict::kSame);
  EXPECT_EQ(Find(comparison, "A", "cpu_time").why, "unit changed from ms to ns");
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

TEST(Pairing, LeavesAHandicapOutOfNames) {
  Files slowed;
  for (const double value : Times(1.05)) {
    slowed.push_back(File({Row("A/batch:4/handicap:0.05", value * 1e-3)}));
  }
  Files base;
  for (const double value : Steady()) base.push_back(File({Row("A/batch:4", value * 1e-3)}));
  const Comparison comparison = Compare(base, slowed);
  EXPECT_EQ(Find(comparison, "A/batch:4", "cpu_time").verdict, Verdict::kWorse);
  EXPECT_EQ(comparison.summary.compared, 1U);
}

TEST(Pairing, LeavesKeysOutOfNamesWhereAsked) {
  const Files base = {File({Row("A/workers:0/steps:10", 1)})};
  const Files contender = {File({Row("A/workers:4/steps:10", 1), Row("A/coworkers:4", 1)})};
  EXPECT_EQ(Compare(base, contender).summary.compared, 0U);
  CompareOptions options;
  options.ignored_keys.push_back("workers");
  const Comparison comparison = Compare(base, contender, options);
  EXPECT_TRUE(Has(comparison, "A/steps:10", "cpu_time"));
  EXPECT_TRUE(Has(comparison, "A/coworkers:4", "")) << "added";
  Files both = {File({Row("A/workers:0", 1), Row("A/workers:4", 1)})};
  both[0].rows[1].family_index = 1;
  EXPECT_THROW(Compare(both, both, options), CompareError) << "two benchmarks of one name";
}

TEST(Duplicates, AreRefusedOrPairedByIndex) {
  ResultRow second = Row("A", 2);
  second.family_index = 1;
  const Files base = {File({Row("A", 1), second})};
  try {
    Compare(base, base);
    FAIL();
  } catch (const CompareError& error) {
    const std::string message = error.what();
    EXPECT_NE(message.find("run.json"), std::string::npos);
    EXPECT_NE(message.find("family_index 0, instance 0; family_index 1"), std::string::npos);
  }
  CompareOptions options;
  options.duplicates_by_index = true;
  const Comparison comparison = Compare(base, base, options);
  EXPECT_EQ(Find(comparison, "A", "cpu_time").base, Samples{1});
  EXPECT_EQ(Find(comparison, "A #2", "cpu_time").base, Samples{2});
  // Old files have no families; the repetition tells.
  ResultRow old = Row("A", 1);
  old.family_index = old.per_family_instance_index = -1;
  old.repetition_index = 0;
  EXPECT_THROW(Compare({File({old, old})}, base), CompareError);
  ResultRow next = old;
  next.repetition_index = 1;
  EXPECT_NO_THROW(Compare({File({old, next})}, {File({old, next})}));
}

Verdict ThreadVerdict(const char* base, const char* contender, const char* metric) {
  const auto file = [](const char* version) {
    ResultRow row = Row("A", 1, {{"images_per_second", 2}});
    row.threads = 2;
    std::vector<ContextEntry> context;
    if (*version != '\0') context.push_back({"library_version", version});
    return File({row}, context);
  };
  return Find(Compare({file(base)}, {file(contender)}), "A", metric).verdict;
}

TEST(Threads, AreComparableOnOneSideOfTheChange) {
  for (const auto& [base, contender] : std::vector<std::pair<const char*, const char*>>{
           {"", ""},                          // both before 1.8.4
           {"", "v1.8.5"},                    //
           {"v1.8.4", "v1.8.5"},              //
           {"v1.9.5", "v1.9.6-3-gabc"},       //
           {"v1.9.0", "v1.9.4"},              //
           {"v1.8.5-9-g12", "v1.8.5-9-g12"},  // the same build
           {"something", "something"}}) {
    EXPECT_EQ(ThreadVerdict(base, contender, "real_time"), Verdict::kSame) << base << contender;
    EXPECT_EQ(ThreadVerdict(base, contender, "images_per_second"), Verdict::kSame);
  }
  for (const auto& [base, contender] :
       std::vector<std::pair<const char*, const char*>>{{"", "v1.9.5"},
                                                        {"v1.8.5", "v1.9.0"},
                                                        {"v1.8.5-9-g12", "v1.8.5"},
                                                        {"x", "v1.9.5"},
                                                        {"v1.9", "v1.9.5"}}) {
    EXPECT_EQ(ThreadVerdict(base, contender, "real_time"), Verdict::kNotComparable)
        << base << contender;
    EXPECT_EQ(ThreadVerdict(base, contender, "images_per_second"), Verdict::kNotComparable);
  }
  EXPECT_EQ(ThreadVerdict("v1.9.0", "v1.9.5", "real_time"), Verdict::kSame);
  EXPECT_EQ(ThreadVerdict("v1.9.0", "v1.9.5", "images_per_second"), Verdict::kNotComparable);
  EXPECT_EQ(ThreadVerdict("v1.9.4-3-g1", "v1.9.4", "images_per_second"), Verdict::kNotComparable);
}

TEST(Threads, OneThreadIsAlwaysComparable) {
  const Files base = {File({Row("A", 1)})};
  const Files contender = {File({Row("A", 1)}, {{"library_version", "v1.9.5"}})};
  EXPECT_EQ(VerdictOf(base, contender, "real_time"), Verdict::kSame);
}

TEST(Schema, OfAnotherVersionKeepsTheTimesOnly) {
  const auto file = [](const char* version) {
    return File({Row("A", 1, {{"loss", 1}})}, {{"suite_schema_version", version}});
  };
  EXPECT_EQ(VerdictOf({file("1")}, {file("2")}, "loss"), Verdict::kNotComparable);
  EXPECT_EQ(VerdictOf({file("1")}, {file("2")}, "real_time"), Verdict::kSame);
}

// --- Context ------------------------------------------------------------------------------------

Files With(std::vector<ContextEntry> context) { return {File({Row("A", 1)}, std::move(context))}; }

TEST(Context, DifferencesHaveASeverity) {
  const Comparison comparison = Compare(With({{"date", "2026-12-02T01:12:48+00:00"},
                                              {"seed", "1"},
                                              {"build_type", "Release"},
                                              {"num_cpus", "2"},
                                              {"git_commit", "a"},
                                              {"load_avg", "[1,2,3]"},
                                              {"executable", "./a"},
                                              {"compiler", "GNU"}}),
                                        With({{"date", "2026-12-02T01:13:48+00:00"},
                                              {"seed", "2"},
                                              {"build_type", "Debug"},
                                              {"num_cpus", "4"},
                                              {"git_commit", "b"},
                                              {"load_avg", "[0,0,0]"},
                                              {"executable", "./b"},
                                              {"compiler", "GNU"},
                                              {"handicap", "0.05"}}));
  ASSERT_EQ(comparison.context.size(), 5U);
  EXPECT_EQ(comparison.context[0].key, "num_cpus");
  EXPECT_EQ(comparison.context[0].severity, Severity::kIdentity);
  EXPECT_EQ(comparison.context[1].key, "build_type");
  EXPECT_EQ(comparison.context[1].severity, Severity::kBuild);
  EXPECT_EQ(comparison.context[1].contender, "Debug");
  EXPECT_EQ(comparison.context[2].key, "git_commit");
  EXPECT_TRUE(comparison.context[2].is_expected);
  EXPECT_EQ(comparison.context[3].key, "seed");
  EXPECT_EQ(comparison.context[3].severity, Severity::kEnvironment);
  EXPECT_EQ(comparison.context[4].key, "handicap");
  EXPECT_EQ(comparison.context[4].base, "");
}

TEST(Context, StrictIsUnusableButForWhatIsCompared) {
  CompareOptions options;
  options.strict_context = true;
  const auto code = [&](const char* key, const char* base, const char* contender) {
    return ExitCode(Compare(With({{key, base}}), With({{key, contender}}), options), options);
  };
  EXPECT_EQ(code("num_cpus", "2", "4"), 3);
  EXPECT_EQ(code("device_cuda", "H100", "H200"), 3);
  EXPECT_EQ(code("library_build_type", "debug", "release"), 3);
  EXPECT_EQ(code("allocator", "libc", "jemalloc"), 3);
  EXPECT_EQ(code("git_commit", "a", "b"), 0);
  EXPECT_EQ(code("mhz_per_cpu", "2096", "2095"), 0);
  EXPECT_EQ(code("mhz_per_cpu", "2096", "3000"), 3);
  options.strict_context = false;
  EXPECT_EQ(code("num_cpus", "2", "4"), 0);
}

TEST(Context, OfOneSideIsNotMixed) {
  const auto side = [](const char* key, const char* first, const char* second) {
    return Files{File({Row("A", 1)}, {{key, first}}), File({Row("A", 1)}, {{key, second}})};
  };
  EXPECT_THROW(Compare(side("host_name", "x", "y"), Runs({1})), CompareError);
  EXPECT_THROW(Compare(Runs({1}), side("git_commit", "x", "y")), CompareError);
  EXPECT_NO_THROW(Compare(side("device_cuda", "H200", ""), Runs({1})));
  EXPECT_NO_THROW(Compare(side("mhz_per_cpu", "2000", "3000"), Runs({1})));
  const Comparison seeds = Compare(side("seed", "1", "2"), side("seed", "1", "1"));
  EXPECT_EQ(seeds.context.front().base, "1 | 2");
  CompareOptions options;
  options.allow_mixed_context = true;
  EXPECT_NO_THROW(Compare(side("host_name", "x", "y"), Runs({1}), options));
}

Files Dated(const std::vector<std::string>& dates) {
  Files files;
  for (const std::string& date : dates) files.push_back(File({Row("A", 1)}, {{"date", date}}));
  return files;
}

TEST(Order, SwappedAndSequentialSidesAreWarnedOf) {
  const Files early = Dated({"2026-12-02T01:00:00+00:00", "2026-12-02T01:02:00+00:00"});
  const Files late = Dated({"2026-12-02T01:03:00+00:00", "2026-12-02T01:04:00+00:00"});
  const Files between = Dated({"2026-12-02T01:01:00+00:00", "2026-12-02T01:03:00+00:00"});
  EXPECT_TRUE(Warns(Compare(late, early), "swapped"));
  EXPECT_FALSE(Warns(Compare(early, late), "swapped"));
  EXPECT_TRUE(Warns(Compare(early, late), "one after the other"));
  EXPECT_FALSE(Warns(Compare(early, between), "one after the other"));
  EXPECT_FALSE(Warns(Compare(late, Dated({"yesterday"})), "swapped"));
  // 03:30 in Moscow is 00:30 in London.
  EXPECT_TRUE(
      Warns(Compare(Dated({"2026-12-02T00:31:00+00:00"}), Dated({"2026-12-02T03:30:00+03:00"})),
            "swapped"));
  EXPECT_TRUE(
      Warns(Compare(Dated({"2015/03/17-18:40:26"}), Dated({"2015/03/17-18:40:25"})), "swapped"));
}

TEST(Noise, IsWarnedOf) {
  EXPECT_TRUE(Warns(Compare(With({{"load_avg", "[4.5,1,1]"}, {"num_cpus", "4"}}), With({})),
                    "load was above"));
  EXPECT_FALSE(Warns(Compare(With({{"load_avg", "[3.5,1,1]"}, {"num_cpus", "4"}}), With({})),
                     "load was above"));
  EXPECT_FALSE(Warns(Compare(With({{"load_avg", "[]"}, {"num_cpus", "4"}}), With({})), "load"));
  EXPECT_TRUE(Warns(Compare(With({{"cpu_scaling_enabled", "true"}}), With({})), "scaling"));
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
  EXPECT_EQ(comparison.summary.tested_counters, 1U);
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

// --- Calibration --------------------------------------------------------------------------------

Files Calibrating(const std::vector<double>& values, const char* host = "here") {
  Files files = Runs(values);
  for (ResultFile& file : files) file.context = {{"host_name", host}, {"seed", "1"}};
  return files;
}

TEST(Calibration, LearnsTheBandOfTheNoise) {
  const std::vector<double> noisy = {100, 104, 98, 102, 107, 95};
  const Calibration calibration = Calibrate(Calibrating(noisy));
  EXPECT_EQ(calibration.files, 6U);
  ASSERT_EQ(calibration.machine.size(), 1U);
  EXPECT_EQ(calibration.machine.front().value, "here");
  ASSERT_EQ(calibration.bands.size(), 2U);
  // NumPy: d = |log(x_i / x_k)|, i < k; expm1(q75 + 3 (q75 - q25)).
  EXPECT_EQ(calibration.bands[0].metric, "cpu_time");
  EXPECT_NEAR(calibration.bands[0].threshold, 0.2070946501498446, 1e-12);
  EXPECT_EQ(Calibrate(Calibrating(std::vector<double>(6, 7.0))).bands[0].threshold, 0.01);

  CompareOptions options;
  options.calibration = calibration;
  const auto verdict = [&](double factor) {
    return VerdictOf(Calibrating(Steady()), Calibrating(Times(factor)), "cpu_time", options);
  };
  EXPECT_EQ(verdict(1.1), Verdict::kSame);
  EXPECT_EQ(verdict(1.3), Verdict::kWorse);
}

TEST(Calibration, IsOfOneMachine) {
  EXPECT_THROW(Calibrate(Calibrating({1, 2, 3, 4, 5})), CompareError);
  Files two = Calibrating(Steady());
  two.back().context.front().value = "there";
  EXPECT_THROW(Calibrate(two), CompareError);
  CompareOptions options;
  options.calibration = Calibrate(Calibrating(Steady()));
  const Files there = Calibrating(Steady(), "there");
  EXPECT_THROW(Compare(there, there, options), CompareError);
  EXPECT_NO_THROW(Compare(Calibrating(Steady()), Calibrating(Steady()), options));
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
