// The noise of a machine: learned from runs of one program, kept in a JSON file, taken for the
// thresholds of later comparisons.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "tools/comparison.h"

namespace cnn {

/// Bands of every benchmark and metric that all files have: the largest of Q3 + 3 IQR of |log
/// ratio| over all pairs of files, and `floor` (relative). Throws CompareError for fewer than 6
/// files and for several machines, and whatever Compare does.
Calibration Calibrate(const std::vector<ResultFile>& files, const CompareOptions& options = {},
                      double floor = 0.01);

void WriteCalibration(const Calibration& calibration, std::ostream& out);

/// Throws ReadError for a file that is none.
Calibration ReadCalibration(const std::string& path);

}  // namespace cnn
