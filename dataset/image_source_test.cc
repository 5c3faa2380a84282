#include "dataset/image_source.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <opencv2/core.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "dataset/testing.h"

namespace cnn {
namespace {

constexpr SourceKind kKinds[] = {SourceKind::kFiles, SourceKind::kBytes, SourceKind::kDecoded};

class ImageSourceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    WriteImages(dir_.path() / "a", 5, 0);
    WriteImages(dir_.path() / "b", 4, 100);
    folder_ = ScanImageFolder(dir_.path());
  }

  TempDir dir_;
  ImageFolder folder_;
};

TEST_F(ImageSourceTest, EveryKindGivesTheSamePixels) {
  ImageScratch scratch;
  const ImageSource files(folder_, SourceKind::kFiles, 60);
  for (const SourceKind kind : kKinds) {
    const ImageSource source(folder_, kind, 60, kDefaultMaxPixels, 3);
    for (std::size_t i = 0; i < folder_.images.size(); ++i) {
      const cv::Mat expected = files.Get(i, scratch).clone();
      const cv::Mat image = source.Get(i, scratch);
      ASSERT_EQ(image.size(), cv::Size(60, 60));
      ASSERT_EQ(image.type(), CV_8UC3);
      EXPECT_EQ(cv::norm(image, expected, cv::NORM_INF), 0) << i;
    }
  }
}

TEST_F(ImageSourceTest, WhatIsKeptNeedsNoFile) {
  const ImageSource files(folder_, SourceKind::kFiles, 60);
  const ImageSource bytes(folder_, SourceKind::kBytes, 60);
  const ImageSource decoded(folder_, SourceKind::kDecoded, 60);
  std::filesystem::remove_all(dir_.path() / "a");
  ImageScratch scratch;
  EXPECT_EQ(bytes.Get(1, scratch).rows, 60);
  EXPECT_EQ(decoded.Get(1, scratch).rows, 60);
  EXPECT_THROW(files.Get(1, scratch), ImageError);
}

TEST_F(ImageSourceTest, ABadFileIsAnErrorWheneverItIsAskedForAndNotBefore) {
  WriteText(folder_.images[2].path, "no image");
  std::filesystem::remove(folder_.images[3].path);
  for (const SourceKind kind : kKinds) {
    const ImageSource source(folder_, kind, 60, kDefaultMaxPixels, 2);
    ImageScratch scratch;
    for (int repeat = 0; repeat < 2; ++repeat) {
      for (const std::size_t image : {2, 3}) {
        const std::string error = ErrorOf([&] { source.Get(image, scratch); });
        EXPECT_TRUE(Contains(error, folder_.images[image].path)) << error;
      }
      EXPECT_EQ(source.Get(4, scratch).rows, 60);
    }
  }
}

TEST_F(ImageSourceTest, HoldsToTheLimitOfPixels) {
  for (const SourceKind kind : kKinds) {
    const ImageSource source(folder_, kind, 60, 160 * 170 - 1);
    ImageScratch scratch(source.max_pixels());
    EXPECT_TRUE(Contains(ErrorOf([&] { source.Get(0, scratch); }), "--max_pixels"));
  }
}

TEST_F(ImageSourceTest, SaysHowMuchMemoryItNeeds) {
  EXPECT_EQ(MemoryNeeded(folder_, SourceKind::kFiles, 60), 0);
  EXPECT_EQ(MemoryNeeded(folder_, SourceKind::kDecoded, 60), 9 * 3 * 60 * 60);
  std::int64_t bytes = 0;
  for (const ImageFile& image : folder_.images) {
    bytes += static_cast<std::int64_t>(std::filesystem::file_size(image.path));
  }
  EXPECT_EQ(MemoryNeeded(folder_, SourceKind::kBytes, 60), bytes);
  std::filesystem::remove(folder_.images[0].path);
  EXPECT_LT(MemoryNeeded(folder_, SourceKind::kBytes, 60), bytes);
}

TEST_F(ImageSourceTest, ReportsProgress) {
  int last = 0;
  const ImageSource source(folder_, SourceKind::kDecoded, 60, kDefaultMaxPixels, 1,
                           [&](int done, int count) {
                             EXPECT_EQ(count, 9);
                             last = done;
                           });
  EXPECT_EQ(last, 9);
}

TEST_F(ImageSourceTest, RefusesSidesThatMakeNoSense) {
  for (const int side : {0, -1, 1 << 20}) {
    EXPECT_THROW(ImageSource(folder_, SourceKind::kDecoded, side), std::invalid_argument);
  }
}

}  // namespace
}  // namespace cnn
