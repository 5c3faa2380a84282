// Numbers as a reader can use them, and names that no Markdown takes for markup: what the tables
// for people share.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace cnn {

/// Four digits: "7.262".
std::string FourDigits(double value);

/// "7.262 ms"; not finite as FormatReal.
std::string ReadableTime(double seconds);

/// "12.3 k"; not finite as FormatReal.
std::string ReadableNumber(double value);

/// 0.083 is "+8.3 %".
std::string PercentText(double share);

/// With a plus unless it is negative.
std::string Signed(const std::string& number);

/// "1 file", "2 files".
std::string Plural(std::size_t count, const std::string& noun);

/// For a cell of a table: at most 400 bytes, and "…" where more was cut off.
std::string Shortened(std::string_view text);

/// With its punctuation as numeric entities, which Markdown never takes for markup. `text` is a
/// VisibleText, as it is below.
std::string MarkdownText(std::string_view text);

/// A code span, where nothing is markup, nobody is mentioned and no issue is linked; MarkdownText
/// where a code span cannot hold it (pipes end a cell even there, backticks and backslashes).
std::string MarkdownCode(const std::string& text);

}  // namespace cnn
