// What several tests of this folder share.
#pragma once

#include <string>

#include "benchmarks/options.h"

namespace cnn {

/// The message of the UsageError that `action` throws; empty when it throws none.
template <typename Action>
std::string UsageErrorOf(const Action& action) {
  try {
    action();
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

}  // namespace cnn
