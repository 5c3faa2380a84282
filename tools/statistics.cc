#include "tools/statistics.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>
#include <tuple>

namespace cnn {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kPi = 3.14159265358979323846;

// (1 - 0.9) / 2 is a little below 0.05, which 3 against 3 values reach: levels are compared with
// room for rounding.
constexpr double kRounding = 1 + 1e-12;

void Require(bool condition, const char* message) {
  if (!condition) throw std::invalid_argument(std::string("statistics: ") + message);
}

void RequireFinite(const Samples& samples) {
  Require(!samples.empty(), "a sample is empty");
  Require(std::all_of(samples.begin(), samples.end(), [](double x) { return std::isfinite(x); }),
          "a value is not finite");
}

void RequireProbability(double value, const char* message) {
  Require(value > 0 && value < 1, message);
}

Samples Sorted(Samples samples) {
  std::sort(samples.begin(), samples.end());
  return samples;
}

Samples Logarithms(const Samples& samples) {
  RequireFinite(samples);
  Samples logs;
  logs.reserve(samples.size());
  for (const double x : samples) {
    Require(x > 0, "a ratio needs values above zero");
    logs.push_back(std::log(x));
  }
  return logs;
}

// Twice the mean ranks, from 2 on: integers, also for ties.
std::vector<std::size_t> DoubledRanks(const Samples& values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  std::vector<std::size_t> ranks(values.size());
  for (std::size_t first = 0; first < order.size();) {
    std::size_t end = first + 1;
    while (end < order.size() && values[order[end]] == values[order[first]]) ++end;
    for (std::size_t i = first; i < end; ++i) ranks[order[i]] = first + end + 1;
    first = end;
  }
  return ranks;
}

// In how many ways `size` of the ranks add up to each sum. Adds one rank after the other to all
// subsets of the ranks before it.
std::vector<double> SubsetSumCounts(const std::vector<std::size_t>& ranks, std::size_t size) {
  const std::size_t total = std::accumulate(ranks.begin(), ranks.end(), std::size_t{0});
  std::vector<std::vector<double>> counts(size + 1, std::vector<double>(total + 1, 0.0));
  counts[0][0] = 1;
  std::size_t largest = 0;  // sum so far
  for (const std::size_t rank : ranks) {
    largest += rank;
    for (std::size_t k = size; k > 0; --k) {
      for (std::size_t sum = rank; sum <= largest; ++sum) {
        counts[k][sum] += counts[k - 1][sum - rank];
      }
    }
  }
  return counts[size];
}

double NormalTail(double z) { return std::erfc(z / std::sqrt(2.0)) / 2; }

// Two-sided, for whole degrees of freedom: Abramowitz and Stegun 26.7.3 and 26.7.4.
double StudentTwoSidedP(double t, std::size_t degrees) {
  const double angle = std::atan(std::fabs(t) / std::sqrt(static_cast<double>(degrees)));
  const double cosine = std::cos(angle);
  const bool is_odd = degrees % 2 == 1;
  double sum = 0;
  double term = is_odd ? cosine : 1;
  for (std::size_t k = is_odd ? 1 : 0; k + 2 <= degrees; k += 2) {
    sum += term;
    const auto next = static_cast<double>(k + 1);
    term *= cosine * cosine * next / (next + 1);
  }
  const double inside = is_odd ? 2 / kPi * (angle + std::sin(angle) * sum) : std::sin(angle) * sum;
  return std::clamp(1 - inside, 0.0, 1.0);
}

struct RankSums {
  std::vector<std::size_t> ranks;  // doubled, of base and then other
  std::size_t other = 0;           // doubled rank sum of other
  double ties = 0;                 // sum of t^3 - t over groups of t equal values
};

RankSums RankTogether(const Samples& base, const Samples& other) {
  Samples all = base;
  all.insert(all.end(), other.begin(), other.end());
  RankSums sums;
  sums.ranks = DoubledRanks(all);
  for (std::size_t i = base.size(); i < all.size(); ++i) sums.other += sums.ranks[i];
  std::sort(all.begin(), all.end());
  for (auto first = all.begin(); first != all.end();) {
    const auto end = std::upper_bound(first, all.end(), *first);
    const auto equal = static_cast<double>(end - first);
    sums.ties += equal * equal * equal - equal;
    first = end;
  }
  return sums;
}

// P(rank sum >= r) and P(rank sum <= r) of subsets as large as the other sample.
std::pair<double, double> TiedTails(const RankSums& sums, std::size_t other_size) {
  const std::vector<double> counts = SubsetSumCounts(sums.ranks, other_size);
  double below = 0;
  double above = 0;
  for (std::size_t sum = 0; sum < counts.size(); ++sum) {
    (sum < sums.other ? below : above) += counts[sum];
  }
  const double here = counts[sums.other];
  const double all = below + above;
  return {above / all, (below + here) / all};
}

void ApproximateTails(double u, double n, double m, double ties, RankTest& test) {
  const double all = n + m;
  const double variance = n * m / 12 * (all + 1 - ties / (all * (all - 1)));
  test.method = Method::kNormalApproximation;
  if (variance <= 0) return;
  const double deviation = std::sqrt(variance);
  test.p_greater = NormalTail((u - n * m / 2 - 0.5) / deviation);
  test.p_less = NormalTail((n * m / 2 - u - 0.5) / deviation);
}

// Doubles in ascending order have keys in ascending order, with none between neighbours.
std::int64_t KeyOf(double value) {
  std::int64_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return bits < 0 ? std::numeric_limits<std::int64_t>::min() - bits : bits;
}

double ValueOf(std::int64_t key) {
  const std::int64_t bits = key < 0 ? std::numeric_limits<std::int64_t>::min() - key : key;
  double value = 0;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

std::int64_t Middle(std::int64_t low, std::int64_t high) {  // rounded down, without overflow
  const auto distance = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low);
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(low) + distance / 2);
}

