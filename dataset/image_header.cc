#include "dataset/image_header.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>
#include <optional>
#include <string_view>

namespace cnn {
namespace {

using Bytes = std::vector<std::uint8_t>;

std::string_view AsText(const Bytes& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

bool StartsWith(std::string_view text, std::string_view start) {
  return text.substr(0, start.size()) == start;
}

// A file of a known format; reading beyond its end is the error that it is truncated.
class Reader {
 public:
  Reader(const Bytes& bytes, ImageFormat format, const std::string& path)
      : bytes_(bytes), format_(format), path_(path) {}

  std::size_t size() const { return bytes_.size(); }
  std::string_view text() const { return AsText(bytes_); }

  std::uint8_t Byte(std::size_t at) const {
    if (at >= bytes_.size()) FailTruncated("it ends within its header");
    return bytes_[at];
  }

  // An unsigned number of up to 4 bytes.
  std::uint32_t Big(std::size_t at, std::size_t count) const {
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < count; ++i) value = value << 8 | Byte(at + i);
    return value;
  }
  std::uint32_t Little(std::size_t at, std::size_t count) const {
    std::uint32_t value = 0;
    for (std::size_t i = count; i-- > 0;) value = value << 8 | Byte(at + i);
    return value;
  }

  void CheckHolds(std::uint64_t end) const {
    if (end > bytes_.size()) FailTruncated("its end is missing");
  }

  [[noreturn]] void FailTruncated(const std::string& why) const { Fail("a truncated", why); }
  [[noreturn]] void FailDamaged(const std::string& why) const { Fail("a damaged", why); }
  [[noreturn]] void FailUnsupported(const std::string& why) const { Fail("an unsupported", why); }

 private:
  [[noreturn]] void Fail(const char* state, const std::string& why) const {
    throw ImageError("'" + path_ + "' is " + state + " " + FormatName(format_) + " image: " + why);
  }

  const Bytes& bytes_;
  const ImageFormat format_;
  const std::string& path_;
};

bool IsPnm(std::string_view text) {
  return text.size() > 2 && text[0] == 'P' && text[1] >= '1' && text[1] <= '6' &&
         (text[2] == '#' || text[2] == ' ' || (text[2] >= '\t' && text[2] <= '\r'));
}

std::optional<ImageFormat> DetectFormat(std::string_view text) {
  if (StartsWith(text, "\xFF\xD8\xFF")) return ImageFormat::kJpeg;
  if (StartsWith(text, "\x89PNG")) return ImageFormat::kPng;
  if (StartsWith(text, "BM")) return ImageFormat::kBmp;
  if (StartsWith(text, std::string_view("II*\0", 4)) ||
      StartsWith(text, std::string_view("MM\0*", 4))) {
    return ImageFormat::kTiff;
  }
  if (StartsWith(text, "RIFF") && text.size() >= 12 && text.substr(8, 4) == "WEBP")
    return ImageFormat::kWebp;
  if (IsPnm(text)) return ImageFormat::kPnm;
  return std::nullopt;
}

std::string WhyUnknown(std::string_view text) {
  if (text.empty()) return "is empty (0 bytes)";
  if (StartsWith(text, "GIF8")) {
    return "is a GIF image, which OpenCV does not read; convert it to JPEG or PNG";
  }
  std::string start;
  for (const char c : text.substr(0, 8)) {
    static constexpr char kHex[] = "0123456789abcdef";
    const auto value = static_cast<std::uint8_t>(c);
    start += {' ', kHex[value >> 4], kHex[value & 15]};
  }
  return "is not an image of a known format (it starts with the bytes" + start + ")";
}

// --- JPEG (ITU T.81, annex B) ---

constexpr std::uint32_t kStartOfScan = 0xDA;
constexpr std::uint32_t kEndOfImage = 0xD9;

bool IsStartOfFrame(std::uint32_t marker) {
  // In the same range lie the tables DHT and DAC, and a reserved one.
  return marker >= 0xC0 && marker <= 0xCF && marker != 0xC4 && marker != 0xC8 && marker != 0xCC;
}

// The position of the frame header's length. Segments must be walked: an EXIF thumbnail is a whole
// JPEG, frame included.
std::size_t FindFrame(const Reader& jpeg) {
  std::size_t at = 2;  // after the start of the image
  while (true) {
    const std::uint32_t first = jpeg.Byte(at);
    const std::uint32_t marker = jpeg.Byte(at + 1);
    if (first != 0xFF || marker == 0xFF) {
      ++at;  // fill bytes, and the stray ones that libjpeg skips too
      continue;
    }
    at += 2;
    if (IsStartOfFrame(marker)) return at;
    if (marker == kStartOfScan || marker == kEndOfImage) jpeg.FailDamaged("it has no frame header");
    const bool has_length = marker > 0x01 && (marker < 0xD0 || marker > 0xD8);
    if (has_length) at += jpeg.Big(at, 2);
  }
}

ImageHeader ReadJpegHeader(const Reader& jpeg) {
  const std::size_t frame = FindFrame(jpeg);  // length, precision, height, width
  return {ImageFormat::kJpeg, jpeg.Big(frame + 5, 2), jpeg.Big(frame + 3, 2), jpeg.Byte(frame + 7)};
}

// --- PNG ---

ImageHeader ReadPngHeader(const Reader& png) {
  if (png.Big(4, 4) != 0x0D0A1A0A || png.Big(8, 4) != 13 || png.Big(12, 4) != 0x49484452 /*IHDR*/) {
    png.FailDamaged("it does not start as a PNG must");
  }
  return {ImageFormat::kPng, png.Big(16, 4), png.Big(20, 4)};
}

// Calls `visit(type, chunk)` for each chunk up to IEND; false when the file ends before. A chunk is
// its length, its type, that many bytes, and a checksum.
template <typename Visit>
bool VisitChunks(std::string_view png, Visit visit) {
  for (std::size_t at = 8; at + 12 <= png.size();) {
    std::size_t length = 0;
    for (std::size_t i = 0; i < 4; ++i)
      length = length << 8 | static_cast<std::uint8_t>(png[at + i]);
    if (length + 12 > png.size() - at) return false;
    const std::string_view type = png.substr(at + 4, 4);
    visit(type, png.substr(at, length + 12));
    if (type == "IEND") return true;
    at += length + 12;
  }
  return false;
}

bool IsCritical(std::string_view type) { return type.front() >= 'A' && type.front() <= 'Z'; }

// CRC-32 of a chunk's type and data (PNG specification, annex D).
std::uint32_t Checksum(std::string_view data) {
  static const auto table = [] {
    std::array<std::uint32_t, 256> sums{};
    for (std::uint32_t i = 0; i < 256; ++i) {
      std::uint32_t sum = i;
      for (int bit = 0; bit < 8; ++bit) sum = sum >> 1 ^ ((sum & 1) != 0 ? 0xEDB88320 : 0);
      sums[i] = sum;
    }
    return sums;
  }();
  std::uint32_t sum = 0xFFFFFFFF;
  for (const char c : data) sum = table[(sum ^ static_cast<std::uint8_t>(c)) & 255] ^ sum >> 8;
  return ~sum;
}

// libpng sees a wrong checksum too, but says so on stderr, without the file's name.
void CheckPng(const Reader& png) {
  const bool is_whole = VisitChunks(png.text(), [&](std::string_view type, std::string_view chunk) {
    const std::size_t sum =
        static_cast<std::size_t>(chunk.data() - png.text().data()) + chunk.size() - 4;
    if (IsCritical(type) && Checksum(chunk.substr(4, chunk.size() - 8)) != png.Big(sum, 4)) {
      png.FailDamaged("the checksum of its chunk " + std::string(type) + " is wrong");
    }
  });
  if (!is_whole) png.FailTruncated("its end is missing");
}

// --- BMP ---

// OS/2's header of 12 bytes has 16-bit sizes, all later ones begin with Windows' of 40 bytes.
bool HasCoreHeader(const Reader& bmp) { return bmp.Little(14, 4) == 12; }

std::int64_t Signed(std::uint32_t value) { return static_cast<std::int32_t>(value); }

ImageHeader ReadBmpHeader(const Reader& bmp) {
  if (HasCoreHeader(bmp)) return {ImageFormat::kBmp, bmp.Little(18, 2), bmp.Little(20, 2)};
  if (bmp.Little(14, 4) < 40) bmp.FailDamaged("its header is of no known kind");
  // A negative height means that the rows are stored from top to bottom.
  return {ImageFormat::kBmp, Signed(bmp.Little(18, 4)), std::abs(Signed(bmp.Little(22, 4)))};
}

void CheckBmp(const Reader& bmp, const ImageHeader& header) {
  const bool is_core = HasCoreHeader(bmp);
  const std::uint32_t compression = is_core ? 0 : bmp.Little(30, 4);
  if (compression == 1 || compression == 2) return;  // run lengths: OpenCV sees to it
  const std::uint64_t bits = bmp.Little(is_core ? 24 : 28, 2);
  const std::uint64_t stride = (static_cast<std::uint64_t>(header.width) * bits + 31) / 32 * 4;
  bmp.CheckHolds(bmp.Little(10, 4) + stride * static_cast<std::uint64_t>(header.height));
}

// --- PNM: PBM, PGM, PPM ---

struct PnmHeader {
  int kind;  // 1 to 3 are texts, 4 to 6 their binary forms: bits, grey, colour
  std::uint32_t width, height, max_value;
  std::size_t data;
};

// The number at `at`, which moves behind it and the one byte after it.
std::uint32_t NextNumber(const Reader& pnm, std::size_t& at) {
  const auto is_space = [](std::uint8_t c) { return c == ' ' || (c >= '\t' && c <= '\r'); };
  while (is_space(pnm.Byte(at)) || pnm.Byte(at) == '#') {
    if (pnm.Byte(at) == '#') {
      while (pnm.Byte(at) != '\n') ++at;
    }
    ++at;
  }
  std::uint32_t value = 0;
  const std::size_t start = at;
  for (; pnm.Byte(at) >= '0' && pnm.Byte(at) <= '9'; ++at) {
    if (value > 100'000'000) pnm.FailDamaged("a number in its header is too large");
    value = value * 10 + (pnm.Byte(at) - '0');
  }
  if (at == start) pnm.FailDamaged("its header lacks a number");
  ++at;
  return value;
}

PnmHeader ReadPnm(const Reader& pnm) {
  PnmHeader header = {pnm.Byte(1) - '0', 0, 0, 1, 2};
  header.width = NextNumber(pnm, header.data);
  header.height = NextNumber(pnm, header.data);
  if (header.kind % 3 != 1) header.max_value = NextNumber(pnm, header.data);
  return header;
}

ImageHeader ReadPnmHeader(const Reader& pnm) {
  const PnmHeader header = ReadPnm(pnm);
  return {ImageFormat::kPnm, header.width, header.height};
}

void CheckPnm(const Reader& pnm) {
  const PnmHeader header = ReadPnm(pnm);
  if (header.kind < 4) return;  // text: OpenCV sees to it
  const std::uint64_t sample = header.max_value > 255 ? 2 : 1;
  std::uint64_t stride = (header.width + 7) / 8;
  if (header.kind == 5) stride = header.width * sample;
  if (header.kind == 6) stride = 3 * header.width * sample;
  pnm.CheckHolds(header.data + stride * header.height);
}

// --- TIFF (revision 6.0), its first directory ---

class TiffDirectory {
 public:
  explicit TiffDirectory(const Reader& tiff)
      : tiff_(tiff),
        is_big_(tiff.Byte(0) == 'M'),
        start_(Number(4, 4)),
        entries_(Number(start_, 2)) {
    tiff.CheckHolds(start_ + 2 + 12 * entries_ + 4);  // it ends with the position of the next
  }

