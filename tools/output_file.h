// Output that is whole or not there: a file is written beside its place and renamed into it.
#pragma once

#include <functional>
#include <ostream>
#include <stdexcept>
#include <string>

namespace cnn {

struct OutputError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Calls `write` with the file at `path`, or with stdout where it is empty. What is no regular file
/// (/dev/null, a pipe) is written in place; a link stays one. Throws OutputError when something
/// could not be written, and lets through what `write` throws; the file is then as it was.
void WriteOutput(const std::string& path, const std::function<void(std::ostream&)>& write);

}  // namespace cnn