// Both sorted. As the other value grows, fewer base values are near enough.
std::size_t DifferencesAtMost(const Samples& base, const Samples& other, double limit) {
  std::size_t count = 0;
  std::size_t first = 0;
  for (const double value : other) {
    while (first < base.size() && value - base[first] > limit) ++first;
    count += base.size() - first;
  }
  return count;
}

// The k-th smallest, from 0, of all other - base; both sorted. Bisects over the doubles: exact, and
// without a table of the differences, which is too large for thousands of repetitions.
double Difference(const Samples& base, const Samples& other, std::size_t k) {
  std::int64_t low = KeyOf(other.front() - base.back());
  std::int64_t high = KeyOf(other.back() - base.front());
  while (low < high) {
    const std::int64_t middle = Middle(low, high);
    if (DifferencesAtMost(base, other, ValueOf(middle)) > k) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return ValueOf(low);
}

// How many of the smallest, and of the largest, differences lie outside the interval; the first
// of the interval is the one after. nm when there is no interval. With k values of U rejected at a
// tail, 0 to k - 1, the interval begins at the k-th difference.
std::size_t DifferencesOutside(std::size_t n, std::size_t m, double tail,
                               RankDistributions& distributions) {
  if (n + m > kExactLimit) {
    const auto pairs = static_cast<double>(n) * static_cast<double>(m);
    const double deviation = std::sqrt(pairs * static_cast<double>(n + m + 1) / 12);
    const double outside = std::floor(pairs / 2 - NormalQuantile(tail) * deviation) - 1;
    return outside < 0 ? n * m : static_cast<std::size_t>(outside);
  }
  const std::vector<double>& cumulative = distributions.Cumulative(n, m);
  const auto first_inside =
      std::upper_bound(cumulative.begin(), cumulative.end(), tail * kRounding);
  if (first_inside == cumulative.begin()) return n * m;
  return static_cast<std::size_t>(first_inside - cumulative.begin()) - 1;
}

std::vector<std::size_t> AscendingOrder(const std::vector<double>& p) {
  Require(std::all_of(p.begin(), p.end(), [](double x) { return x >= 0 && x <= 1; }),
          "a p is not in [0, 1]");
  std::vector<std::size_t> order(p.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return p[a] < p[b]; });
  return order;
}

