// Files that are whole at any moment: what is written replaces them in one rename.
#pragma once

#include <functional>
#include <string>

namespace cnn {

/// `write` gets the name of a file beside `path`, which takes its place when it is done; what
/// `path` held is there until then. Links are followed; what is no regular file (a pipe, a device)
/// is written in place. Throws std::runtime_error saying why, without the name, and what `write`
/// throws; the file beside is then gone.
void ReplaceFile(const std::string& path,
                 const std::function<void(const std::string& file)>& write);

/// Removes what a process that was killed in `write` left beside `path`.
void RemoveLeftovers(const std::string& path);

}  // namespace cnn
