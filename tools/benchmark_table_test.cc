#include "tools/benchmark_table.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tools/comparison_testing.h"

namespace cnn {
namespace {

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
  options.pairing.ignored_keys.push_back("workers");
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
  options.pairing.duplicates_by_index = true;
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

}  // namespace
}  // namespace cnn