// Sum of position x doubled rank, doubled and around its mean: an integer.
std::int64_t Covariance(const std::vector<std::size_t>& ranks) {
  std::int64_t sum = 0;
  const auto n = static_cast<std::int64_t>(ranks.size());
  for (std::int64_t i = 0; i < n; ++i) {
    sum += (2 * i - (n - 1)) * static_cast<std::int64_t>(ranks[static_cast<std::size_t>(i)]);
  }
  return sum;
}

double ExactTrendP(std::vector<std::size_t> ranks) {
  const std::int64_t seen = std::abs(Covariance(ranks));
  std::sort(ranks.begin(), ranks.end());
  std::size_t as_extreme = 0;
  std::size_t all = 0;
  do {  // each distinct order once: with ties, all stand for equally many permutations
    ++all;
    if (std::abs(Covariance(ranks)) >= seen) ++as_extreme;
  } while (std::next_permutation(ranks.begin(), ranks.end()));
  return static_cast<double>(as_extreme) / static_cast<double>(all);
}

double SpearmanRho(const std::vector<std::size_t>& ranks) {
  const auto n = static_cast<double>(ranks.size());
  double variance = 0;  // of the doubled ranks, times n
  for (const std::size_t rank : ranks) {
    const double centred = static_cast<double>(rank) - (n + 1);
    variance += centred * centred;
  }
  if (variance <= 0) return 0;
  // Doubled positions have the variance that doubled ranks without ties have.
  const double positions = n * (n * n - 1) / 3;
  return static_cast<double>(Covariance(ranks)) / std::sqrt(variance * positions);
}

std::size_t RoundedUp(double runs) {
  if (!(runs < static_cast<double>(kManyRuns))) return kManyRuns;
  return std::max<std::size_t>(1, static_cast<std::size_t>(std::ceil(runs)));
}

}  // namespace

double Minimum(const Samples& samples) {
  RequireFinite(samples);
  return *std::min_element(samples.begin(), samples.end());
}

// The tail falls steadily, so bisecting is enough.
double NormalQuantile(double p) {
  double low = 0;
  double high = 40;
  for (int i = 0; i < 80; ++i) {
    const double middle = (low + high) / 2;
    (NormalTail(middle) > p ? low : high) = middle;
  }
  return (low + high) / 2;
}

double Median(const Samples& samples) { return Quantile(samples, 0.5); }

double Quantile(Samples samples, double q) {
  RequireFinite(samples);
  Require(q >= 0 && q <= 1, "a quantile's share is from 0 to 1");
  const double position = q * static_cast<double>(samples.size() - 1);
  const auto below = static_cast<std::ptrdiff_t>(position);
  const double share = position - static_cast<double>(below);
  const auto at = samples.begin() + below;
  std::nth_element(samples.begin(), at, samples.end());
  if (share <= 0) return *at;
  const double next = *std::min_element(at + 1, samples.end());
  return *at + share * (next - *at);
}

double GeometricMean(const Samples& samples) {
  const Samples logs = Logarithms(samples);
  const double sum = std::accumulate(logs.begin(), logs.end(), 0.0);
  return std::exp(sum / static_cast<double>(logs.size()));
}

const std::vector<double>& RankDistributions::Cumulative(std::size_t n, std::size_t m) {
  Require(n > 0 && m > 0, "a sample is empty");
  Require(n + m <= kExactLimit, "too many values for an exact distribution");
  std::vector<double>& cumulative = cumulative_[{n, m}];
  if (!cumulative.empty()) return cumulative;
  std::vector<std::size_t> ranks(n + m);
  std::iota(ranks.begin(), ranks.end(), std::size_t{1});
  const std::vector<double> counts = SubsetSumCounts(ranks, m);
  const std::size_t smallest = m * (m + 1) / 2;  // rank sum for U = 0
  double sum = 0;
  for (std::size_t u = 0; u <= n * m; ++u) cumulative.push_back(sum += counts[smallest + u]);
  for (double& share : cumulative) share /= sum;
  return cumulative;
}

