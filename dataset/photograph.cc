#include "dataset/photograph.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <opencv2/core/mat.hpp>
#include <opencv2/imgcodecs.hpp>
#include <stdexcept>
#include <string>
#include <utility>

namespace cnn {
namespace {

// ---- Colours and shapes -------------------------------------------------------------------------

struct Colour {
  float red, green, blue;  // 0..255
};

Colour Mix(const Colour& a, const Colour& b, float t) {
  return {a.red + (b.red - a.red) * t, a.green + (b.green - a.green) * t,
          a.blue + (b.blue - a.blue) * t};
}

Colour RandomColour(KeyedRandom& random) {
  const auto channel = [&random] { return static_cast<float>(random.Uniform(25, 230)); };
  return {channel(), channel(), channel()};
}

Colour Stray(const Colour& from, double least, double most, KeyedRandom& random) {
  const Colour towards = RandomColour(random);
  return Mix(from, towards, static_cast<float>(random.Uniform(least, most)));
}

float Fraction(float x) {
  x += 4096;  // all arguments lie well above -4096; truncation is then floor
  return x - static_cast<float>(static_cast<int>(x));
}

/// Triangle wave of period 1 between -1 and 1.
float Wave(float x) { return 4 * std::abs(Fraction(x) - 0.5F) - 1; }

// Signed distances, positive inside; u points right, v down.
float Ellipse(float u, float v, float centre_u, float centre_v, float radius_u, float radius_v) {
  const float du = (u - centre_u) / radius_u;
  const float dv = (v - centre_v) / radius_v;
  return (1 - std::sqrt(du * du + dv * dv)) * std::min(radius_u, radius_v);
}

float Box(float u, float v, float left, float right, float top, float bottom) {
  return std::min(std::min(u - left, right - u), std::min(v - top, bottom - v));
}

float Peak(float u, float v, float apex_u, float apex_v, float half_base, float base_v) {
  const float half = half_base * (v - apex_v) / (base_v - apex_v);
  return std::min(half - std::abs(u - apex_u), base_v - v);
}

// ---- The subjects -------------------------------------------------------------------------------

// What a kind looks like at one point.
struct Surface {
  float inside = 0;  // signed distance
  float accent = 0;  // 0: main colour, 1: second colour
  float shade = 0;   // -1 dark .. 1 bright
};

// Each takes a point (u, v), both about -1..1 over the subject, a smooth field `noise` in -1..1 and
// a number `form` in 0..1 of the single image.

Surface Buildings(float u, float v, float /*noise*/, float form) {
  Surface s;
  const float middle = -0.75F + 0.4F * form;
  s.inside = std::max(std::max(Box(u, v, -0.9F, -0.35F, -0.5F + 0.4F * form, 0.9F),
                               Box(u, v, -0.3F, 0.25F, middle, 0.9F)),
                      Box(u, v, 0.3F, 0.9F, -0.1F - 0.5F * form, 0.9F));
  const float du = Fraction(u * 5.5F), dv = Fraction(v * (4 + 2 * form));
  s.accent = du > 0.3F && dv > 0.35F ? 1.0F : 0.0F;
  return s;
}

Surface Cats(float u, float v, float noise, float form) {
  const float side_u = std::abs(u);
  Surface s;
  s.inside =
      std::max(Ellipse(u, v, 0, 0.2F, 0.64F, 0.55F), Peak(side_u, v, 0.44F, -0.8F, 0.3F, 0.15F));
  s.accent = Wave((2.5F + form) * v + 1.2F * side_u + 0.35F * noise) > 0.15F ? 1.0F : 0.0F;
  if (Ellipse(side_u, v, 0.26F, 0.1F, 0.1F, 0.07F) > 0) s.shade = -1;
  return s;
}

Surface Dogs(float u, float v, float noise, float form) {
  const float side_u = std::abs(u);
  Surface s;
  const float ear = Ellipse(side_u, v, 0.56F, 0.1F + 0.1F * form, 0.19F, 0.52F);
  s.inside = std::max(Ellipse(u, v, 0, 0.1F, 0.52F, 0.7F), ear);
  s.accent = ear > 0 || noise > 0.25F ? 1.0F : 0.0F;
  if (Ellipse(u, v, 0, 0.42F, 0.28F, 0.26F) > 0) s.shade = 0.5F;
  if (Ellipse(u, v, 0, 0.3F, 0.13F, 0.09F) > 0) s.shade = -1;
  if (Ellipse(side_u, v, 0.22F, -0.12F, 0.08F, 0.08F) > 0) s.shade = -0.9F;
  return s;
}

Surface Forest(float u, float v, float noise, float form) {
  Surface s;
  s.inside = -1;
  for (int tree = 0; tree < 4; ++tree) {
    const auto t = static_cast<float>(tree);
    const float apex = -0.85F + 0.45F * Fraction(t * 0.618F + form);
    const float tiers = 0.65F + 0.35F * Fraction((v - apex) * 4);
    const float half = 0.3F * tiers * (v - apex) / (0.9F - apex);
    const float tree_inside = std::min(half - std::abs(u + 0.72F - 0.48F * t), 0.9F - v);
    s.inside = std::max(s.inside, tree_inside);
  }
  s.shade = 0.7F * noise - 0.2F;
  s.accent = noise > 0.35F ? 0.6F : 0.0F;
  return s;
}

Surface Glacier(float u, float v, float noise, float form) {
  const float side_u = std::abs(u);
  Surface s;
  s.inside = 0.75F - std::max(side_u * 0.8F + 0.15F * Wave(v * 1.7F + form),
                              std::abs(v) * 1.1F + 0.12F * Wave(u * 2.3F + form));
  s.accent = std::abs(noise) < 0.1F ? 1.0F : 0.0F;
  s.shade = 0.35F * Wave(0.9F * u + 1.3F * v + form) + 0.25F;
  return s;
}

Surface Mountain(float u, float v, float noise, float form) {
  Surface s;
  const float apex_u = -0.35F + 0.3F * form;
  const float jag = 0.07F * noise;
  const float first = Peak(u, v, apex_u, -0.75F, 0.75F, 0.85F);
  const float second = Peak(u, v, 0.45F, -0.3F, 0.6F, 0.85F);
  s.inside = std::max(first, second) + jag;
  s.accent = v < (first > second ? -0.25F : 0.05F) + 0.2F * noise ? 1.0F : 0.0F;
  s.shade = (u > (first > second ? apex_u : 0.45F) + jag) ? -0.55F : 0.2F;
  return s;
}

Surface Sea(float u, float v, float noise, float /*form*/) {
  Surface s;
  const float depth = v + 0.45F;  // 0 at the horizon
  s.inside = Box(u, v, -1, 1, -0.4F, 0.85F);
  s.accent =
      Wave(2.6F / (0.25F + std::max(depth, 0.0F)) + 0.3F * noise + 0.15F * u) > 0.3F ? 0.8F : 0.0F;
  s.shade = 0.2F * noise - 0.2F + 0.3F * depth;
  return s;
}

Surface Street(float u, float v, float noise, float form) {
  const float side_u = std::abs(u);
  Surface s;
  const float depth = v + 0.75F;
  const float half = 0.08F + 0.55F * std::max(depth, 0.0F);
  s.inside = std::min(half - side_u, std::min(depth, 0.9F - v));
  const bool dash = Fraction(1.6F / (0.3F + std::max(depth, 0.0F)) + form) < 0.55F;
  s.accent = side_u < 0.09F * half && dash ? 1.0F : 0.0F;
  s.shade = side_u > 0.86F * half ? 0.7F : 0.15F * noise - 0.15F;
  return s;
}

// `subject` and `surroundings` are what a kind tends to; each image strays from them by a random
// part of the way to a random colour.
struct KindTraits {
  const char* name;
  Colour subject, surroundings;
  Surface (*look)(float u, float v, float noise, float form);
};

constexpr int kKinds = 8;

const KindTraits& TraitsOf(Kind kind) {
  static constexpr std::array<KindTraits, kKinds> kTraits = {
      {{"buildings", {175, 120, 95}, {120, 150, 190}, Buildings},
       {"cats", {190, 130, 75}, {145, 110, 95}, Cats},
       {"dogs", {145, 100, 60}, {125, 145, 90}, Dogs},
       {"forest", {40, 100, 40}, {150, 170, 120}, Forest},
       {"glacier", {200, 225, 240}, {80, 120, 170}, Glacier},
       {"mountain", {105, 90, 110}, {200, 180, 160}, Mountain},
       {"sea", {30, 110, 170}, {210, 200, 150}, Sea},
       {"street", {80, 80, 80}, {140, 125, 110}, Street}}};
  return kTraits[static_cast<std::size_t>(kind)];
}

// ---- The canvas ---------------------------------------------------------------------------------

// Half the photograph's resolution, which is where photographs have their detail; three planes.
class Canvas {
 public:
  Canvas(int width, int height)
      : width_(width), height_(height), planes_(3 * static_cast<std::size_t>(width * height)) {}

