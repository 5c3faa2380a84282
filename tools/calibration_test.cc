#include "tools/calibration.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tools/comparison_testing.h"

namespace cnn {
namespace {

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

TEST(Calibration, IsRaisedToAThresholdThatWasAskedFor) {
  CompareOptions options;
  options.calibration = Calibrate(Calibrating(std::vector<double>(6, 7.0)));  // bands of 1 %
  const auto verdict = [&] {
    return VerdictOf(Calibrating(Steady()), Calibrating(Times(1.03)), "cpu_time", options);
  };
  EXPECT_EQ(verdict(), Verdict::kWorse);
  options.least_calibrated = 0.1;
  EXPECT_EQ(verdict(), Verdict::kSame);
}

TEST(Calibration, NeedsAMachineToBeTiedTo) {
  EXPECT_THROW(Calibrate(Runs(Steady())), CompareError) << "no host_name";
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

}  // namespace
}  // namespace cnn
