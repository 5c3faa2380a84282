#include "tools/name_filter.h"

#include <algorithm>
#include <array>
#include <stdexcept>

namespace cnn {

NameFilter::NameFilter(const std::string& pattern)
    : is_negated_(!pattern.empty() && pattern.front() == '-') {
  const int error =
      regcomp(&regex_, pattern.c_str() + (is_negated_ ? 1 : 0), REG_EXTENDED | REG_NOSUB);
  if (error == 0) return;
  std::array<char, 128> message{};
  regerror(error, &regex_, message.data(), message.size());
  throw std::invalid_argument("'" + pattern + "' is no regular expression: " + message.data());
}

NameFilter::~NameFilter() { regfree(&regex_); }

bool NameFilter::Selects(const std::string& name) const {
  return (regexec(&regex_, name.c_str(), 0, nullptr, 0) == 0) != is_negated_;
}

void NameFilter::Apply(ResultFile& file) const {
  const auto is_other = [this](const ResultRow& row) {
    return !Selects(row.run_name.empty() ? row.name : row.run_name);
  };
  file.rows.erase(std::remove_if(file.rows.begin(), file.rows.end(), is_other), file.rows.end());
}

}  // namespace cnn
