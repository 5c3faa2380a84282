#include "tools/direction.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace cnn {
namespace {

TEST(Direction, FollowsTheWordsOfAName) {
  for (const char* name : {"real_time",      "cpu_time",        "page_faults_per_step",
                           "forward_ms",     "ms_per_step",     "peak_memory_mb",
                           "loss",           "first_loss",      "wait_ms",
                           "worker_busy_ms", "bad_images",      "allocs_per_iter",
                           "max_bytes_used", "net_heap_growth", "page_faults_per_second",
                           "error_rate",     "cache_misses",    "PeakMemoryMb",
                           "latency",        "CYCLES"}) {
    EXPECT_EQ(DefaultDirection(name), Direction::kLower) << name;
  }
  for (const char* name :
       {"items_per_second", "bytes_per_second", "flops_per_second", "accuracy", "first_accuracy",
        "hit_rate", "img/s", "images_per_ms", "bandwidth", "img_per_s", "iterations_per_second"}) {
    EXPECT_EQ(DefaultDirection(name), Direction::kHigher) << name;
  }
  for (const char* name : {"iterations", "images_per_iteration", "compute_threads", "generated",
                           "operations", "N", "", "___"}) {
    EXPECT_EQ(DefaultDirection(name), Direction::kUnknown) << name;
  }
}

TEST(Direction, KnowsTheDirectionOfOurCounters) {
  for (const char* metric :
       {"real_time", "cpu_time", "page_faults_per_step", "peak_memory_mb", "forward_ms", "wait_ms",
        "ms_per_step", "loss", "first_loss", "max_bytes_used", "worker_busy_ms", "error_rate",
        "allocs_per_iter", "val_loss", "train_seconds", "val_seconds", "first_epoch_seconds",
        "steady_epoch_seconds", "target_seconds"}) {
    EXPECT_EQ(DefaultDirection(metric), Direction::kLower) << metric;
  }
  for (const char* metric :
       {"items_per_second", "bytes_per_second", "flops_per_second", "accuracy", "first_accuracy",
        "hit_rate", "Throughput", "val_accuracy", "best_val_accuracy", "train_images_per_second"}) {
    EXPECT_EQ(DefaultDirection(metric), Direction::kHigher) << metric;
  }
  for (const char* metric : {"compute_threads", "images_per_iteration", "runtime", "", "x",
                             "loss_se", "val_accuracy_se", "val_images", "epochs", "best_epoch"}) {
    EXPECT_EQ(DefaultDirection(metric), Direction::kUnknown) << metric;
  }
}

TEST(Direction, IsReadAsItIsWritten) {
  for (const Direction direction : {Direction::kLower, Direction::kHigher, Direction::kExact,
                                    Direction::kUnknown, Direction::kIgnore}) {
    EXPECT_EQ(ParseDirection(DirectionText(direction)), direction);
  }
  EXPECT_THROW(ParseDirection("up"), std::invalid_argument);
  EXPECT_EQ(BetterText(Direction::kHigher), "higher");
  EXPECT_EQ(BetterText(Direction::kExact), "");
}

}  // namespace
}  // namespace cnn
