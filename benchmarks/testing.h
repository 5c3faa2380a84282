// What several tests of this folder share.
#pragma once

#include <string>

#include "benchmarks/options.h"
#include "dataset/testing.h"

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

/// A file with one network of a convolution, Flatten and a Dense layer of so many outputs, for
/// images of 32 x 32. `members` is more of its JSON, after a comma.
inline std::string WriteTinyNetwork(const TempDir& dir, const std::string& name, int outputs,
                                    const std::string& members = "") {
  const std::filesystem::path path = dir.path() / (name + ".json");
  WriteText(path, R"({"name": ")" + name + R"(", "input": [3, 32, 32], "layers": [
    {"name": "conv1", "kind": "Conv2D", "filters": 4, "kernel_size": 3},
    {"name": "flatten", "kind": "Flatten"},
    {"name": "dense1", "kind": "Dense", "units": )" +
                      std::to_string(outputs) + R"(}],
    "loss": ")" + (outputs == 1 ? "binary" : "categorical") +
                      R"(_crossentropy", "optimizer": {"kind": "Adam"})" + members + "}");
  return path.string();
}

}  // namespace cnn
