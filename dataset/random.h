// Random numbers that are a pure function of a key, for everything that must not depend on which
// thread asks first: augmentation, permutations, initial weights, the synthetic photographs.
//
// The generator is SplitMix64 (Steele, Lea, Flood, "Fast Splittable Pseudorandom Number
// Generators", OOPSLA 2014): state advances by the golden gamma, output is a bijective mix of the
// state. The key words are folded into the start state with the same mix, so nearby keys give
// unrelated streams.
#pragma once

#include <cstdint>
#include <initializer_list>

namespace cnn {

class KeyedRandom {
 public:
  /// A stream of its own for each key, e.g. {seed, epoch, pass, sample}.
  explicit KeyedRandom(std::initializer_list<std::uint64_t> key) {
    for (const std::uint64_t word : key) state_ = Mix(state_ + kGamma + word);
  }

  std::uint64_t Next() { return Mix(state_ += kGamma); }

  /// Uniform in [0, 1), 53 random bits.
  double Uniform() { return static_cast<double>(Next() >> 11) * 0x1.0p-53; }

  /// Uniform in [low, high): low + (high - low) * u, numpy's formula.
  double Uniform(double low, double high) { return low + (high - low) * Uniform(); }

  /// Uniform in [0, bound), bound > 0, without modulo bias (rejection).
  std::uint64_t Below(std::uint64_t bound) {
    const std::uint64_t limit = UINT64_MAX - UINT64_MAX % bound;
    std::uint64_t value = Next();
    while (value >= limit) value = Next();
    return value % bound;
  }

 private:
  static constexpr std::uint64_t kGamma = 0x9E3779B97F4A7C15ULL;

  static constexpr std::uint64_t Mix(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31);
  }

  std::uint64_t state_ = 0;
};

}  // namespace cnn
