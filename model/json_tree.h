// JSON text that a person wrote, as a tree that knows on which line everything stands, so that an
// error can say where. Stricter than the library's own reader: a key that an object has twice is an
// error, not the last one's.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace cnn {

struct JsonNode {
  enum class Kind { kNull, kBoolean, kWhole, kReal, kString, kArray, kObject };

  Kind kind = Kind::kNull;
  int line = 0;  // where it begins, from 1
  // A string's value; a number, true, false or null as written.
  std::string text;
  std::int64_t whole = 0;  // of kWhole; what is beyond 64 bits is the nearest that is not
  double number = 0;       // of kWhole and kReal
  bool boolean = false;
  std::vector<JsonNode> items;  // of an array; of an object its values, in the order of the text
  std::string key;              // of an object's value
  int key_line = 0;

  /// An object's value, or null.
  const JsonNode* Find(const std::string& name) const;
};

/// The one value that `text` is. Throws std::runtime_error "SOURCE: line L, column C: reason" for
/// what is no JSON, "SOURCE: line L: reason" for a key that stands twice or brackets too deep.
JsonNode ParseJson(const std::string& text, const std::string& source);

}  // namespace cnn
