// Where a loader's images come from, as 8-bit RGB at the network's input size: from files that are
// read and decoded each time, from encoded bytes kept in memory, or from decoded images kept in
// memory. The pixels are the same; what is left to do for each sample is not.
//
// What is kept is read once, by the constructor. A bad file does not stop that: its error is thrown
// whenever the image is asked for, as it would be if the file were read then.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <opencv2/core/mat.hpp>
#include <string>
#include <vector>

#include "dataset/decode.h"
#include "dataset/image_folder.h"

namespace cnn {

enum class SourceKind {
  kFiles,   // read and decode each time
  kBytes,   // encoded files in memory: decode each time
  kDecoded  // side x side images in memory
};

/// Memory that a thread reuses from image to image.
struct ImageScratch {
  explicit ImageScratch(std::int64_t max_pixels = kDefaultMaxPixels) : decoder(max_pixels) {}

  std::vector<std::uint8_t> bytes;
  Decoder decoder;
  cv::Mat resized;
};

/// Bytes that a source of this kind keeps in memory; 0 for kFiles. Asks the file system for sizes.
std::int64_t MemoryNeeded(const ImageFolder& folder, SourceKind kind, int side);

class ImageSource {
 public:
  /// `folder` must outlive the source. Images of more than `max_pixels` are bad. What is to be kept
  /// is read by `threads` threads; `progress(done, count)` is called from the calling thread.
  ImageSource(const ImageFolder& folder, SourceKind kind, int side,
              std::int64_t max_pixels = kDefaultMaxPixels, int threads = 1,
              const std::function<void(int, int)>& progress = {});

  /// Image `index` of the folder, [side, side] of 3 x 8 bit, RGB: a view that is valid until
  /// `scratch` is used again. For any thread that has a scratch of its own. Throws ImageError.
  cv::Mat Get(std::size_t index, ImageScratch& scratch) const;

  const ImageFolder& folder() const { return *folder_; }
  int side() const { return side_; }
  std::int64_t max_pixels() const { return max_pixels_; }

 private:
  cv::Mat Resized(const cv::Mat& decoded, ImageScratch& scratch) const;
  std::size_t ImageBytes() const;

  const ImageFolder* folder_;
  SourceKind kind_;
  int side_;
  std::int64_t max_pixels_;
  std::vector<std::vector<std::uint8_t>> encoded_;  // kBytes, by image
  std::vector<std::uint8_t> pixels_;                // kDecoded, image after image
  std::vector<std::string> errors_;                 // of kept images; empty: none
};

}  // namespace cnn
