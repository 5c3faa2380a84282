// numpy's legacy global generator, which Keras draws from: MT19937 seeded with one 32-bit word, as
// std::mt19937 is, and numpy's own ways from its words to doubles and permutations (RandomState in
// numpy/random/mtrand, frozen since numpy 1.17).
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

namespace cnn {

class KerasRandom {
 public:
  explicit KerasRandom(std::uint32_t seed) : engine_(seed) {}

  /// Uniform in [0, 1), 53 random bits from two words.
  double Uniform() {
    const auto high = static_cast<double>(Next() >> 5);
    const auto low = static_cast<double>(Next() >> 6);
    return (high * 67108864.0 + low) / 9007199254740992.0;
  }

  /// Uniform in [low, high).
  double Uniform(double low, double high) { return low + (high - low) * Uniform(); }

  /// np.random.permutation of `order`, which the caller has filled: Fisher-Yates from the end,
  /// indices by masking and rejection. At most 2^32 elements.
  void Shuffle(std::vector<std::size_t>& order) {
    for (std::size_t i = order.size(); i-- > 1;) std::swap(order[i], order[AtMost(i)]);
  }

 private:
  std::uint32_t Next() { return static_cast<std::uint32_t>(engine_()); }

  std::size_t AtMost(std::size_t bound) {
    std::size_t mask = bound;
    for (const int shift : {1, 2, 4, 8, 16}) mask |= mask >> shift;
    std::size_t value = Next() & mask;
    while (value > bound) value = Next() & mask;
    return value;
  }

  std::mt19937 engine_;
};

}  // namespace cnn
