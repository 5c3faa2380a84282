#include "tools/benchmark_name.h"

#include <algorithm>

#include "tools/export_text.h"

namespace cnn {
namespace {

bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

bool IsKey(std::string_view text) {
  const auto is_inner = [](char c) { return IsLetter(c) || (c >= '0' && c <= '9') || c == '_'; };
  return !text.empty() && IsLetter(text[0]) && std::all_of(text.begin(), text.end(), is_inner);
}

NamePart ReadPart(std::string_view part) {
  const std::size_t colon = part.find(':');
  if (colon == std::string_view::npos || colon + 1 == part.size()) return {{}, part};
  const bool is_pair = part[colon + 1] != ':' && IsKey(part.substr(0, colon));
  return is_pair ? NamePart{part.substr(0, colon), part.substr(colon + 1)} : NamePart{{}, part};
}

}  // namespace

std::vector<NamePart> NameParts(std::string_view name) {
  std::vector<NamePart> parts;
  for (const std::string_view part : Split(name, '/')) {
    parts.push_back(parts.empty() ? NamePart{{}, part} : ReadPart(part));
  }
  return parts;
}

std::string WithoutKeys(const std::string& name, const std::vector<std::string>& keys) {
  const auto is_in_name = [&](const std::string& key) {
    return name.find('/' + key + ':') != std::string::npos;
  };
  if (std::none_of(keys.begin(), keys.end(), is_in_name)) return name;  // nearly always
  std::string rest;
  for (const NamePart& part : NameParts(name)) {
    const bool is_pair = !part.key.empty();
    if (is_pair && std::find(keys.begin(), keys.end(), part.key) != keys.end()) continue;
    const char* const begin = is_pair ? part.key.data() : part.value.data();
    if (begin != name.data()) rest += '/';
    rest.append(begin, part.value.data() + part.value.size());
  }
  return rest;
}

}  // namespace cnn
