// The name by which a benchmark is shown, selected and paired.
#pragma once

#include <string>

#include "tools/result_file.h"

namespace cnn {

/// The run name, which repetitions and aggregates share. A fitted complexity and the error of the
/// fit go by their own names ("Sort_BigO", "Sort_RMS"): their run name is that of what they were
/// fitted to. So does a row without run name.
inline const std::string& BenchmarkName(const ResultRow& row) {
  const bool is_fit = row.kind == RowKind::kBigO || row.kind == RowKind::kRms;
  return is_fit || row.run_name.empty() ? row.name : row.run_name;
}

}  // namespace cnn
