// Which benchmarks a comparison is about, by name.
#pragma once

#include <regex.h>

#include <string>
#include <string_view>
#include <vector>

#include "tools/result_file.h"

namespace cnn {

/// A regular expression as --benchmark_filter takes it: anywhere in the name, POSIX extended, and
/// negated by a '-' before it. Not std::regex, which overflows the stack on long names.
class NameFilter {
 public:
  /// Throws std::invalid_argument for what is no regular expression.
  explicit NameFilter(const std::string& pattern);
  ~NameFilter();
  NameFilter(const NameFilter&) = delete;
  NameFilter& operator=(const NameFilter&) = delete;

  bool Selects(const std::string& name) const;

  /// Drops the rows of all other benchmarks.
  void Apply(ResultFile& file) const;

 private:
  bool is_negated_;
  regex_t regex_{};
};

/// The name by which a program selects a benchmark, of the name that a comparison shows: without
/// the " #2" of the second of a name and the "/handicap:0.05" of a side that was slowed down.
std::string SelectedName(std::string_view benchmark);

/// A --benchmark_filter for exactly these benchmarks, as SelectedName or with more to it: whole
/// names, so that conv1 does not select conv10; of a complexity ("Sort_BigO") all that it was
/// fitted to. cnn_benchmarks filters names without the "/process_time/real_time" that Google
/// Benchmark appends to them, so that end is optional, and a handicap before it. A control
/// character becomes a point. Empty without names.
std::string FilterOfNames(const std::vector<std::string>& benchmarks);

}  // namespace cnn
