#include "dataset/decode.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>
#include <stdexcept>
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

// More than any image of kDefaultMaxPixels, uncompressed and of 16 bits, takes; a sparse file may
// promise terabytes.
constexpr off_t kMaxFileBytes = off_t{1} << 30;

// Enough to tell every format.
constexpr std::size_t kFormatBytes = 16;

[[noreturn]] void ThrowErrno(const std::string& what, const std::string& path) {
  const int error = errno;
  throw ImageError(what + " '" + path + "': " + std::generic_category().message(error));
}

// Reads on until `bytes` has `size` of them.
void ReadUpTo(std::size_t size, const FileDescriptor& file, const std::string& path,
              std::vector<std::uint8_t>& bytes) {
  std::size_t done = bytes.size();
  bytes.resize(size);
  while (done < size) {
    const ssize_t got = read(file.get(), bytes.data() + done, size - done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) ThrowErrno("cannot read", path);
    if (got == 0) throw ImageError("'" + path + "' became shorter while it was read");
    done += static_cast<std::size_t>(got);
  }
}

// As Pillow's cmyk2rgb, rounding included. libjpeg gives the values as Adobe stores them, inverted;
// Pillow takes every CMYK JPEG to be Adobe's. In place: 4 bytes become 3.
void ConvertCmykToRgb(std::uint8_t* pixels, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint8_t* cmyk = pixels + 4 * i;
    const int not_black = cmyk[3];
    for (std::size_t k = 0; k < 3; ++k) {
      const int product = (255 - cmyk[k]) * not_black + 128;
      pixels[3 * i + k] = static_cast<std::uint8_t>(not_black - (((product >> 8) + product) >> 8));
    }
  }
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

void ReadImageFile(const std::string& path, std::vector<std::uint8_t>& bytes) {
  // Without O_NONBLOCK, opening a pipe would wait for its writer.
  const FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.get() < 0) ThrowErrno("cannot open", path);
  struct stat status = {};
  if (fstat(file.get(), &status) != 0) ThrowErrno("cannot inspect", path);
  if (!S_ISREG(status.st_mode)) throw ImageError("'" + path + "' is not a regular file");
  if (status.st_size == 0) throw ImageError("'" + path + "' is empty (0 bytes)");
  if (status.st_size > kMaxFileBytes) {
    throw ImageError("'" + path + "' has " + std::to_string(status.st_size) +
                     " bytes; no image is read that has more than " +
                     std::to_string(kMaxFileBytes));
  }
  const auto size = static_cast<std::size_t>(status.st_size);
  bytes.clear();
  ReadUpTo(std::min(size, kFormatBytes), file, path, bytes);
  CheckFormat(bytes, path);
  try {
    ReadUpTo(size, file, path, bytes);
  } catch (const std::bad_alloc&) {
    throw ImageError("there is no memory for '" + path + "'");
  }
}

Decoder::Decoder(std::int64_t max_pixels) : max_pixels_(max_pixels) {
  if (max_pixels < 1) throw std::invalid_argument("a decoder's limit must be at least one pixel");
}

const cv::Mat& Decoder::Decode(const std::vector<std::uint8_t>& bytes, const std::string& path) {
  warning_.clear();
  const ImageHeader header = ReadImageHeader(bytes, path);
  if (header.height > max_pixels_ / header.width) {
    throw ImageError("'" + path + "' has " + std::to_string(header.width) + " x " +
                     std::to_string(header.height) +
                     " pixels, more than --max_pixels=" + std::to_string(max_pixels_));
  }
  CheckDecodable(bytes, header, path);
  try {
    if (header.format == ImageFormat::kJpeg) {
      DecodeJpeg(bytes, header, path);
    } else {
      DecodeByOpenCv(bytes, header.format, path);
    }
  } catch (const std::bad_alloc&) {
    throw ImageError("there is no memory for the pixels of '" + path + "'");
  }
  return image_;
}

// Not cv::Mat::create: it allocates again for each size, and the first touch of new memory is dear.
std::uint8_t* Decoder::Memory(std::size_t size) {
  if (memory_.size() < size) memory_ = std::vector<std::uint8_t>(size);
  return memory_.data();
}

void Decoder::DecodeJpeg(const std::vector<std::uint8_t>& bytes, const ImageHeader& header,
                         const std::string& path) {
  const bool is_cmyk = header.components == 4;
  const int width = static_cast<int>(header.width);  // 16 bits in a JPEG
  const int height = static_cast<int>(header.height);
  const auto pixels = static_cast<std::size_t>(header.width * header.height);
  std::uint8_t* rgb = Memory(pixels * (is_cmyk ? 4 : 3));
  const JpegOutcome outcome = jpeg_.Decode(bytes, width, height, is_cmyk, rgb);
  if (outcome.state == JpegOutcome::State::kTruncated) {
    throw ImageError("'" + path + "' is a truncated JPEG image: its end is missing" +
                     (outcome.rows > 0 && outcome.rows < height
                          ? ", about " + std::to_string(outcome.rows) + " of its " +
                                std::to_string(height) + " rows are there"
                          : ""));
  }
  if (outcome.state == JpegOutcome::State::kDamaged) {
    throw ImageError("'" + path + "' is a damaged JPEG image: " + outcome.complaint);
  }
  warning_ = outcome.complaint;
  if (is_cmyk) ConvertCmykToRgb(rgb, pixels);
  image_ = cv::Mat(height, width, CV_8UC3, rgb);
}

void Decoder::DecodeByOpenCv(const std::vector<std::uint8_t>& bytes, ImageFormat format,
                             const std::string& path) {
  std::vector<std::uint8_t> stripped;
  if (format == ImageFormat::kPng) stripped = WithoutAncillaryChunks(bytes);
  cv::Mat bgr;
  try {
    // Not imdecode's form with a destination: that leaves an old image there when it fails.
    bgr = cv::imdecode(format == ImageFormat::kPng ? stripped : bytes,
                       cv::IMREAD_COLOR | cv::IMREAD_IGNORE_ORIENTATION);
  } catch (const cv::Exception& error) {
    throw ImageError("cannot decode '" + path + "': " + error.err);
  }
  if (bgr.empty()) {
    throw ImageError("'" + path + "' is a damaged or unsupported " + FormatName(format) + " image");
  }
  image_ = cv::Mat(bgr.rows, bgr.cols, CV_8UC3, Memory(3 * bgr.total()));
  cv::cvtColor(bgr, image_, cv::COLOR_BGR2RGB);
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
