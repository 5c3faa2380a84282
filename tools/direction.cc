#include "tools/direction.h"

#include <algorithm>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <vector>

namespace cnn {
namespace {

bool IsUpper(char c) { return c >= 'A' && c <= 'Z'; }
bool IsLetterOrDigit(char c) {
  return IsUpper(c) || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

// "peak_memory_mb" and "PeakMemoryMb" are the same three words; "img/s" is img per s.
std::vector<std::string> WordsOf(std::string_view name) {
  std::vector<std::string> words(1);
  char previous = '_';
  for (const char c : name) {
    const bool starts = IsUpper(c) && !IsUpper(previous);
    if ((starts || !IsLetterOrDigit(c)) && !words.back().empty()) words.emplace_back();
    if (c == '/') words.insert(words.end() - 1, "per");
    if (IsLetterOrDigit(c)) words.back() += static_cast<char>(IsUpper(c) ? c - 'A' + 'a' : c);
    previous = c;
  }
  if (words.back().empty()) words.pop_back();
  return words;
}

bool Contains(std::initializer_list<std::string_view> list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

// The unit in seconds, or 0.
double SecondsOf(std::string_view word) {
  if (word == "ns" || word == "nanoseconds") return 1e-9;
  if (word == "us" || word == "microseconds") return 1e-6;
  if (word == "ms" || word == "milliseconds") return 1e-3;
  if (Contains({"s", "sec", "second", "seconds"}, word)) return 1;
  return 0;
}

// Fewer is better even per second.
bool IsMishap(std::string_view word) {
  return Contains({"fault", "faults", "miss", "misses", "error", "errors", "failure", "failures",
                   "failed", "bad", "dropped", "stall", "stalls", "alloc", "allocs", "allocations",
                   "leak", "leaks", "retries"},
                  word);
}

bool IsGain(std::string_view word) {
  return Contains({"accuracy", "rate", "throughput", "bandwidth", "utilization", "utilisation",
                   "efficiency", "speedup", "hits", "fps", "qps", "ips", "flops", "gflops"},
                  word);
}

bool IsDuration(std::string_view word) {
  return SecondsOf(word) > 0 || Contains({"time", "latency", "duration", "wait"}, word);
}

bool IsCost(std::string_view word) {
  return IsDuration(word) || Contains({"memory", "mem", "rss", "bytes", "heap", "allocated", "loss",
                                       "cycles", "instructions", "cv"},
                                      word);
}

bool HasRate(const std::vector<std::string>& words) {
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (words[i - 1] == "per" && SecondsOf(words[i]) > 0) return true;
  }
  return false;
}

bool Any(const std::vector<std::string>& words, bool (*is)(std::string_view)) {
  return std::any_of(words.begin(), words.end(), [&](const std::string& w) { return is(w); });
}

}  // namespace

Direction DefaultDirection(std::string_view metric) {
  const std::vector<std::string> words = WordsOf(metric);
  if (!words.empty() && words.back() == "se") return Direction::kUnknown;  // a standard error
  if (Any(words, IsMishap)) return Direction::kLower;
  if (HasRate(words) || Any(words, IsGain)) return Direction::kHigher;
  return Any(words, IsCost) ? Direction::kLower : Direction::kUnknown;
}

Direction ParseDirection(std::string_view text) {
  for (const Direction direction : {Direction::kLower, Direction::kHigher, Direction::kExact,
                                    Direction::kUnknown, Direction::kIgnore}) {
    if (DirectionText(direction) == text) return direction;
  }
  throw std::invalid_argument("\"" + std::string(text) +
                              "\" is no direction: lower, higher, exact, unknown or ignore");
}

std::string_view DirectionText(Direction direction) {
  switch (direction) {
    case Direction::kLower:
      return "lower";
    case Direction::kHigher:
      return "higher";
    case Direction::kExact:
      return "exact";
    case Direction::kUnknown:
      return "unknown";
    case Direction::kIgnore:
      return "ignore";
  }
  return "unknown";
}

std::string_view BetterText(Direction direction) {
  const bool is_known = direction == Direction::kLower || direction == Direction::kHigher;
  return is_known ? DirectionText(direction) : "";
}

bool IsTime(std::string_view metric) { return metric == "real_time" || metric == "cpu_time"; }

bool IsRate(std::string_view metric) { return HasRate(WordsOf(metric)); }

bool IsPartOfTime(std::string_view metric) {
  const std::vector<std::string> words = WordsOf(metric);
  return !IsTime(metric) && Any(words, IsDuration) && !HasRate(words) && !Any(words, IsMishap) &&
         !Any(words, IsGain);
}

double FloorOf(std::string_view metric, double time_floor) {
  if (IsTime(metric)) return time_floor;
  const std::vector<std::string> words = WordsOf(metric);
  if (Any(words, IsMishap)) {
    // One page fault a step is less than a time can show; other mishaps count from the first.
    return std::find(words.begin(), words.end(), "faults") == words.end() ? 0 : 1;
  }
  if (!IsPartOfTime(metric)) return 0;
  for (const std::string& word : words) {
    if (SecondsOf(word) > 0) return time_floor / SecondsOf(word);
  }
  return 0;
}

}  // namespace cnn
