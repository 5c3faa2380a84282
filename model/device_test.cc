#include "model/device.h"

#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <thread>

namespace cnn {
namespace {

TEST(DeviceTest, ParsesNames) {
  EXPECT_EQ(ParseDevice("cpu"), (Device{Device::Kind::kCpu, 0}));
  EXPECT_EQ(ParseDevice("cuda"), (Device{Device::Kind::kCuda, 0}));
  EXPECT_EQ(ParseDevice("cuda:0"), (Device{Device::Kind::kCuda, 0}));
  EXPECT_EQ(ParseDevice("cuda:3"), (Device{Device::Kind::kCuda, 3}));
}

TEST(DeviceTest, RefusesOtherNamesAndNamesThem) {
  for (const char* bad : {"", "gpu", "CUDA", "cpu:0", "cuda:", "cuda:x", "cuda:1x", "cuda:-1",
                          "cuda: 1", "cuda:128", "cuda:99999999999"}) {
    try {
      ParseDevice(bad);
      ADD_FAILURE() << "accepted '" << bad << "'";
    } catch (const std::invalid_argument& error) {
      EXPECT_NE(std::string(error.what()).find("'" + std::string(bad) + "'"), std::string::npos);
    }
  }
}

TEST(DeviceTest, NamesAreParsedBack) {
  for (const char* name : {"cpu", "cuda", "cuda:7"}) EXPECT_EQ(ParseDevice(name).Name(), name);
}

TEST(DeviceTest, TheCpuIsAlwaysThere) {
  EXPECT_EQ(WhyUnavailable({}), "");
  EXPECT_EQ(AvailableDevices().front(), Device{});
}

TEST(DeviceTest, EveryDeviceIsListedOrRefusedWithAReason) {
  const std::vector<Device> devices = AvailableDevices();
  for (const Device& device : devices) EXPECT_EQ(WhyUnavailable(device), "");
  const Device one_more{Device::Kind::kCuda, static_cast<int>(devices.size()) - 1};
  EXPECT_NE(WhyUnavailable(one_more), "");
}

TEST(DeviceTest, DescribesTheCpu) {
  const std::string text = Describe({});
  EXPECT_NE(text.find("logical cores"), std::string::npos) << text;
  EXPECT_NE(text.find("GiB"), std::string::npos) << text;
}

TEST(DeviceTest, NamesTheLibraries) {
  std::map<std::string, std::string> versions;
  for (const auto& [name, version] : LibraryVersions()) versions[name] = version;
  for (const char* key : {"libtorch", "onednn", "blas", "cpu_capability", "cuda", "cudnn"}) {
    EXPECT_FALSE(versions[key].empty()) << key;
  }
  EXPECT_NE(versions["libtorch"].find('.'), std::string::npos);
}

TEST(DeviceTest, PeakMemoryFollowsAllocations) {
  ResetPeakMemory({});
  const std::size_t before = PeakMemoryBytes({});
  constexpr std::size_t kBytes = 256 << 20;
  std::vector<char> memory(kBytes, 1);
  EXPECT_GE(PeakMemoryBytes({}), before + kBytes / 2);
  EXPECT_EQ(memory[kBytes / 2], 1);
}

TEST(DeviceTest, ResettingThePeakForgetsWhatWasFreed) {
  {
    const std::vector<char> memory(256 << 20, 1);
    EXPECT_EQ(memory.back(), 1);
  }
  const std::size_t before = PeakMemoryBytes({});
  if (!ResetPeakMemory({})) GTEST_SKIP() << "this system does not let a process reset its peak";
  EXPECT_LT(PeakMemoryBytes({}), before - (128 << 20));
}

TEST(DeviceTest, ThreadsAreSet) {
  const int before = IntraOpThreads();
  SetIntraOpThreads(1);
  EXPECT_EQ(IntraOpThreads(), 1);
  SetIntraOpThreads(2);
  EXPECT_EQ(IntraOpThreads(), 2);
  SetIntraOpThreads(before);
}

// Only lower bounds: how much longer a sleep takes is the machine's affair.
TEST(SectionClockTest, GivesEachSectionItsOwnTime) {
  SectionClock clock({}, 3);
  const auto nap = [] { std::this_thread::sleep_for(std::chrono::milliseconds(20)); };
  for (int i = 0; i < 2; ++i) {
    clock.Begin();
    nap();
    clock.Mark(0);
    clock.Mark(1);
    nap();
    nap();
    clock.Mark(2);
  }
  const std::vector<double> seconds = clock.Seconds();
  ASSERT_EQ(seconds.size(), 3U);
  EXPECT_GE(seconds[0], 0.040);
  EXPECT_GE(seconds[2], 0.080);
  EXPECT_GE(seconds[1], 0);
  clock.Reset();
  EXPECT_EQ(clock.Seconds(), std::vector<double>(3, 0.0));
}

TEST(SectionClockTest, BeginLeavesOutWhatWasBefore) {
  SectionClock clock({}, 1);
  const auto start = std::chrono::steady_clock::now();
  clock.Begin();
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  clock.Begin();
  clock.Mark(0);
  const std::chrono::duration<double> all = std::chrono::steady_clock::now() - start;
  EXPECT_LE(clock.Seconds()[0], all.count() - 0.030);
}

TEST(SectionClockTest, KeepsTheIntervalsOfItsSections) {
  SectionClock clock({}, 2);
  clock.Begin();
  clock.Mark(0);
  EXPECT_TRUE(clock.TakeIntervals().empty()) << "not asked for";
  clock.KeepIntervals(true);
  const auto start = std::chrono::steady_clock::now();
  for (int step = 0; step < 3; ++step) {
    clock.Begin();
    clock.Mark(0);
    clock.Mark(1);
  }
  const auto end = std::chrono::steady_clock::now();
  const std::vector<SectionClock::Interval> intervals = clock.TakeIntervals();
  ASSERT_EQ(intervals.size(), 6U);
  EXPECT_GE(intervals.front().begin, start);
  EXPECT_LE(intervals.back().end, end);
  for (std::size_t i = 0; i < intervals.size(); ++i) {
    EXPECT_EQ(intervals[i].section, i % 2);
    EXPECT_LE(intervals[i].begin, intervals[i].end);
    if (i == 0) continue;
    EXPECT_LE(intervals[i - 1].end, intervals[i].begin);
    const bool has_gap = intervals[i - 1].end < intervals[i].begin;
    EXPECT_FALSE(has_gap && i % 2 == 1) << "within a step";
  }
  EXPECT_TRUE(clock.TakeIntervals().empty()) << "taken once";
}

TEST(SectionClockTest, ForgetsIntervals) {
  SectionClock clock({}, 1);
  const auto mark = [&] {
    clock.Begin();
    clock.Mark(0);
  };
  clock.KeepIntervals(true);
  mark();
  clock.Reset();
  EXPECT_TRUE(clock.TakeIntervals().empty());
  mark();
  clock.KeepIntervals(true);
  mark();
  EXPECT_EQ(clock.TakeIntervals().size(), 1U);
  mark();
  clock.KeepIntervals(false);
  mark();
  EXPECT_TRUE(clock.TakeIntervals().empty());
}

// The clock of a GPU, where there is one.
TEST(SectionClockTest, AGpusIntervalsLieOnTheHostsClock) {
  const std::vector<Device> devices = AvailableDevices();
  if (devices.size() < 2) GTEST_SKIP() << "no GPU";
  SectionClock clock(devices[1], 2);
  clock.KeepIntervals(true);
  const auto start = std::chrono::steady_clock::now();
  constexpr std::size_t kSteps = 3000;  // more than the clock's events
  for (std::size_t step = 0; step < kSteps; ++step) {
    clock.Begin();
    clock.Mark(0);
    clock.Mark(1);
  }
  const std::vector<SectionClock::Interval> intervals = clock.TakeIntervals();
  const auto end = std::chrono::steady_clock::now();
  ASSERT_EQ(intervals.size(), 2 * kSteps);
  // The host notices late, never early, that an event was reached: what is off is rounding.
  EXPECT_GE(intervals.front().begin, start - std::chrono::milliseconds(1));
  EXPECT_LE(intervals.back().end, end + std::chrono::milliseconds(1));
  for (std::size_t i = 1; i < intervals.size(); ++i) {
    EXPECT_LE(intervals[i].begin, intervals[i].end);
    EXPECT_LE(intervals[i - 1].end, intervals[i].begin + std::chrono::microseconds(1));
  }
  EXPECT_TRUE(clock.TakeIntervals().empty());
}

}  // namespace
}  // namespace cnn
