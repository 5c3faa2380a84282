#include "dataset/image_header.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <opencv2/core.hpp>
#include <string>
#include <vector>

#include "dataset/random.h"
#include "dataset/testing.h"
#include "dataset/testing_images.h"

namespace cnn {
namespace {

std::string HeaderError(const Bytes& bytes) {
  std::string error = ErrorOf([&] { ReadImageHeader(bytes, "some/file"); });
  EXPECT_TRUE(Contains(error, "'some/file'")) << error;
  return error;
}

void ExpectHeader(const Bytes& bytes, ImageFormat format, std::int64_t width, std::int64_t height) {
  const ImageHeader header = ReadImageHeader(bytes, "some/file");
  EXPECT_STREQ(FormatName(header.format), FormatName(format));
  EXPECT_EQ(header.width, width);
  EXPECT_EQ(header.height, height);
  EXPECT_NO_THROW(CheckDecodable(bytes, header, "some/file"));
}

Bytes BmpHeader(std::uint32_t size_of_header, const Bytes& width, const Bytes& height) {
  return Text("BM") + Bytes(8, 0) + LittleEndian(14 + size_of_header, 4) +
         LittleEndian(size_of_header, 4) + width + height + LittleEndian(1, 2) +
         LittleEndian(24, 2) + Bytes(size_of_header, 0);
}

// The chunk `type` of a WebP file that begins with `data`.
Bytes Webp(const std::string& type, const Bytes& data) {
  return Text("RIFF") + LittleEndian(data.size() + 12, 4) + Text("WEBP") + Text(type) +
         LittleEndian(data.size(), 4) + data;
}

const std::vector<Bytes>& GoodFiles() {
  static const std::vector<Bytes> files = {
      WithSegment(EncodeJpeg(NoiseImage(9, 13)), 0xE1, RotatedExif()),
      Encode(".png", NoiseImage(9, 13)),
      Encode(".bmp", NoiseImage(9, 13)),
      Encode(".ppm", NoiseImage(9, 13)),
      Encode(".ppm", NoiseImage(9, 13), {cv::IMWRITE_PXM_BINARY, 0}),
      Encode(".tiff", NoiseImage(9, 13)),
      GreyTiff(GreyImage(9, 13), false),
      GreyTiff(GreyImage(9, 13), true),
      Encode(".webp", NoiseImage(9, 13)),
      Encode(".webp", NoiseImage(9, 13), {cv::IMWRITE_WEBP_QUALITY, 80}),
  };
  return files;
}

TEST(ReadImageHeader, ReadsEveryFormat) {
  const ImageFormat formats[] = {ImageFormat::kJpeg, ImageFormat::kPng,  ImageFormat::kBmp,
                                 ImageFormat::kPnm,  ImageFormat::kPnm,  ImageFormat::kTiff,
                                 ImageFormat::kTiff, ImageFormat::kTiff, ImageFormat::kWebp,
                                 ImageFormat::kWebp};
  for (std::size_t i = 0; i < GoodFiles().size(); ++i) {
    SCOPED_TRACE(i);
    ExpectHeader(GoodFiles()[i], formats[i], 13, 9);
  }
}

TEST(ReadImageHeader, WalksTheSegmentsOfAJpeg) {
  const Bytes jpeg = EncodeJpeg(NoiseImage(9, 13));
  const Bytes thumbnail = EncodeJpeg(NoiseImage(3, 4));
  ExpectHeader(WithSegment(jpeg, 0xE1, RotatedExif() + thumbnail), ImageFormat::kJpeg, 13, 9);
  ExpectHeader(WithSegment(WithoutSegment(jpeg, 0xE0), 0xE1, RotatedExif()), ImageFormat::kJpeg, 13,
               9);
  ExpectHeader(InsertAt(jpeg, 2, Bytes(20, 0xFF)), ImageFormat::kJpeg, 13, 9);
  ExpectHeader(InsertAt(jpeg, FindMarker(jpeg, 0xC0), Bytes(3, 0xFF)), ImageFormat::kJpeg, 13, 9);
  ExpectHeader(EncodeJpeg(NoiseImage(9, 13), Sampling::k420, true), ImageFormat::kJpeg, 13, 9);
}

TEST(ReadImageHeader, CountsTheComponentsOfAJpeg) {
  EXPECT_EQ(ReadImageHeader(EncodeJpeg(NoiseImage(9, 13), Sampling::kGrey), "a").components, 1);
  EXPECT_EQ(ReadImageHeader(EncodeJpeg(NoiseImage(9, 13)), "a").components, 3);
  EXPECT_EQ(ReadImageHeader(CmykJpeg(), "a").components, 4);
}

TEST(ReadImageHeader, KnowsBothHeadersOfABmp) {
  const Bytes rows(3 * 16, 0);
  ExpectHeader(BmpHeader(12, LittleEndian(5, 2), LittleEndian(3, 2)) + rows, ImageFormat::kBmp, 5,
               3);
  for (const std::uint32_t size : {40U, 108U, 124U}) {
    ExpectHeader(BmpHeader(size, LittleEndian(5, 4), LittleEndian(3, 4)) + rows, ImageFormat::kBmp,
                 5, 3);
  }
  const std::uint64_t from_top = static_cast<std::uint32_t>(-3);
  ExpectHeader(BmpHeader(40, LittleEndian(5, 4), LittleEndian(from_top, 4)) + rows,
               ImageFormat::kBmp, 5, 3);
  EXPECT_EQ(
      ReadImageHeader(BmpHeader(40, LittleEndian(5, 4), LittleEndian(0x80000000, 4)), "a").height,
      0x80000000);
  EXPECT_TRUE(Contains(HeaderError(BmpHeader(40, LittleEndian(from_top, 4), LittleEndian(3, 4))),
                       "says -3 x 3 pixels"));
  EXPECT_TRUE(Contains(HeaderError(BmpHeader(16, Bytes(4), Bytes(4))), "damaged BMP"));
}

TEST(ReadImageHeader, SkipsTheCommentsOfAPnm) {
  for (const char* text : {"P1\n# a comment\n5 3\n101010101010101", "P2 5\t# 7 7\n3 255 0",
                           "P3#\n#\n 5\r\n3 1 ", "P4\n5 3\n\1\2\3", "P5 5 3 255\n123456789012345",
                           "P6 5 3\n# 9\n255 123456789012345123456789012345123456789012345"}) {
    SCOPED_TRACE(text);
    ExpectHeader(Text(text), ImageFormat::kPnm, 5, 3);
  }
  EXPECT_TRUE(Contains(HeaderError(Text("P5 five")), "lacks a number"));
  EXPECT_TRUE(Contains(HeaderError(Text("P5 99999999999 1 255 ")), "too large"));
  EXPECT_TRUE(Contains(HeaderError(Text("P5 5 # 3")), "truncated PNM"));
}

TEST(ReadImageHeader, KnowsTheThreeKindsOfWebp) {
  // Sizes in 14 bits, the two above are for scaling.
  ExpectHeader(Webp("VP8 ", Bytes{0, 0, 0, 0x9D, 1, 0x2A} + LittleEndian(0x4000 + 300, 2) +
                                LittleEndian(200, 2)),
               ImageFormat::kWebp, 300, 200);
  ExpectHeader(Webp("VP8L", Bytes{0x2F} + LittleEndian(299 | 199 << 14 | 1 << 28, 4)),
               ImageFormat::kWebp, 300, 200);
  ExpectHeader(Webp("VP8X", Bytes(4) + LittleEndian(299, 3) + LittleEndian(199, 3)),
               ImageFormat::kWebp, 300, 200);
  EXPECT_TRUE(Contains(HeaderError(Webp("ALPH", Bytes(20))), "damaged WebP"));
}

TEST(ReadImageHeader, RefusesWhatItDoesNotKnow) {
  EXPECT_TRUE(Contains(HeaderError({}), "0 bytes"));
  EXPECT_TRUE(Contains(HeaderError(Text("GIF87a")), "GIF"));
  EXPECT_TRUE(Contains(HeaderError({7}), "(it starts with the bytes 07)"));
  EXPECT_TRUE(Contains(HeaderError(Text("P7\nWIDTH 3\n")), "50 37 0a"));
  for (const Bytes& other : {Bytes{0x76, 0x2F, 0x31, 0x01, 2, 0, 0, 0},  // OpenEXR
                             Bytes{0, 0, 0, 12, 'j', 'P', ' ', ' '},     // JPEG 2000
                             Text("#?RADIANCE\n"), Text("RIFF1234WAVEfmt "), Bytes{0xFF, 0xD8}}) {
    EXPECT_TRUE(Contains(HeaderError(other), "known format"));
  }
}

TEST(ReadImageHeader, RefusesAnEmptyPicture) {
  EXPECT_TRUE(Contains(HeaderError(PngHeader(0, 7)), "says 0 x 7 pixels"));
  EXPECT_TRUE(Contains(HeaderError(Text("P5 7 0 255\n")), "says 7 x 0 pixels"));
  // A TIFF whose directory has no entry.
  EXPECT_TRUE(
      Contains(HeaderError(Text("II*") + Bytes{0, 8, 0, 0, 0} + Bytes(6)), "says 0 x 0 pixels"));
}

TEST(ReadImageHeader, RefusesEveryIncompleteHeader) {
  for (const Bytes& good : GoodFiles()) {
    std::size_t complete = 0;  // of how many first bytes the header can be read
    while (true) {
      try {
        ReadImageHeader(Cut(good, complete), "some/file");
        break;
      } catch (const ImageError&) {
        ++complete;
      }
    }
    EXPECT_GT(complete, 10U);
    EXPECT_LE(complete, good.size());
    EXPECT_TRUE(Contains(HeaderError(Cut(good, complete - 1)), "truncated"));
  }
}

TEST(CheckDecodable, RefusesEveryIncompleteFile) {
  for (const Bytes& good : GoodFiles()) {
    const ImageHeader header = ReadImageHeader(good, "some/file");
    if (good[0] == 'P' && good[1] == '3') continue;  // may end anywhere in its text
    if (header.format == ImageFormat::kJpeg) continue;
    for (std::size_t size = 0; size < good.size(); ++size) {
      EXPECT_THROW(CheckDecodable(Cut(good, size), header, "some/file"), ImageError)
          << FormatName(header.format) << " " << size << " of " << good.size();
    }
  }
}

TEST(CheckDecodable, RefusesSamplesThatOpenCvMisreads) {
  for (const int type : {CV_32FC1, CV_32FC3}) {
    const Bytes tiff = Encode(".tiff", cv::Mat(4, 4, type, cv::Scalar::all(0.5)));
    const ImageHeader header = ReadImageHeader(tiff, "a");
    const std::string error = ErrorOf([&] { CheckDecodable(tiff, header, "a"); });
    EXPECT_TRUE(Contains(error, "'a' is an unsupported TIFF image: its samples are floating-point"))
        << error;
  }
  const Bytes deep = Encode(".tiff", SixteenBitRamp());
  EXPECT_NO_THROW(CheckDecodable(deep, ReadImageHeader(deep, "a"), "a"));
}

TEST(WithoutAncillaryChunks, KeepsWhatDecidesThePixels) {
  const Bytes png = Encode(".png", NoiseImage(9, 13));
  const Bytes transparent = WithChunk(png, "tRNS", {0, 1, 0, 2, 0, 3});
  EXPECT_EQ(WithoutAncillaryChunks(WithChunk(transparent, "iCCP", Bytes(50))), transparent);
  EXPECT_EQ(WithoutAncillaryChunks(WithChunk(png, "tEXt", {}) + Bytes(9)), png);
}

// Any bytes give a header or an ImageError; a sanitizer sees to the rest.
TEST(ReadImageHeader, SurvivesDamage) {
  KeyedRandom random({1});
  int accepted = 0, refused = 0;
  for (const Bytes& good : GoodFiles()) {
    for (int i = 0; i < 2000; ++i) {
      const Bytes bytes = Damage(good, random);
      try {
        const ImageHeader header = ReadImageHeader(bytes, "some/file");
        EXPECT_GT(header.width, 0);
        EXPECT_GT(header.height, 0);
        CheckDecodable(bytes, header, "some/file");
        if (header.format == ImageFormat::kPng) {
          EXPECT_LE(WithoutAncillaryChunks(bytes).size(), bytes.size());
        }
        ++accepted;
      } catch (const ImageError&) {
        ++refused;
      }
    }
  }
  EXPECT_GT(accepted, 1000);
  EXPECT_GT(refused, 1000);
}

}  // namespace
}  // namespace cnn
