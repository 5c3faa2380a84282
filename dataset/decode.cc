#include "dataset/decode.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>
#include <stdexcept>
#include <string_view>
#include <system_error>

namespace cnn {
namespace {

class FileDescriptor {
 public:
  explicit FileDescriptor(int descriptor) : descriptor_(descriptor) {}
  ~FileDescriptor() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  int get() const { return descriptor_; }

 private:
  int descriptor_;
};

[[noreturn]] void ThrowErrno(const std::string& what, const std::string& path) {
  const int error = errno;
  throw std::runtime_error(what + " '" + path + "': " + std::generic_category().message(error));
}

std::string_view AsText(const std::vector<std::uint8_t>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

bool StartsWith(std::string_view text, std::string_view start) {
  return text.substr(0, start.size()) == start;
}

bool IsJpeg(std::string_view bytes) { return StartsWith(bytes, "\xFF\xD8\xFF"); }

// The position after the header of the first scan, or npos when the file ends before. Segments must
// be walked: an EXIF thumbnail is a whole JPEG, end marker included.
std::size_t FirstScan(std::string_view jpeg) {
  const auto byte = [jpeg](std::size_t i) {
    return static_cast<std::size_t>(static_cast<std::uint8_t>(jpeg[i]));
  };
  std::size_t at = 2;  // after SOI
  while (at + 4 <= jpeg.size()) {
    if (byte(at) != 0xFF || byte(at + 1) == 0xFF) {
      ++at;  // fill bytes, and the stray ones that libjpeg skips too
      continue;
    }
    const std::size_t marker = byte(at + 1);
    const bool has_length = marker != 0x00 && marker != 0x01 && (marker < 0xD0 || marker > 0xD9);
    at += has_length ? 2 + (byte(at + 2) << 8 | byte(at + 3)) : 2;
    if (marker == 0xDA) return at <= jpeg.size() ? at : std::string_view::npos;
  }
  return std::string_view::npos;
}

// libjpeg pads a truncated file with grey and OpenCV does not pass on its warning. Within scan data
// FF is always followed by 00 or a restart marker, so a file that holds its whole picture has an FF
// D9 after its first scan starts; whatever follows it (padding, a second picture, junk) does no
// harm.
bool IsTruncatedJpeg(std::string_view jpeg) {
  const std::size_t scan = FirstScan(jpeg);
  if (scan == std::string_view::npos) return true;
  const std::size_t end = jpeg.rfind("\xFF\xD9");
  return end == std::string_view::npos || end < scan;
}

std::string WhyUndecodable(std::string_view bytes) {
  if (StartsWith(bytes, "GIF8")) {
    return "is a GIF image, which OpenCV does not read; convert it to JPEG or PNG";
  }
  if (IsJpeg(bytes)) return "is a damaged JPEG image";
  if (StartsWith(bytes, "\x89PNG")) return "is a damaged PNG image";
  if (StartsWith(bytes, "BM")) return "is a damaged or unsupported BMP image";
  if (StartsWith(bytes, std::string_view("II*\0", 4)) ||
      StartsWith(bytes, std::string_view("MM\0*", 4))) {
    return "is a damaged or unsupported TIFF image";
  }
  std::string start;
  for (const char c : bytes.substr(0, 8)) {
    static constexpr char kHex[] = "0123456789abcdef";
    const auto value = static_cast<std::uint8_t>(c);
    start += {' ', kHex[value >> 4], kHex[value & 15]};
  }
  return "is not an image of a known format (it starts with the bytes" + start + ")";
}

// out[i] = (int)x, x = a/2, a/2 + a, ... by repeated addition, as Pillow's ImagingScaleAffine: its
// rounding is part of the result.
std::vector<int> NearestIndices(int from, int to) {
  std::vector<int> indices(static_cast<std::size_t>(to));
  const double step = static_cast<double>(from) / to;
  double x = step * 0.5;
  for (int& index : indices) {
    index = std::min(static_cast<int>(x), from - 1);
    x += step;
  }
  return indices;
}

}  // namespace

void ReadFile(const std::string& path, std::vector<std::uint8_t>& bytes) {
  // Without O_NONBLOCK, opening a pipe would wait for its writer.
  const FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.get() < 0) ThrowErrno("cannot open", path);
  struct stat status = {};
  if (fstat(file.get(), &status) != 0) ThrowErrno("cannot inspect", path);
  if (!S_ISREG(status.st_mode)) throw std::runtime_error("'" + path + "' is not a regular file");
  if (status.st_size == 0) throw std::runtime_error("'" + path + "' is empty (0 bytes)");
  bytes.resize(static_cast<std::size_t>(status.st_size));
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t got = read(file.get(), bytes.data() + done, bytes.size() - done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) ThrowErrno("cannot read", path);
    if (got == 0) throw std::runtime_error("'" + path + "' became shorter while it was read");
    done += static_cast<std::size_t>(got);
  }
}

void DecodeRgb(const std::vector<std::uint8_t>& bytes, const std::string& path, cv::Mat& rgb) {
  if (bytes.empty()) throw std::runtime_error("'" + path + "' is empty (0 bytes)");
  const std::string_view text = AsText(bytes);
  if (IsJpeg(text) && IsTruncatedJpeg(text)) {
    throw std::runtime_error("'" + path + "' is a truncated JPEG image: its end is missing");
  }
  cv::Mat bgr;
  try {
    // Not imdecode's form with a destination: that leaves an old image there when it fails.
    bgr = cv::imdecode(bytes, cv::IMREAD_COLOR | cv::IMREAD_IGNORE_ORIENTATION);
  } catch (const cv::Exception& error) {
    throw std::runtime_error("cannot decode '" + path + "': " + error.err);
  }
  if (bgr.empty()) throw std::runtime_error("'" + path + "' " + WhyUndecodable(text));
  cv::cvtColor(bgr, rgb, cv::COLOR_BGR2RGB);
}

void ResizeNearest(const cv::Mat& from, int height, int width, cv::Mat& to) {
  if (from.empty() || from.type() != CV_8UC3 || height < 1 || width < 1) {
    throw std::invalid_argument("ResizeNearest wants an 8-bit 3-channel image and a positive size");
  }
  if (from.rows == height && from.cols == width) {
    from.copyTo(to);
    return;
  }
  to.create(height, width, CV_8UC3);
  const std::vector<int> rows = NearestIndices(from.rows, height);
  std::vector<int> columns = NearestIndices(from.cols, width);
  // A pixel is copied as 4 bytes, the fourth to be overwritten by the next pixel; those that must
  // not touch the byte after theirs (end of the output row, end of the input row) are copied as 3.
  int wide = 0;
  while (wide < width - 1 && columns[static_cast<std::size_t>(wide)] < from.cols - 1) ++wide;
  for (int& column : columns) column *= 3;
  for (int r = 0; r < height; ++r) {
    const std::uint8_t* source = from.ptr<std::uint8_t>(rows[static_cast<std::size_t>(r)]);
    std::uint8_t* out = to.ptr<std::uint8_t>(r);
    const int* column = columns.data();
    for (int c = 0; c < wide; ++c) std::memcpy(out + 3 * c, source + column[c], 4);
    for (int c = wide; c < width; ++c) std::memcpy(out + 3 * c, source + column[c], 3);
  }
}

}  // namespace cnn
