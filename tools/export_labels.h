// The parts of a benchmark's name as labels, tags and columns: Family/subject/key:value/… as the
// suite writes them. Names of other programs have fewer parts; the whole name always goes along.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cnn {

struct Label {
  std::string key;
  std::string value;
};

/// `family` is what stands before the first slash, `subject` the rest but for its key:value parts,
/// which are labels of their own: the first of each key, and "arg_" before a key that the formats
/// need for themselves. No value is empty.
std::vector<Label> NameLabels(std::string_view name);

}  // namespace cnn
