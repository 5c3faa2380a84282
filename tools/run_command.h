// `cnn_compare run` measures two programs and judges them; `cnn_compare confirm` measures again
// what failed. Both keep every file, and both can be interrupted: whole rounds are judged.
#pragma once

#include <string>
#include <vector>

namespace cnn {

/// Arguments after the command's name. The exit code is that of the comparison; of an interrupted
/// run 1 for a regression, else 3. Throw UsageError (also for a program that is missing), RunError,
/// StartError, OutputError, ReadError, CompareError and HelpRequest.
int RunAndCompare(const std::vector<std::string>& arguments);
int ConfirmRun(const std::vector<std::string>& arguments);

}  // namespace cnn
