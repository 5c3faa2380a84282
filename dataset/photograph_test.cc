#include "dataset/photograph.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <opencv2/core.hpp>
#include <set>
#include <string>
#include <vector>

#include "dataset/decode.h"
#include "dataset/random.h"
#include "dataset/testing.h"

namespace cnn {
namespace {

using Bytes = std::vector<std::uint8_t>;

constexpr Kind kKinds[] = {Kind::kBuildings, Kind::kCats,     Kind::kDogs, Kind::kForest,
                           Kind::kGlacier,   Kind::kMountain, Kind::kSea,  Kind::kStreet};

cv::Mat Decode(const Bytes& bytes) { return Decoder().Decode(bytes, "photograph").clone(); }

TEST(KindName, IsTheClassFolders) {
  EXPECT_STREQ(KindName(Kind::kBuildings), "buildings");
  EXPECT_STREQ(KindName(Kind::kCats), "cats");
  EXPECT_STREQ(KindName(Kind::kStreet), "street");
}

TEST(Photograph, IsAFunctionOfKindAndStream) {
  std::set<Bytes> different;
  for (const Kind kind : kKinds) {
    const Bytes bytes = Photograph(kind, KeyedRandom({1}));
    EXPECT_EQ(bytes, Photograph(kind, KeyedRandom({1}))) << KindName(kind);
    different.insert(bytes);
    different.insert(Photograph(kind, KeyedRandom({2})));
  }
  EXPECT_EQ(different.size(), 16U);
}

TEST(Photograph, KeepsToItsBounds) {
  for (const Kind kind : kKinds) {
    for (std::uint64_t i = 0; i < 20; ++i) {
      const Bytes bytes = Photograph(kind, KeyedRandom({3, i}));
      EXPECT_GE(bytes.size(), kMinPhotographBytes) << KindName(kind) << i;
      EXPECT_LE(bytes.size(), kMaxPhotographBytes) << KindName(kind) << i;
      const cv::Mat rgb = Decode(bytes);
      EXPECT_GE(std::min(rgb.rows, rgb.cols), kMinPhotographSide) << KindName(kind) << i;
      EXPECT_LE(std::max(rgb.rows, rgb.cols), kMaxPhotographSide) << KindName(kind) << i;
    }
  }
}

TEST(EncodeJpeg, FindsAQualityThatGivesTheWeight) {
  // Noise without a pattern: at quality 100 far too large, at 20 too small.
  const cv::Mat small = RandomImage(200, 200, 0, 256, KeyedRandom({4}));
  for (const int quality : {20, 60, 100}) {
    const Bytes bytes = detail::EncodeJpeg(small, quality);
    EXPECT_GE(bytes.size(), kMinPhotographBytes) << quality;
    EXPECT_LE(bytes.size(), kMaxPhotographBytes) << quality;
    EXPECT_EQ(Decode(bytes).size(), small.size());
  }
}

TEST(EncodeJpeg, RefusesWhatNoQualityBringsWithinBounds) {
  const cv::Mat flat(200, 200, CV_8UC3, cv::Scalar::all(90));
  const cv::Mat huge = RandomImage(1000, 1000, 0, 256, KeyedRandom({5}));
  for (const cv::Mat& image : {flat, huge}) {
    EXPECT_TRUE(Contains(ErrorOf([&] { detail::EncodeJpeg(image, 90); }), "no JPEG quality"));
  }
}

}  // namespace
}  // namespace cnn
