#include "dataset/decode.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <opencv2/core.hpp>
#include <opencv2/imgcodecs.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "dataset/random.h"
#include "dataset/testing.h"

#if defined(__SANITIZE_THREAD__)
// Debian's OpenCV asks GDAL about some formats; GDAL takes its own locks in varying order.
extern "C" const char* __tsan_default_suppressions() { return "deadlock:libgdal.so\n"; }
#endif

namespace cnn {
namespace {

using Bytes = std::vector<std::uint8_t>;

cv::Mat NoiseImage(int rows, int cols) {
  return RandomImage(
      rows, cols, 0, 256,
      KeyedRandom({static_cast<std::uint64_t>(rows), static_cast<std::uint64_t>(cols)}));
}

cv::Mat GreyImage(int rows, int cols) {
  cv::Mat grey;
  cv::extractChannel(NoiseImage(rows, cols), grey, 0);
  return grey;
}

Bytes Encode(const std::string& ending, const cv::Mat& image) {
  Bytes bytes;
  cv::imencode(ending, image, bytes);
  return bytes;
}

bool Same(const cv::Mat& a, const cv::Mat& b) {
  return a.size() == b.size() && a.type() == b.type() && cv::norm(a, b, cv::NORM_INF) == 0;
}

cv::Mat Decode(const Bytes& bytes) {
  cv::Mat rgb;
  DecodeRgb(bytes, "some/file.jpg", rgb);
  return rgb;
}

std::string DecodeError(const Bytes& bytes) {
  const std::string error = ErrorOf([&] { Decode(bytes); });
  EXPECT_TRUE(Contains(error, "some/file.jpg")) << error;
  return error;
}

Bytes Text(const std::string& text) { return {text.begin(), text.end()}; }

// An APP1 segment in front of the others, as cameras write it.
Bytes WithApp1(const Bytes& jpeg, const Bytes& payload) {
  Bytes segment = {0xFF, 0xE1, static_cast<std::uint8_t>((payload.size() + 2) >> 8),
                   static_cast<std::uint8_t>((payload.size() + 2) & 255)};
  segment.insert(segment.end(), payload.begin(), payload.end());
  Bytes result = jpeg;
  result.insert(result.begin() + 2, segment.begin(), segment.end());
  return result;
}

TEST(ReadFile, ReadsAllBytesAndReusesMemory) {
  const TempDir dir;
  WriteText(dir.path() / "long", std::string(1000, 'a'));
  WriteText(dir.path() / "short", "abc");
  Bytes bytes;
  ReadFile((dir.path() / "long").string(), bytes);
  EXPECT_EQ(bytes, Bytes(1000, 'a'));
  const std::uint8_t* memory = bytes.data();
  ReadFile((dir.path() / "short").string(), bytes);
  EXPECT_EQ(bytes, Text("abc"));
  EXPECT_EQ(bytes.data(), memory);
}

TEST(ReadFile, TakesAnyNameTheFileSystemTakes) {
  const TempDir dir;
  const std::string path = (dir.path() / "\xC3\xA4 \xE7\xA9\xBA.jpg").string();
  WriteText(path, "abc");
  Bytes bytes;
  ReadFile(path, bytes);
  EXPECT_EQ(bytes.size(), 3U);
}

TEST(ReadFile, RefusesWhatIsNoFileWithContent) {
  const TempDir dir;
  WriteText(dir.path() / "empty.jpg", "");
  ASSERT_EQ(mkfifo((dir.path() / "pipe.jpg").c_str(), 0600), 0);
  const auto error = [&](const char* name) {
    const std::string path = (dir.path() / name).string();
    const std::string message = ErrorOf([&] {
      Bytes bytes;
      ReadFile(path, bytes);
    });
    EXPECT_TRUE(Contains(message, path)) << message;
    return message;
  };
  EXPECT_TRUE(Contains(error("missing.jpg"), "No such file"));
  EXPECT_TRUE(Contains(error("empty.jpg"), "0 bytes"));
  EXPECT_TRUE(Contains(error("."), "not a regular file"));
  EXPECT_TRUE(Contains(error("pipe.jpg"), "not a regular file"));
}

TEST(DecodeRgb, GivesRgbOrder) {
  cv::Mat bgr = NoiseImage(9, 13);
  for (const char* ending : {".png", ".bmp", ".ppm", ".tiff"}) {
    const cv::Mat rgb = Decode(Encode(ending, bgr));
    ASSERT_EQ(rgb.size(), bgr.size()) << ending;
    for (int i = 0; i < 9 * 13; ++i) {
      const std::uint8_t* in = bgr.data + 3 * i;
      const std::uint8_t* out = rgb.data + 3 * i;
      ASSERT_TRUE(in[0] == out[2] && in[1] == out[1] && in[2] == out[0]) << ending << i;
    }
  }
}

TEST(DecodeRgb, JudgesByContentNotByName) {
  const cv::Mat image = NoiseImage(8, 8);
  EXPECT_TRUE(Same(Decode(Encode(".png", image)), Decode(Encode(".bmp", image))));
}

TEST(DecodeRgb, MakesThreeChannelsOfGreyAndSixteenBits) {
  const cv::Mat grey = Decode(Encode(".jpg", GreyImage(16, 16)));
  ASSERT_EQ(grey.type(), CV_8UC3);
  EXPECT_EQ(grey.data[0], grey.data[1]);
  cv::Mat deep(1, 256, CV_16UC1);
  for (int i = 0; i < 256; ++i) deep.at<std::uint16_t>(i) = static_cast<std::uint16_t>(i * 257);
  const cv::Mat shallow = Decode(Encode(".png", deep));
  ASSERT_EQ(shallow.type(), CV_8UC3);
  for (int i = 0; i < 256; ++i) EXPECT_EQ(shallow.data[3 * i], i);
}

TEST(DecodeRgb, NeverPassesOnTheImageBefore) {
  cv::Mat rgb = NoiseImage(16, 16);
  EXPECT_THROW(DecodeRgb(Text("no image"), "a", rgb), std::runtime_error);
  EXPECT_THROW(DecodeRgb(Text("\xFF\xD8\xFF\xD9 no image"), "a", rgb), std::runtime_error);
}

TEST(DecodeRgb, IgnoresExifOrientation) {
  const Bytes jpeg = Encode(".jpg", NoiseImage(16, 24));
  // Big-endian TIFF header, one entry: tag 0x0112 (orientation), a short, 6 (rotate by 90 degrees).
  const Bytes exif = {'E', 'x',  'i', 'f', 0, 0, 'M', 'M', 0, 42, 0, 0, 0, 8, 0, 1,
                      1,   0x12, 0,   3,   0, 0, 0,   1,   0, 6,  0, 0, 0, 0, 0, 0};
  const Bytes rotated = WithApp1(jpeg, exif);
  ASSERT_EQ(cv::imdecode(rotated, cv::IMREAD_COLOR).rows, 24) << "the EXIF data is not understood";
  EXPECT_TRUE(Same(Decode(rotated), Decode(jpeg)));
}

TEST(DecodeRgb, NamesATruncatedJpeg) {
  const Bytes jpeg = Encode(".jpg", NoiseImage(64, 64));
  for (const std::size_t size :
       {jpeg.size() / 2, jpeg.size() - 2, jpeg.size() - 1, std::size_t{100}, std::size_t{3}}) {
    const std::string error =
        DecodeError(Bytes(jpeg.begin(), jpeg.begin() + static_cast<std::ptrdiff_t>(size)));
    EXPECT_TRUE(Contains(error, "truncated")) << size << ": " << error;
  }
}

TEST(DecodeRgb, IsNotFooledByTheEndOfAThumbnail) {
  Bytes jpeg = WithApp1(Encode(".jpg", NoiseImage(64, 64)), Encode(".jpg", NoiseImage(8, 8)));
  EXPECT_EQ(Decode(jpeg).rows, 64);
  jpeg.resize(jpeg.size() - 500);
  EXPECT_TRUE(Contains(DecodeError(jpeg), "truncated"));
}

TEST(DecodeRgb, AcceptsBytesAfterTheEnd) {
  const Bytes jpeg = Encode(".jpg", NoiseImage(32, 32));
  const cv::Mat expected = Decode(jpeg);
  for (const auto junk : Bytes{0x00, 0x0A, 0xFF}) {
    Bytes padded = jpeg;
    padded.insert(padded.end(), 3000, junk);
    EXPECT_TRUE(Same(Decode(padded), expected)) << static_cast<int>(junk);
  }
}

TEST(DecodeRgb, AcceptsProgressiveJpeg) {
  Bytes bytes;
  cv::imencode(".jpg", NoiseImage(40, 40), bytes, {cv::IMWRITE_JPEG_PROGRESSIVE, 1});
  EXPECT_EQ(Decode(bytes).rows, 40);
  bytes.resize(bytes.size() / 2);
  EXPECT_TRUE(Contains(DecodeError(bytes), "truncated"));
}

TEST(DecodeRgb, SaysWhatAnUndecodableFileIs) {
  EXPECT_TRUE(Contains(DecodeError({}), "0 bytes"));
  EXPECT_TRUE(Contains(DecodeError(Text("GIF89a")), "GIF"));
  EXPECT_TRUE(Contains(DecodeError(Text("<html></html>")), "3c 68 74 6d 6c"));
  EXPECT_TRUE(Contains(DecodeError(Bytes(1000, 0)), "00 00 00 00"));
  Bytes png = Encode(".png", NoiseImage(32, 32));
  png.resize(png.size() / 2);
  EXPECT_TRUE(Contains(DecodeError(png), "damaged PNG"));
}

TEST(DecodeRgb, TurnsOpenCvsExceptionsIntoItsOwn) {
  // A BMP header that promises more pixels than OpenCV accepts.
  Bytes bmp(54, 0);
  const auto put = [&bmp](std::size_t at, std::uint32_t value) {
    for (std::size_t i = 0; i < 4; ++i) bmp[at + i] = static_cast<std::uint8_t>(value >> 8 * i);
  };
  bmp[0] = 'B';
  bmp[1] = 'M';
  put(10, 54);
  put(14, 40);
  put(18, 400000);
  put(22, 400000);
  bmp[26] = 1;
  bmp[28] = 24;
  EXPECT_TRUE(Contains(DecodeError(bmp), "cannot decode"));
}

// The column's number in red and green.
cv::Mat Ramp(int cols) {
  cv::Mat ramp(1, cols, CV_8UC3);
  for (int i = 0; i < cols; ++i) {
    ramp.data[3 * i] = static_cast<std::uint8_t>(i & 255);
    ramp.data[3 * i + 1] = static_cast<std::uint8_t>(i >> 8);
    ramp.data[3 * i + 2] = 77;
  }
  return ramp;
}

// Of the widths 1 to 1024 scaled to 150, Pillow 9.4 gives another result than exact integer
// arithmetic for 212 (a count over runs of Pillow itself).
TEST(ResizeNearest, RoundsAsPillowDoes) {
  int differing = 0;
  cv::Mat resized;
  for (int cols = 1; cols <= 1024; ++cols) {
    ResizeNearest(Ramp(cols), 1, 150, resized);
    bool differs = false;
    double x = 0.5 * cols / 150;
    for (int i = 0; i < 150; ++i) {
      const int index = resized.data[3 * i] | resized.data[3 * i + 1] << 8;
      EXPECT_EQ(index, static_cast<int>(x)) << cols << " " << i;
      EXPECT_EQ(resized.data[3 * i + 2], 77);
      differs = differs || index != (2 * i + 1) * cols / 300;
      x += cols / 150.0;
    }
    differing += differs ? 1 : 0;
  }
  EXPECT_EQ(differing, 212);
}

TEST(ResizeNearest, ScalesRowsLikeColumns) {
  const cv::Mat image = NoiseImage(67, 93);
  cv::Mat resized, transposed, of_transposed;
  ResizeNearest(image, 40, 31, resized);
  cv::transpose(image, transposed);
  ResizeNearest(transposed, 31, 40, of_transposed);
  cv::transpose(of_transposed, transposed);
  EXPECT_TRUE(Same(resized, transposed));
}

TEST(ResizeNearest, EnlargesWithoutTouchingMemoryBeyondTheImage) {
  // Exactly as much memory as pixels, so that AddressSanitizer sees a byte too many.
  Bytes memory(3 * 2 * 3, 9);
  for (std::size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<std::uint8_t>(i);
  const cv::Mat image(2, 3, CV_8UC3, memory.data());
  Bytes out_memory(3 * 5 * 7);
  cv::Mat resized(5, 7, CV_8UC3, out_memory.data());
  ResizeNearest(image, 5, 7, resized);
  ASSERT_EQ(resized.data, out_memory.data());
  for (int r = 0; r < 5; ++r) {
    for (int c = 0; c < 7; ++c) {
      const int source = (2 * r + 1) * 2 / 10 * 3 + (2 * c + 1) * 3 / 14;
      for (int k = 0; k < 3; ++k) {
        EXPECT_EQ(out_memory[static_cast<std::size_t>((r * 7 + c) * 3 + k)], source * 3 + k);
      }
    }
  }
}

TEST(ResizeNearest, CopiesAnImageOfTheRightSize) {
  const cv::Mat image = NoiseImage(20, 30);
  cv::Mat copy;
  ResizeNearest(image, 20, 30, copy);
  EXPECT_TRUE(Same(copy, image));
  EXPECT_NE(copy.data, image.data);
}

TEST(ResizeNearest, TakesAPartOfAnImage) {
  const cv::Mat part = NoiseImage(30, 30)(cv::Rect(5, 6, 17, 19));
  cv::Mat of_part, of_copy;
  ResizeNearest(part, 10, 11, of_part);
  ResizeNearest(part.clone(), 10, 11, of_copy);
  EXPECT_TRUE(Same(of_part, of_copy));
}

TEST(ResizeNearest, RefusesOtherImagesAndSizes) {
  cv::Mat out;
  EXPECT_THROW(ResizeNearest(cv::Mat(), 2, 2, out), std::invalid_argument);
  EXPECT_THROW(ResizeNearest(GreyImage(4, 4), 2, 2, out), std::invalid_argument);
  EXPECT_THROW(ResizeNearest(NoiseImage(4, 4), 0, 2, out), std::invalid_argument);
}

}  // namespace
}  // namespace cnn
