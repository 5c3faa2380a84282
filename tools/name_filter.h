// Which benchmarks a comparison is about, by name.
#pragma once

#include <regex.h>

#include <string>

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

}  // namespace cnn
