// FNV-1a, 64 bits (Fowler, Noll, Vo): tells whether two things are the same; no protection against
// somebody who wants them to look so.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace cnn {

class Fnv1a {
 public:
  void Add(std::uint64_t word) { hash_ = (hash_ ^ word) * 0x100000001b3ULL; }
  /// Byte by byte.
  void Add(std::string_view bytes) {
    for (const char c : bytes) Add(static_cast<std::uint64_t>(static_cast<unsigned char>(c)));
  }
  /// 8 bytes at a time, the last ones filled up with zeros: faster, and another value.
  void AddMemory(const void* data, std::size_t count) {
    const auto* bytes = static_cast<const unsigned char*>(data);
    for (std::size_t at = 0; at < count; at += sizeof(std::uint64_t)) {
      std::uint64_t word = 0;
      std::memcpy(&word, bytes + at, count - at < sizeof word ? count - at : sizeof word);
      Add(word);
    }
  }
  std::uint64_t hash() const { return hash_; }

 private:
  std::uint64_t hash_ = 0xcbf29ce484222325ULL;
};

}  // namespace cnn
