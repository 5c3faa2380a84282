#include "tools/export_metric.h"

#include <array>

#include "tools/export_text.h"

namespace cnn {
namespace {

struct Suffix {
  std::string_view text;
  std::string_view unit;
  std::string_view base_unit;
  double to_base;
};

constexpr std::array<Suffix, 11> kSuffixes = {{{"_ns", "ns", "seconds", 1e-9},
                                               {"_us", "us", "seconds", 1e-6},
                                               {"_ms", "ms", "seconds", 1e-3},
                                               {"_seconds", "s", "seconds", 1},
                                               {"_kb", "kB", "bytes", 1e3},
                                               {"_mb", "MB", "bytes", 1e6},
                                               {"_gb", "GB", "bytes", 1e9},
                                               {"_kib", "KiB", "bytes", 1024},
                                               {"_mib", "MiB", "bytes", 1048576},
                                               {"_gib", "GiB", "bytes", 1073741824},
                                               {"_bytes", "B", "bytes", 1}}};

constexpr std::string_view kPerSecond = "_per_second";

MetricUnit RateUnit(std::string_view metric) {
  MetricUnit unit;
  unit.stem = metric.substr(0, metric.size() - kPerSecond.size());
  unit.unit = (unit.stem == "bytes" ? "B" : unit.stem) + "/s";
  return unit;
}

}  // namespace

MetricUnit UnitOf(std::string_view metric) {
  // Google Benchmark's own, which the reader gives in seconds.
  if (metric == "real_time" || metric == "cpu_time")
    return {"s", "seconds", 1, std::string(metric)};
  // Ours: the unit stands first.
  if (metric == "ms_per_step") return {"ms", "seconds", 1e-3, "step"};
  if (metric == "max_bytes_used") return {"B", "bytes", 1, std::string(metric)};
  if (EndsWith(metric, kPerSecond)) return RateUnit(metric);
  for (const Suffix& suffix : kSuffixes) {
    if (metric.size() <= suffix.text.size() || !EndsWith(metric, suffix.text)) continue;
    return {std::string(suffix.unit), std::string(suffix.base_unit), suffix.to_base,
            std::string(metric.substr(0, metric.size() - suffix.text.size()))};
  }
  return {"", "", 1, std::string(metric)};
}

std::string BaseUnitName(std::string_view metric, std::string_view infix) {
  const MetricUnit unit = UnitOf(metric);
  std::string name = unit.base_unit.empty() ? std::string(metric) : unit.stem;
  if (!infix.empty()) name += '_' + std::string(infix);
  return unit.base_unit.empty() ? name : name + '_' + unit.base_unit;
}

}  // namespace cnn
