#include "dataset/decode.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdint>
#include <opencv2/core.hpp>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "dataset/random.h"
#include "dataset/testing.h"
#include "dataset/testing_images.h"

#if defined(__SANITIZE_THREAD__)
// Debian's OpenCV asks GDAL about some formats; GDAL takes its own locks in varying order.
extern "C" const char* __tsan_default_suppressions() { return "deadlock:libgdal.so\n"; }
#endif

namespace cnn {
namespace {

cv::Mat Decode(const Bytes& bytes) { return Decoder().Decode(bytes, "some/file.jpg").clone(); }

std::string DecodeError(const Bytes& bytes) {
  std::string error;
  try {
    Decode(bytes);
    ADD_FAILURE() << "no ImageError was thrown";
  } catch (const ImageError& caught) {
    error = caught.what();
  }
  EXPECT_TRUE(Contains(error, "'some/file.jpg'")) << error;
  return error;
}

std::string WarningOf(const Bytes& bytes) {
  Decoder decoder;
  decoder.Decode(bytes, "some/file.jpg");
  return decoder.warning();
}

// As OpenCV decodes it.
cv::Mat Reference(const Bytes& bytes) {
  cv::Mat rgb;
  cv::cvtColor(cv::imdecode(bytes, cv::IMREAD_COLOR | cv::IMREAD_IGNORE_ORIENTATION), rgb,
               cv::COLOR_BGR2RGB);
  return rgb;
}

TEST(ReadImageFile, ReadsAllBytesAndReusesMemory) {
  const TempDir dir;
  const Bytes bmp = Text("BM" + std::string(998, 'a'));
  WriteBytes(dir.path() / "long", bmp);
  WriteText(dir.path() / "short", "BMc");
  Bytes bytes;
  ReadImageFile((dir.path() / "long").string(), bytes);
  EXPECT_EQ(bytes, bmp);
  const std::uint8_t* memory = bytes.data();
  ReadImageFile((dir.path() / "short").string(), bytes);
  EXPECT_EQ(bytes, Text("BMc"));
  EXPECT_EQ(bytes.data(), memory);
}

TEST(ReadImageFile, TakesAnyNameTheFileSystemTakes) {
  const TempDir dir;
  const std::string path = (dir.path() / "\xC3\xA4 \xE7\xA9\xBA.jpg").string();
  WriteText(path, "BMc");
  Bytes bytes;
  ReadImageFile(path, bytes);
  EXPECT_EQ(bytes.size(), 3U);
}

TEST(ReadImageFile, RefusesWhatIsNoFileWithContent) {
  const TempDir dir;
  WriteText(dir.path() / "empty.jpg", "");
  ASSERT_EQ(mkfifo((dir.path() / "pipe.jpg").c_str(), 0600), 0);
  const auto error = [&](const char* name) {
    const std::string path = (dir.path() / name).string();
    std::string message = ErrorOf([&] {
      Bytes bytes;
      ReadImageFile(path, bytes);
    });
    EXPECT_TRUE(Contains(message, path)) << message;
    return message;
  };
  EXPECT_TRUE(Contains(error("missing.jpg"), "No such file"));
  EXPECT_TRUE(Contains(error("empty.jpg"), "0 bytes"));
  EXPECT_TRUE(Contains(error("."), "not a regular file"));
  EXPECT_TRUE(Contains(error("pipe.jpg"), "not a regular file"));
  // Not read to its end to find out.
  WriteText(dir.path() / "junk.jpg", "");
  std::filesystem::resize_file(dir.path() / "junk.jpg", std::uintmax_t{1} << 29);
  EXPECT_TRUE(Contains(error("junk.jpg"), "known format"));
}

TEST(Decoder, GivesRgbOrder) {
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

TEST(Decoder, JudgesByContentNotByName) {
  const cv::Mat image = NoiseImage(8, 8);
  EXPECT_TRUE(Same(Decode(Encode(".png", image)), Decode(Encode(".bmp", image))));
}

TEST(Decoder, GivesOpenCvsPixelsOfAJpeg) {
  for (const Sampling sampling : {Sampling::k444, Sampling::k422, Sampling::k420, Sampling::k440,
                                  Sampling::k411, Sampling::kGrey}) {
    for (const bool is_progressive : {false, true}) {
      for (const cv::Size size : {cv::Size(1, 1), cv::Size(7, 5), cv::Size(64, 48),
                                  cv::Size(131, 77), cv::Size(17, 200)}) {
        const Bytes jpeg =
            EncodeJpeg(NoiseImage(size.height, size.width), sampling, is_progressive);
        EXPECT_TRUE(Same(Decode(jpeg), Reference(jpeg)))
            << static_cast<int>(sampling) << is_progressive << size;
      }
    }
  }
}

TEST(Decoder, MakesThreeChannelsOfGreyAndSixteenBits) {
  const cv::Mat grey = Decode(Encode(".jpg", GreyImage(16, 16)));
  ASSERT_EQ(grey.type(), CV_8UC3);
  EXPECT_EQ(grey.data[0], grey.data[1]);
  const cv::Mat shallow = Decode(Encode(".png", SixteenBitRamp()));
  ASSERT_EQ(shallow.type(), CV_8UC3);
  for (int i = 0; i < 256; ++i) EXPECT_EQ(shallow.data[3 * i], i);
}

// (nk - (255 - c) nk / 255) for the values c and nk as stored, Adobe's inverted ones.
TEST(Decoder, ConvertsCmykAsPillowDoes) {
  const Bytes ycck = CmykJpeg();
  for (const Bytes& jpeg : {ycck, PlainCmyk(), WithoutSegment(ycck, 0xEE)}) {
    const cv::Mat rgb = Decode(jpeg);
    EXPECT_LE(cv::norm(rgb, Reference(jpeg), cv::NORM_INF), 2);  // OpenCV does not round
    Bytes stored(4 * rgb.total());
    ASSERT_EQ(JpegDecoder().Decode(jpeg, rgb.cols, rgb.rows, true, stored.data()).state,
              JpegOutcome::State::kGood);
    for (std::size_t i = 0; i < 3 * rgb.total(); ++i) {
      const double c = stored[i / 3 * 4 + i % 3], nk = stored[i / 3 * 4 + 3];
      ASSERT_NEAR(rgb.data[i], nk - (255 - c) * nk / 255, 0.51) << i;
    }
  }
}

TEST(Decoder, DropsTransparency) {
  cv::Mat bgra(4, 4, CV_8UC4, cv::Scalar(10, 20, 30, 0));
  const cv::Mat rgb = Decode(Encode(".png", bgra));
  EXPECT_EQ(rgb.at<cv::Vec3b>(0, 0), cv::Vec3b(30, 20, 10));
}

TEST(Decoder, ReusesItsMemory) {
  Decoder decoder;
  const std::uint8_t* memory = decoder.Decode(Encode(".jpg", NoiseImage(90, 80)), "a").data;
  for (const char* ending : {".jpg", ".png"}) {
    const cv::Mat& small = decoder.Decode(Encode(ending, NoiseImage(50, 60)), "b");
    EXPECT_EQ(small.data, memory);
    EXPECT_TRUE(small.isContinuous());
    EXPECT_EQ(decoder.Decode(Encode(ending, NoiseImage(90, 80)), "c").data, memory);
  }
}

TEST(Decoder, DecodesAfterAFailure) {
  const Bytes good = Encode(".jpg", NoiseImage(40, 50));
  const cv::Mat expected = Decode(good);
  Decoder decoder;
  for (const Bytes& bad :
       {Text("no image"), Cut(good, good.size() / 2), Bytes{}, Text("\xFF\xD8\xFF\xD9 no image")}) {
    EXPECT_THROW(decoder.Decode(bad, "a"), ImageError);
    EXPECT_TRUE(Same(decoder.Decode(good, "b"), expected));
    EXPECT_EQ(decoder.warning(), "");
  }
}

TEST(Decoder, CanBeMoved) {
  Decoder first;
  Decoder second = std::move(first);
  const Bytes jpeg = Encode(".jpg", NoiseImage(8, 8));
  EXPECT_TRUE(Same(second.Decode(jpeg, "a"), Reference(jpeg)));
}

TEST(Decoder, IgnoresExifOrientation) {
  const Bytes jpeg = Encode(".jpg", NoiseImage(16, 24));
  const Bytes rotated = WithSegment(jpeg, 0xE1, RotatedExif());
  ASSERT_EQ(cv::imdecode(rotated, cv::IMREAD_COLOR).rows, 24) << "the EXIF data is not understood";
  EXPECT_TRUE(Same(Decode(rotated), Decode(jpeg)));
}

TEST(Decoder, NamesATruncatedJpeg) {
  const Bytes jpeg = Encode(".jpg", NoiseImage(64, 64));
  for (const std::size_t size :
       {jpeg.size() / 2, jpeg.size() - 2, jpeg.size() - 1, std::size_t{100}, std::size_t{3}}) {
    const std::string error = DecodeError(Cut(jpeg, size));
    EXPECT_TRUE(Contains(error, "truncated JPEG")) << size << ": " << error;
  }
}

TEST(Decoder, IsNotFooledByTheEndOfAThumbnail) {
  const Bytes jpeg =
      WithSegment(Encode(".jpg", NoiseImage(64, 64)), 0xE1, Encode(".jpg", NoiseImage(8, 8)));
  EXPECT_EQ(Decode(jpeg).rows, 64);
  EXPECT_TRUE(Contains(DecodeError(Cut(jpeg, jpeg.size() - 500)), "truncated JPEG"));
}

// The end marker of the comment between two scans is none.
TEST(Decoder, AsksLibjpegWhetherAJpegIsTruncated) {
  const Bytes jpeg = EncodeJpeg(NoiseImage(64, 64), Sampling::k420, true);
  const std::size_t first_scan = FindMarker(jpeg, 0xDA) + 2;
  const Bytes rest(jpeg.begin() + static_cast<std::ptrdiff_t>(first_scan), jpeg.end());
  const std::size_t next_tables = first_scan + FindMarker(rest, 0xC4);
  const Bytes commented = InsertAt(jpeg, next_tables, JpegSegment(0xFE, {0xFF, 0xD9}));
  EXPECT_TRUE(Same(Decode(commented), Decode(jpeg)));
  EXPECT_TRUE(Contains(DecodeError(Cut(commented, commented.size() / 2)), "truncated JPEG"));
}

TEST(Decoder, SaysHowMuchOfATruncatedJpegIsThere) {
  const Bytes jpeg = EncodeJpeg(NoiseImage(400, 100));
  const std::string error = DecodeError(Cut(jpeg, jpeg.size() / 2));
  const std::size_t at = error.find("about ");
  ASSERT_NE(at, std::string::npos) << error;
  EXPECT_NEAR(std::stoi(error.substr(at + 6)), 200, 24) << error;
  EXPECT_TRUE(Contains(error, "of its 400 rows")) << error;
}

TEST(Decoder, RefusesAJpegCutAnywhere) {
  Decoder decoder;
  for (const bool is_progressive : {false, true}) {
    const Bytes jpeg = EncodeJpeg(NoiseImage(24, 32), Sampling::k420, is_progressive);
    for (std::size_t size = 0; size < jpeg.size(); ++size) {
      EXPECT_THROW(decoder.Decode(Cut(jpeg, size), "a"), ImageError) << size;
    }
  }
}

// A warning, and then an error: the rows after it are not the picture's, nor the previous one's.
TEST(Decoder, AnErrorAfterAWarningIsAnError) {
  const Bytes progressive = EncodeJpeg(NoiseImage(64, 64), Sampling::k420, true);
  const Bytes resumed = Cut(progressive, progressive.size() / 2) + progressive;
  Decoder decoder;
  for (int repeat = 0; repeat < 2; ++repeat) {
    decoder.Decode(Encode(".png", NoiseImage(64, 64)), "another");
    const std::string error = ErrorOf([&] { decoder.Decode(resumed, "some/file.jpg"); });
    EXPECT_TRUE(Contains(error, "'some/file.jpg' is a damaged JPEG image")) << error;
  }
}

TEST(Decoder, AcceptsBytesAfterTheEnd) {
  const Bytes jpeg = Encode(".jpg", NoiseImage(32, 32));
  const cv::Mat expected = Decode(jpeg);
  for (const auto junk : Bytes{0x00, 0x0A, 0xFF}) {
    const Bytes padded = jpeg + Bytes(3000, junk);
    EXPECT_TRUE(Same(Decode(padded), expected)) << static_cast<int>(junk);
    EXPECT_EQ(WarningOf(padded), "");
  }
}

TEST(Decoder, WarnsOfExtraneousBytes) {
  const Bytes jpeg = Encode(".jpg", NoiseImage(32, 32));
  const Bytes odd = InsertAt(jpeg, jpeg.size() - 2, Bytes(53, 0x55));
  EXPECT_TRUE(Same(Decode(odd), Decode(jpeg)));
  EXPECT_TRUE(Contains(WarningOf(odd), "extraneous bytes before marker 0xd9")) << WarningOf(odd);
}

TEST(Decoder, AcceptsProgressiveJpeg) {
  const Bytes jpeg = Encode(".jpg", NoiseImage(40, 40), {cv::IMWRITE_JPEG_PROGRESSIVE, 1});
  EXPECT_EQ(Decode(jpeg).rows, 40);
  EXPECT_TRUE(Contains(DecodeError(Cut(jpeg, jpeg.size() / 2)), "truncated JPEG"));
}

// A scan of few bytes costs a pass over the whole picture.
TEST(Decoder, RefusesAJpegOfManyScans) {
  Bytes jpeg = EncodeJpeg(NoiseImage(8, 8), Sampling::kGrey, true);
  const std::size_t scan = FindMarker(jpeg, 0xDA);
  const Bytes tail(jpeg.begin() + static_cast<std::ptrdiff_t>(scan), jpeg.end());
  const Bytes first_scan = Cut(tail, FindMarker(tail, 0xC4));
  for (int i = 0; i < 600; ++i) jpeg = InsertAt(jpeg, scan, first_scan);
  EXPECT_TRUE(Contains(DecodeError(jpeg), "scans"));
}

TEST(Decoder, RefusesTruncatedFilesOfEveryFormat) {
  const cv::Mat image = NoiseImage(40, 50);
  const Bytes runs = Text("BM") + LittleEndian(0, 8) + LittleEndian(54 + 1024, 4) +
                     LittleEndian(40, 4) + LittleEndian(50, 4) + LittleEndian(40, 4) +
                     LittleEndian(1, 2) + LittleEndian(8, 2) + LittleEndian(1, 4) + Bytes(20, 0) +
                     Bytes(1024, 7) + Bytes{25, 3, 25, 4, 0, 0};  // the first of 40 rows
  struct Format {
    std::string name;
    Bytes bytes;
    std::string message = "truncated";
  };
  for (const auto& [name, bytes, message] :
       {Format{"PNG", Encode(".png", image)}, Format{"BMP", Encode(".bmp", image)},
        Format{"PPM", Encode(".ppm", image)}, Format{"PGM", Encode(".pgm", GreyImage(40, 50))},
        Format{"PPM text", Encode(".ppm", image, {cv::IMWRITE_PXM_BINARY, 0}), "damaged"},
        Format{"TIFF", Encode(".tiff", image)},
        Format{"TIFF II", GreyTiff(GreyImage(40, 50), false)},
        Format{"TIFF MM", GreyTiff(GreyImage(40, 50), true)},
        Format{"WebP", Encode(".webp", image, {cv::IMWRITE_WEBP_QUALITY, 80})},
        Format{"WebP lossless", Encode(".webp", image)}}) {
    EXPECT_EQ(Decode(bytes).rows, 40) << name;
    for (const std::size_t lost : {bytes.size() / 2, std::size_t{100}, std::size_t{4}}) {
      const std::string error = DecodeError(Cut(bytes, bytes.size() - lost));
      EXPECT_TRUE(Contains(error, message)) << name << " " << lost << ": " << error;
    }
  }
  EXPECT_TRUE(Contains(DecodeError(runs), "damaged"));
}

TEST(Decoder, KeepsLibrariesSilent) {
  const Bytes png = Encode(".png", NoiseImage(8, 8));
  const Bytes profile = Text("ICC Profile") + Bytes{0, 0} + Text("no deflated profile");
  const Bytes jpeg = Encode(".jpg", NoiseImage(8, 8));
  ::testing::internal::CaptureStderr();
  const cv::Mat decoded = Decode(WithChunk(png, "iCCP", profile));
  Decode(InsertAt(jpeg, jpeg.size() - 2, Bytes(53, 0x55)));
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
  EXPECT_TRUE(Same(decoded, Decode(png)));
}

TEST(Decoder, RefusesMorePixelsThanAllowed) {
  const std::string error = DecodeError(PngHeader(10000, 10000));
  EXPECT_TRUE(Contains(error, "10000 x 10000 pixels, more than --max_pixels=89478485")) << error;
  EXPECT_TRUE(Contains(DecodeError(PngHeader(0x7FFFFFFF, 0x7FFFFFFF)), "--max_pixels"));
  Decoder decoder(6 * 7);
  EXPECT_NO_THROW(decoder.Decode(Encode(".jpg", NoiseImage(6, 7)), "a"));
  EXPECT_THROW(decoder.Decode(Encode(".jpg", NoiseImage(6, 8)), "a"), ImageError);
  EXPECT_THROW(Decoder(0), std::invalid_argument);
}

TEST(Decoder, SaysWhatAnUndecodableFileIs) {
  EXPECT_TRUE(Contains(DecodeError({}), "0 bytes"));
  EXPECT_TRUE(Contains(DecodeError(Text("GIF89a")), "GIF"));
  EXPECT_TRUE(Contains(DecodeError(Text("<html></html>")), "3c 68 74 6d 6c"));
  EXPECT_TRUE(Contains(DecodeError(Bytes(1000, 0)), "00 00 00 00"));
  Bytes png = Encode(".png", NoiseImage(32, 32));
  EXPECT_TRUE(Contains(DecodeError(Cut(png, png.size() / 2)), "truncated PNG"));
  png[png.size() / 2] ^= 0x55;
  EXPECT_TRUE(Contains(DecodeError(png), "damaged PNG image: the checksum"));
}

TEST(Decoder, TurnsOpenCvsExceptionsIntoItsOwn) {
  // A BMP that promises more pixels than OpenCV accepts, in runs: few bytes may be enough for them.
  const Bytes bmp = Text("BM") + LittleEndian(0, 8) + LittleEndian(54 + 1024, 4) +
                    LittleEndian(40, 4) + LittleEndian(400000, 4) + LittleEndian(400000, 4) +
                    LittleEndian(1, 2) + LittleEndian(8, 2) + LittleEndian(1, 4) +
                    Bytes(20 + 1024, 0);
  Decoder decoder(INT64_MAX);
  const std::string error = ErrorOf([&] { decoder.Decode(bmp, "some/file.bmp"); });
  EXPECT_TRUE(Contains(error, "cannot decode 'some/file.bmp'")) << error;
}

// Whatever the bytes: an image of the size in the header, or an ImageError.
TEST(Decoder, SurvivesDamage) {
  const cv::Mat image = NoiseImage(12, 17);
  KeyedRandom random({2024});
  Decoder decoder(100'000);
  int decoded = 0;
  ::testing::internal::CaptureStderr();  // OpenCV and libpng report each damaged file
  for (const Bytes& good :
       {EncodeJpeg(image), EncodeJpeg(image, Sampling::k444, true), CmykJpeg(),
        Encode(".png", image), Encode(".bmp", image), Encode(".ppm", image), Encode(".tiff", image),
        GreyTiff(GreyImage(12, 17), true), Encode(".webp", image)}) {
    for (int i = 0; i < 300; ++i) {
      const Bytes bytes = Damage(good, random);
      try {
        const cv::Mat& rgb = decoder.Decode(bytes, "a");
        const ImageHeader header = ReadImageHeader(bytes, "a");
        EXPECT_EQ(rgb.rows, header.height);
        EXPECT_EQ(rgb.cols, header.width);
        ++decoded;
      } catch (const ImageError&) {
      }
    }
  }
  ::testing::internal::GetCapturedStderr();
  EXPECT_GT(decoded, 100);
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
