// What can be known about an image file before it is decoded. A decoder is asked only for what is
// known to be harmless: a format of the list below, no more pixels than allowed, a file that is
// complete. That keeps OpenCV's rarer readers (GDAL, EXR, JPEG 2000, ...) away from strangers'
// files, a decompression bomb costs nothing, and a download that broke off is an error also where
// OpenCV would pass on half a picture. Every read is checked: any bytes may be given.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace cnn {

/// A file that cannot be used as an image; the message names the file and says why.
struct ImageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

enum class ImageFormat { kJpeg, kPng, kBmp, kPnm, kTiff, kWebp };

/// "JPEG", ...
const char* FormatName(ImageFormat format);

struct ImageHeader {
  ImageFormat format;
  std::int64_t width;
  std::int64_t height;
  int components = 0;  // of a JPEG: 1 is grey, 4 is CMYK
};

/// Throws ImageError when the file, of which `bytes` are the first 16 or more, is empty, a GIF or
/// of no known format, judged by content alone. `path` is for messages.
void CheckFormat(const std::vector<std::uint8_t>& bytes, const std::string& path);

/// From the first bytes. Throws ImageError as CheckFormat, and when the header is incomplete or has
/// a zero size.
ImageHeader ReadImageHeader(const std::vector<std::uint8_t>& bytes, const std::string& path);

/// Throws ImageError when the whole file, whose header was read before, ends before its picture
/// does (of a JPEG only its decoder knows), or holds samples that OpenCV would misread without an
/// error (TIFF of more than 16 bits).
void CheckDecodable(const std::vector<std::uint8_t>& bytes, const ImageHeader& header,
                    const std::string& path);

/// A complete PNG with only those chunks that decide its pixels. The others (colour profiles,
/// texts) do nothing here but make libpng print its opinion of them, once for each file.
std::vector<std::uint8_t> WithoutAncillaryChunks(const std::vector<std::uint8_t>& png);

}  // namespace cnn