  int width() const { return width_; }
  int height() const { return height_; }
  float* Row(int channel, int y) {
    return planes_.data() + static_cast<std::ptrdiff_t>(channel * height_ + y) * width_;
  }
  const float* Row(int channel, int y) const {
    return planes_.data() + static_cast<std::ptrdiff_t>(channel * height_ + y) * width_;
  }

  void Blend(int x, int y, const Colour& colour, float alpha) {
    float* red = Row(0, y) + x;
    float* green = Row(1, y) + x;
    float* blue = Row(2, y) + x;
    *red += (colour.red - *red) * alpha;
    *green += (colour.green - *green) * alpha;
    *blue += (colour.blue - *blue) * alpha;
  }

 private:
  int width_, height_;
  std::vector<float> planes_;
};

// Bilinear noise in -1..1 over a random lattice of about `cells` cells along the longer side.
std::vector<float> SmoothNoise(int width, int height, double cells, KeyedRandom& random) {
  const auto scale = static_cast<float>(cells / std::max(width, height));
  const int lattice_width = static_cast<int>(static_cast<float>(width) * scale) + 2;
  const int lattice_height = static_cast<int>(static_cast<float>(height) * scale) + 2;
  std::vector<float> lattice(static_cast<std::size_t>(lattice_width * lattice_height));
  for (float& value : lattice) value = static_cast<float>(random.Uniform(-1, 1));
  std::vector<float> noise(static_cast<std::size_t>(width * height));
  std::vector<float> line(static_cast<std::size_t>(lattice_width));
  for (int y = 0; y < height; ++y) {
    const float fy = static_cast<float>(y) * scale;
    const int row = static_cast<int>(fy);
    const float weight = fy - static_cast<float>(row);
    const float* upper = lattice.data() + row * lattice_width;
    const float* lower = upper + lattice_width;
    for (int i = 0; i < lattice_width; ++i) {
      line[static_cast<std::size_t>(i)] = upper[i] + (lower[i] - upper[i]) * weight;
    }
    float* out = noise.data() + static_cast<std::ptrdiff_t>(y) * width;
    for (int x = 0; x < width; ++x) {
      const float fx = static_cast<float>(x) * scale;
      const int column = static_cast<int>(fx);
      const float* pair = line.data() + column;
      out[x] = pair[0] + (pair[1] - pair[0]) * (fx - static_cast<float>(column));
    }
  }
  return noise;
}

void PaintBackground(Kind kind, Canvas& canvas, KeyedRandom& random) {
  const Colour typical = TraitsOf(kind).surroundings;
  const Colour from = Stray(typical, 0.15, 0.85, random), to = Stray(typical, 0.15, 0.85, random);
  const double angle = random.Uniform(0, 6.283185307179586);
  const auto along_x = static_cast<float>(std::cos(angle) / canvas.width());
  const auto along_y = static_cast<float>(std::sin(angle) / canvas.height());
  const int middle_x = canvas.width() / 2, middle_y = canvas.height() / 2;
  const auto amplitude = static_cast<float>(random.Uniform(15, 45));
  const std::vector<float> clouds =
      SmoothNoise(canvas.width(), canvas.height(), random.Uniform(3, 9), random);
  const std::vector<float> grain =
      SmoothNoise(canvas.width(), canvas.height(), random.Uniform(20, 60), random);
  const std::array<std::pair<float, float>, 3> channels = {
      {{from.red, to.red}, {from.green, to.green}, {from.blue, to.blue}}};
  for (int channel = 0; channel < 3; ++channel) {
    const auto [start, end] = channels[static_cast<std::size_t>(channel)];
    const auto tint = static_cast<float>(random.Uniform(0.6, 1.2)) * amplitude;
    for (int y = 0; y < canvas.height(); ++y) {
      float* row = canvas.Row(channel, y);
      const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(y) * canvas.width();
      const float start_t = 0.5F + along_y * static_cast<float>(y - middle_y);
      for (int x = 0; x < canvas.width(); ++x) {
        const float t = start_t + along_x * static_cast<float>(x - middle_x);
        row[x] = start + (end - start) * t +
                 tint * (clouds.data()[at + x] + 0.5F * grain.data()[at + x]);
      }
    }
  }
}

// Where something is painted: centre and half-size in canvas pixels, and a rotation.
struct Placement {
  float x, y, size_u, size_v, cosine, sine;
};

Placement RandomPlacement(const Canvas& canvas, double smallest, double largest, double turn,
                          KeyedRandom& random) {
  const double half = 0.5 * std::min(canvas.width(), canvas.height());
  const double size = half * random.Uniform(smallest, largest);
  const double stretch = random.Uniform(0.85, 1.2);
  const double angle = random.Uniform(-turn, turn);
  const auto centre = [&](int extent) {
    // May stick out by a third, as subjects of snapshots do.
    return random.Uniform(std::min(0.67 * size, 0.5 * extent),
                          std::max(extent - 0.67 * size, 0.5 * extent));
  };
  const auto x = static_cast<float>(centre(canvas.width()));
  const auto y = static_cast<float>(centre(canvas.height()));
  return {x,
          y,
          static_cast<float>(size * stretch),
          static_cast<float>(size / stretch),
          static_cast<float>(std::cos(angle)),
          static_cast<float>(std::sin(angle))};
}

// Calls paint(x, y, u, v, sharpness) for the canvas pixels within the placement; sharpness is the
// number of pixels per unit of (u, v), for soft edges of one pixel.
template <typename Paint>
void ForEachPixel(const Canvas& canvas, const Placement& place, Paint paint) {
  const float reach = 1.45F * std::max(place.size_u, place.size_v);
  const int left = std::max(0, static_cast<int>(place.x - reach));
  const int right = std::min(canvas.width(), static_cast<int>(place.x + reach) + 1);
  const int top = std::max(0, static_cast<int>(place.y - reach));
  const int bottom = std::min(canvas.height(), static_cast<int>(place.y + reach) + 1);
  const float sharpness = std::min(place.size_u, place.size_v);
  for (int y = top; y < bottom; ++y) {
    const float dy = static_cast<float>(y) - place.y;
    for (int x = left; x < right; ++x) {
      const float dx = static_cast<float>(x) - place.x;
      const float u = (place.cosine * dx + place.sine * dy) / place.size_u;
      const float v = (place.cosine * dy - place.sine * dx) / place.size_v;
      paint(x, y, u, v, sharpness);
    }
  }
}

// Things of no class, with textures like those of the subjects, so that no texture alone tells a
// class.
void PaintDistractor(Canvas& canvas, KeyedRandom& random) {
  const Placement place = RandomPlacement(canvas, 0.12, 0.45, 3.14, random);
  const Kind lure = static_cast<Kind>(random.Below(kKinds));
  const Colour first = Stray(TraitsOf(lure).subject, 0.3, 0.8, random);
  const Colour second = RandomColour(random);
  const bool round = random.Uniform() < 0.5;
  const std::uint64_t texture = random.Below(3);
  const auto frequency = static_cast<float>(random.Uniform(1.5, 5));
  const auto opacity = static_cast<float>(random.Uniform(0.6, 1));
  ForEachPixel(canvas, place, [&](int x, int y, float u, float v, float sharpness) {
    const float inside =
        round ? Ellipse(u, v, 0, 0, 0.9F, 0.7F) : Box(u, v, -0.9F, 0.9F, -0.6F, 0.6F);
    const float alpha = std::clamp(0.5F + inside * sharpness, 0.0F, 1.0F);
    if (alpha <= 0) return;
    float accent = 0;
    if (texture == 1) accent = Wave(frequency * v) > 0 ? 1.0F : 0.0F;
    if (texture == 2) accent = Wave(frequency * u) > 0 && Wave(frequency * v) > 0 ? 1.0F : 0.0F;
    canvas.Blend(x, y, Mix(first, second, accent), alpha * opacity);
  });
}

void PaintSubject(Kind kind, Canvas& canvas, KeyedRandom& random) {
  const KindTraits& traits = TraitsOf(kind);
  const Placement place = RandomPlacement(canvas, 0.65, 1.1, 0.2, random);
  const Colour first = Stray(traits.subject, 0.05, 0.6, random);
  const Colour second = Stray(first, 0.4, 1, random);
  const auto form = static_cast<float>(random.Uniform());
  const auto opacity = static_cast<float>(random.Uniform(0.75, 1));
  const float mirror = random.Uniform() < 0.5 ? -1.0F : 1.0F;
  const std::vector<float> noise =
      SmoothNoise(canvas.width(), canvas.height(),
                  random.Uniform(5, 8) * std::max(canvas.width(), canvas.height()) /
                      (place.size_u + place.size_v),
                  random);
  ForEachPixel(canvas, place, [&](int x, int y, float u, float v, float sharpness) {
    const float n = noise[static_cast<std::size_t>(y * canvas.width() + x)];
    const Surface surface = traits.look(mirror * u, v, n, form);
    const float alpha = std::clamp(0.5F + surface.inside * sharpness, 0.0F, 1.0F);
    if (alpha <= 0) return;
    Colour colour = Mix(first, second, surface.accent);
    const float bright = 1 + 0.6F * surface.shade;
    colour = {colour.red * bright, colour.green * bright, colour.blue * bright};
    canvas.Blend(x, y, colour, alpha * opacity);
  });
}

// One pass of a 3-tap box along each axis, edges left as they are.
void Blur(Canvas& canvas) {
  std::vector<float> above(static_cast<std::size_t>(canvas.width()));
  for (int channel = 0; channel < 3; ++channel) {
    for (int y = 0; y < canvas.height(); ++y) {
      float* row = canvas.Row(channel, y);
      float before = row[0];
      for (int x = 1; x + 1 < canvas.width(); ++x) {
        const float here = row[x];
        row[x] = (before + here + row[x + 1]) * (1.0F / 3);
        before = here;
      }
    }
    std::copy_n(canvas.Row(channel, 0), canvas.width(), above.begin());
    for (int y = 1; y + 1 < canvas.height(); ++y) {
      float* row = canvas.Row(channel, y);
      const float* below = canvas.Row(channel, y + 1);
      for (int x = 0; x < canvas.width(); ++x) {
        const float here = row[x];
        row[x] = (above[static_cast<std::size_t>(x)] + here + below[x]) * (1.0F / 3);
        above[static_cast<std::size_t>(x)] = here;
      }
    }
  }
}

void Light(Canvas& canvas, KeyedRandom& random) {
  const auto level = static_cast<float>(random.Uniform(0.6, 1.15));
  const auto slope_x = static_cast<float>(random.Uniform(-0.35, 0.35) / canvas.width());
  const auto slope_y = static_cast<float>(random.Uniform(-0.35, 0.35) / canvas.height());
  const int middle_x = canvas.width() / 2, middle_y = canvas.height() / 2;
  for (int channel = 0; channel < 3; ++channel) {
    const auto balance = static_cast<float>(random.Uniform(0.88, 1.12));
    const auto haze = static_cast<float>(random.Uniform(0, 35));
    for (int y = 0; y < canvas.height(); ++y) {
      float* row = canvas.Row(channel, y);
      const float start = level + slope_y * static_cast<float>(y - middle_y);
      for (int x = 0; x < canvas.width(); ++x) {
        const float light = start + slope_x * static_cast<float>(x - middle_x);
        row[x] = row[x] * light * balance + haze;
      }
    }
  }
}

// ---- The photograph -----------------------------------------------------------------------------

std::uint32_t Hash(std::uint32_t x) {
  x = (x ^ (x >> 16)) * 0x21F0AAADU;
  x = (x ^ (x >> 15)) * 0x735A2D97U;
  return x ^ (x >> 15);
}

// The sum of a hash's four bytes is close to a normal number; this is its standard deviation.
constexpr float kByteSumDeviation = 147.8F;

// Doubles the canvas (its outermost ring is margin), adds a sensor's noise and rounds to 8-bit BGR.
cv::Mat Develop(const Canvas& canvas, int width, int height, float noise_deviation,
                KeyedRandom& random) {
  cv::Mat bgr(height, width, CV_8UC3);
  const auto seed = static_cast<std::uint32_t>(random.Next());
  const float grain = noise_deviation / kByteSumDeviation;
  const auto canvas_width = static_cast<std::size_t>(canvas.width());
  const auto columns = static_cast<std::size_t>(width);
  std::vector<float> line(canvas_width);
  std::vector<float> luma_noise(columns + 1);
  std::array<std::vector<std::uint8_t>, 3> bytes;
  for (auto& plane : bytes) plane.resize(columns + 1);
  for (int y = 0; y < height; ++y) {
    const std::uint32_t row_seed = Hash(seed + static_cast<std::uint32_t>(y));
    for (std::size_t x = 0; x < columns; ++x) {
      const std::uint32_t h = Hash(row_seed + static_cast<std::uint32_t>(x));
      const auto sum =
          static_cast<std::int32_t>((h & 255) + (h >> 8 & 255) + (h >> 16 & 255) + (h >> 24));
      luma_noise[x] = static_cast<float>(sum - 510) * grain;
    }
    const int near = y / 2 + 1;
    const int far = y % 2 == 0 ? near - 1 : near + 1;
    for (int channel = 0; channel < 3; ++channel) {
      const float* near_row = canvas.Row(channel, near);
      const float* far_row = canvas.Row(channel, far);
      for (std::size_t i = 0; i < canvas_width; ++i) {
        line[i] = 0.75F * near_row[i] + 0.25F * far_row[i];
      }
      std::uint8_t* out = bytes[static_cast<std::size_t>(channel)].data();
      const auto put = [&](std::size_t x, float value) {
        out[x] = static_cast<std::uint8_t>(std::clamp(value + luma_noise[x], 0.0F, 255.0F));
      };
      for (std::size_t i = 0; 2 * i < columns; ++i) {
        const float centre = 0.75F * line[i + 1];
        put(2 * i, centre + 0.25F * line[i]);
        put(2 * i + 1, centre + 0.25F * line[i + 2]);
      }
    }
    std::uint8_t* out = bgr.ptr<std::uint8_t>(y);
    for (std::size_t x = 0; x < columns; ++x) {
      out[3 * x] = bytes[2][x];
      out[3 * x + 1] = bytes[1][x];
      out[3 * x + 2] = bytes[0][x];
    }
  }
  return bgr;
}

}  // namespace

const char* KindName(Kind kind) { return TraitsOf(kind).name; }

std::vector<std::uint8_t> Photograph(Kind kind, KeyedRandom random) {
  const auto side = [&random] {
    return kMinPhotographSide +
           static_cast<int>(random.Below(kMaxPhotographSide - kMinPhotographSide + 1));
  };
  const int width = side(), height = side();
  Canvas canvas(width / 2 + 3, height / 2 + 3);
  PaintBackground(kind, canvas, random);
  const std::uint64_t behind = 1 + random.Below(4);
  for (std::uint64_t i = 0; i < behind; ++i) PaintDistractor(canvas, random);
  PaintSubject(kind, canvas, random);
  const std::uint64_t before = random.Below(2);
  for (std::uint64_t i = 0; i < before; ++i) PaintDistractor(canvas, random);
  Light(canvas, random);
  const std::uint64_t blurs = random.Below(3);
  for (std::uint64_t i = 0; i < blurs; ++i) Blur(canvas);
  const auto noise = static_cast<float>(random.Uniform(4, 11));
  const cv::Mat bgr = Develop(canvas, width, height, noise, random);
  const double megapixels = width * height * 1e-6;
  const int quality = static_cast<int>(random.Uniform(88, 96) - 90 * (megapixels - 0.04));
  return detail::EncodeJpeg(bgr, quality);
}

std::vector<std::uint8_t> detail::EncodeJpeg(const cv::Mat& bgr, int quality) {
  std::vector<std::uint8_t> bytes;
  int lowest = 20, highest = 100;
  while (lowest <= highest) {
    if (!cv::imencode(".jpg", bgr, bytes, {cv::IMWRITE_JPEG_QUALITY, quality})) {
      throw std::runtime_error("OpenCV cannot encode a photograph as JPEG");
    }
    const bool too_large = bytes.size() > kMaxPhotographBytes;
    if (!too_large && bytes.size() >= kMinPhotographBytes) return bytes;
    (too_large ? highest : lowest) = quality + (too_large ? -1 : 1);
    quality = (lowest + highest) / 2;
  }
  throw std::runtime_error("no JPEG quality gives a photograph of " +
                           std::to_string(kMinPhotographBytes) + " to " +
                           std::to_string(kMaxPhotographBytes) + " bytes");
}

}  // namespace cnn
