// How far a run is, on stderr: on a terminal one line that is written over, else a line for each
// process that has ended.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <string>

#include "tools/benchmark_table.h"

namespace cnn {

/// By kBase and kContender.
constexpr std::array<const char*, 2> kSideNames = {"base", "new"};

/// "0:42", "1:02:03". Whole seconds, rounded.
std::string ClockText(double seconds);

/// What the processes of a run have taken, by side, and what is left.
class Durations {
 public:
  explicit Durations(std::size_t rounds) : rounds_(rounds) {}

  void SetRounds(std::size_t rounds) { rounds_ = rounds; }
  void Add(std::size_t side, double seconds);

  /// Seconds until all processes have ended, by the mean of those of the same side (of the other,
  /// before there is one); negative when nothing is known. `running` has taken `passed` seconds of
  /// its time; 2 when no process runs.
  double Left(std::size_t running, double passed) const;

 private:
  std::size_t rounds_;
  std::array<std::size_t, 2> count_{};
  std::array<double, 2> sum_{};
};

class Progress {
 public:
  /// Looks whether stderr is a terminal.
  explicit Progress(std::size_t rounds);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void SetRounds(std::size_t rounds);
  void Start(std::size_t round, std::size_t side);
  void Tick();
  /// `note` may be empty.
  void Finish(double seconds, const std::string& note);

 private:
  void Overwrite(const std::string& text);
  std::string Place() const;

  std::size_t rounds_;
  bool is_terminal_;
  Durations durations_;
  std::size_t round_ = 0;
  std::size_t side_ = 0;
  std::chrono::steady_clock::time_point start_;
};

}  // namespace cnn
