#include "dataset/random.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <set>

namespace cnn {
namespace {

// The published SplitMix64 outputs for seed 0.
TEST(KeyedRandom, IsSplitMix64) {
  KeyedRandom random({});
  EXPECT_EQ(random.Next(), 0xE220A8397B1DCDAFULL);
  EXPECT_EQ(random.Next(), 0x6E789E6AA1B965F4ULL);
  EXPECT_EQ(random.Next(), 0x06C45D188009454FULL);
}

TEST(KeyedRandom, IsAFunctionOfItsKey) {
  KeyedRandom first({1, 2, 3}), second({1, 2, 3});
  for (int i = 0; i < 100; ++i) EXPECT_EQ(first.Next(), second.Next());
}

TEST(KeyedRandom, NearbyKeysGiveUnrelatedStreams) {
  std::set<std::uint64_t> seen;
  int streams = 0;
  for (std::uint64_t a = 0; a < 20; ++a) {
    for (std::uint64_t b = 0; b < 20; ++b) {
      KeyedRandom random({a, b});
      for (int i = 0; i < 4; ++i) seen.insert(random.Next());
      ++streams;
    }
  }
  EXPECT_EQ(seen.size(), static_cast<std::size_t>(4 * streams));
  EXPECT_NE(KeyedRandom({1, 2}).Next(), KeyedRandom({2, 1}).Next());
  EXPECT_NE(KeyedRandom({1}).Next(), KeyedRandom({1, 0}).Next());
}

TEST(KeyedRandom, UniformFillsItsRangeEvenly) {
  KeyedRandom random({7});
  std::array<int, 10> counts{};
  constexpr int kDraws = 100000;
  for (int i = 0; i < kDraws; ++i) {
    const double value = random.Uniform(-3, 7);
    ASSERT_GE(value, -3);
    ASSERT_LT(value, 7);
    ++counts[static_cast<std::size_t>(std::floor(value + 3))];
  }
  for (const int count : counts) EXPECT_NEAR(count, kDraws / 10, 500);
}

TEST(KeyedRandom, BelowIsEvenAndBounded) {
  KeyedRandom random({8});
  std::array<int, 7> counts{};
  constexpr int kDraws = 70000;
  for (int i = 0; i < kDraws; ++i) ++counts.at(random.Below(7));
  for (const int count : counts) EXPECT_NEAR(count, kDraws / 7, 500);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(random.Below(1), 0U);
  // Just above half the range: without rejection the lower part would come twice as often.
  constexpr std::uint64_t kBound = (std::uint64_t{1} << 63) + 1;
  int low = 0;
  for (int i = 0; i < 10000; ++i) low += random.Below(kBound) < kBound / 2 ? 1 : 0;
  EXPECT_NEAR(low, 5000, 300);
}

}  // namespace
}  // namespace cnn