RankTest MannWhitney(const Samples& base, const Samples& other, RankDistributions& distributions) {
  RequireFinite(base);
  RequireFinite(other);
  const std::size_t n = base.size();
  const std::size_t m = other.size();
  const RankSums sums = RankTogether(base, other);
  const std::size_t doubled_u = sums.other - m * (m + 1);
  const double u = static_cast<double>(doubled_u) / 2;
  RankTest test;
  test.superiority = u / (static_cast<double>(n) * static_cast<double>(m));
  if (n + m > kExactLimit) {
    ApproximateTails(u, static_cast<double>(n), static_cast<double>(m), sums.ties, test);
  } else if (sums.ties > 0) {
    std::tie(test.p_greater, test.p_less) = TiedTails(sums, m);
  } else {
    const std::vector<double>& cumulative = distributions.Cumulative(n, m);
    test.p_less = cumulative[doubled_u / 2];
    test.p_greater = cumulative[n * m - doubled_u / 2];  // U is symmetric without ties
  }
  test.p_two_sided = std::min(1.0, 2 * std::min(test.p_greater, test.p_less));
  return test;
}

double MinimumP(std::size_t n, std::size_t m) {
  Require(n > 0 && m > 0, "a sample is empty");
  double p = 1;
  for (std::size_t i = 1; i <= std::min(n, m); ++i) {
    p *= static_cast<double>(i) / static_cast<double>(std::max(n, m) + i);
  }
  return p;
}

bool Effect::HasInterval() const { return std::isfinite(upper); }

Effect HodgesLehmannShift(const Samples& base, const Samples& other, double confidence,
                          RankDistributions& distributions) {
  RequireFinite(base);
  RequireFinite(other);
  RequireProbability(confidence, "a confidence is between 0 and 1");
  const Samples from = Sorted(base);
  const Samples to = Sorted(other);
  const std::size_t pairs = from.size() * to.size();
  Effect effect;
  if (from.size() + to.size() > kExactLimit) effect.method = Method::kNormalApproximation;
  const double middle = Difference(from, to, (pairs - 1) / 2);
  effect.estimate = pairs % 2 == 1 ? middle : (middle + Difference(from, to, pairs / 2)) / 2;
  const std::size_t outside =
      DifferencesOutside(from.size(), to.size(), (1 - confidence) / 2, distributions);
  const bool has_interval = outside < pairs;
  effect.lower = has_interval ? Difference(from, to, outside) : -kInfinity;
  effect.upper = has_interval ? Difference(from, to, pairs - 1 - outside) : kInfinity;
  return effect;
}

Effect HodgesLehmannRatio(const Samples& base, const Samples& other, double confidence,
                          RankDistributions& distributions) {
  Effect effect =
      HodgesLehmannShift(Logarithms(base), Logarithms(other), confidence, distributions);
  effect.estimate = std::exp(effect.estimate);
  effect.lower = std::exp(effect.lower);
  effect.upper = std::exp(effect.upper);
  return effect;
}

Effect GeometricMeanRatio(const std::vector<Samples>& base_runs,
                          const std::vector<Samples>& other_runs, double confidence,
                          RankDistributions& distributions) {
  Require(!base_runs.empty() && !other_runs.empty(), "a sample is empty");
  const auto means = [&](const std::vector<Samples>& runs) {
    Samples result;
    for (const Samples& run : runs) {
      Require(run.size() == base_runs.front().size(), "a run lacks a quantity that others have");
      result.push_back(GeometricMean(run));
    }
    return result;
  };
  return HodgesLehmannRatio(means(base_runs), means(other_runs), confidence, distributions);
}

std::vector<double> HolmAdjusted(const std::vector<double>& p) {
  const std::vector<std::size_t> order = AscendingOrder(p);
  std::vector<double> adjusted(p.size());
  double largest = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    largest = std::max(largest, p[order[i]] * static_cast<double>(order.size() - i));
    adjusted[order[i]] = std::min(1.0, largest);
  }
  return adjusted;
}