  /// The values of a tag, positions and sizes of each; `count` is 0 when it is absent.
  struct Values {
    std::size_t at = 0, size = 0, count = 0;
  };
  Values Find(std::uint32_t tag) const {
    for (std::size_t i = 0; i < entries_; ++i) {
      const std::size_t entry = start_ + 2 + 12 * i;  // tag, type, count, values or their position
      if (Number(entry, 2) != tag) continue;
      const std::uint32_t type = Number(entry + 2, 2);
      if (type != 3 && type != 4) break;  // neither SHORT nor LONG
      Values values = {entry + 8, type == 3 ? 2U : 4U, Number(entry + 4, 4)};
      if (values.size * values.count > 4) values.at = Number(entry + 8, 4);
      return values;
    }
    return {};
  }
  std::uint32_t Get(const Values& values, std::size_t index) const {
    return Number(values.at + index * values.size, values.size);
  }
  // The largest: for most tags it is the only one.
  std::uint32_t Max(std::uint32_t tag, std::uint32_t otherwise) const {
    const Values values = Find(tag);
    std::uint32_t max = values.count == 0 ? otherwise : 0;
    for (std::size_t i = 0; i < values.count; ++i) max = std::max(max, Get(values, i));
    return max;
  }

 private:
  std::uint32_t Number(std::size_t at, std::size_t size) const {
    return is_big_ ? tiff_.Big(at, size) : tiff_.Little(at, size);
  }

