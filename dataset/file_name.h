// Endings of file names, compared as Keras does: without regard to case, and without the dot before
// them ("scan_jpg" is an image too).
#pragma once

#include <algorithm>
#include <string_view>

namespace cnn {

/// `ending` in lower case; only ASCII letters have a case here.
inline bool HasEnding(std::string_view name, std::string_view ending) {
  return name.size() >= ending.size() &&
         std::equal(ending.rbegin(), ending.rend(), name.rbegin(), [](char wanted, char c) {
           return wanted == (c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c);
         });
}

}  // namespace cnn
