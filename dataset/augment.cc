#include "dataset/augment.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>
#include <stdexcept>
#include <string>
#include <vector>

namespace cnn {
namespace {

constexpr double kPi = 3.14159265358979323846;
constexpr float kRescale = static_cast<float>(1.0 / 255);

double Radians(double degrees) { return degrees * (kPi / 180); }

void CheckImage(const cv::Mat& rgb, const char* function) {
  if (rgb.empty() || rgb.type() != CV_8UC3) {
    throw std::invalid_argument(std::string(function) + " wants an 8-bit 3-channel image");
  }
}

// Output pixels are made in blocks of one row: coordinates and weights for the whole block (SIMD),
// then the four neighbours of each pixel fetched by 32-bit loads (scalar, the only part that has to
// be), then the interpolation of the whole block (SIMD). A block's arrays stay in the first-level
// cache.
constexpr int kBlock = 32;

// Adding it to a double of -0.5 to 2^51 rounds that to an integer, which stands in the sum's low
// bits.
constexpr double kRound = 0x1.8p52;
constexpr std::uint64_t kRoundedBits = (std::uint64_t{1} << 51) - 1;

// Coordinates of one axis. `first` is always 0: as a constant GCC makes it a branch, not a SIMD
// maximum.
struct Range {
  double first, last;
  double max_floor;  // the last with a neighbour in memory behind it
};

struct Warp {
  const std::uint8_t* data;
  std::ptrdiff_t stride;  // bytes
  Range rows, columns;
  // The part of the source coordinates that depends on the column only, padded to whole blocks.
  const double* row_by_column;
  const double* column_by_column;
};

struct Axis {
  double floor, fraction;
};

// Clamps to [first, last], then splits into floor and fraction. Rounding x - 0.5 instead of
// flooring x may split an integer n into n - 1 and a fraction of 1, which selects the same pixel
// just as exactly; it needs no conversion to int and back.
[[gnu::always_inline]] inline Axis Split(double x, const Range& range) {
  x = x > range.first ? x : range.first;
  x = x < range.last ? x : range.last;
  const double half_down = x - 0.5;
  const double floor =
      ((half_down < range.max_floor ? half_down : range.max_floor) + kRound) - kRound;
  return {floor, x - floor};
}

// Weights that are never negative, rather than a + f (b - a), keep even a tiny result within one
// float rounding of the exact one.
[[gnu::always_inline]] inline void WarpBlock(const Warp& warp, const AffineMap& map, int row,
                                             int column, float* red, float* green, float* blue) {
  alignas(64) double w00[kBlock], w01[kBlock], w10[kBlock], w11[kBlock], offset[kBlock];
  const double row_by_row = map.m[0] * row;
  const double column_by_row = map.m[3] * row;
  const auto stride = static_cast<double>(warp.stride);
  for (int i = 0; i < kBlock; ++i) {
    const Axis y = Split(row_by_row + warp.row_by_column[column + i] + map.m[2], warp.rows);
    const Axis x =
        Split(column_by_row + warp.column_by_column[column + i] + map.m[5], warp.columns);
    w00[i] = (1 - y.fraction) * (1 - x.fraction);
    w01[i] = (1 - y.fraction) * x.fraction;
    w10[i] = y.fraction * (1 - x.fraction);
    w11[i] = y.fraction * x.fraction;
    offset[i] = y.floor * stride + x.floor * 3 + kRound;
  }

  // Of the six bytes of two pixels side by side, one load takes the first four, one the last four:
  // RGBr, Brgb. Neither reads beyond the two pixels.
  alignas(64) std::uint32_t p00[kBlock], p01[kBlock], p10[kBlock], p11[kBlock];
  for (int i = 0; i < kBlock; ++i) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &offset[i], sizeof(bits));
    const std::uint8_t* upper = warp.data + (bits & kRoundedBits);
    const std::uint8_t* lower = upper + warp.stride;
    std::memcpy(&p00[i], upper, 4);
    std::memcpy(&p01[i], upper + 2, 4);
    std::memcpy(&p10[i], lower, 4);
    std::memcpy(&p11[i], lower + 2, 4);
  }

  for (int i = 0; i < kBlock; ++i) {
    const auto channel = [&](int left, int right) {
      const auto byte = [](std::uint32_t word, int shift) {
        return static_cast<double>(static_cast<std::int32_t>(word >> shift & 255));
      };
      return static_cast<float>(w00[i] * byte(p00[i], left) + w01[i] * byte(p01[i], right) +
                                w10[i] * byte(p10[i], left) + w11[i] * byte(p11[i], right)) *
             kRescale;
    };
    red[i] = channel(0, 8);
    green[i] = channel(8, 16);
    blue[i] = channel(16, 24);
  }
}

