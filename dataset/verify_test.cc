#include "dataset/verify.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "dataset/decode.h"
#include "dataset/testing.h"
#include "dataset/testing_images.h"

namespace cnn {
namespace {

std::vector<ImageFinding> Verify(const TempDir& dir, std::int64_t max_pixels = kDefaultMaxPixels,
                                 int threads = 1) {
  return VerifyImages(ScanImageFolder(dir.path()), max_pixels, threads);
}

TEST(VerifyImages, FindsNothingWhereNothingIs) {
  const TempDir dir;
  WriteImages(dir.path() / "a", 5, 10);
  for (const char* ending : {".png", ".bmp", ".ppm", ".tif", ".tiff", ".JPG", ".jpeg"}) {
    const std::string format = ending == std::string(".JPG") ? ".jpg" : ending;
    WriteBytes(dir.path() / "b" / ("x" + std::string(ending)), Encode(format, NoiseImage(8, 8)));
  }
  EXPECT_TRUE(Verify(dir).empty());
}

TEST(VerifyImages, ReportsInTheFoldersOrderWithAnyNumberOfThreads) {
  const TempDir dir;
  const Bytes jpeg = EncodeJpeg(NoiseImage(8, 8));
  for (int i = 0; i < 40; ++i) {
    const std::string name = (i < 10 ? "0" : "") + std::to_string(i) + ".jpg";
    WriteBytes(dir.path() / "k" / name, i % 3 == 0 ? Cut(jpeg, jpeg.size() / 2) : jpeg);
  }
  const ImageFolder folder = ScanImageFolder(dir.path());
  for (const int threads : {1, 2, 7}) {
    const std::vector<ImageFinding> findings = Verify(dir, kDefaultMaxPixels, threads);
    ASSERT_EQ(findings.size(), 14U);
    for (std::size_t i = 0; i < findings.size(); ++i) {
      EXPECT_EQ(findings[i].path, folder.images[3 * i].path);
      EXPECT_TRUE(findings[i].is_bad);
      EXPECT_TRUE(Contains(findings[i].message, "'" + findings[i].path + "' is a truncated JPEG"));
    }
  }
}

TEST(VerifyImages, WarnsOfWhatCanBeUsed) {
  const TempDir dir;
  const Bytes jpeg = EncodeJpeg(NoiseImage(8, 8));
  const Bytes odd = InsertAt(jpeg, jpeg.size() - 2, Bytes(53, 0x55));
  WriteBytes(dir.path() / "k" / "1.jpg", odd);
  WriteBytes(dir.path() / "k" / "2.JPEG", Encode(".png", NoiseImage(8, 8)));
  WriteBytes(dir.path() / "k" / "3.png", odd);
  const std::vector<ImageFinding> findings = Verify(dir);
  ASSERT_EQ(findings.size(), 3U);
  for (const ImageFinding& finding : findings) {
    EXPECT_FALSE(finding.is_bad);
    EXPECT_EQ(finding.message.rfind("'" + finding.path + "': ", 0), 0U) << finding.message;
  }
  EXPECT_TRUE(Contains(findings[0].message, "extraneous bytes"));
  EXPECT_TRUE(Contains(findings[1].message, "a PNG image with the ending of a JPEG"));
  EXPECT_TRUE(Contains(findings[2].message, "extraneous bytes"));
  EXPECT_TRUE(Contains(findings[2].message, "; it is a JPEG image with the ending of a PNG"));
}

TEST(VerifyImages, PassesTheLimitOn) {
  const TempDir dir;
  WriteBytes(dir.path() / "k" / "1.jpg", EncodeJpeg(NoiseImage(8, 9)));
  EXPECT_TRUE(Verify(dir, 72).empty());
  const std::vector<ImageFinding> findings = Verify(dir, 71);
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_TRUE(Contains(findings[0].message, "9 x 8 pixels, more than --max_pixels=71"));
}

TEST(VerifyImages, ReportsProgress) {
  const TempDir dir;
  WriteImages(dir.path() / "k", 4, 10);
  int last = 0, count = 0;
  VerifyImages(ScanImageFolder(dir.path()), kDefaultMaxPixels, 2, [&](int done, int of) {
    EXPECT_GE(done, last);
    last = done;
    count = of;
  });
  EXPECT_EQ(last, 4);
  EXPECT_EQ(count, 4);
}

TEST(VerifyImages, RefusesBadArguments) {
  const TempDir dir;
  WriteImages(dir.path() / "k", 1, 10);
  EXPECT_THROW(Verify(dir, kDefaultMaxPixels, 0), std::invalid_argument);
  EXPECT_THROW(Verify(dir, 0), std::invalid_argument);
}

}  // namespace
}  // namespace cnn
