// Paints the synthetic photographs: a pure function from a kind and a random stream to the bytes of
// a JPEG file. The files have to cost a pipeline what holiday photographs cost (side lengths,
// weight, noise that does not compress) and a network has to learn them from shape and texture
// rather than at a glance: every image strays from its kind's typical colours, stands before a
// random background among distractors in the colours and textures of other kinds, and is lit,
// blurred and grained at random.
//
// A subject is a function from a point to (signed distance, second colour, shade), because
// distances give soft edges, unions and overlaps without a rasteriser. All is painted in float at
// half the resolution, where photographs have their detail, and doubled with the sensor's noise on
// top: a quarter of the work, and compressible as photographs are.
//
// Own arithmetic on KeyedRandom, not OpenCV's drawing, so that the pixels depend neither on
// OpenCV's version nor on the number of threads; compiled without contraction to fused
// multiply-add, so that they do not depend on the instruction set either. Only the JPEG encoder is
// OpenCV's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <opencv2/core/mat.hpp>
#include <vector>

#include "dataset/random.h"

namespace cnn {

// In the order of their names, and part of the keys of the images written: append only.
enum class Kind { kBuildings, kCats, kDogs, kForest, kGlacier, kMountain, kSea, kStreet };

constexpr int kMinPhotographSide = 200, kMaxPhotographSide = 500;  // pixels
constexpr std::size_t kMinPhotographBytes = 15 * 1024, kMaxPhotographBytes = 60 * 1024;

/// A folder's name, e.g. "buildings".
const char* KindName(Kind kind);

/// A JPEG file within the bounds above, a function of `kind` and the stream. A change of a single
/// pixel must raise the version of the set (synthetic.cc). Throws std::runtime_error if no JPEG
/// quality gives a file of that size.
std::vector<std::uint8_t> Photograph(Kind kind, KeyedRandom random);

namespace detail {

/// Encodes at `quality`, unless that gives a file beyond the bounds above: then at the quality that
/// a bisection of 20 to 100 finds. Throws std::runtime_error if there is none.
std::vector<std::uint8_t> EncodeJpeg(const cv::Mat& bgr, int quality);

}  // namespace detail

}  // namespace cnn
