#include "tools/comparison_context.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <optional>
#include <set>
#include <string_view>
#include <unordered_set>

#include "tools/export_text.h"

namespace cnn {
namespace {

constexpr std::string_view kSchemaKey = "suite_schema_version";  // of our suite only

bool StartsWith(std::string_view text, std::string_view start) {
  return text.substr(0, start.size()) == start;
}

bool IsGpuEntry(const ContextEntry& entry) {
  if (entry.value.empty() || entry.value == "none") return false;
  return (StartsWith(entry.key, "device_") && entry.key != "device_cpu") || entry.key == "cuda" ||
         entry.key.find("gpu") != std::string::npos;
}

// The clock is a momentary reading: up to 5 % apart is the same.
bool IsSameClock(const std::vector<std::string>& values) {
  double low = std::numeric_limits<double>::infinity();
  double high = 0;
  for (const std::string& text : values) {
    const std::optional<double> value = ParseReal(text);
    if (!value) return false;
    low = std::min(low, *value);
    high = std::max(high, *value);
  }
  return high <= 1.05 * low;
}

std::vector<std::string> DistinctValues(const std::vector<ResultFile>& files,
                                        const std::string& key) {
  std::vector<std::string> values;
  std::unordered_set<std::string> seen;
  for (const ResultFile& file : files) {
    std::string value(file.ContextValue(key));
    if (seen.insert(value).second) values.push_back(std::move(value));
  }
  return values;
}

std::vector<std::string> ContextKeys(const Sides& sides) {
  std::vector<std::string> keys;
  std::unordered_set<std::string_view> seen;
  for (const auto* files : sides) {
    for (const ResultFile& file : *files) {
      for (const ContextEntry& entry : file.context) {
        if (seen.insert(entry.key).second) keys.push_back(entry.key);
      }
    }
  }
  return keys;
}

// `values` are the distinct ones of a side's files.
void RefuseMixed(const std::string& key, const std::vector<std::string>& values) {
  for (const std::string& a : values) {
    for (const std::string& b : values) {
      if (!IsMixed(key, a, b)) continue;
      throw CompareError("files of one side differ in " + key + ": " + Joined(values, " | ") +
                         "; compare files of one machine, one build and the same settings a side, "
                         "or allow it with --allow-mixed-context");
    }
  }
}

enum class Era { kBefore, kAfter, kUnknown };

// Absent means before 1.8.4, which first wrote its version. A build between two releases
// ("v1.8.5-3-gabc") of which the second brought the change is of an unknown era.
Era EraOf(std::string_view version, std::array<int, 3> change, std::array<int, 3> release_before) {
  if (version.empty()) return Era::kBefore;
  if (version.front() == 'v') version.remove_prefix(1);
  std::array<int, 3> parts{};
  const char* at = version.data();
  const char* const end = version.data() + version.size();
  for (int& part : parts) {
    const auto parsed = std::from_chars(at, end, part);
    if (parsed.ec != std::errc()) return Era::kUnknown;
    at = parsed.ptr;
    if (&part != &parts.back() && (at == end || *at++ != '.')) return Era::kUnknown;
  }
  if (parts >= change) return Era::kAfter;
  return at != end && parts == release_before ? Era::kUnknown : Era::kBefore;
}

bool IsOneEra(const Sides& sides, std::array<int, 3> change, std::array<int, 3> release_before) {
  std::set<std::string> versions;
  std::set<Era> eras;
  for (const auto* files : sides) {
    for (const std::string& version : DistinctValues(*files, "library_version")) {
      versions.insert(version);
      eras.insert(EraOf(version, change, release_before));
    }
  }
  return versions.size() == 1 || (eras.size() == 1 && *eras.begin() != Era::kUnknown);
}

void WarnOfOrder(const Sides& sides, std::vector<std::string>& warnings) {
  const std::vector<std::int64_t> base = DatesOf(*sides[kBase]);
  const std::vector<std::int64_t> contender = DatesOf(*sides[kContender]);
  if (base.empty() || contender.empty()) return;
  const auto [first_base, last_base] = std::minmax_element(base.begin(), base.end());
  const auto [first_new, last_new] = std::minmax_element(contender.begin(), contender.end());
  if (*first_base > *last_new) {
    warnings.emplace_back("all base files are newer than all new files: were the sides swapped?");
  } else if (*last_base < *first_new && base.size() > 1 && contender.size() > 1) {
    warnings.emplace_back(
        "the sides were measured one after the other: a drift of the machine looks like a change; "
        "alternate their processes");
  }
}

void WarnOfNoise(const Sides& sides, std::vector<std::string>& warnings) {
  std::size_t scaled = 0;
  std::size_t loaded = 0;
  for (const auto* files : sides) {
    for (const ResultFile& file : *files) {
      if (file.ContextValue("cpu_scaling_enabled") == "true") ++scaled;
      std::string_view load = file.ContextValue("load_avg");
      load = load.substr(0, load.find_first_of(",]"));
      if (!load.empty()) load.remove_prefix(1);
      const auto busy = ParseReal(load);
      const auto cpus = ParseReal(file.ContextValue("num_cpus"));
      if (busy && cpus && *busy > *cpus) ++loaded;
    }
  }
  if (scaled > 0)
    warnings.push_back("CPU frequency scaling was on in " + std::to_string(scaled) + " files");
  if (loaded > 0) {
    warnings.push_back("the load was above the number of CPUs in " + std::to_string(loaded) +
                       " files");
  }
}

}  // namespace

std::vector<ContextDifference> CompareContexts(const Sides& sides, bool allow_mixed) {
  std::vector<ContextDifference> differences;
  for (const std::string& key : ContextKeys(sides)) {
    if (IsIncidental(key)) continue;
    std::vector<std::string> base = DistinctValues(*sides[kBase], key);
    std::vector<std::string> contender = DistinctValues(*sides[kContender], key);
    std::vector<std::string> all = base;
    all.insert(all.end(), contender.begin(), contender.end());
    if (key == "mhz_per_cpu" && IsSameClock(all)) continue;
    if (!allow_mixed) {
      RefuseMixed(key, base);
      RefuseMixed(key, contender);
    }
    if (base == contender && base.size() == 1) continue;
    differences.push_back(
        {key, SeverityOf(key), IsCompared(key), Joined(base, " | "), Joined(contender, " | ")});
  }
  std::stable_sort(differences.begin(), differences.end(),
                   [](const auto& a, const auto& b) { return a.severity < b.severity; });
  return differences;
}

bool HaveSameThreadTimes(const Sides& sides) { return IsOneEra(sides, {1, 9, 0}, {1, 8, 5}); }

bool HaveSameThreadRates(const Sides& sides) {
  return HaveSameThreadTimes(sides) && IsOneEra(sides, {1, 9, 5}, {1, 9, 4});
}

bool HaveSameCounters(const Sides& sides) {
  std::set<std::string_view> schemas;
  for (const auto* files : sides) {
    for (const ResultFile& file : *files) schemas.insert(file.ContextValue(kSchemaKey));
  }
  schemas.erase(std::string_view());
  return schemas.size() < 2;
}

bool AreOfManyThreads(const Sides& sides) {
  const auto is_one = [](const ResultFile& file) {
    return !file.ContextValue(kSchemaKey).empty() ||
           std::any_of(file.context.begin(), file.context.end(), IsGpuEntry);
  };
  return std::any_of(sides.begin(), sides.end(), [&](const auto* files) {
    return std::any_of(files->begin(), files->end(), is_one);
  });
}

std::vector<std::int64_t> DatesOf(const std::vector<ResultFile>& files) {
  std::vector<std::int64_t> dates;
  for (const ResultFile& file : files) {
    const auto seconds = ParseAnyTime(file.ContextValue("date"));
    if (!seconds) return {};
    dates.push_back(*seconds);
  }
  return dates;
}

void WarnOfCircumstances(const Sides& sides, std::vector<std::string>& warnings) {
  WarnOfOrder(sides, warnings);
  WarnOfNoise(sides, warnings);
}

}  // namespace cnn
