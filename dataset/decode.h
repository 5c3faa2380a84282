// From a file to an 8-bit RGB image of the network's input size, as Keras (Pillow) does it: full
// decode, EXIF orientation ignored, nearest-neighbour resize without regard to the aspect ratio.
//
// JPEG is decoded by libjpeg: the same pixels as OpenCV's in less time, because they come out in
// RGB order and in memory that is kept, and what libjpeg complains of comes out as well. All else,
// which is rare, is OpenCV's. Nothing is decoded before its header was read (image_header.h).
//
// Where pixels differ from Pillow's: 16-bit grey is the upper 8 bits, not all that exceeds 255 made
// white.
#pragma once

#include <cstdint>
#include <opencv2/core/mat.hpp>
#include <string>
#include <vector>

#include "dataset/image_header.h"
#include "dataset/jpeg.h"

namespace cnn {

/// Reads a whole regular file of 1 byte to 1 GiB into `bytes` (reusing its memory), unless its
/// first bytes are those of no image. Throws ImageError.
void ReadImageFile(const std::string& path, std::vector<std::uint8_t>& bytes);

/// Pillow's threshold for a decompression bomb.
inline constexpr std::int64_t kDefaultMaxPixels = 89478485;

/// Decodes images, one after the other, reusing its memory; one per thread. Movable, not copyable.
class Decoder {
 public:
  /// Throws std::invalid_argument when `max_pixels` is below 1.
  explicit Decoder(std::int64_t max_pixels = kDefaultMaxPixels);

  /// [height, width] of 3 x 8 bit, RGB order; a view of the decoder's memory, valid until the next
  /// call. Grey becomes RGB, 16 bits become their upper 8, transparency is dropped. `path` is for
  /// messages. Throws ImageError.
  const cv::Mat& Decode(const std::vector<std::uint8_t>& bytes, const std::string& path);

  /// What was wrong with the last image although it could be decoded, in libjpeg's words: damaged
  /// or extraneous data. Empty when nothing was.
  const std::string& warning() const { return warning_; }

 private:
  std::uint8_t* Memory(std::size_t size);
  void DecodeJpeg(const std::vector<std::uint8_t>& bytes, const ImageHeader& header,
                  const std::string& path);
  void DecodeByOpenCv(const std::vector<std::uint8_t>& bytes, ImageFormat format,
                      const std::string& path);

  std::int64_t max_pixels_;
  JpegDecoder jpeg_;
  std::vector<std::uint8_t> memory_;  // only grows
  cv::Mat image_;                     // a header on it
  std::string warning_;
};

/// Pillow's NEAREST: source index of output i is (int)x with x = a/2 accumulated by a = from/to in
/// double, which no OpenCV interpolation reproduces. `to` is resized to [height, width].
void ResizeNearest(const cv::Mat& from, int height, int width, cv::Mat& to);

}  // namespace cnn
