#include "tools/export_labels.h"

#include <algorithm>
#include <array>

#include "tools/export_text.h"

namespace cnn {
namespace {

// Ours in some format, and what Prometheus and InfluxDB keep for themselves.
constexpr std::array<std::string_view, 25> kReserved = {
    "benchmark", "family", "subject",  "host",  "metric",     "time",           "file",
    "unit",      "value",  "lower",    "upper", "nonfinite",  "spread",         "n",
    "better",    "state",  "message",  "label", "git_commit", "schema_version", "instance",
    "job",       "le",     "quantile", "name"};

bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

bool IsKey(std::string_view text) {
  const auto is_inner = [](char c) { return IsLetter(c) || (c >= '0' && c <= '9') || c == '_'; };
  return !text.empty() && IsLetter(text[0]) && std::all_of(text.begin(), text.end(), is_inner);
}

// The key of "key:value", or "".
std::string_view KeyOf(std::string_view part) {
  const std::size_t colon = part.find(':');
  if (colon == std::string_view::npos || colon + 1 == part.size()) return {};
  // a::b is a name of C++, not a key.
  const bool is_pair = part[colon + 1] != ':' && IsKey(part.substr(0, colon));
  return is_pair ? part.substr(0, colon) : std::string_view();
}

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
  const std::vector<std::string_view> parts = Split(name, '/');
  std::string subject;
  std::vector<Label> pairs;
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const std::string_view key = KeyOf(parts[i]);
    if (!key.empty()) {
      AddPair(key, parts[i].substr(key.size() + 1), pairs);
    } else {
      subject += (subject.empty() ? "" : "/") + std::string(parts[i]);
    }
  }
  std::vector<Label> labels;
  if (!parts[0].empty()) labels.push_back({"family", std::string(parts[0])});
  if (!subject.empty()) labels.push_back({"subject", subject});
  labels.insert(labels.end(), pairs.begin(), pairs.end());
  return labels;
}

}  // namespace cnn