[[gnu::always_inline]] inline void WarpImage(const Warp& warp, const AffineMap& map, int rows,
                                             int columns, float* planar) {
  const std::size_t plane = static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns);
  for (int row = 0; row < rows; ++row) {
    float* out = planar + static_cast<std::ptrdiff_t>(row) * columns;
    int column = 0;
    for (; column + kBlock <= columns; column += kBlock) {
      WarpBlock(warp, map, row, column, out + column, out + plane + column,
                out + 2 * plane + column);
    }
    if (column < columns) {
      float tail[3][kBlock];
      WarpBlock(warp, map, row, column, tail[0], tail[1], tail[2]);
      for (int channel = 0; channel < 3; ++channel) {
        std::copy_n(tail[channel], columns - column,
                    out + static_cast<std::size_t>(channel) * plane + column);
      }
    }
  }
}

[[gnu::always_inline]] inline void Separate(const std::uint8_t* rgb, int pixels,
                                            float* __restrict red, float* __restrict green,
                                            float* __restrict blue) {
  for (int i = 0; i < pixels; ++i) {
    red[i] = static_cast<float>(static_cast<int>(rgb[3 * i])) * kRescale;
    green[i] = static_cast<float>(static_cast<int>(rgb[3 * i + 1])) * kRescale;
    blue[i] = static_cast<float>(static_cast<int>(rgb[3 * i + 2])) * kRescale;
  }
}

// In two steps, because GCC makes no SIMD of a loop that separates and mirrors at once.
[[gnu::always_inline]] inline void SeparateMirrored(const std::uint8_t* rgb, int pixels, float* red,
                                                    float* green, float* blue) {
  for (int first = 0; first < pixels; first += kBlock) {
    const int count = std::min(kBlock, pixels - first);
    alignas(64) float block[3][kBlock];
    Separate(rgb + 3 * first, count, block[0], block[1], block[2]);
    float* const out[] = {red, green, blue};
    for (int channel = 0; channel < 3; ++channel) {
      float* __restrict end = out[channel] + pixels - first - count;
      for (int i = 0; i < count; ++i) end[i] = block[channel][count - 1 - i];
    }
  }
}

[[gnu::always_inline]] inline void SeparateImage(const cv::Mat& rgb, bool is_mirrored,
                                                 float* planar) {
  const std::size_t plane = rgb.total();
  for (int row = 0; row < rgb.rows; ++row) {
    const std::uint8_t* source = rgb.ptr<std::uint8_t>(row);
    float* red = planar + static_cast<std::ptrdiff_t>(row) * rgb.cols;
    if (is_mirrored) {
      SeparateMirrored(source, rgb.cols, red, red + plane, red + 2 * plane);
    } else {
      Separate(source, rgb.cols, red, red + plane, red + 2 * plane);
    }
  }
}

void WarpImageBaseline(const Warp& warp, const AffineMap& map, int rows, int columns,
                       float* planar) {
  WarpImage(warp, map, rows, columns, planar);
}

void SeparateImageBaseline(const cv::Mat& rgb, bool is_mirrored, float* planar) {
  SeparateImage(rgb, is_mirrored, planar);
}

#if defined(__x86_64__)
// Four or eight doubles at a time instead of two. All give the same bits: FMA is never used.
[[gnu::target("avx2")]] void WarpImageAvx2(const Warp& warp, const AffineMap& map, int rows,
                                           int columns, float* planar) {
  WarpImage(warp, map, rows, columns, planar);
}

[[gnu::target("avx2")]] void SeparateImageAvx2(const cv::Mat& rgb, bool is_mirrored,
                                               float* planar) {
  SeparateImage(rgb, is_mirrored, planar);
}

[[gnu::target("avx512f,avx512dq,avx512vl,avx512bw")]] void WarpImageAvx512(const Warp& warp,
                                                                           const AffineMap& map,
                                                                           int rows, int columns,
                                                                           float* planar) {
  WarpImage(warp, map, rows, columns, planar);
}
#endif

struct Kernel {
  void (*warp)(const Warp&, const AffineMap&, int rows, int columns, float* planar);
  void (*separate)(const cv::Mat& rgb, bool is_mirrored, float* planar);
};

// Those that this processor can run, slowest first.
const std::vector<Kernel>& Kernels() {
  static const std::vector<Kernel> kernels = [] {
    std::vector<Kernel> found = {{WarpImageBaseline, SeparateImageBaseline}};
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2")) found.push_back({WarpImageAvx2, SeparateImageAvx2});
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw")) {
      found.push_back({WarpImageAvx512, SeparateImageAvx2});
    }
#endif
    return found;
  }();
  return kernels;
}

template <typename Random>
Transform Draw(const Augmentation& augmentation, int height, int width, Random& random) {
  const auto symmetric = [&random](double range) {
    return range == 0 ? 0.0 : random.Uniform(-range, range);
  };
  Transform transform;
  transform.profile = augmentation.profile;
  transform.theta = symmetric(augmentation.rotation_range);
  transform.tx = symmetric(augmentation.height_shift_range) * height;
  transform.ty = symmetric(augmentation.width_shift_range) * width;
  transform.shear = symmetric(augmentation.shear_range);
  if (augmentation.zoom_range != 0) {
    transform.zx = random.Uniform(1 - augmentation.zoom_range, 1 + augmentation.zoom_range);
    transform.zy = random.Uniform(1 - augmentation.zoom_range, 1 + augmentation.zoom_range);
  }
  transform.flip_horizontal = random.Uniform() < 0.5 && augmentation.horizontal_flip;
  random.Uniform();  // Keras draws for the vertical flip even when that is off
  return transform;
}

}  // namespace

