#include "dataset/augment.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <opencv2/core.hpp>
#include <stdexcept>
#include <vector>

#include "dataset/random.h"
#include "dataset/testing.h"

namespace cnn {
namespace {

constexpr float kRescale = 0.003921569F;

// Each call another image.
cv::Mat NoiseImage(int rows, int cols, KeyedRandom& random) {
  return RandomImage(rows, cols, 0, 256, KeyedRandom({random.Next()}));
}

std::vector<float> Warped(const cv::Mat& rgb, const AffineMap& map) {
  std::vector<float> planar(3 * rgb.total(), -1);
  WarpToPlanar(rgb, map, planar.data());
  return planar;
}

std::vector<float> Applied(const cv::Mat& rgb, const Transform& transform) {
  std::vector<float> planar(3 * rgb.total(), -1);
  ApplyTransform(rgb, transform, planar.data());
  return planar;
}

std::vector<float> Mirrored(const std::vector<float>& planar, int cols) {
  std::vector<float> result = planar;
  for (auto row = result.begin(); row != result.end(); row += cols) std::reverse(row, row + cols);
  return result;
}

// scipy.ndimage.affine_transform(order=1, mode='nearest') as plainly as it can be said.
std::vector<float> Oracle(const cv::Mat& rgb, const AffineMap& map) {
  const int rows = rgb.rows, cols = rgb.cols;
  std::vector<float> planar;
  for (int channel = 0; channel < 3; ++channel) {
    for (int r = 0; r < rows; ++r) {
      for (int c = 0; c < cols; ++c) {
        const double row = std::clamp(map.m[0] * r + map.m[1] * c + map.m[2], 0.0, rows - 1.0);
        const double col = std::clamp(map.m[3] * r + map.m[4] * c + map.m[5], 0.0, cols - 1.0);
        const int r0 = static_cast<int>(std::floor(row)), r1 = std::min(r0 + 1, rows - 1);
        const int c0 = static_cast<int>(std::floor(col)), c1 = std::min(c0 + 1, cols - 1);
        const double fr = row - r0, fc = col - c0;
        const auto pixel = [&](int y, int x) {
          return static_cast<double>(rgb.at<cv::Vec3b>(y, x)[channel]);
        };
        const double value = (1 - fr) * ((1 - fc) * pixel(r0, c0) + fc * pixel(r0, c1)) +
                             fr * ((1 - fc) * pixel(r1, c0) + fc * pixel(r1, c1));
        planar.push_back(static_cast<float>(value) * kRescale);
      }
    }
  }
  return planar;
}

std::int64_t Ulps(float a, float b) {
  // Both are never negative here, so their bit patterns are ordered as they are.
  std::int32_t bits_a, bits_b;
  std::memcpy(&bits_a, &a, sizeof(a));
  std::memcpy(&bits_b, &b, sizeof(b));
  return std::abs(static_cast<std::int64_t>(bits_a) - bits_b);
}

std::int64_t WorstUlps(const std::vector<float>& a, const std::vector<float>& b) {
  std::int64_t worst = 0;
  for (std::size_t i = 0; i < a.size(); ++i) worst = std::max(worst, Ulps(a[i], b[i]));
  return worst;
}

// 4 x 4, v[r][c] = 10 (4 r + c); expected values from keras-preprocessing 1.1.2 and its later copy
// in Keras, with scipy 1.10.
void ExpectGolden(Transform transform, const std::array<double, 16>& kp112,
                  const std::array<double, 16>& keras_head) {
  cv::Mat image(4, 4, CV_8UC3);
  for (int i = 0; i < 16; ++i)
    image.at<cv::Vec3b>(i / 4, i % 4) = cv::Vec3b::all(static_cast<std::uint8_t>(10 * i));
  for (const KerasProfile profile : {KerasProfile::kKp112, KerasProfile::kKerasHead}) {
    const bool is_kp112 = profile == KerasProfile::kKp112;
    transform.profile = profile;
    const std::vector<float> planar = Applied(image, transform);
    for (std::size_t i = 0; i < 48; ++i) {
      EXPECT_NEAR(static_cast<double>(planar[i]) * 255, (is_kp112 ? kp112 : keras_head)[i % 16],
                  1e-4)
          << i << (is_kp112 ? " kp112" : " keras_head");
    }
  }
}

TEST(KerasGolden, Rotation) {
  Transform transform;
  transform.theta = 90;
  ExpectGolden(transform,
               {120, 120, 120, 80, 130, 130, 130, 90, 140, 140, 140, 100, 150, 150, 150, 110},
               {30, 70, 110, 150, 20, 60, 100, 140, 10, 50, 90, 130, 0, 40, 80, 120});
}

TEST(KerasGolden, Shift) {
  Transform transform;
  transform.tx = 1;
  ExpectGolden(transform,
               {40, 50, 60, 70, 80, 90, 100, 110, 120, 130, 140, 150, 120, 130, 140, 150},
               {10, 20, 30, 30, 50, 60, 70, 70, 90, 100, 110, 110, 130, 140, 150, 150});
}

TEST(KerasGolden, Zoom) {
  Transform transform;
  transform.zx = 2;
  ExpectGolden(transform, {0, 10, 20, 30, 0, 10, 20, 30, 60, 70, 80, 90, 120, 130, 140, 150},
               {0, 5, 25, 30, 40, 45, 65, 70, 80, 85, 105, 110, 120, 125, 145, 150});
}

TEST(KerasGolden, Shear) {
  Transform transform;
  transform.shear = 30;
  ExpectGolden(transform,
               {53.3494, 42.0096, 30.6699, 29.3301, 93.3494, 82.0096, 70.6699, 59.3301, 123.3494,
                122.0096, 110.6699, 99.3301, 123.3494, 132.0096, 140.6699, 139.3301},
               {15.5385, 25.5385, 35.5385, 38.0385, 45.1795, 55.1795, 65.1795, 72.6795, 77.3205,
                84.8205, 94.8205, 104.8205, 111.9615, 114.4615, 124.4615, 134.4615});
}

TEST(KerasGolden, AllTogether) {
  Transform transform;
  transform.theta = 20;
  transform.tx = 0.5;
  transform.ty = -0.25;
  transform.shear = 10;
  transform.zx = 1.1;
  transform.zy = 0.9;
  ExpectGolden(transform,
               {63.8479, 49.1118, 38.9061, 28.7003, 105.1943, 94.2205, 84.0148, 73.809, 122.9942,
                130.7884, 129.1235, 118.9177, 126.7564, 134.5506, 142.3449, 150},
               {11.7986, 25.2889, 48.2025, 63.2514, 26.5803, 51.9658, 77.3513, 94.4284, 53.2572,
                78.6427, 104.0282, 125.6053, 81.6355, 105.3196, 130.7051, 149.3084});
}

TEST(DrawTransform, DrawsInKerasOrder) {
  KeyedRandom random({1, 2}), reference({1, 2});
  const Transform transform = DrawTransform(DogsVsCatsAugmentation(), 150, 200, random);
  EXPECT_EQ(transform.theta, reference.Uniform(-40, 40));
  EXPECT_EQ(transform.tx, reference.Uniform(-0.2, 0.2) * 150);
  EXPECT_EQ(transform.ty, reference.Uniform(-0.2, 0.2) * 200);
  EXPECT_EQ(transform.shear, reference.Uniform(-0.2, 0.2));
  EXPECT_EQ(transform.zx, reference.Uniform(1 - 0.2, 1 + 0.2));
  EXPECT_EQ(transform.zy, reference.Uniform(1 - 0.2, 1 + 0.2));
  EXPECT_EQ(transform.flip_horizontal, reference.Uniform() < 0.5);
  reference.Uniform();  // the vertical flip's
  EXPECT_EQ(random.Next(), reference.Next());
}

TEST(DrawTransform, DrawsSixNumbersWithoutShiftsAndTwoForNothing) {
  KeyedRandom random({3}), reference({3});
  DrawTransform(EightKindsAugmentation(), 150, 150, random);
  for (int i = 0; i < 6; ++i) reference.Uniform();
  EXPECT_EQ(random.Next(), reference.Next());
  const Transform transform = DrawTransform(Augmentation(), 150, 150, random);
  EXPECT_TRUE(transform.IsIdentityAffine());
  EXPECT_FALSE(transform.flip_horizontal);
  reference.Uniform();
  reference.Uniform();
  EXPECT_EQ(random.Next(), reference.Next());
}

TEST(DrawTransform, StaysWithinTheRangesAndFillsThem) {
  KeyedRandom random({4});
  double least_theta = 0, most_theta = 0, most_ty = 0, least_zx = 1;
  int flips = 0;
  for (int i = 0; i < 2000; ++i) {
    const Transform t = DrawTransform(DogsVsCatsAugmentation(), 150, 300, random);
    EXPECT_LE(std::abs(t.theta), 40);
    EXPECT_LE(std::abs(t.tx), 30);
    EXPECT_LE(std::abs(t.ty), 60);
    EXPECT_LE(std::abs(t.shear), 0.2);
    EXPECT_LE(std::abs(t.zx - 1), 0.2 + 1e-12);
    EXPECT_LE(std::abs(t.zy - 1), 0.2 + 1e-12);
    EXPECT_NE(t.zx, t.zy);
    least_theta = std::min(least_theta, t.theta);
    most_theta = std::max(most_theta, t.theta);
    most_ty = std::max(most_ty, t.ty);
    least_zx = std::min(least_zx, t.zx);
    flips += t.flip_horizontal ? 1 : 0;
  }
  EXPECT_LT(least_theta, -39);
  EXPECT_GT(most_theta, 39);
  EXPECT_GT(most_ty, 58);
  EXPECT_LT(least_zx, 0.81);
  EXPECT_NEAR(flips, 1000, 120);
}

TEST(DrawTransform, FlipsOnlyWhenAsked) {
  Augmentation augmentation = EightKindsAugmentation();
  augmentation.horizontal_flip = false;
  KeyedRandom random({5});
  for (int i = 0; i < 50; ++i) {
    EXPECT_FALSE(DrawTransform(augmentation, 9, 9, random).flip_horizontal);
  }
}

// InverseMap multiplies out what Keras composes from matrices.
class EitherProfile : public testing::TestWithParam<KerasProfile> {};
INSTANTIATE_TEST_SUITE_P(Augment, EitherProfile,
                         testing::Values(KerasProfile::kKp112, KerasProfile::kKerasHead),
                         [](const auto& profile) {
                           return profile.param == KerasProfile::kKp112 ? "kp112" : "keras_head";
                         });

TEST_P(EitherProfile, InverseMapEqualsTheProductOfKerasMatrices) {
  using Matrix = cv::Matx33d;
  KeyedRandom random({6});
  Augmentation wild = DogsVsCatsAugmentation();
  wild.profile = GetParam();
  const bool is_kp112 = GetParam() == KerasProfile::kKp112;
  wild.shear_range = 40;
  wild.zoom_range = 0.7;
  wild.rotation_range = 180;
  for (int i = 0; i < 200; ++i) {
    const int height = 5 + static_cast<int>(random.Below(300));
    const int width = 5 + static_cast<int>(random.Below(300));
    const Transform t = DrawTransform(wild, height, width, random);
    const double theta = t.theta * M_PI / 180, shear = t.shear * M_PI / 180;
    const double off_centre = is_kp112 ? 0.5 : -0.5;
    const double o0 = height / 2.0 + off_centre, o1 = width / 2.0 + off_centre;
    const Matrix rotation(std::cos(theta), -std::sin(theta), 0, std::sin(theta), std::cos(theta), 0,
                          0, 0, 1);
    const Matrix shift(1, 0, t.tx, 0, 1, t.ty, 0, 0, 1);
    const Matrix sheared(1, -std::sin(shear), 0, 0, std::cos(shear), 0, 0, 0, 1);
    const Matrix zoom(t.zx, 0, 0, 0, t.zy, 0, 0, 0, 1);
    const Matrix centre(1, 0, o0, 0, 1, o1, 0, 0, 1), back(1, 0, -o0, 0, 1, -o1, 0, 0, 1);
    const Matrix flip =
        t.flip_horizontal ? Matrix(1, 0, 0, 0, -1, width - 1.0, 0, 0, 1) : Matrix::eye();
    // (row, column) and back, for a matrix that acts on (column, row).
    const Matrix swap(0, 1, 0, 1, 0, 0, 0, 0, 1);
    const Matrix product = centre * rotation * shift * sheared * zoom * back;
    const Matrix expected = (is_kp112 ? product : swap * product * swap) * flip;
    const AffineMap map = InverseMap(t, height, width);
    for (int k = 0; k < 6; ++k) EXPECT_NEAR(map.m[k], expected(k / 3, k % 3), 1e-10) << i;
  }
}

TEST_P(EitherProfile, WarpToPlanarEqualsTheOracleOnRandomTransforms) {
  KeyedRandom random({7});
  Augmentation wild;
  wild.rotation_range = 180;
  wild.height_shift_range = wild.width_shift_range = 0.9;
  wild.shear_range = 60;
  wild.zoom_range = 0.9;
  wild.horizontal_flip = true;
  for (int i = 0; i < 1200; ++i) {
    const std::uint64_t most = i % 12 == 0 ? 150 : 40;
    const int rows = 2 + static_cast<int>(random.Below(most));
    const int cols = 2 + static_cast<int>(random.Below(most));
    const cv::Mat image = NoiseImage(rows, cols, random);
    Augmentation augmentation =
        i % 3 == 0 ? EightKindsAugmentation() : (i % 3 == 1 ? DogsVsCatsAugmentation() : wild);
    augmentation.profile = GetParam();
    const AffineMap map = InverseMap(DrawTransform(augmentation, rows, cols, random), rows, cols);
    ASSERT_LE(WorstUlps(Warped(image, map), Oracle(image, map)), 1) << i;
  }
}

TEST(Kernels, AllGiveTheSameBits) {
  KeyedRandom random({15});
  ASSERT_GE(detail::KernelCount(), 1U);
  for (int i = 0; i < 100; ++i) {
    const int rows = 1 + static_cast<int>(random.Below(70));
    const int cols = 1 + static_cast<int>(random.Below(70));
    const cv::Mat image = NoiseImage(rows, cols, random);
    const Transform transform = DrawTransform(DogsVsCatsAugmentation(), rows, cols, random);
    const AffineMap map = InverseMap(transform, rows, cols);
    std::vector<float> warped(3 * image.total()), separated(3 * image.total());
    WarpToPlanar(image, map, warped.data());
    ToPlanar(image, transform.flip_horizontal, separated.data());
    for (std::size_t kernel = 0; kernel < detail::KernelCount(); ++kernel) {
      std::vector<float> planar(3 * image.total());
      detail::WarpToPlanar(image, map, planar.data(), kernel);
      EXPECT_EQ(planar, warped) << kernel;
      detail::ToPlanar(image, transform.flip_horizontal, planar.data(), kernel);
      EXPECT_EQ(planar, separated) << kernel;
    }
  }
}

// Integer and half coordinates, where floor and fraction change over.
TEST(WarpToPlanar, EqualsTheOracleOnTheGrid) {
  KeyedRandom random({8});
  for (const double scale : {1.0, 0.5, 0.25, 2.0, -1.0, -0.5}) {
    for (const double start : {0.0, -3.0, 0.5, 7.0, 30.0}) {
      const cv::Mat image = NoiseImage(16, 33, random);
      const AffineMap map = {{scale, 0, start, 0, scale, start}};
      ASSERT_LE(WorstUlps(Warped(image, map), Oracle(image, map)), 1) << scale << " " << start;
      const AffineMap turned = {{0, scale, start, scale, 0, start}};
      ASSERT_LE(WorstUlps(Warped(image, turned), Oracle(image, turned)), 1) << scale;
    }
  }
}

TEST(WarpToPlanar, TakesImagesOneOrTwoPixelsWide) {
  KeyedRandom random({9});
  for (const int rows : {1, 2, 3, 40}) {
    for (const int cols : {1, 2, 3, 31, 32, 33, 64, 65}) {
      const cv::Mat image = NoiseImage(rows, cols, random);
      const AffineMap map =
          InverseMap(DrawTransform(DogsVsCatsAugmentation(), rows, cols, random), rows, cols);
      ASSERT_LE(WorstUlps(Warped(image, map), Oracle(image, map)), 1) << rows << "x" << cols;
    }
  }
}

TEST(WarpToPlanar, ClampsCoordinatesHoweverFarOutside) {
  KeyedRandom random({10});
  const cv::Mat image = NoiseImage(20, 20, random);
  for (const double far : {1e6, -1e6, 1e300, -1e300}) {
    const AffineMap map = {{1, 0, far, 0, 1, -far}};
    const std::vector<float> planar = Warped(image, map);
    const cv::Vec3b corner = far > 0 ? image.at<cv::Vec3b>(19, 0) : image.at<cv::Vec3b>(0, 19);
    for (std::size_t i = 0; i < planar.size(); ++i) {
      ASSERT_EQ(planar[i], static_cast<float>(corner[static_cast<int>(i / 400)]) * kRescale);
    }
  }
  // Not a number must not become an address.
  const double nan = std::numeric_limits<double>::quiet_NaN();
  Warped(image, {{nan, nan, nan, nan, nan, nan}});
}

TEST(WarpToPlanar, TouchesNoMemoryBeyondTheImage) {
  // Exactly as much memory as pixels, so that AddressSanitizer sees a byte too many.
  std::vector<std::uint8_t> memory(3 * 7 * 37, 255);
  const cv::Mat image(7, 37, CV_8UC3, memory.data());
  for (const double start : {-100.0, 0.0, 3.3, 100.0}) {
    for (const float value : Warped(image, {{1, 0, start, 0, 1, start}})) EXPECT_FLOAT_EQ(value, 1);
  }
}

TEST(WarpToPlanar, TakesAPartOfAnImage) {
  KeyedRandom random({11});
  const cv::Mat part = NoiseImage(60, 60, random)(cv::Rect(7, 9, 40, 35));
  const AffineMap map = InverseMap(DrawTransform(DogsVsCatsAugmentation(), 35, 40, random), 35, 40);
  EXPECT_EQ(Warped(part, map), Warped(part.clone(), map));
}

// An independent implementation, which rounds coordinates to 1/32 of a pixel and the result to 8
// bit.
TEST_P(EitherProfile, WarpWithOpenCvIsWithinItsTolerance) {
  KeyedRandom random({12});
  const auto distance = [&](const cv::Mat& image, double& mean) {
    Augmentation augmentation = DogsVsCatsAugmentation();
    augmentation.profile = GetParam();
    const AffineMap map = InverseMap(DrawTransform(augmentation, 150, 150, random), 150, 150);
    cv::Mat warped;
    WarpWithOpenCv(image, map, warped);
    const std::vector<float> planar = Warped(image, map);
    double worst = 0;
    for (std::size_t k = 0; k < planar.size(); ++k) {
      const int pixel = static_cast<int>(k % 22500), channel = static_cast<int>(k / 22500);
      const double theirs = warped.at<cv::Vec3b>(pixel / 150, pixel % 150)[channel];
      const double difference = std::abs(static_cast<double>(planar[k]) * 255 - theirs);
      worst = std::max(worst, difference);
      mean += difference / static_cast<double>(planar.size());
    }
    return worst;
  };
  cv::Mat smooth(150, 150, CV_8UC3);
  for (int r = 0; r < 150; ++r) {
    for (int c = 0; c < 150; ++c) {
      smooth.at<cv::Vec3b>(r, c) = {static_cast<std::uint8_t>(128 + 100 * std::sin(r * 0.1)),
                                    static_cast<std::uint8_t>(128 + 100 * std::cos(c * 0.1)),
                                    static_cast<std::uint8_t>((r + c) * 255 / 300)};
    }
  }
  for (int i = 0; i < 10; ++i) {
    double mean = 0;
    EXPECT_LE(distance(smooth, mean), 1.5);
    EXPECT_LE(mean, 0.5);
    double mean_of_noise = 0;
    const double worst = distance(NoiseImage(150, 150, random), mean_of_noise);
    EXPECT_LE(worst, kOpenCvTolerance);
    EXPECT_LE(mean_of_noise, 1.0);
  }
}

TEST(WarpToPlanar, TheIdentityIsToPlanar) {
  KeyedRandom random({13});
  const cv::Mat image = NoiseImage(45, 70, random);
  std::vector<float> planar(3 * image.total());
  ToPlanar(image, false, planar.data());
  EXPECT_EQ(Warped(image, {{1, 0, 0, 0, 1, 0}}), planar);
}

TEST(WarpToPlanar, FoldedFlipIsAFlipAfterwards) {
  KeyedRandom random({14});
  const cv::Mat image = NoiseImage(50, 61, random);
  for (int i = 0; i < 20; ++i) {
    Transform transform = DrawTransform(DogsVsCatsAugmentation(), 50, 61, random);
    transform.flip_horizontal = false;
    const std::vector<float> afterwards = Mirrored(Applied(image, transform), 61);
    transform.flip_horizontal = true;
    const std::vector<float> folded = Applied(image, transform);
    for (std::size_t k = 0; k < folded.size(); ++k) ASSERT_NEAR(folded[k], afterwards[k], 1e-6);
  }
}

TEST(ToPlanar, MultipliesByTheFloatNearestToOneOver255) {
  cv::Mat image(1, 256, CV_8UC3);
  for (int i = 0; i < 256; ++i) {
    image.at<cv::Vec3b>(0, i) = {static_cast<std::uint8_t>(i), static_cast<std::uint8_t>(255 - i),
                                 3};
  }
  std::vector<float> planar(3 * 256);
  ToPlanar(image, false, planar.data());
  for (std::size_t i = 0; i < 256; ++i) {
    EXPECT_EQ(planar[i], static_cast<float>(i) * kRescale);
    EXPECT_EQ(planar[256 + i], static_cast<float>(255 - i) * kRescale);
    EXPECT_EQ(planar[512 + i], 3 * kRescale);
  }
}

TEST(ApplyTransform, FlipsWithoutResampling) {
  KeyedRandom random({15});
  const cv::Mat image = NoiseImage(30, 41, random);
  std::vector<float> planar(3 * image.total());
  ToPlanar(image, false, planar.data());
  EXPECT_EQ(Applied(image, Transform()), planar);
  Transform flip;
  flip.flip_horizontal = true;
  EXPECT_EQ(Applied(image, flip), Mirrored(planar, 41));
}

TEST(ApplyTransform, RefusesOtherImages) {
  float out = 0;
  EXPECT_THROW(ToPlanar(cv::Mat(), false, &out), std::invalid_argument);
  EXPECT_THROW(ToPlanar(cv::Mat(1, 1, CV_8UC1), false, &out), std::invalid_argument);
  EXPECT_THROW(WarpToPlanar(cv::Mat(2, 2, CV_32FC3), AffineMap{}, &out), std::invalid_argument);
}

}  // namespace
}  // namespace cnn
