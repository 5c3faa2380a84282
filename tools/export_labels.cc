#include "tools/export_labels.h"

#include <algorithm>
#include <array>

#include "tools/benchmark_name.h"

namespace cnn {
namespace {

// Ours in some format, and what Prometheus and InfluxDB keep for themselves.
constexpr std::array<std::string_view, 25> kReserved = {
    "benchmark", "family", "subject",  "host",  "metric",     "time",           "file",
    "unit",      "value",  "lower",    "upper", "nonfinite",  "spread",         "n",
    "better",    "state",  "message",  "label", "git_commit", "schema_version", "instance",
    "job",       "le",     "quantile", "name"};

bool Has(const std::vector<Label>& labels, const std::string& key) {
  return std::any_of(labels.begin(), labels.end(),
                     [&](const Label& label) { return label.key == key; });
}

void AddPair(std::string_view key, std::string_view value, std::vector<Label>& labels) {
  const bool is_reserved = std::find(kReserved.begin(), kReserved.end(), key) != kReserved.end();
  std::string name = (is_reserved ? "arg_" : "") + std::string(key);
  if (!Has(labels, name)) labels.push_back({std::move(name), std::string(value)});
}

}  // namespace

std::vector<Label> NameLabels(std::string_view name) {
  const std::vector<NamePart> parts = NameParts(name);
  std::string subject;
  std::vector<Label> pairs;
  for (std::size_t i = 1; i < parts.size(); ++i) {
    if (!parts[i].key.empty()) {
      AddPair(parts[i].key, parts[i].value, pairs);
    } else {
      subject += (subject.empty() ? "" : "/") + std::string(parts[i].value);
    }
  }
  std::vector<Label> labels;
  if (!parts[0].value.empty()) labels.push_back({"family", std::string(parts[0].value)});
  if (!subject.empty()) labels.push_back({"subject", subject});
  labels.insert(labels.end(), pairs.begin(), pairs.end());
  return labels;
}

}  // namespace cnn
