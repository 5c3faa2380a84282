#include "dataset/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

#include "dataset/testing.h"

namespace cnn {
namespace {

TEST(ParallelFor, DoesEveryItemOnce) {
  for (const int threads : {1, 2, 7}) {
    for (const int count : {0, 1, 3, 1000}) {
      std::vector<std::atomic<int>> calls(static_cast<std::size_t>(count));
      ParallelFor(count, threads, [&](int i, int thread) {
        ++calls[static_cast<std::size_t>(i)];
        EXPECT_GE(thread, 0);
        EXPECT_LT(thread, threads);
      });
      for (const auto& call : calls) EXPECT_EQ(call, 1);
    }
  }
}

TEST(ParallelFor, ReportsProgressFromTheCallingThread) {
  const auto caller = std::this_thread::get_id();
  int last = 0;
  ParallelFor(
      50, 3, [](int, int) {},
      [&](int done, int count) {
        EXPECT_EQ(std::this_thread::get_id(), caller);
        EXPECT_GE(done, last);
        EXPECT_EQ(count, 50);
        last = done;
      });
  EXPECT_EQ(last, 50);
}

TEST(ParallelFor, PassesOnAnErrorAndStops) {
  for (const int threads : {1, 3}) {
    std::atomic<int> calls{0};
    const std::string error = ErrorOf([&] {
      ParallelFor(1000, threads, [&](int i, int) {
        ++calls;
        if (i == 5) throw std::runtime_error("item 5");
      });
    });
    EXPECT_EQ(error, "item 5");
    if (threads == 1) {
      EXPECT_EQ(calls, 6);
    }
  }
  EXPECT_THROW(ParallelFor(1, 0, [](int, int) {}), std::invalid_argument);
}

}  // namespace
}  // namespace cnn