std::vector<double> BenjaminiHochbergAdjusted(const std::vector<double>& p) {
  const std::vector<std::size_t> order = AscendingOrder(p);
  std::vector<double> adjusted(p.size());
  double smallest = 1;
  for (std::size_t i = order.size(); i > 0; --i) {
    const double q = p[order[i - 1]] * static_cast<double>(order.size()) / static_cast<double>(i);
    smallest = std::min(smallest, q);
    adjusted[order[i - 1]] = smallest;
  }
  return adjusted;
}

Trend SpearmanTrend(const Samples& values) {
  RequireFinite(values);
  constexpr std::size_t kMostPermuted = 8;  // 40,320 permutations
  Trend trend;
  const std::vector<std::size_t> ranks = DoubledRanks(values);
  if (values.size() < 3) return trend;
  trend.rho = SpearmanRho(ranks);
  if (values.size() <= kMostPermuted) {
    trend.p = ExactTrendP(ranks);
    return trend;
  }
  trend.method = Method::kStudentApproximation;
  const std::size_t degrees = values.size() - 2;
  const double unexplained = std::max(0.0, 1 - trend.rho * trend.rho);
  trend.p =
      StudentTwoSidedP(trend.rho * std::sqrt(static_cast<double>(degrees) / unexplained), degrees);
  return trend;
}

double SignTest(std::size_t first, std::size_t second) {
  const std::size_t all = first + second;
  const std::size_t fewer = std::min(first, second);
  const auto log_factorial = [](std::size_t n) { return std::lgamma(static_cast<double>(n) + 1); };
  double term = std::exp(log_factorial(all) - log_factorial(fewer) - log_factorial(all - fewer) -
                         static_cast<double>(all) * std::log(2.0));
  double tail = 0;
  for (std::size_t k = fewer + 1; k > 0; --k) {  // k - 1 on the smaller side
    tail += term;
    term *= static_cast<double>(k - 1) / static_cast<double>(all - k + 2);
  }
  return std::min(1.0, 2 * tail);
}

std::size_t RunsToReject(double alpha, std::size_t tests) {
  RequireProbability(alpha, "alpha is between 0 and 1");
  Require(tests > 0, "there are no tests");
  std::size_t runs = 1;
  const double level = alpha / static_cast<double>(tests) * kRounding;
  while (MinimumP(runs, runs) > level) ++runs;
  return runs;
}

std::size_t RunsToDetect(double superiority, double alpha) {
  Require(superiority >= 0 && superiority <= 1, "a superiority is from 0 to 1");
  RequireProbability(alpha, "alpha is between 0 and 1");
  const std::size_t fewest = std::min(kManyRuns, RunsToReject(alpha, 1));
  if (superiority <= 0 || superiority >= 1) return fewest;
  constexpr double kMiss = 0.2;
  const double quantiles = (alpha < 0.5 ? NormalQuantile(alpha) : 0) + NormalQuantile(kMiss);
  const double beyond_half = superiority - 0.5;
  const double both_sides = quantiles * quantiles / (3 * beyond_half * beyond_half);
  return std::max(RoundedUp(both_sides / 2), fewest);
}

std::size_t RunsForInterval(const Effect& effect, double limit, std::size_t runs,
                            double confidence) {
  RequireProbability(confidence, "a confidence is between 0 and 1");
  const std::size_t fewest = RunsToReject((1 - confidence) / 2, 1);
  if (!std::isfinite(effect.lower) || !std::isfinite(effect.upper)) return fewest;
  const double room_above = limit - effect.estimate;
  const double room_below = limit + effect.estimate;
  if (room_above <= 0 || room_below <= 0) return kManyRuns;
  const double shrink = std::max((effect.upper - effect.estimate) / room_above,
                                 (effect.estimate - effect.lower) / room_below);
  return std::max(fewest, RoundedUp(static_cast<double>(runs) * shrink * shrink));
}

}  // namespace cnn
