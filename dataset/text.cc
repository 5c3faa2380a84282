#include "dataset/text.h"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <numeric>
#include <vector>

namespace cnn {
namespace {

bool IsContinuation(std::string_view text, std::size_t at) {
  return at < text.size() && (static_cast<std::uint8_t>(text[at]) & 0xC0) == 0x80;
}

// Bytes of the printable character at `at`; 0 when there is none (RFC 3629: no overlong forms, no
// surrogates, nothing above U+10FFFF; and no C0 or C1 control).
std::size_t CharacterSize(std::string_view text, std::size_t at) {
  const auto byte = [text](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  const std::uint8_t first = byte(at);
  if (first < 0x80) return first >= 0x20 && first != 0x7F ? 1 : 0;
  if (!IsContinuation(text, at + 1)) return 0;
  const std::uint8_t second = byte(at + 1);
  if (first >= 0xC2 && first <= 0xDF) return first == 0xC2 && second < 0xA0 ? 0 : 2;
  if (!IsContinuation(text, at + 2)) return 0;
  if ((first & 0xF0) == 0xE0) {
    const bool is_overlong = first == 0xE0 && second < 0xA0;
    const bool is_surrogate = first == 0xED && second >= 0xA0;
    return is_overlong || is_surrogate ? 0 : 3;
  }
  if (!IsContinuation(text, at + 3) || first < 0xF0 || first > 0xF4) return 0;
  const bool is_overlong = first == 0xF0 && second < 0x90;
  const bool is_too_large = first == 0xF4 && second >= 0x90;
  return is_overlong || is_too_large ? 0 : 4;
}

}  // namespace

std::string Printable(std::string_view text) {
  static constexpr char kHex[] = "0123456789abcdef";
  std::string printable;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t size = CharacterSize(text, at);
    if (size > 0) {
      printable += text.substr(at, size);
      at += size;
      continue;
    }
    const auto byte = static_cast<std::uint8_t>(text[at++]);
    printable += {'\\', 'x', kHex[byte >> 4], kHex[byte & 15]};
  }
  return printable;
}

std::string PrintableLines(std::string_view text) {
  std::string printable;
  for (std::size_t end = 0; end != std::string_view::npos; text.remove_prefix(end + 1)) {
    end = text.find('\n');
    printable += Printable(text.substr(0, end));
    if (end == std::string_view::npos) break;
    printable += '\n';
  }
  return printable;
}

std::string FirstLine(std::string_view text) {
  return std::string(text.substr(0, text.find('\n')));
}

std::size_t EditDistance(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return std::tolower(static_cast<unsigned char>(c)); };
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (lower(a[i]) == lower(b[j]) ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({row[j] + 1, row[j + 1] + 1, replaced});
    }
  }
  return row.back();
}

}  // namespace cnn
