// A calibration as a file: JSON, written by `cnn_compare calibrate`, read by --calibration.
#pragma once

#include <ostream>
#include <string>

#include "tools/comparison.h"

namespace cnn {

void WriteCalibration(const Calibration& calibration, std::ostream& out);

/// Throws ReadError for a file that is none.
Calibration ReadCalibration(const std::string& path);

}  // namespace cnn
