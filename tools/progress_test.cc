#include "tools/progress.h"

#include <gtest/gtest.h>

namespace cnn {
namespace {

constexpr std::size_t kNobody = 2;

TEST(Progress, WritesTimesAsAClock) {
  EXPECT_EQ(ClockText(0), "0:00");
  EXPECT_EQ(ClockText(-1), "0:00");
  EXPECT_EQ(ClockText(42.4), "0:42");
  EXPECT_EQ(ClockText(59.6), "1:00");
  EXPECT_EQ(ClockText(3599.4), "59:59");
  EXPECT_EQ(ClockText(3723), "1:02:03");
}

TEST(Progress, EstimatesWhatIsLeftBySide) {
  Durations durations(3);
  EXPECT_LT(durations.Left(kBase, 5), 0) << "nothing is known";
  durations.Add(kBase, 10);
  EXPECT_EQ(durations.Left(kNobody, 0), 2 * 10 + 3 * 10) << "new as base";
  EXPECT_EQ(durations.Left(kContender, 4), 2 * 10 + 6 + 2 * 10);
  durations.Add(kContender, 20);
  durations.Add(kContender, 30);
  EXPECT_EQ(durations.Left(kNobody, 0), 2 * 10 + 25);
  EXPECT_EQ(durations.Left(kBase, 15), 10 + 25) << "later than expected";
}

}  // namespace
}  // namespace cnn
