// Which values of a metric are better, by its name: that is all a result file says of it.
#pragma once

#include <string_view>

namespace cnn {

enum class Direction {
  kLower,
  kHigher,
  kExact,    // any change is a change: deterministic counters; not tested
  kUnknown,  // shown, never a gate
  kIgnore    // left out
};

/// By the words of a name: times, faults, misses, errors, memory and losses are lower, rates
/// (anything per second), accuracy, throughput and the like higher, the rest unknown.
Direction DefaultDirection(std::string_view metric);

/// "lower", "higher", "exact", "unknown", "ignore". Throws std::invalid_argument.
Direction ParseDirection(std::string_view text);
std::string_view DirectionText(Direction direction);

/// "lower", "higher" or, where neither is better, "".
std::string_view BetterText(Direction direction);

/// Google Benchmark's own real_time and cpu_time.
bool IsTime(std::string_view metric);

/// forward_ms and the like: what real_time is made of, so that its gate covers them.
bool IsPartOfTime(std::string_view metric);

/// Anything per second.
bool IsRate(std::string_view metric);

/// The smallest change of it that matters, in the metric's own unit; `time_floor` in seconds.
double FloorOf(std::string_view metric, double time_floor);

}  // namespace cnn
