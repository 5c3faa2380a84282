// Looks at every image of a folder before a run depends on it: what a training run would meet after
// hours, with the file's name, in the time of one pass of decoding.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "dataset/image_folder.h"

namespace cnn {

struct ImageFinding {
  std::string path;
  std::string message;  // names the path
  bool is_bad = false;  // otherwise a warning: the image can be used
};

/// Reads and decodes every image of `folder` on `threads` threads. At most one finding per image,
/// in the folder's order. Bad is what cannot be decoded or has more than `max_pixels` pixels; a
/// warning says what libjpeg complained about, or that the content is of another format than the
/// name's ending. `progress` as in ParallelFor. Throws std::invalid_argument when `threads` or
/// `max_pixels` is below 1.
std::vector<ImageFinding> VerifyImages(
    const ImageFolder& folder, std::int64_t max_pixels, int threads,
    const std::function<void(int done, int count)>& progress = {});

}  // namespace cnn
