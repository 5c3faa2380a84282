#include "tools/progress.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace cnn {
namespace {

constexpr std::size_t kNothingRuns = 2;

bool IsTerminal() {
  const char* kind = std::getenv("TERM");
  return ::isatty(STDERR_FILENO) != 0 && kind != nullptr && std::string_view(kind) != "dumb";
}

std::string LeftText(double left) { return left < 0 ? "" : ", about " + ClockText(left) + " left"; }

}  // namespace

std::string ClockText(double seconds) {
  const auto all = static_cast<long long>(std::llround(std::max(0.0, seconds)));
  const auto two_digits = [](long long number) {
    return (number < 10 ? "0" : "") + std::to_string(number);
  };
  const std::string tail = ':' + two_digits(all % 60);
  if (all < 3600) return std::to_string(all / 60) + tail;
  return std::to_string(all / 3600) + ':' + two_digits(all / 60 % 60) + tail;
}

void Durations::Add(std::size_t side, double seconds) {
  ++count_[side];
  sum_[side] += seconds;
}

double Durations::Left(std::size_t running, double passed) const {
  if (count_[kBase] + count_[kContender] == 0) return -1;
  double left = 0;
  for (const std::size_t side : {kBase, kContender}) {
    const std::size_t known = count_[side] > 0 ? side : 1 - side;
    const double mean = sum_[known] / static_cast<double>(count_[known]);
    double open = static_cast<double>(rounds_ - count_[side]);
    if (side == running) {
      left += std::max(0.0, mean - passed);
      --open;
    }
    left += open * mean;
  }
  return left;
}

Progress::Progress(std::size_t rounds)
    : rounds_(rounds), is_terminal_(IsTerminal()), durations_(rounds) {}

Progress::~Progress() { Overwrite(""); }

void Progress::SetRounds(std::size_t rounds) {
  rounds_ = rounds;
  durations_.SetRounds(rounds);
}

void Progress::Start(std::size_t round, std::size_t side) {
  round_ = round;
  side_ = side;
  start_ = std::chrono::steady_clock::now();
  Tick();
}

void Progress::Tick() {
  const double passed =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  Overwrite(Place() + ClockText(passed) + " passed" + LeftText(durations_.Left(side_, passed)));
}

void Progress::Finish(double seconds, const std::string& note) {
  durations_.Add(side_, seconds);
  const std::string taken =
      Place() + "took " + ClockText(seconds) + (note.empty() ? "" : ", ") + note;
  if (is_terminal_) {
    Overwrite("");
    if (!note.empty()) std::fprintf(stderr, "%s\n", taken.c_str());
    return;
  }
  const double left = durations_.Left(kNothingRuns, 0);
  std::fprintf(stderr, "%s%s\n", taken.c_str(), (left > 0 ? LeftText(left) : "").c_str());
}

void Progress::Overwrite(const std::string& text) {
  if (!is_terminal_) return;
  std::fprintf(stderr, "\r\x1b[K%s", text.c_str());
  std::fflush(stderr);
}

std::string Progress::Place() const {
  return "round " + std::to_string(round_) + " of " + std::to_string(rounds_) + ", " +
         kSideNames[side_] + ": ";
}

}  // namespace cnn
