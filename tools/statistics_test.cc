#include "tools/statistics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <limits>
#include <stdexcept>
#include <vector>

// Reference values are from SciPy 1.17.1 with NumPy, by the call named, or counted by hand. Counts
// over all splits of tied values: itertools.combinations over scipy.stats.rankdata.

namespace cnn {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

RankTest Ranks(const Samples& base, const Samples& other) {
  RankDistributions distributions;
  return MannWhitney(base, other, distributions);
}

Effect Shift(const Samples& base, const Samples& other, double confidence = 0.95) {
  RankDistributions distributions;
  return HodgesLehmannShift(base, other, confidence, distributions);
}

Effect Ratio(const Samples& base, const Samples& other, double confidence = 0.95) {
  RankDistributions distributions;
  return HodgesLehmannRatio(base, other, confidence, distributions);
}

Samples Steps(std::size_t count, double first, double step) {
  Samples samples;
  for (std::size_t i = 0; i < count; ++i) samples.push_back(first + step * static_cast<double>(i));
  return samples;
}

TEST(Statistics, RefusesWhatHasNoAnswer) {
  RankDistributions distributions;
  EXPECT_THROW(Median({}), std::invalid_argument);
  EXPECT_THROW(Minimum({1, kNan}), std::invalid_argument);
  EXPECT_THROW(Quantile({1, kInfinity}, 0.5), std::invalid_argument);
  EXPECT_THROW(Quantile({1}, 1.5), std::invalid_argument);
  EXPECT_THROW(Quantile({1}, kNan), std::invalid_argument);
  EXPECT_THROW(GeometricMean({1, 0}), std::invalid_argument);
  EXPECT_THROW(Ranks({}, {1}), std::invalid_argument);
  EXPECT_THROW(Ranks({1}, {}), std::invalid_argument);
  EXPECT_THROW(Ranks({1}, {kNan}), std::invalid_argument);
  EXPECT_THROW(Shift({}, {1}), std::invalid_argument);
  EXPECT_THROW(Shift({1}, {2}, 1), std::invalid_argument);
  EXPECT_THROW(Ratio({1}, {0}), std::invalid_argument);
  EXPECT_THROW(Ratio({-1}, {1}), std::invalid_argument);
  EXPECT_THROW(SpearmanTrend({}), std::invalid_argument);
  EXPECT_THROW(HolmAdjusted({0.1, kNan}), std::invalid_argument);
  EXPECT_THROW(BenjaminiHochbergAdjusted({1.1}), std::invalid_argument);
  EXPECT_THROW(MinimumP(0, 1), std::invalid_argument);
  EXPECT_THROW(RunsToReject(0, 1), std::invalid_argument);
  EXPECT_THROW(RunsToReject(0.05, 0), std::invalid_argument);
  EXPECT_THROW(RunsToDetect(kNan, 0.05), std::invalid_argument);
  EXPECT_THROW(distributions.Cumulative(0, 3), std::invalid_argument);
  EXPECT_THROW(distributions.Cumulative(25, 26), std::invalid_argument);
}

// np.quantile([7, 1, 3, 10, 4, 8], q)
TEST(Quantile, IsNumpys) {
  const Samples samples = {7, 1, 3, 10, 4, 8};
  EXPECT_DOUBLE_EQ(Quantile(samples, 0), 1);
  EXPECT_DOUBLE_EQ(Quantile(samples, 0.1), 2);
  EXPECT_DOUBLE_EQ(Quantile(samples, 0.25), 3.25);
  EXPECT_DOUBLE_EQ(Median(samples), 5.5);
  EXPECT_DOUBLE_EQ(Quantile(samples, 0.9), 9);
  EXPECT_DOUBLE_EQ(Quantile(samples, 1), 10);
  EXPECT_DOUBLE_EQ(Minimum(samples), 1);
  EXPECT_DOUBLE_EQ(Median({4}), 4);
}

TEST(GeometricMean, IsTheRootOfTheProduct) {
  EXPECT_DOUBLE_EQ(GeometricMean({1, 2, 4}), 2);
  EXPECT_DOUBLE_EQ(GeometricMean({2, 0.5}), 1);
}

// scipy.stats.mannwhitneyu(other, base, method='exact')
TEST(MannWhitney, IsExactWithoutTies) {
  RankTest test = Ranks({1.1, 2.2, 3.3}, {4.4, 5.5, 6.6});
  EXPECT_EQ(test.method, Method::kExact);
  EXPECT_DOUBLE_EQ(test.superiority, 1);
  EXPECT_DOUBLE_EQ(test.p_greater, 0.05);
  EXPECT_DOUBLE_EQ(test.p_less, 1);
  EXPECT_DOUBLE_EQ(test.p_two_sided, 0.1);

  test = Ranks({1, 4, 6, 9, 12}, {2, 7, 10, 13, 14, 15});
  EXPECT_DOUBLE_EQ(test.superiority, 23.0 / 30);
  EXPECT_DOUBLE_EQ(test.p_greater, 0.08874458874458874);
  EXPECT_DOUBLE_EQ(test.p_less, 0.9372294372294372);
  EXPECT_DOUBLE_EQ(test.p_two_sided, 0.17748917748917747);

  test = Ranks({3.1, 2.9, 3.0, 3.3, 2.8, 3.6, 3.2}, {3.4, 3.5, 3.05, 3.7, 3.15});
  EXPECT_DOUBLE_EQ(test.p_greater, 0.10101010101010102);
  EXPECT_DOUBLE_EQ(test.p_less, 0.9255050505050505);

  test = Ranks(Steps(10, 0, 2), Steps(10, 5.5, 2));
  EXPECT_DOUBLE_EQ(test.p_greater, 0.05256121587390938);
  EXPECT_DOUBLE_EQ(test.p_less, 0.9553952239710753);

  test = Ranks(Steps(25, 0, 2), Steps(25, 9, 2));
  EXPECT_EQ(test.method, Method::kExact);
  EXPECT_NEAR(test.p_greater, 0.023580853403419602, 1e-15);
  EXPECT_NEAR(test.p_less, 0.9775077337335842, 1e-15);
}

TEST(MannWhitney, ReachesTheMinimumOnSeparation) {
  const std::vector<double> two_sided = {0.1,    0.0286, 0.0079, 0.0022,
                                         5.8e-4, 1.6e-4, 4.1e-5, 1.1e-5};  // reference, section 5.1
  for (std::size_t n = 3; n <= 10; ++n) {
    const RankTest test = Ranks(Steps(n, 100, 1), Steps(n, 1, 1));
    EXPECT_NEAR(test.p_less, MinimumP(n, n), 1e-15);
    EXPECT_NEAR(test.p_two_sided, two_sided[n - 3], 0.03 * two_sided[n - 3]);
    EXPECT_DOUBLE_EQ(test.p_greater, 1);
    EXPECT_DOUBLE_EQ(test.superiority, 0);
  }
  EXPECT_DOUBLE_EQ(MinimumP(1, 10), 1.0 / 11);
  EXPECT_DOUBLE_EQ(MinimumP(3, 7), 1.0 / 120);
}

// Counted over all splits. Two-sided: scipy.stats.permutation_test gives the same.
TEST(MannWhitney, IsExactWithTies) {
  RankTest test = Ranks({1, 1, 2}, {2, 2, 3});
  EXPECT_DOUBLE_EQ(test.p_greater, 3.0 / 20);
  EXPECT_DOUBLE_EQ(test.p_less, 1);
  EXPECT_DOUBLE_EQ(test.p_two_sided, 0.3);

  test = Ranks({1, 2, 2, 3, 3}, {2, 3, 3, 4, 4, 4});
  EXPECT_DOUBLE_EQ(test.p_greater, 25.0 / 462);
  EXPECT_DOUBLE_EQ(test.p_less, 458.0 / 462);
  EXPECT_DOUBLE_EQ(test.p_two_sided, 0.10822510822510822);

  test = Ranks({1, 2, 2, 2, 7, 8, 8}, {2, 2, 8, 8, 9, 9, 9, 9});
  EXPECT_DOUBLE_EQ(test.p_greater, 149.0 / 6435);
  EXPECT_DOUBLE_EQ(test.p_less, 6352.0 / 6435);

  test = Ranks({0, 0, 0, 0, 1, 1, 0, 0}, {0, 1, 1, 1, 1, 0, 1, 1});
  EXPECT_DOUBLE_EQ(test.p_greater, 849.0 / 12870);

  test = Ranks({5, 5, 5, 5, 5}, {6, 6, 6, 6, 6});
  EXPECT_DOUBLE_EQ(test.p_greater, 1.0 / 252);
}

TEST(MannWhitney, SidesMirrorEachOther) {
  const Samples base = {1, 2, 2, 2, 7, 8, 8};
  const Samples other = {2, 2, 8, 8, 9, 9, 9, 9};
  const RankTest forth = Ranks(base, other);
  const RankTest back = Ranks(other, base);
  EXPECT_DOUBLE_EQ(forth.p_greater, back.p_less);
  EXPECT_DOUBLE_EQ(forth.p_less, back.p_greater);
  EXPECT_DOUBLE_EQ(forth.superiority + back.superiority, 1);
}

TEST(MannWhitney, OfEqualValuesIsOne) {
  for (const std::size_t n : {1U, 5U, 40U}) {
    const RankTest test = Ranks(Samples(n, 7), Samples(n + 2, 7));
    EXPECT_EQ(test.p_greater, 1);
    EXPECT_EQ(test.p_less, 1);
    EXPECT_EQ(test.p_two_sided, 1);
    EXPECT_EQ(test.superiority, 0.5);
  }
}

// scipy.stats.mannwhitneyu(other, base, method='asymptotic')
TEST(MannWhitney, IsApproximatedForManyValues) {
  Samples base;
  Samples other;
  for (int i = 0; i < 30; ++i) base.push_back(i * 37 % 101);
  for (int i = 0; i < 40; ++i) other.push_back(i * 53 % 101 + 8);
  RankTest test = Ranks(base, other);
  EXPECT_EQ(test.method, Method::kNormalApproximation);
  EXPECT_NEAR(test.p_greater, 0.1272640000579982, 1e-13);
  EXPECT_NEAR(test.p_less, 0.8751933198614721, 1e-13);
  EXPECT_NEAR(test.p_two_sided, 0.2545280001159964, 1e-13);

  base.clear();
  other.clear();
  for (int i = 0; i < 30; ++i) base.push_back(i * 7 % 11);
  for (int i = 0; i < 28; ++i) other.push_back(i * 5 % 13);
  test = Ranks(base, other);
  EXPECT_NEAR(test.p_greater, 0.25849921913081914, 1e-13);
  EXPECT_NEAR(test.p_less, 0.7465246131444363, 1e-13);
}

// The definition: sorted differences, and the critical values of the tables of Mann and Whitney.
TEST(HodgesLehmann, IsTheMedianBetweenCriticalDifferences) {
  const Samples base = {1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30};
  const Samples other = {0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29};
  const Effect effect = Shift(base, other);  // differences 18 and 64 of 81, as R's wilcox.test
  EXPECT_NEAR(effect.estimate, -0.56, 1e-12);
  EXPECT_NEAR(effect.lower, -1.183, 1e-12);
  EXPECT_NEAR(effect.upper, 0.37, 1e-12);
  EXPECT_EQ(effect.method, Method::kExact);

  // P(U <= 3) = 7 / 462 is below 2.5 %, P(U <= 4) is not: differences 4 and 27 of 30.
  const Effect ratio = Ratio({100, 101, 103, 99, 102}, {110, 108, 112, 109, 111, 107});
  EXPECT_NEAR(ratio.estimate, 1.0840883828588712, 1e-13);
  EXPECT_NEAR(ratio.lower, 1.058252427184466, 1e-13);
  EXPECT_NEAR(ratio.upper, 1.1111111111111112, 1e-13);
}

// Of samples without a shift every split of n + m ranks is as likely: the share of splits whose
// interval holds the shift of 0 is the confidence, and it is at least what was asked for.
TEST(HodgesLehmann, CoversWithTheConfidenceAskedFor) {
  RankDistributions distributions;
  for (const double confidence : {0.8, 0.9, 0.95, 0.99}) {
    for (std::size_t n = 3; n <= 5; ++n) {
      for (std::size_t m = 3; m <= 5; ++m) {
        std::size_t splits = 0;
        std::size_t covered = 0;
        for (unsigned mask = 0; mask < 1U << (n + m); ++mask) {
          Samples base;
          Samples other;
          for (std::size_t i = 0; i < n + m; ++i) {
            const double distinct = std::exp2(static_cast<double>(i));
            ((mask >> i & 1U) != 0 ? base : other).push_back(distinct);
          }
          if (base.size() != n) continue;
          const Effect effect = HodgesLehmannShift(base, other, confidence, distributions);
          ++splits;
          if (effect.lower <= 0 && effect.upper >= 0) ++covered;
        }
        EXPECT_GE(static_cast<double>(covered), confidence * static_cast<double>(splits) - 1e-9)
            << n << " against " << m << " at " << confidence;
      }
    }
  }
}

TEST(HodgesLehmann, HasAnIntervalFromFourRunsASideOn) {
  const Effect three = Ratio({1, 2, 3}, {4, 5, 6});
  EXPECT_FALSE(three.HasInterval());
  EXPECT_EQ(three.lower, 0);
  EXPECT_EQ(three.upper, kInfinity);
  EXPECT_EQ(Shift({1, 2, 3}, {4, 5, 6}).lower, -kInfinity);
  EXPECT_TRUE(Shift({1, 2, 3}, {4, 5, 6}, 0.9).HasInterval());  // 1 / 20 is 5 % exactly
  const Effect four = Shift({1, 2, 3, 4}, {5, 6, 7, 8});
  EXPECT_TRUE(four.HasInterval());
  EXPECT_EQ(four.lower, 1);  // all differences: 1 - 2 / 70 is 97 %, without the ends 94 %
  EXPECT_EQ(four.estimate, 4);
  EXPECT_EQ(four.upper, 7);
}

TEST(HodgesLehmann, OfEqualValuesIsNoChange) {
  const Effect effect = Ratio(Samples(5, 0.3), Samples(6, 0.3));
  EXPECT_EQ(effect.estimate, 1);
  EXPECT_EQ(effect.lower, 1);
  EXPECT_EQ(effect.upper, 1);
}

TEST(HodgesLehmann, TakesZeroAndNegativeShifts) {
  const Effect effect = Shift({-3, 0, 0, 2}, {0, 0, -3, 2});
  EXPECT_EQ(effect.estimate, 0);
  EXPECT_LT(effect.lower, 0);
  EXPECT_GT(effect.upper, 0);
}

// 10,000 against 10,000 repetitions have 10^8 differences, which are not stored.
TEST(HodgesLehmann, NeedsNoTableOfDifferences) {
  const Effect effect = Shift(Steps(10000, 0, 1), Steps(10000, 2.5, 1));
  EXPECT_EQ(effect.method, Method::kNormalApproximation);
  EXPECT_DOUBLE_EQ(effect.estimate, 2.5);
  // Half of 1.96 sqrt(n m (n + m + 1) / 12) pairs on each side, where 10,000 pairs lie on a step.
  EXPECT_NEAR(effect.upper - effect.estimate, 80, 2);
  EXPECT_NEAR(effect.estimate - effect.lower, 80, 2);
}

TEST(GeometricMeanRatio, TakesTheRunAsReplicate) {
  RankDistributions distributions;
  // Both quantities of a run are slow together: the geometric mean of the ratios is 1.1.
  const std::vector<Samples> base = {{1, 10}, {2, 20}, {3, 30}, {4, 40}};
  const std::vector<Samples> other = {{1.21, 10}, {2.42, 20}, {3.63, 30}, {4.84, 40}};
  const Effect effect = GeometricMeanRatio(base, other, 0.95, distributions);
  EXPECT_NEAR(effect.estimate, 1.1, 1e-12);
  EXPECT_NEAR(effect.lower, 1.1 / 4, 1e-12);
  EXPECT_NEAR(effect.upper, 1.1 * 4, 1e-12);
  EXPECT_THROW(GeometricMeanRatio(base, {{1}}, 0.95, distributions), std::invalid_argument);
  EXPECT_THROW(GeometricMeanRatio(base, {}, 0.95, distributions), std::invalid_argument);
}

// By hand; Benjamini-Hochberg: scipy.stats.false_discovery_control.
TEST(Adjustment, IsHolmsAndBenjaminiHochbergs) {
  const std::vector<double> p = {0.01, 0.04, 0.03, 0.005, 0.5};
  const std::vector<double> holm = HolmAdjusted(p);
  const std::vector<double> expected_holm = {0.04, 0.09, 0.09, 0.025, 0.5};
  const std::vector<double> q = BenjaminiHochbergAdjusted(p);
  const std::vector<double> expected_q = {0.025, 0.05, 0.05, 0.025, 0.5};
  for (std::size_t i = 0; i < p.size(); ++i) {
    EXPECT_DOUBLE_EQ(holm[i], expected_holm[i]);
    EXPECT_DOUBLE_EQ(q[i], expected_q[i]);
  }
  EXPECT_TRUE(HolmAdjusted({}).empty());
  EXPECT_TRUE(BenjaminiHochbergAdjusted({}).empty());
  EXPECT_EQ(HolmAdjusted({1, 1, 0.9}), (std::vector<double>{1, 1, 1}));
}

// rho: scipy.stats.spearmanr. p: counted over all permutations of scipy.stats.rankdata.
TEST(SpearmanTrend, IsExactForUpToEight) {
  Trend trend = SpearmanTrend({1, 2, 3, 4, 5});
  EXPECT_DOUBLE_EQ(trend.rho, 1);
  EXPECT_DOUBLE_EQ(trend.p, 2.0 / 120);
  trend = SpearmanTrend({2, 1, 4, 3, 5});
  EXPECT_DOUBLE_EQ(trend.rho, 0.8);
  EXPECT_DOUBLE_EQ(trend.p, 16.0 / 120);
  trend = SpearmanTrend({1, 1, 2, 3, 3, 2});
  EXPECT_DOUBLE_EQ(trend.rho, 0.7171371656006363);
  EXPECT_DOUBLE_EQ(trend.p, 128.0 / 720);
  trend = SpearmanTrend({3, 1, 2, 2, 5, 4, 7, 7});
  EXPECT_DOUBLE_EQ(trend.rho, 0.8193365776101958);
  EXPECT_DOUBLE_EQ(trend.p, 728.0 / 40320);
  trend = SpearmanTrend({5, 4, 4, 2, 1});
  EXPECT_DOUBLE_EQ(trend.rho, -0.9746794344808964);
  EXPECT_DOUBLE_EQ(trend.p, 4.0 / 120);
  EXPECT_EQ(trend.method, Method::kExact);
}

// scipy.stats.spearmanr
TEST(SpearmanTrend, IsApproximatedAboveEight) {
  Trend trend = SpearmanTrend({2, 1, 4, 3, 6, 5, 8, 7, 10, 9});
  EXPECT_EQ(trend.method, Method::kStudentApproximation);
  EXPECT_DOUBLE_EQ(trend.rho, 0.9393939393939393);
  EXPECT_NEAR(trend.p, 5.4840529985136686e-05, 1e-13);
  trend = SpearmanTrend({5, 3, 8, 1, 9, 2, 7, 4, 6});
  EXPECT_NEAR(trend.p, 0.797971695234851, 1e-13);
  trend = SpearmanTrend({3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8});
  EXPECT_DOUBLE_EQ(trend.rho, 0.5265313520914635);
  EXPECT_NEAR(trend.p, 0.07863046813632459, 1e-13);
  EXPECT_NEAR(SpearmanTrend(Steps(9, 0, 1)).p, 0, 1e-12);
}

TEST(SpearmanTrend, OfTooLittleIsNone) {
  for (const Samples& samples : {Samples{3}, Samples{1, 2}, Samples{4, 4, 4}, Samples(20, 1.5)}) {
    EXPECT_EQ(SpearmanTrend(samples).rho, 0);
    EXPECT_EQ(SpearmanTrend(samples).p, 1);
  }
}

// scipy.stats.binomtest
TEST(SignTest, IsTheExactBinomial) {
  EXPECT_EQ(SignTest(0, 0), 1);
  EXPECT_EQ(SignTest(5, 5), 1);
  EXPECT_NEAR(SignTest(0, 5), 0.0625, 1e-14);
  EXPECT_NEAR(SignTest(9, 1), 0.021484375, 1e-14);
  EXPECT_NEAR(SignTest(3, 26), 1.5236437320709229e-05, 1e-16);
  EXPECT_NEAR(SignTest(0, 29), 3.725290298461914e-09, 1e-20);  // folo-rs/folo#429
  EXPECT_NEAR(SignTest(400, 500), 0.0009564441369189373, 1e-13);
  EXPECT_EQ(SignTest(100000, 100000), 1);
}

// Two-sided, as in the reference, section 5.1: half the level.
TEST(Runs, ToRejectAfterHolm) {
  EXPECT_EQ(RunsToReject(0.025, 10), 6U);
  EXPECT_EQ(RunsToReject(0.025, 50), 7U);
  EXPECT_EQ(RunsToReject(0.025, 100), 8U);
  EXPECT_EQ(RunsToReject(0.025, 1000), 9U);
  EXPECT_EQ(RunsToReject(0.05, 1), 3U);  // 1 / 20 is not above 5 %
  EXPECT_EQ(RunsToReject(0.05, 12), 5U);
  EXPECT_EQ(RunsToReject(0.05, 13), 6U);
}

// Noether's formula with scipy.stats.norm.isf: 16.49 and 167.3 a side.
TEST(Runs, ToDetect) {
  EXPECT_EQ(RunsToDetect(0.75, 0.05), 17U);
  EXPECT_EQ(RunsToDetect(0.4, 0.01), 168U);
  EXPECT_EQ(RunsToDetect(0.5, 0.05), kManyRuns);
  EXPECT_EQ(RunsToDetect(1, 0.005), 5U);  // 1 / 252
}

TEST(Runs, ForAnIntervalInsideALimit) {
  EXPECT_EQ(RunsForInterval({0, -0.04, 0.04, Method::kExact}, 0.02, 5, 0.95), 20U);
  EXPECT_EQ(RunsForInterval({0.01, -0.01, 0.03, Method::kExact}, 0.02, 5, 0.95), 20U);
  EXPECT_EQ(RunsForInterval({0.03, 0.01, 0.05, Method::kExact}, 0.02, 5, 0.95), kManyRuns);
  EXPECT_EQ(RunsForInterval({0, -0.001, 0.001, Method::kExact}, 0.02, 10, 0.95), 4U);
  EXPECT_EQ(RunsForInterval({0, -kInfinity, kInfinity, Method::kExact}, 0.02, 2, 0.95), 4U);
}

}  // namespace
}  // namespace cnn
