// What every command does with result files and with a comparison.
#pragma once

#include <string>
#include <vector>

#include "tools/compare_options.h"
#include "tools/comparison.h"
#include "tools/result_file.h"

namespace cnn {

/// Warnings go to stderr: stdout may be a file that a program reads. Throws ReadError, and
/// CompareError for a file that is given twice.
std::vector<ResultFile> ReadFiles(const std::vector<std::string>& paths, const ReadOptions& options,
                                  const std::string& filter = {});

/// Reads the calibration that the command names into its options. Throws ReadError.
void LoadCalibration(CompareCommand& command);

/// Compares the files that the command names. Throws ReadError and CompareError.
Comparison CompareSides(const CompareCommand& command);

/// Writes the report where the command says, and returns the exit code. Throws OutputError.
int PrintComparison(const Comparison& comparison, const CompareCommand& command);

}  // namespace cnn
