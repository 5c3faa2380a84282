// For tests: image files as bytes, good and odd ones. What no library writes is made by surgery on
// what one does.
#pragma once

#include <gtest/gtest.h>
#include <jpeglib.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>  // jpeglib.h needs it
#include <cstdlib>
#include <opencv2/core.hpp>
#include <opencv2/imgcodecs.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "dataset/random.h"
#include "dataset/testing.h"

namespace cnn {

using Bytes = std::vector<std::uint8_t>;

inline Bytes Text(const std::string& text) { return {text.begin(), text.end()}; }

inline Bytes operator+(Bytes left, const Bytes& right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

/// The first `size` bytes.
inline Bytes Cut(Bytes bytes, std::size_t size) {
  bytes.resize(size);
  return bytes;
}

inline Bytes InsertAt(Bytes bytes, std::size_t at, const Bytes& inserted) {
  bytes.insert(bytes.begin() + static_cast<std::ptrdiff_t>(at), inserted.begin(), inserted.end());
  return bytes;
}

/// A copy with some bytes changed, most of them near the start, or with its end lost.
inline Bytes Damage(const Bytes& good, KeyedRandom& random) {
  // Of exactly its size, so that AddressSanitizer sees a byte too many being read.
  const std::uint64_t lost = random.Below(4) == 0 ? random.Below(good.size()) : 0;
  Bytes bytes(good.begin(), good.end() - static_cast<std::ptrdiff_t>(lost));
  for (std::uint64_t i = 0; i <= random.Below(4); ++i) {
    const std::uint64_t span = random.Below(3) == 0 ? bytes.size() : std::uint64_t{64};
    const auto value = static_cast<std::uint8_t>(random.Below(3) == 0 ? 0xFF : random.Below(256));
    bytes[random.Below(std::min<std::uint64_t>(span, bytes.size()))] = value;
  }
  return bytes;
}

/// A number in as many bytes as asked for.
inline Bytes BigEndian(std::uint64_t value, std::size_t size) {
  Bytes bytes(size);
  for (std::size_t i = 0; i < size; ++i) {
    bytes[i] = static_cast<std::uint8_t>(value >> 8 * (size - 1 - i));
  }
  return bytes;
}
inline Bytes LittleEndian(std::uint64_t value, std::size_t size) {
  Bytes bytes = BigEndian(value, size);
  std::reverse(bytes.begin(), bytes.end());
  return bytes;
}

/// [rows, cols] of 3 x 8 bit, always the same.
inline cv::Mat NoiseImage(int rows, int cols) {
  return RandomImage(
      rows, cols, 0, 256,
      KeyedRandom({static_cast<std::uint64_t>(rows), static_cast<std::uint64_t>(cols)}));
}

inline cv::Mat GreyImage(int rows, int cols) {
  cv::Mat grey;
  cv::extractChannel(NoiseImage(rows, cols), grey, 0);
  return grey;
}

/// 0, 257, ..., 65535 in one row.
inline cv::Mat SixteenBitRamp() {
  cv::Mat ramp(1, 256, CV_16UC1);
  for (int i = 0; i < 256; ++i) ramp.at<std::uint16_t>(i) = static_cast<std::uint16_t>(i * 257);
  return ramp;
}

inline Bytes Encode(const std::string& ending, const cv::Mat& image,
                    const std::vector<int>& parameters = {}) {
  Bytes bytes;
  cv::imencode(ending, image, bytes, parameters);
  return bytes;
}

/// Same size, type and pixels.
inline bool Same(const cv::Mat& a, const cv::Mat& b) {
  return a.size() == b.size() && a.type() == b.type() && cv::norm(a, b, cv::NORM_INF) == 0;
}

// --- JPEG ---

/// Chroma's share of the resolution, or none.
enum class Sampling { k444, k422, k420, k440, k411, kGrey };

/// Of 3 channels (RGB), or of 4 as CMYK: an Adobe file that stores them as YCCK, not subsampled.
inline Bytes EncodeJpeg(const cv::Mat& image, Sampling sampling = Sampling::k420,
                        bool is_progressive = false) {
  jpeg_compress_struct info{};
  jpeg_error_mgr errors{};
  info.err = jpeg_std_error(&errors);
  jpeg_create_compress(&info);
  unsigned char* memory = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&info, &memory, &size);
  info.image_width = static_cast<JDIMENSION>(image.cols);
  info.image_height = static_cast<JDIMENSION>(image.rows);
  info.input_components = image.channels();
  info.in_color_space = image.channels() == 4 ? JCS_CMYK : JCS_RGB;
  jpeg_set_defaults(&info);
  jpeg_set_quality(&info, 90, TRUE);
  if (image.channels() == 4) {
    jpeg_set_colorspace(&info, JCS_YCCK);
    info.comp_info[3].h_samp_factor = info.comp_info[3].v_samp_factor = 1;
    sampling = Sampling::k444;
  }
  if (sampling == Sampling::kGrey) jpeg_set_colorspace(&info, JCS_GRAYSCALE);
  const int across = sampling == Sampling::k422 || sampling == Sampling::k420 ? 2
                     : sampling == Sampling::k411                             ? 4
                                                                              : 1;
  info.comp_info[0].h_samp_factor = across;
  info.comp_info[0].v_samp_factor =
      sampling == Sampling::k420 || sampling == Sampling::k440 ? 2 : 1;
  if (is_progressive) jpeg_simple_progression(&info);
  jpeg_start_compress(&info, TRUE);
  for (int row = 0; row < image.rows; ++row) {
    JSAMPROW pixels = const_cast<std::uint8_t*>(image.ptr<std::uint8_t>(row));
    jpeg_write_scanlines(&info, &pixels, 1);
  }
  jpeg_finish_compress(&info);
  jpeg_destroy_compress(&info);
  Bytes bytes(memory, memory + size);
  std::free(memory);
  return bytes;
}

inline Bytes CmykJpeg() {
  cv::Mat cmyk;
  cv::merge(std::vector<cv::Mat>{GreyImage(24, 32), GreyImage(24, 32), GreyImage(24, 32),
                                 GreyImage(24, 32)},
            cmyk);
  for (std::size_t i = 0; i < 4 * cmyk.total(); ++i) {  // smooth, all channels different
    cmyk.data[i] = static_cast<std::uint8_t>(i / 4 % 32 * (i % 4 + 1) * 2 + i / 128);
  }
  return EncodeJpeg(cmyk);
}

/// The same values, but the file says that they are CMYK as they stand.
inline Bytes PlainCmyk() {
  Bytes jpeg = CmykJpeg();
  const Bytes wanted = {0xFF, 0xEE};  // Adobe's segment; its transform is the last byte
  const auto adobe = std::search(jpeg.begin(), jpeg.end(), wanted.begin(), wanted.end());
  adobe[15] = 0;
  return jpeg;
}

inline Bytes JpegSegment(std::uint8_t marker, const Bytes& payload) {
  return Bytes{0xFF, marker} + BigEndian(payload.size() + 2, 2) + payload;
}

/// A segment in front of the others, as cameras write APP1.
inline Bytes WithSegment(const Bytes& jpeg, std::uint8_t marker, const Bytes& payload) {
  return InsertAt(jpeg, 2, JpegSegment(marker, payload));
}

/// The position of the first such marker.
inline std::size_t FindMarker(const Bytes& jpeg, std::uint8_t marker) {
  const Bytes wanted = {0xFF, marker};
  const auto found = std::search(jpeg.begin(), jpeg.end(), wanted.begin(), wanted.end());
  if (found == jpeg.end()) throw std::runtime_error("no such marker in the JPEG");
  return static_cast<std::size_t>(found - jpeg.begin());
}

inline Bytes WithoutSegment(Bytes jpeg, std::uint8_t marker) {
  const std::size_t at = FindMarker(jpeg, marker);
  const auto start = jpeg.begin() + static_cast<std::ptrdiff_t>(at);
  jpeg.erase(start, start + 2 + (jpeg[at + 2] << 8 | jpeg[at + 3]));
  return jpeg;
}

/// EXIF data with one entry: orientation 6, to be turned by 90 degrees.
inline Bytes RotatedExif() {
  return {'E', 'x',  'i', 'f', 0, 0, 'M', 'M', 0, 42, 0, 0, 0, 8, 0, 1,
          1,   0x12, 0,   3,   0, 0, 0,   1,   0, 6,  0, 0, 0, 0, 0, 0};
}

/// Adobe's APP14; transform 0 says that the values are stored as they are, RGB or CMYK.
inline Bytes AdobeSegment(std::uint8_t transform) {
  return Text("Adobe") + Bytes{0, 100, 0, 0, 0, 0, transform};
}

// --- PNG ---

inline Bytes PngChunk(const std::string& type, const Bytes& data) {
  std::uint32_t sum = 0xFFFFFFFF;  // CRC-32
  for (const std::uint8_t byte : Text(type) + data) {
    sum ^= byte;
    for (int bit = 0; bit < 8; ++bit) sum = sum >> 1 ^ ((sum & 1) != 0 ? 0xEDB88320 : 0);
  }
  return BigEndian(data.size(), 4) + Text(type) + data + BigEndian(~sum, 4);
}

/// A PNG that promises a picture and ends.
inline Bytes PngHeader(std::uint32_t width, std::uint32_t height) {
  return Text("\x89PNG\r\n\x1a\n") +
         PngChunk("IHDR", BigEndian(width, 4) + BigEndian(height, 4) + Bytes{1, 0, 0, 0, 0});
}

/// With a further chunk behind the header, where a colour profile has its place.
inline Bytes WithChunk(const Bytes& png, const std::string& type, const Bytes& data) {
  return InsertAt(png, 33, PngChunk(type, data));
}

// --- TIFF ---

/// Grey, 8 bit, not compressed, in one strip behind the directory. Libraries put it in front, where
/// a truncated file lacks its directory; cameras and scanners do not.
inline Bytes GreyTiff(const cv::Mat& grey, bool is_big_endian) {
  const auto number = [is_big_endian](std::uint64_t value, std::size_t size) {
    return is_big_endian ? BigEndian(value, size) : LittleEndian(value, size);
  };
  const auto width = static_cast<std::uint64_t>(grey.cols);
  const auto height = static_cast<std::uint64_t>(grey.rows);
  constexpr std::uint64_t kEntries = 9, kDirectorySize = 2 + 12 * kEntries + 4;
  const auto as_short = [&number](std::uint64_t tag, std::uint64_t value) {
    return number(tag, 2) + number(3, 2) + number(1, 4) + number(value, 2) + Bytes{0, 0};
  };
  const auto as_long = [&number](std::uint64_t tag, std::uint64_t value) {
    return number(tag, 2) + number(4, 2) + number(1, 4) + number(value, 4);
  };
  return Text(is_big_endian ? "MM" : "II") + number(42, 2) + number(8, 4) + number(kEntries, 2) +
         as_long(256, width) + as_short(257, height) + as_short(258, 8) + as_short(259, 1) +
         as_short(262, 1) + as_long(273, 8 + kDirectorySize) + as_short(277, 1) +
         as_short(278, height) + as_long(279, width * height) + number(0, 4) +
         Bytes(grey.data, grey.data + grey.total());
}

}  // namespace cnn
