#include "tools/export_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace cnn {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

struct Character {
  char32_t code = 0;
  std::size_t size = 0;  // 0: the byte is not the start of a character
};

struct LeadByte {
  std::size_t size;
  char32_t bits;
  char32_t smallest;  // what needs this many bytes: longer forms of less are not valid
};

LeadByte ReadLead(unsigned char byte) {
  if (byte < 0x80) return {1, byte, 0};
  if (byte >= 0xC0 && byte < 0xE0) return {2, byte & 0x1FU, 0x80};
  if (byte >= 0xE0 && byte < 0xF0) return {3, byte & 0x0FU, 0x800};
  if (byte >= 0xF0 && byte < 0xF8) return {4, byte & 0x07U, 0x10000};
  return {0, 0, 0};
}

Character ReadCharacter(std::string_view text) {
  const LeadByte lead = ReadLead(static_cast<unsigned char>(text[0]));
  if (lead.size == 0 || lead.size > text.size()) return {};
  char32_t code = lead.bits;
  for (std::size_t i = 1; i < lead.size; ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if ((byte & 0xC0U) != 0x80) return {};
    code = code << 6 | (byte & 0x3FU);
  }
  const bool is_surrogate = code >= 0xD800 && code < 0xE000;
  if (code < lead.smallest || code > 0x10FFFF || is_surrogate) return {};
  return {code, lead.size};
}

// `write(code, bytes)` for each character; U+FFFD for a byte that belongs to none.
template <typename Write>
void ForEachCharacter(std::string_view text, Write write) {
  while (!text.empty()) {
    const Character character = ReadCharacter(text);
    if (character.size == 0) {
      write(char32_t{0xFFFD}, kReplacement);
      text.remove_prefix(1);
    } else {
      write(character.code, text.substr(0, character.size));
      text.remove_prefix(character.size);
    }
  }
}

bool IsControl(char32_t code) { return code < 0x20 || (code >= 0x7F && code < 0xA0); }

// U+2400 to U+2421 are the pictures of U+0000 to U+0020 and of U+007F.
std::string PictureOf(char32_t control) {
  if (control >= 0x80) return std::string(kReplacement);
  const char32_t offset = control == 0x7F ? 0x21 : control;
  return std::string("\xE2\x90") + static_cast<char>(0x80 + offset);
}

std::string JsonEscape(char32_t code, std::string_view bytes) {
  switch (code) {
    case '"':
      return "\\\"";
    case '\\':
      return "\\\\";
    case '\n':
      return "\\n";
    case '\r':
      return "\\r";
    case '\t':
      return "\\t";
    default:
      break;
  }
  if (!IsControl(code)) return std::string(bytes);
  constexpr std::string_view kDigits = "0123456789abcdef";
  return std::string("\\u00") + kDigits[code >> 4] + kDigits[code & 0xFU];
}

// Most text is: it is its own clean form, found out quickly.
bool IsPlainAscii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= 0x20 && c < 0x7F; });
}

// `size` characters are enough for the value.
template <std::size_t size, typename Value, typename... Format>
std::string ToText(Value value, Format... format) {
  std::array<char, size> buffer{};
  const auto result = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, format...);
  return std::string(buffer.data(), result.ptr);
}

std::string WithPoint(std::string number) {
  if (number.find_first_of(".e") == std::string::npos) number += ".0";
  return number;
}

// Days since 1970-01-01 of the proleptic Gregorian calendar. The year starts in March, so that the
// leap day is its last: 153 days are the five months from March, and again from August.
std::int64_t DaysOf(std::int64_t year, std::int64_t month, std::int64_t day) {
  if (month <= 2) --year;
  const std::int64_t shifted_month = (month + 9) % 12;
  const std::int64_t era = (year >= 0 ? year : year - 399) / 400;
  const std::int64_t year_of_era = year - era * 400;
  const std::int64_t day_of_year = (153 * shifted_month + 2) / 5 + day - 1;
  return era * 146097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year -
         719468;
}

struct Date {
  std::int64_t year, month, day;
};

// The inverse of DaysOf.
Date DateOf(std::int64_t days) {
  days += 719468;
  const std::int64_t era = (days >= 0 ? days : days - 146096) / 146097;
  const std::int64_t day_of_era = days - era * 146097;
  const std::int64_t year_of_era =
      (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
  const std::int64_t day_of_year =
      day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const std::int64_t shifted_month = (5 * day_of_year + 2) / 153;
  const std::int64_t month = shifted_month < 10 ? shifted_month + 3 : shifted_month - 9;
  const std::int64_t year = year_of_era + era * 400 + (month <= 2 ? 1 : 0);
  return {year, month, day_of_year - (153 * shifted_month + 2) / 5 + 1};
}

std::string Padded(std::int64_t value, std::size_t width) {
  const std::string digits = FormatInteger(value);
  return std::string(width - std::min(width, digits.size()), '0') + digits;
}

// Does `text` look like `pattern`, in which 0 stands for any digit?
bool HasShape(std::string_view text, std::string_view pattern) {
  if (text.size() != pattern.size()) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool is_digit = text[i] >= '0' && text[i] <= '9';
    if (pattern[i] == '0' ? !is_digit : text[i] != pattern[i]) return false;
  }
  return true;
}

std::int64_t DigitsAt(std::string_view text, std::size_t at, std::size_t count) {
  std::int64_t value = 0;
  for (std::size_t i = at; i < at + count; ++i) value = value * 10 + (text[i] - '0');
  return value;
}

