// The unit of a metric, by its name: that is all a result file says of it.
#pragma once

#include <string>
#include <string_view>

namespace cnn {

/// A name such as forward_ms or peak_memory_mb has its unit in it.
struct MetricUnit {
  std::string unit;       // as the file's values are, "ms"; empty where the name does not tell
  std::string base_unit;  // "seconds" or "bytes"; empty where the values are of neither
  double to_base = 1;     // a value times this is in the base unit
  std::string stem;       // the name without its unit, "forward"
};

MetricUnit UnitOf(std::string_view metric);

/// The name for a value in the base unit: forward_seconds, peak_memory_bytes, real_time_seconds;
/// with `infix`, forward_<infix>_seconds. A name without a unit keeps its own, accuracy_<infix>.
std::string BaseUnitName(std::string_view metric, std::string_view infix = {});

}  // namespace cnn
