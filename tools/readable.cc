#include "tools/readable.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>

#include "tools/export_text.h"

namespace cnn {
namespace {

struct Scale {
  double factor;
  std::string_view unit;
};

template <std::size_t N>
std::string Scaled(double value, const std::array<Scale, N>& scales) {
  if (!std::isfinite(value)) return FormatReal(value);
  for (const Scale& scale : scales) {
    if (std::abs(value) >= scale.factor) {
      return FourDigits(value / scale.factor) + std::string(scale.unit);
    }
  }
  return FourDigits(value / scales[N - 1].factor) + std::string(scales[N - 1].unit);
}

}  // namespace

std::string FourDigits(double value) {
  std::array<char, 64> buffer{};
  const auto result = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                                    std::chars_format::general, 4);
  return std::string(buffer.data(), result.ptr);
}

std::string ReadableTime(double seconds) {
  constexpr std::array<Scale, 4> kScales = {
      {{1, " s"}, {1e-3, " ms"}, {1e-6, " us"}, {1e-9, " ns"}}};
  return Scaled(seconds, kScales);
}

std::string ReadableNumber(double value) {
  constexpr std::array<Scale, 4> kScales = {{{1e9, " G"}, {1e6, " M"}, {1e4, " k"}, {1, ""}}};
  // 10 k and not 0.01 M, but 9999 and not 9.999 k
  if (std::abs(value) >= 1e4 && std::abs(value) < 1e6) return FourDigits(value / 1e3) + " k";
  return Scaled(value, kScales);
}

std::string Signed(const std::string& number) {
  return number.front() == '-' ? number : '+' + number;
}

std::string PercentText(double share) {
  const double percent = 100 * share;
  const double step = std::abs(percent) < 1 ? 100 : 10;
  const double rounded = std::round(percent * step) / step;
  return Signed(FourDigits(rounded == 0 ? 0 : rounded)) + " %";
}

std::string Plural(std::size_t count, const std::string& noun) {
  return FormatInteger(static_cast<std::int64_t>(count)) + ' ' + noun + (count == 1 ? "" : "s");
}

std::string Shortened(std::string_view text) {
  constexpr std::size_t kLongestCell = 400;
  if (text.size() <= kLongestCell) return std::string(text);
  return std::string(CutUtf8(text, kLongestCell)) + "…";
}

std::string MarkdownText(std::string_view text) {
  constexpr std::string_view kMarkup = "&<>|`\\*_[]~@#!$";
  std::string plain;
  for (const char character : text) {
    if (kMarkup.find(character) == std::string_view::npos) {
      plain += character;
    } else {
      plain += "&#" + FormatInteger(character) + ';';
    }
  }
  return plain;
}

std::string MarkdownCode(const std::string& text) {
  if (text.empty()) return {};
  const bool has_edge_space = text.front() == ' ' || text.back() == ' ';
  if (has_edge_space || text.find_first_of("|`\\") != std::string::npos) return MarkdownText(text);
  return '`' + text + '`';
}

}  // namespace cnn