  const Reader& tiff_;
  const bool is_big_;
  const std::size_t start_;
  const std::size_t entries_;
};

ImageHeader ReadTiffHeader(const Reader& tiff) {
  const TiffDirectory directory(tiff);
  return {ImageFormat::kTiff, directory.Max(256, 0), directory.Max(257, 0)};
}

void CheckTiff(const Reader& tiff) {
  const TiffDirectory directory(tiff);
  const std::uint32_t bits = directory.Max(258, 1);
  const bool is_floating = directory.Max(339, 1) == 3;
  const bool is_logarithmic = directory.Max(262, 0) / 2 == 32844 / 2;  // LogL or LogLuv
  if (bits > 16 || is_floating || is_logarithmic) {
    tiff.FailUnsupported(
        "its samples are floating-point, logarithmic or of more than 16 bits; convert it to 8 or "
        "16 bits");
  }
  const bool is_tiled = directory.Find(324).count > 0;
  const TiffDirectory::Values offsets = directory.Find(is_tiled ? 324 : 273);
  const TiffDirectory::Values counts = directory.Find(is_tiled ? 325 : 279);
  for (std::size_t i = 0; i < offsets.count && i < counts.count; ++i) {
    tiff.CheckHolds(std::uint64_t{directory.Get(offsets, i)} + directory.Get(counts, i));
  }
}

// --- WebP (RIFF container) ---

ImageHeader ReadWebpHeader(const Reader& webp) {
  const std::uint32_t chunk = webp.Big(12, 4);
  const std::uint32_t mask = 0x3FFF;
  if (chunk == 0x56503820) {  // "VP8 ": after the frame tag and the start code
    return {ImageFormat::kWebp, webp.Little(26, 2) & mask, webp.Little(28, 2) & mask};
  }
  if (chunk == 0x5650384C) {  // "VP8L": two numbers of 14 bits, less one
    const std::uint32_t bits = webp.Little(21, 4);
    return {ImageFormat::kWebp, (bits & mask) + 1, (bits >> 14 & mask) + 1};
  }
  if (chunk == 0x56503858) {  // "VP8X": the canvas, less one
    return {ImageFormat::kWebp, webp.Little(24, 3) + 1, webp.Little(27, 3) + 1};
  }
  webp.FailDamaged("its first chunk is of no known kind");
}

void CheckWebp(const Reader& webp) { webp.CheckHolds(std::uint64_t{webp.Little(4, 4)} + 8); }

ImageHeader ReadHeaderOf(ImageFormat format, const Reader& reader) {
  switch (format) {
    case ImageFormat::kJpeg:
      return ReadJpegHeader(reader);
    case ImageFormat::kPng:
      return ReadPngHeader(reader);
    case ImageFormat::kBmp:
      return ReadBmpHeader(reader);
    case ImageFormat::kPnm:
      return ReadPnmHeader(reader);
    case ImageFormat::kTiff:
      return ReadTiffHeader(reader);
    case ImageFormat::kWebp:
      break;
  }
  return ReadWebpHeader(reader);
}

}  // namespace

const char* FormatName(ImageFormat format) {
  switch (format) {
    case ImageFormat::kJpeg:
      return "JPEG";
    case ImageFormat::kPng:
      return "PNG";
    case ImageFormat::kBmp:
      return "BMP";
    case ImageFormat::kPnm:
      return "PNM";
    case ImageFormat::kTiff:
      return "TIFF";
    case ImageFormat::kWebp:
      break;
  }
  return "WebP";
}

void CheckFormat(const std::vector<std::uint8_t>& bytes, const std::string& path) {
  if (!DetectFormat(AsText(bytes))) {
    throw ImageError("'" + path + "' " + WhyUnknown(AsText(bytes)));
  }
}

ImageHeader ReadImageHeader(const std::vector<std::uint8_t>& bytes, const std::string& path) {
  CheckFormat(bytes, path);
  const ImageFormat format = *DetectFormat(AsText(bytes));
  const Reader reader(bytes, format, path);
  const ImageHeader header = ReadHeaderOf(format, reader);
  if (header.width < 1 || header.height < 1) {
    reader.FailDamaged("its header says " + std::to_string(header.width) + " x " +
                       std::to_string(header.height) + " pixels");
  }
  return header;
}

void CheckDecodable(const std::vector<std::uint8_t>& bytes, const ImageHeader& header,
                    const std::string& path) {
  const Reader reader(bytes, header.format, path);
  switch (header.format) {
    case ImageFormat::kJpeg:
      return;  // its decoder says
    case ImageFormat::kPng:
      return CheckPng(reader);
    case ImageFormat::kBmp:
      return CheckBmp(reader, header);
    case ImageFormat::kPnm:
      return CheckPnm(reader);
    case ImageFormat::kTiff:
      return CheckTiff(reader);
    case ImageFormat::kWebp:
      return CheckWebp(reader);
  }
}

std::vector<std::uint8_t> WithoutAncillaryChunks(const std::vector<std::uint8_t>& png) {
  const std::string_view signature = AsText(png).substr(0, 8);
  std::vector<std::uint8_t> result(signature.begin(), signature.end());
  result.reserve(png.size());
  VisitChunks(AsText(png), [&result](std::string_view type, std::string_view chunk) {
    if (IsCritical(type) || type == "tRNS") result.insert(result.end(), chunk.begin(), chunk.end());
  });
  return result;
}

}  // namespace cnn
