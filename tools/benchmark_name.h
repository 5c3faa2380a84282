// The name of a benchmark: how it is taken apart, and by which a row is known.
//
//   Family/subject[/key:value...]     Layer/eight_kinds/conv1/device:cpu/batch:32
//
// Names of other programs hold anything. A part is a pair only where it cannot be mistaken: the key
// is a word of ASCII letters, digits and underscores that begins with a letter, and the value is
// not empty. "std::sort" is a name of C++ and no pair; the first part is the family, whatever it
// holds.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tools/result_file.h"

namespace cnn {

/// What is between two slashes.
struct NamePart {
  std::string_view key;    // empty: it is no pair
  std::string_view value;  // of a pair; else the whole part
};

/// The parts in their order; one at least, the first without a key. They point into `name`.
std::vector<NamePart> NameParts(std::string_view name);

/// The name without the pairs of these keys.
std::string WithoutKeys(const std::string& name, const std::vector<std::string>& keys);

/// By which a row is shown, selected and paired: the run name, which repetitions and aggregates
/// share. A fitted complexity and the error of the fit have their own names ("Sort_BigO",
/// "Sort_RMS"), as their run name is that of what they were fitted to. So has a row without run
/// name.
inline const std::string& BenchmarkName(const ResultRow& row) {
  const bool is_fit = row.kind == RowKind::kBigO || row.kind == RowKind::kRms;
  return is_fit || row.run_name.empty() ? row.name : row.run_name;
}

}  // namespace cnn