// Of year, month, day, hour, minute and second at their usual places.
std::optional<std::int64_t> SecondsAt(std::string_view text) {
  const std::int64_t month = DigitsAt(text, 5, 2);
  if (month < 1 || month > 12) return std::nullopt;
  const std::int64_t days = DaysOf(DigitsAt(text, 0, 4), month, DigitsAt(text, 8, 2));
  return days * 86400 + DigitsAt(text, 11, 2) * 3600 + DigitsAt(text, 14, 2) * 60 +
         DigitsAt(text, 17, 2);
}

// Seconds east of Greenwich of "Z", "+01:00" or "-0130".
std::optional<std::int64_t> ParseOffset(std::string_view text) {
  if (text == "Z") return 0;
  if (text.empty() || (text[0] != '+' && text[0] != '-')) return std::nullopt;
  const std::int64_t sign = text[0] == '-' ? -1 : 1;
  text.remove_prefix(1);
  const bool has_colon = HasShape(text, "00:00");
  if (!has_colon && !HasShape(text, "0000")) return std::nullopt;
  return sign * (DigitsAt(text, 0, 2) * 3600 + DigitsAt(text, has_colon ? 3 : 2, 2) * 60);
}

}  // namespace

std::string FormatReal(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
  return WithPoint(ToText<32>(value));
}

std::string FormatDecimal(double value) {
  if (!std::isfinite(value)) return "0.0";
  return WithPoint(ToText<1100>(value, std::chars_format::fixed));
}

std::optional<double> ParseReal(std::string_view text) {
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, value);
  if (parsed.ec != std::errc{} || parsed.ptr != end) return std::nullopt;
  return value;
}

std::string Joined(const std::vector<std::string>& parts, std::string_view separator) {
  std::string text;
  for (const std::string& part : parts) {
    if (&part != &parts.front()) text += separator;
    text += part;
  }
  return text;
}

std::string FormatInteger(std::int64_t value) { return ToText<32>(value); }

std::string ValidUtf8(std::string_view text) {
  if (IsPlainAscii(text)) return std::string(text);
  std::string valid;
  ForEachCharacter(text, [&](char32_t, std::string_view bytes) { valid += bytes; });
  return valid;
}

std::string VisibleText(std::string_view text) {
  if (IsPlainAscii(text)) return std::string(text);
  std::string visible;
  ForEachCharacter(text, [&](char32_t code, std::string_view bytes) {
    if (IsControl(code)) {
      visible += PictureOf(code);
    } else {
      visible += bytes;
    }
  });
  return visible;
}

std::string JsonString(std::string_view text) {
  if (IsPlainAscii(text) && text.find_first_of("\"\\") == std::string_view::npos) {
    return '"' + std::string(text) + '"';
  }
  std::string json = "\"";
  ForEachCharacter(text,
                   [&](char32_t code, std::string_view bytes) { json += JsonEscape(code, bytes); });
  return json + '"';
}

std::string BackslashEscaped(std::string_view text, std::string_view characters) {
  std::string escaped;
  for (const char character : text) {
    if (character == '\n') {
      escaped += "\\n";
      continue;
    }
    if (characters.find(character) != std::string_view::npos) escaped += '\\';
    escaped += character;
  }
  return escaped;
}

std::string Identifier(std::string_view text) {
  std::string identifier;
  for (const char character : text) {
    const bool is_kept = (character >= 'a' && character <= 'z') ||
                         (character >= 'A' && character <= 'Z') ||
                         (character >= '0' && character <= '9');
    identifier += is_kept ? character : '_';
  }
  if (identifier.empty() || (identifier[0] >= '0' && identifier[0] <= '9')) {
    identifier.insert(0, 1, '_');
  }
  return identifier;
}

std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

bool EndsWith(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

std::string_view BaseName(std::string_view path) {
  const std::size_t slash = path.find_last_of("/\\");
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

std::string_view CutUtf8(std::string_view text, std::size_t size) {
  if (text.size() <= size) return text;
  while (size > 0 && (static_cast<unsigned char>(text[size]) & 0xC0U) == 0x80) --size;
  return text.substr(0, size);
}

std::size_t CountCharacters(std::string_view text) {
  std::size_t count = 0;
  for (const char byte : text) {
    if ((static_cast<unsigned char>(byte) & 0xC0U) != 0x80) ++count;
  }
  return count;
}

std::optional<std::int64_t> ParseTime(std::string_view text) {
  constexpr std::string_view kShape = "0000-00-00T00:00:00";
  if (!HasShape(text.substr(0, kShape.size()), kShape)) return std::nullopt;
  const std::optional<std::int64_t> offset = ParseOffset(text.substr(kShape.size()));
  const std::optional<std::int64_t> seconds = SecondsAt(text);
  if (!offset || !seconds) return std::nullopt;
  return *seconds - *offset;
}

std::optional<std::int64_t> ParseAnyTime(std::string_view text) {
  constexpr std::array<std::string_view, 3> kShapes = {"0000/00/00-00:00:00", "0000-00-00 00:00:00",
                                                       "0000-00-00T00:00:00"};
  for (const std::string_view shape : kShapes) {
    if (HasShape(text, shape)) return SecondsAt(text);
  }
  return ParseTime(text);
}

std::string FormatTime(std::int64_t seconds) {
  const std::int64_t days = (seconds >= 0 ? seconds : seconds - 86399) / 86400;
  const std::int64_t second = seconds - days * 86400;
  const Date date = DateOf(days);
  return Padded(date.year, 4) + '-' + Padded(date.month, 2) + '-' + Padded(date.day, 2) + 'T' +
         Padded(second / 3600, 2) + ':' + Padded(second / 60 % 60, 2) + ':' +
         Padded(second % 60, 2);
}

std::string UniqueNames::Take(const std::string& name, std::string_view separator) {
  std::string unique = name;
  for (std::int64_t i = 2; !taken_.insert(unique).second; ++i) {
    unique = name + std::string(separator) + FormatInteger(i);
  }
  return unique;
}

}  // namespace cnn
