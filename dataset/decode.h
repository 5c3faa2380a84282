// From a file to an 8-bit RGB image of the network's input size, as Keras (Pillow) does it: full
// decode, EXIF orientation ignored, nearest-neighbour resize without regard to the aspect ratio.
#pragma once

#include <cstdint>
#include <opencv2/core/mat.hpp>
#include <string>
#include <vector>

namespace cnn {

/// Reads a whole file into `bytes` (reusing its memory). Throws std::runtime_error naming the file.
void ReadFile(const std::string& path, std::vector<std::uint8_t>& bytes);

/// Decodes JPEG, PNG, BMP, PPM or TIFF into `rgb`, [height, width] of 3 x 8 bit, RGB order. `path`
/// is for messages only. Throws std::runtime_error naming it.
void DecodeRgb(const std::vector<std::uint8_t>& bytes, const std::string& path, cv::Mat& rgb);

/// Pillow's NEAREST: source index of output i is (int)x with x = a/2 accumulated by a = from/to in
/// double, which no OpenCV interpolation reproduces. `to` is resized to [height, width].
void ResizeNearest(const cv::Mat& from, int height, int width, cv::Mat& to);

}  // namespace cnn
