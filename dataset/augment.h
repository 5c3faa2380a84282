// Random augmentation with the semantics of Keras's ImageDataGenerator: parameters drawn in Keras's
// order, composed into one output-to-input affine map with the flip folded in, sampled bilinearly
// in double coordinates with clamped borders, scaled by 1/255 and written planar, all in one pass
// over the output.
#pragma once

#include <cstddef>
#include <cstdint>
#include <opencv2/core/mat.hpp>

#include "dataset/keras_random.h"
#include "dataset/random.h"

namespace cnn {

/// The two geometries that Keras has had. The same parameters give visibly different images.
enum class KerasProfile {
  /// keras-preprocessing up to 1.1.2, which Keras 2.7 and both published experiments ran: turns
  /// about size/2 + 0.5, one pixel off the centre; the matrix acts on (row, column).
  kKp112,
  /// What came after, and is in Keras 3: turns about the centre, size/2 - 0.5; the matrix acts on
  /// (column, row), so that height_shift moves columns.
  kKerasHead
};

/// ImageDataGenerator's arguments, and whose. All zero: rescale only.
struct Augmentation {
  KerasProfile profile = KerasProfile::kKp112;
  double rotation_range = 0;      // degrees
  double height_shift_range = 0;  // fraction of the height, < 1
  double width_shift_range = 0;   // fraction of the width, < 1
  double shear_range = 0;         // degrees: Keras's 0.2 is 0.2 degrees, not 20 %
  double zoom_range = 0;          // zoom factors from [1 - z, 1 + z], rows and columns apart
  bool horizontal_flip = false;

  bool IsRandom() const {
    return rotation_range != 0 || height_shift_range != 0 || width_shift_range != 0 ||
           shear_range != 0 || zoom_range != 0 || horizontal_flip;
  }
};

/// One drawn transformation. x is Keras's first axis: rows for kKp112, columns for kKerasHead.
struct Transform {
  KerasProfile profile = KerasProfile::kKp112;
  double theta = 0;  // degrees
  double tx = 0;     // pixels along x
  double ty = 0;     // pixels along y
  double shear = 0;  // degrees
  double zx = 1;     // along x; > 1 shrinks the content
  double zy = 1;     // along y
  bool flip_horizontal = false;

  bool IsIdentityAffine() const {
    return theta == 0 && tx == 0 && ty == 0 && shear == 0 && zx == 1 && zy == 1;
  }
};

/// Draws in the order of Keras's get_random_transform, including its two flip draws that always
/// happen.
Transform DrawTransform(const Augmentation& augmentation, int height, int width,
                        KeyedRandom& random);
Transform DrawTransform(const Augmentation& augmentation, int height, int width,
                        KerasRandom& random);

/// Output (row, col) -> input: src_row = m[0] row + m[1] col + m[2], src_col = m[3] row + m[4] col
/// + m[5].
struct AffineMap {
  double m[6];
};

/// The transform's inverse map about its profile's centre, flip folded in (the flip comes after the
/// warp): keras-preprocessing's apply_affine_transform.
AffineMap InverseMap(const Transform& transform, int height, int width);

/// Samples `rgb` ([H, W], 3 x 8 bit) through `map` and writes pixel / 255 to `planar`, [3, H, W]
/// floats. Bilinear in double, clamped border, rounded to float once, then multiplied by
/// (float)(1/255).
void WarpToPlanar(const cv::Mat& rgb, const AffineMap& map, float* planar);

/// The same map by cv::warpAffine, to be compared with, not to be trained on: rounds source
/// coordinates to 1/32 pixel and the result to 8 bit, which is up to kOpenCvTolerance off. `rgb`
/// and `warped` are [H, W], 3 x 8 bit.
inline constexpr double kOpenCvTolerance = 8.5;  // grey levels: 255 (1/64 + 1/64) + 1/2
void WarpWithOpenCv(const cv::Mat& rgb, const AffineMap& map, cv::Mat& warped);

/// Without a warp: pixel * (float)(1/255), mirrored when asked, written to [3, H, W] floats.
void ToPlanar(const cv::Mat& rgb, bool flip_horizontal, float* planar);

/// WarpToPlanar or ToPlanar, whichever the transform needs.
void ApplyTransform(const cv::Mat& rgb, const Transform& transform, float* planar);

namespace detail {

/// The implementations that this processor can run, slowest first: one for each instruction set.
/// All give the same bits; the functions above use the last.
std::size_t KernelCount();
void WarpToPlanar(const cv::Mat& rgb, const AffineMap& map, float* planar, std::size_t kernel);
void ToPlanar(const cv::Mat& rgb, bool flip_horizontal, float* planar, std::size_t kernel);

}  // namespace detail

}  // namespace cnn
