#include "tools/name_filter.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <stdexcept>
#include <unordered_set>
#include <utility>

#include "tools/benchmark_name.h"
#include "tools/export_text.h"

namespace cnn {
namespace {

constexpr std::string_view kTimes = "/process_time/real_time";
constexpr std::string_view kHandicap = "/handicap:";
constexpr std::string_view kFit = "_BigO";
constexpr std::string_view kSpecial = ".[]{}()*+?^$|\\";

bool TakeEnd(std::string& text, std::string_view end) {
  const bool has_end = text.size() > end.size() && EndsWith(text, end);
  if (has_end) text.resize(text.size() - end.size());
  return has_end;
}

bool TakeHandicap(std::string& name) {
  const std::size_t slash = name.rfind('/');
  const bool has_handicap = slash != std::string::npos && slash > 0 &&
                            name.compare(slash, kHandicap.size(), kHandicap) == 0;
  if (has_handicap) name.resize(slash);
  return has_handicap;
}

bool IsDigit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

// The pattern of a name, and of what may follow it.
std::pair<std::string, std::string> PatternOf(const std::string& benchmark) {
  std::string name = SelectedName(benchmark);
  std::string end;
  if (TakeEnd(name, kFit)) {
    end = "/.*";
  } else if (TakeEnd(name, kTimes)) {
    end = "(/handicap:[^/]*)?(/process_time/real_time)?";
  } else if (benchmark.find(kHandicap) != std::string::npos) {
    end = "(/handicap:[^/]*)?";
  }
  std::string pattern;
  for (const char c : name) {
    const bool is_control = std::iscntrl(static_cast<unsigned char>(c)) != 0;
    if (!is_control && kSpecial.find(c) != std::string_view::npos) pattern += '\\';
    pattern += is_control ? '.' : c;
  }
  return {std::move(pattern), std::move(end)};
}

}  // namespace

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
  const auto is_other = [this](const ResultRow& row) { return !Selects(BenchmarkName(row)); };
  file.rows.erase(std::remove_if(file.rows.begin(), file.rows.end(), is_other), file.rows.end());
}

std::string SelectedName(std::string_view benchmark) {
  std::string name(benchmark);
  const std::size_t number = name.rfind(" #");
  if (number != std::string::npos && number + 2 < name.size() &&
      std::all_of(name.begin() + static_cast<std::ptrdiff_t>(number) + 2, name.end(), IsDigit)) {
    name.resize(number);
  }
  const bool has_times = TakeEnd(name, kTimes);
  TakeHandicap(name);
  return has_times ? name + std::string(kTimes) : name;
}

std::string FilterOfNames(const std::vector<std::string>& benchmarks) {
  std::vector<std::pair<std::string, std::string>> ends;  // and the alternatives before each
  std::unordered_set<std::string> seen;
  for (const std::string& benchmark : benchmarks) {
    const auto [name, end] = PatternOf(benchmark);
    if (!seen.insert(name + end).second) continue;
    auto group = std::find_if(ends.begin(), ends.end(), [&, &wanted = end](const auto& known) {
      return known.first == wanted;
    });
    if (group == ends.end()) {
      ends.emplace_back(end, name);
    } else {
      group->second += '|' + name;
    }
  }
  std::string filter;
  for (const auto& [end, names] : ends) {
    filter += (filter.empty() ? "" : "|") + ('(' + names + ')') + end;
  }
  if (filter.empty()) return filter;
  return ends.size() == 1 ? '^' + filter + '$' : "^(" + filter + ")$";
}

}  // namespace cnn
