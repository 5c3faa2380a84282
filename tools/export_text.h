// What the formats share about text: numbers, dates and names that no reader refuses.
//
// Two levels of cleaning. ValidUtf8 is for formats that can write any character (JSON). VisibleText
// is for those that cannot: a control character becomes its picture of U+2400 ("␛" for escape), so
// that names stay apart and recoverable, and nothing that is printed can steer a terminal.
//
// Numbers through to_chars: the shortest text that reads back as the same double, in any locale.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace cnn {

/// Always with a point or an exponent ("5.0"): databases that guess a column's type from its first
/// value take "5" for an integer. "NaN", "Infinity", "-Infinity" where `value` is not finite.
std::string FormatReal(double value);

/// Without an exponent, which xs:decimal does not have; "0.0" where `value` is not finite.
std::string FormatDecimal(double value);

std::string FormatInteger(std::int64_t value);

/// The whole text as a number.
std::optional<double> ParseReal(std::string_view text);

/// Each byte that is not part of a character becomes U+FFFD.
std::string ValidUtf8(std::string_view text);

/// ValidUtf8 with pictures for U+0000 to U+001F and U+007F, and U+FFFD for U+0080 to U+009F.
std::string VisibleText(std::string_view text);

/// With its quotes.
std::string JsonString(std::string_view text);

/// `text` with every character of `characters` preceded by a backslash. A newline becomes \n.
std::string BackslashEscaped(std::string_view text, std::string_view characters);

/// Letters, digits and underscores are kept, everything else becomes an underscore; never empty and
/// never with a digit at the start.
std::string Identifier(std::string_view text);

std::vector<std::string_view> Split(std::string_view text, char separator);

std::string Joined(const std::vector<std::string>& parts, std::string_view separator);

bool EndsWith(std::string_view text, std::string_view end);

/// The last component of a path.
std::string_view BaseName(std::string_view path);

/// At most `size` bytes, cut between characters.
std::string_view CutUtf8(std::string_view text, std::size_t size);

/// The characters, each in one column.
std::size_t CountCharacters(std::string_view text);

/// Seconds since 1970 of an ISO 8601 time with an offset, as Google Benchmark writes it. Nothing
/// where it is something else: the local times of versions before 1.5 mean no instant.
std::optional<std::int64_t> ParseTime(std::string_view text);

/// The same, and of times without an offset ("2015/03/17-18:40:25"), whose zone is not known, as if
/// they were UTC: good for the order of files.
std::optional<std::int64_t> ParseAnyTime(std::string_view text);

/// "2026-12-01T18:36:31", in UTC and without the Z.
std::string FormatTime(std::int64_t seconds);

/// Gives every name once.
class UniqueNames {
 public:
  /// `name`, or with the first suffix "2", "3", … after `separator` that was not given yet.
  std::string Take(const std::string& name, std::string_view separator);

 private:
  std::unordered_set<std::string> taken_;
};

}  // namespace cnn