Transform DrawTransform(const Augmentation& augmentation, int height, int width,
                        KeyedRandom& random) {
  return Draw(augmentation, height, width, random);
}

Transform DrawTransform(const Augmentation& augmentation, int height, int width,
                        KerasRandom& random) {
  return Draw(augmentation, height, width, random);
}

// A = R(theta) T(tx, ty) S(shear) Z(zx, zy), conjugated with the translation to the centre o. The
// later profile swaps the axes of the matrix but not those of the centre.
AffineMap InverseMap(const Transform& transform, int height, int width) {
  const double theta = Radians(transform.theta);
  const double shear = Radians(transform.shear);
  const bool is_kp112 = transform.profile == KerasProfile::kKp112;
  const double off_centre = is_kp112 ? 0.5 : -0.5;
  const double o0 = height / 2.0 + off_centre;
  const double o1 = width / 2.0 + off_centre;
  const double l00 = transform.zx * std::cos(theta);
  const double l01 = -transform.zy * std::sin(theta + shear);
  const double l10 = transform.zx * std::sin(theta);
  const double l11 = transform.zy * std::cos(theta + shear);
  const double b0 =
      o0 + std::cos(theta) * transform.tx - std::sin(theta) * transform.ty - (l00 * o0 + l01 * o1);
  const double b1 =
      o1 + std::sin(theta) * transform.tx + std::cos(theta) * transform.ty - (l10 * o0 + l11 * o1);
  AffineMap map =
      is_kp112 ? AffineMap{{l00, l01, b0, l10, l11, b1}} : AffineMap{{l11, l10, b1, l01, l00, b0}};
  if (transform.flip_horizontal) {
    for (double* row : {map.m, map.m + 3}) {
      row[2] += row[1] * (width - 1);
      row[1] = -row[1];
    }
  }
  return map;
}

std::size_t detail::KernelCount() { return Kernels().size(); }

void WarpToPlanar(const cv::Mat& rgb, const AffineMap& map, float* planar) {
  detail::WarpToPlanar(rgb, map, planar, Kernels().size() - 1);
}

void detail::WarpToPlanar(const cv::Mat& rgb, const AffineMap& map, float* planar,
                          std::size_t kernel) {
  CheckImage(rgb, "WarpToPlanar");
  cv::Mat image = rgb;
  if (rgb.rows < 2 || rgb.cols < 2) {
    // Two neighbours exist in each direction; the clamp below still ends at the real last pixel.
    cv::copyMakeBorder(rgb, image, 0, rgb.rows < 2 ? 1 : 0, 0, rgb.cols < 2 ? 1 : 0,
                       cv::BORDER_REPLICATE);
  }
  const int padded_columns = (rgb.cols + kBlock - 1) / kBlock * kBlock;
  std::vector<double> by_column(2 * static_cast<std::size_t>(padded_columns));
  double* row_by_column = by_column.data();
  double* column_by_column = row_by_column + padded_columns;
  for (int column = 0; column < padded_columns; ++column) {
    row_by_column[column] = map.m[1] * column;
    column_by_column[column] = map.m[4] * column;
  }
  const Warp warp = {image.data,
                     static_cast<std::ptrdiff_t>(image.step[0]),
                     {0, rgb.rows - 1.0, image.rows - 2.0},
                     {0, rgb.cols - 1.0, image.cols - 2.0},
                     row_by_column,
                     column_by_column};
  Kernels()[kernel].warp(warp, map, rgb.rows, rgb.cols, planar);
}

void WarpWithOpenCv(const cv::Mat& rgb, const AffineMap& map, cv::Mat& warped) {
  CheckImage(rgb, "WarpWithOpenCv");
  // OpenCV's rows are x and y.
  const cv::Matx23d matrix(map.m[4], map.m[3], map.m[5], map.m[1], map.m[0], map.m[2]);
  cv::warpAffine(rgb, warped, matrix, rgb.size(), cv::INTER_LINEAR | cv::WARP_INVERSE_MAP,
                 cv::BORDER_REPLICATE);
}

void ToPlanar(const cv::Mat& rgb, bool flip_horizontal, float* planar) {
  detail::ToPlanar(rgb, flip_horizontal, planar, Kernels().size() - 1);
}

void detail::ToPlanar(const cv::Mat& rgb, bool flip_horizontal, float* planar, std::size_t kernel) {
  CheckImage(rgb, "ToPlanar");
  Kernels()[kernel].separate(rgb, flip_horizontal, planar);
}

void ApplyTransform(const cv::Mat& rgb, const Transform& transform, float* planar) {
  if (transform.IsIdentityAffine()) {
    ToPlanar(rgb, transform.flip_horizontal, planar);
  } else {
    WarpToPlanar(rgb, InverseMap(transform, rgb.rows, rgb.cols), planar);
  }
}

}  // namespace cnn
