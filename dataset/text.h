// Words for people. File names are bytes: any but '/' and NUL; what shows them to a person, or
// writes them where UTF-8 is expected (JSON), shows them through here. And what somebody may have
// meant by a word that is none of those there are.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace cnn {

/// Valid UTF-8 on one line, without control characters: each byte that is neither is written \xNN.
std::string Printable(std::string_view text);

/// The same line by line: for messages that have several.
std::string PrintableLines(std::string_view text);

/// Up to the first line feed: LibTorch puts a stack trace below what went wrong.
std::string FirstLine(std::string_view text);

/// Levenshtein's: insertions, deletions and replacements of letters, compared without case.
std::size_t EditDistance(std::string_view a, std::string_view b);

}  // namespace cnn
