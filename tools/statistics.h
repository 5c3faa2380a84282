// Statistics of few, skewed, partly tied samples. Everything is a pure function of its arguments.
//
// Rank tests, because benchmark times are not normal. Exact, because with 3 to 25 runs a side the
// normal approximation is wrong by a factor of ten in the tail that a correction for many tests
// looks at (9 against 9 runs, fully separated: 4.1e-4 instead of 4.1e-5).
//
// Every function throws std::invalid_argument for empty samples and for values that are not finite.
#pragma once

#include <cstddef>
#include <map>
#include <utility>
#include <vector>

namespace cnn {

using Samples = std::vector<double>;

double Minimum(const Samples& samples);
double Median(const Samples& samples);

/// Linear between the order statistics, q in [0, 1]: definition 7 of Hyndman and Fan, "Sample
/// quantiles in statistical packages", 1996; what NumPy and R do unless told otherwise.
double Quantile(Samples samples, double q);

/// z so that a normal variable is above it with probability p, from 0 to a half.
double NormalQuantile(double p);

/// Throws std::invalid_argument unless all values are above zero.
double GeometricMean(const Samples& samples);

enum class Method { kExact, kNormalApproximation, kStudentApproximation };

/// Above this number of values in both samples together the null distribution is approximated: at
/// 50, the number of ways to split them, 1.3e14, is still exact in a double.
constexpr std::size_t kExactLimit = 50;

/// The null distributions of Mann and Whitney's U for samples without ties. They depend on the
/// sizes only, so that thousands of tests share one.
class RankDistributions {
 public:
  /// P(U <= u) for u = 0 .. n m. Throws std::invalid_argument when n or m is 0 or n + m is above
  /// kExactLimit.
  const std::vector<double>& Cumulative(std::size_t n, std::size_t m);

 private:
  std::map<std::pair<std::size_t, std::size_t>, std::vector<double>> cumulative_;
};

struct RankTest {
  double superiority =
      0.5;                 // share of pairs in which the other value is larger, ties half: U / n m
  double p_greater = 1;    // one-sided: the other values tend to be larger
  double p_less = 1;       // one-sided: smaller
  double p_two_sided = 1;  // twice the smaller one, at most 1
  Method method = Method::kExact;
};

/// Mann and Whitney, "On a test of whether one of two random variables is stochastically larger",
/// 1947. Exact: the permutation distribution of the rank sum, ties with their mean rank (Lehmann,
/// "Nonparametrics", 1975, section 1.4). Above kExactLimit the normal approximation with
/// corrections for ties and continuity (Lehmann 1.5). Samples that are all equal have p = 1.
RankTest MannWhitney(const Samples& base, const Samples& other, RankDistributions& distributions);

/// The smallest one-sided p that n against m values can reach: 1 / C(n + m, n). Two-sided, twice.
double MinimumP(std::size_t n, std::size_t m);

/// `lower` and `upper` are infinite (of a ratio: 0 and infinite) where so few values have no
/// interval at the confidence asked for: below 4 against 4 at 95 %.
struct Effect {
  double estimate = 0;
  double lower = 0;
  double upper = 0;
  Method method = Method::kExact;

  bool HasInterval() const;
};

/// Hodges and Lehmann's shift, the median of all differences other - base, between order statistics
/// of these differences: those that the Mann-Whitney test does not reject (Hollander and Wolfe,
/// "Nonparametric Statistical Methods", sections 4.2 and 4.3). With ties the interval is wider than
/// it need be. `confidence` is in (0, 1). Time O(n log n + m log m), memory O(n + m).
Effect HodgesLehmannShift(const Samples& base, const Samples& other, double confidence,
                          RankDistributions& distributions);

/// The same on logarithms: the factor from base to other. Throws std::invalid_argument unless all
/// values are above zero.
Effect HodgesLehmannRatio(const Samples& base, const Samples& other, double confidence,
                          RankDistributions& distributions);

/// The geometric mean of the ratios of many quantities, each measured once in every run: the ratio
/// of the runs' geometric means, by HodgesLehmannRatio. Taking the run as the replicate keeps the
/// interval right where the quantities of a run are slow or fast together. [runs][quantities];
/// throws std::invalid_argument unless all runs have the same number.
Effect GeometricMeanRatio(const std::vector<Samples>& base_runs,
                          const std::vector<Samples>& other_runs, double confidence,
                          RankDistributions& distributions);

/// Adjusted p in the order given: reject where they are <= alpha, and the chance of one or more
/// false rejections is <= alpha, whatever the dependence. Holm, "A simple sequentially rejective
/// multiple test procedure", 1979. Empty in, empty out; p in [0, 1].
std::vector<double> HolmAdjusted(const std::vector<double>& p);

/// Adjusted p ("q"): of what is rejected where they are <= alpha, a share of at most alpha is
/// expected to be false. Benjamini and Hochberg, "Controlling the false discovery rate", 1995.
std::vector<double> BenjaminiHochbergAdjusted(const std::vector<double>& p);

struct Trend {
  double rho = 0;  // Spearman's, of the values with their position: above 0 they grow
  double p = 1;    // two-sided
  Method method = Method::kExact;
};

/// Do values drift in the order they were measured? Up to 8 of them all permutations, ties with
/// their mean rank; above, Student's t of rho with n - 2 degrees of freedom (Kendall, "Rank
/// Correlation Methods", 1948). Fewer than 3 values, or all equal: rho = 0, p = 1.
Trend SpearmanTrend(const Samples& values);

/// Two-sided p of so unequal a split when both sides are equally likely: the sign test (exact
/// binomial; Conover, "Practical Nonparametric Statistics", section 3.4). 1 for nothing to split.
double SignTest(std::size_t first, std::size_t second);

/// Runs a side from which on a one-sided Mann-Whitney test can be rejected at all when Holm
/// corrects for so many tests: the smallest n with MinimumP(n, n) <= alpha / tests. Throws
/// std::invalid_argument unless alpha is in (0, 1) and tests is not 0.
std::size_t RunsToReject(double alpha, std::size_t tests);

/// Answers of the two estimates below are at most this.
constexpr std::size_t kManyRuns = 1000;

/// Runs a side for a one-sided Mann-Whitney test at level alpha to find, with probability 0.8, a
/// difference that makes `superiority` of the pairs larger: Noether, "Sample size determination for
/// some common nonparametric tests", 1987. An estimate: it takes the superiority seen for the true
/// one. Of samples that do not overlap: RunsToReject(alpha, 1).
std::size_t RunsToDetect(double superiority, double alpha);

/// Runs a side for the interval of `effect`, a shift or logarithm of a ratio seen in `runs` a side,
/// to lie inside ± limit, supposing that it stays where it is and shrinks as 1/sqrt(runs).
/// kManyRuns where the estimate itself lies outside. Of an effect without interval: the runs that
/// give one at `confidence`.
std::size_t RunsForInterval(const Effect& effect, double limit, std::size_t runs,
                            double confidence);

}  // namespace cnn
