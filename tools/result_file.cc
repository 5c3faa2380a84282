// A scanner of its own, not nlohmann's: the traps of these files lie below what a JSON library lets
// one see (repeated keys, the bytes of a string, what stands where a number should end), and all of
// JSON is a few functions.
#include "tools/result_file.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <limits>
#include <memory>
#include <system_error>
#include <unordered_set>
#include <utility>

namespace cnn {
namespace {

constexpr int kMaxDepth = 64;             // Google Benchmark writes 4
constexpr std::size_t kMaxWarnings = 50;  // different ones; the same again is counted
constexpr std::size_t kMaxFound = 60;     // bytes of the file that a message quotes
constexpr std::size_t kMaxLoadAverages = 3;
constexpr std::size_t kMaxBytes = std::size_t{4} << 30;

constexpr std::string_view kBom = "\xEF\xBB\xBF";
constexpr std::string_view kLocaleError = "a number written under a comma locale";
constexpr std::string_view kLocaleAdvice =
    "run the program with LC_ALL=C, or let it not set std::locale::global";
constexpr std::string_view kStreamsAdvice =
    "text of another stream? --benchmark_out=FILE keeps them apart";
constexpr std::string_view kNulError = "a NUL byte";
constexpr std::string_view kNulAdvice =
    "the disk was full or the machine went down while it was written? run again, or take the "
    "complete rows with --salvage";
constexpr std::string_view kUnitAdvice = "known are ns, us, ms and s";
constexpr std::string_view kJsonAdvice =
    "write JSON: --benchmark_out=FILE --benchmark_out_format=json";

/// The text ends where JSON does not: no error yet, as the complete rows may be wanted.
struct BreaksOff {};

/// In the order in which the library writes them: see Reader::FindField.
enum Field : std::size_t {
  kName,
  kFamilyIndex,
  kPerFamilyInstanceIndex,
  kRunName,
  kRunType,
  kRepetitions,
  kRepetitionIndex,
  kThreads,
  kAggregateName,
  kAggregateUnit,
  kErrorOccurred,
  kErrorMessage,
  kSkipped,
  kSkipMessage,
  kIterations,
  kRealTime,
  kCpuTime,
  kCpuCoefficient,
  kRealCoefficient,
  kBigO,
  kRms,
  kTimeUnit,
  kLabel,
  kFieldCount
};

enum class FieldType { kText, kFlag, kInteger, kMetric };

struct FieldInfo {
  std::string_view key;
  FieldType type;
};

constexpr std::array<FieldInfo, kFieldCount> kFields = {{
    {"name", FieldType::kText},
    {"family_index", FieldType::kInteger},
    {"per_family_instance_index", FieldType::kInteger},
    {"run_name", FieldType::kText},
    {"run_type", FieldType::kText},
    {"repetitions", FieldType::kInteger},
    {"repetition_index", FieldType::kInteger},
    {"threads", FieldType::kInteger},
    {"aggregate_name", FieldType::kText},
    {"aggregate_unit", FieldType::kText},
    {"error_occurred", FieldType::kFlag},
    {"error_message", FieldType::kText},
    {"skipped", FieldType::kFlag},
    {"skip_message", FieldType::kText},
    {"iterations", FieldType::kInteger},
    {"real_time", FieldType::kMetric},
    {"cpu_time", FieldType::kMetric},
    {"cpu_coefficient", FieldType::kMetric},
    {"real_coefficient", FieldType::kMetric},
    {"big_o", FieldType::kText},
    {"rms", FieldType::kMetric},
    {"time_unit", FieldType::kText},
    {"label", FieldType::kText},
}};

struct Value {
  enum class Type { kText, kNumber, kFlag, kNull, kObject, kArray };
  Type type = Type::kNull;
  std::string_view text;     // of a string its characters, else as written
  double number = 0;         // a flag: 0 or 1; null: NaN
  std::size_t elements = 0;  // of an array
};

/// What a row says, before it is known what kind of row it is: the order of the keys must not
/// matter.
struct RawRow {
  std::array<bool, kFieldCount> seen{};
  std::array<std::string, kFieldCount> text;  // keep their memory from row to row
  std::array<double, kFieldCount> number{};
  std::array<std::size_t, kFieldCount> metric{};  // its index in `metrics`
  std::vector<Metric> metrics;
  bool has_more_than_name = false;
};

bool IsSpace(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsHigh(char c) { return static_cast<unsigned char>(c) >= 0x80; }

// What may stand in a number, in its misspellings ("-nan(ind)", "1.#INF", "1'000"), or in a word.
bool IsWordByte(char c) {
  return IsDigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || IsHigh(c) ||
         (c != '\0' && std::strchr("+-.#()_'", c) != nullptr);
}

bool StartsWith(std::string_view text, std::string_view start) {
  return text.substr(0, start.size()) == start;
}

bool EndsWith(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

std::size_t SkipSpace(std::string_view text, std::size_t at) {
  while (at < text.size() && IsSpace(text[at])) ++at;
  return at;
}

/// Bytes for a message: nothing in it can colour or break a terminal.
std::string Quoted(std::string_view bytes) {
  constexpr char kHex[] = "0123456789abcdef";
  std::string quoted = "'";
  for (const char c : bytes.substr(0, kMaxFound)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7F) {
      quoted += c;
    } else {
      quoted += {'\\', 'x', kHex[byte >> 4U], kHex[byte & 0xFU]};
    }
  }
  return quoted + (bytes.size() > kMaxFound ? "…'" : "'");
}

std::string_view FirstLine(std::string_view text) { return text.substr(0, text.find('\n')); }

bool IsUtf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i]);
    std::size_t size = 1;
    char32_t code = lead;
    char32_t smallest = 0;
    if (lead >= 0xF0 && lead < 0xF8) {
      size = 4;
      code = lead & 7U;
      smallest = 0x10000;
    } else if (lead >= 0xE0 && lead < 0xF0) {
      size = 3;
      code = lead & 15U;
      smallest = 0x800;
    } else if (lead >= 0xC0 && lead < 0xE0) {
      size = 2;
      code = lead & 31U;
      smallest = 0x80;
    } else if (lead >= 0x80) {
      return false;
    }
    if (size > text.size() - i) return false;
    for (std::size_t k = 1; k < size; ++k) {
      const auto next = static_cast<unsigned char>(text[i + k]);
      if ((next & 0xC0U) != 0x80) return false;
      code = code << 6U | (next & 63U);
    }
    if (code < smallest || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) return false;
    i += size;
  }
  return true;
}

/// A lone surrogate too gets its three bytes: Python writes bytes that were no UTF-8 as one, and
/// names that differ must stay different.
void AppendUtf8(char32_t code, std::string& text) {
  const auto append = [&text](char32_t byte) { text += static_cast<char>(byte); };
  if (code < 0x80) return append(code);
  if (code < 0x800) {
    append(0xC0 | code >> 6U);
  } else if (code < 0x10000) {
    append(0xE0 | code >> 12U);
    append(0x80 | (code >> 6U & 63U));
  } else {
    append(0xF0 | code >> 18U);
    append(0x80 | (code >> 12U & 63U));
    append(0x80 | (code >> 6U & 63U));
  }
  append(0x80 | (code & 63U));
}

/// JSON without the spaces between its tokens, so that it equals itself however it was indented.
std::string Compact(std::string_view json) {
  std::string compact;
  bool in_string = false;
  for (std::size_t i = 0; i < json.size(); ++i) {
    if (!in_string && IsSpace(json[i])) continue;
    compact += json[i];
    if (json[i] == '"') in_string = !in_string;
    if (json[i] == '\\') compact += json[++i];
  }
  return compact;
}

/// Whether a whole number looks like 46.554 or 46.554.966: what a comma locale makes of thousands.
bool HasGroups(std::string_view number) {
  if (StartsWith(number, "-")) number.remove_prefix(1);
  const std::size_t first = std::min(number.find('.'), number.size());
  if (first == 0 || first > 3 || first == number.size() || (number.size() - first) % 4 != 0) {
    return false;
  }
  for (std::size_t i = 0; i < number.size(); ++i) {
    if (i >= first && (i - first) % 4 == 0 ? number[i] != '.' : !IsDigit(number[i])) return false;
  }
  return true;
}

/// Microsoft's old spellings, "-1.#IND" and "1.#INF000".
bool ParseOldMicrosoft(std::string_view word, double& value) {
  const bool negative = StartsWith(word, "-");
  if (negative) word.remove_prefix(1);
  if (StartsWith(word, "1.#INF")) {
    value = negative ? -std::numeric_limits<double>::infinity()
                     : std::numeric_limits<double>::infinity();
    return true;
  }
  value = std::numeric_limits<double>::quiet_NaN();
  return StartsWith(word, "1.#IND") || StartsWith(word, "1.#QNAN") || StartsWith(word, "1.#SNAN");
}

/// Units in a second; 0 of an unknown one.
double UnitsPerSecond(std::string_view unit) {
  if (unit == "ns") return 1e9;
  if (unit == "us") return 1e6;
  if (unit == "ms") return 1e3;
  return unit == "s" ? 1 : 0;
}

/// Where the results begin in a text that begins with something else, or npos.
std::size_t FindResults(std::string_view text, std::size_t from) {
  for (std::size_t at = from; (at = text.find('{', at)) != std::string_view::npos; ++at) {
    std::size_t next = SkipSpace(text, at + 1);
    char opening = '{';
    if (StartsWith(text.substr(next), "\"context\"")) {
      next += std::strlen("\"context\"");
    } else if (StartsWith(text.substr(next), "\"benchmarks\"")) {
      next += std::strlen("\"benchmarks\"");
      opening = '[';
    } else {
      continue;
    }
    next = SkipSpace(text, next);
    if (next == text.size() || text[next] != ':') continue;
    next = SkipSpace(text, next + 1);
    if (next < text.size() && text[next] == opening) return at;
  }
  return std::string_view::npos;
}

class Reader {
 public:
  Reader(std::string_view text, const std::string& path, const ReadOptions& options)
      : whole_(text), text_(text), path_(path), options_(options) {
    if (!options.salvage) return;
    // A disk that was full or a machine that went down leaves blocks of zeros.
    const std::size_t used = text.find_last_not_of('\0') + 1;
    if (used == 0 || used == text.size()) return;
    Warn(used, "NUL bytes to the end of the file, skipped");
    text_ = text.substr(0, used);
  }

  ResultFile Read();

 private:
  struct Warning {
    std::string what;
    std::size_t offset;
    std::int64_t times;
  };

  // The whole.
  void Parse(std::size_t begin);
  void ParseTop();
  void ParseContext();
  void ParseRows();
  [[noreturn]] void FailRows(const std::string& expected);
  void ParseRow();
  void AddField(std::size_t field, std::string_view key, const Value& value, std::size_t offset);
  void FinishRow(std::size_t offset);
  void SetSeconds(const ResultRow& row, std::size_t offset);
  void NameOldRows();
  void CheckHasResults(std::size_t begin);
  void SkipText(std::size_t begin, std::size_t end, const std::string& where);
  std::size_t FindField(std::string_view key);

  // JSON. Each leaves `pos_` behind what it has read.
  char Peek();
  Value ParseValue();
  Value ParseWord();
  std::string_view ParseString(std::string& buffer);
  void ParseEscape(std::string& text);
  char32_t ParseHex();
  template <typename Member>
  void ParseObject(std::string& key_buffer, bool may_lack_commas, const Member& member);
  std::size_t ParseArray();

  // Messages.
  std::string Place(std::size_t offset);
  void Warn(std::size_t offset, std::string_view what);
  [[noreturn]] void Fail(std::size_t offset, const std::string& what, std::string_view advice);
  [[noreturn]] void FailBetween(const std::string& expected);
  [[noreturn]] void FailNotJson(std::size_t begin);
  [[noreturn]] void FailRow(const ResultRow& row, std::size_t offset, const std::string& what,
                            std::string_view advice) {
    Fail(offset, "row " + Quoted(row.name) + " " + what, advice);
  }
  std::string Found(std::size_t offset) const { return Quoted(FirstLine(text_.substr(offset))); }
  const std::string& Text(Field field) const { return raw_.seen[field] ? raw_.text[field] : none_; }

  std::string_view whole_;
  std::string_view text_;  // without NUL bytes at the end when they may be skipped
  const std::string& path_;
  const ReadOptions& options_;
  const std::string none_;

  std::size_t pos_ = 0;
  int depth_ = 0;
  bool after_number_ = false;
  std::string key_buffer_, value_buffer_;

  ResultFile file_;
  RawRow raw_;
  std::size_t next_field_ = 0;
  std::vector<std::string_view> names_;  // of one row's metrics
  std::vector<std::size_t> untyped_;  // rows of before 1.5: nothing but the name tells their kind
  bool has_context_ = false, has_benchmarks_ = false;
  bool has_results_ = false, has_more_than_names_ = false;

  std::vector<Warning> warnings_;
  std::int64_t warnings_left_out_ = 0;
  std::size_t line_ = 1, line_begin_ = 0, counted_ = 0;  // lines before `counted_`
};

// Messages

std::string Reader::Place(std::size_t offset) {
  if (offset < counted_) line_ = 1, line_begin_ = counted_ = 0;
  while (counted_ < offset) {
    const void* found = std::memchr(text_.data() + counted_, '\n', offset - counted_);
    if (found == nullptr) break;
    line_begin_ = static_cast<std::size_t>(static_cast<const char*>(found) - text_.data()) + 1;
    counted_ = line_begin_;
    ++line_;
  }
  counted_ = offset;
  std::size_t column = offset - line_begin_ + 1;
  if (line_ == 1 && StartsWith(text_, kBom)) column -= std::min(column - 1, kBom.size());
  return path_ + ":" + std::to_string(line_) + ":" + std::to_string(column) + ": ";
}

void Reader::Fail(std::size_t offset, const std::string& what, std::string_view advice) {
  std::string message = Place(offset) + what + " (byte " + std::to_string(offset) + ")";
  if (!advice.empty()) message.append("; ").append(advice);
  throw ReadError(message);
}

/// At `pos_` stands something that is not what must follow.
void Reader::FailBetween(const std::string& expected) {
  const char c = text_[pos_];
  if (c == '\0') Fail(pos_, std::string(kNulError), kNulAdvice);
  if (after_number_ && (IsDigit(c) || c == '\'' || IsHigh(c))) {
    Fail(pos_, std::string(kLocaleError) + " before " + Found(pos_), kLocaleAdvice);
  }
  Fail(pos_, "expected " + expected + ", found " + Found(pos_), kStreamsAdvice);
}

/// Says what it is instead, as far as one can tell.
void Reader::FailNotJson(std::size_t begin) {
  const std::string_view start = text_.substr(begin);
  if (StartsWith(start, "\xFF\xFE") || StartsWith(start, "\xFE\xFF") ||
      StartsWith(start, std::string_view("{\0", 2)) ||
      StartsWith(start, std::string_view("\0{", 2))) {
    Fail(begin, "UTF-16 text, as PowerShell's > writes it", kJsonAdvice);
  }
  if (start[0] == '\0') Fail(begin, std::string(kNulError), kNulAdvice);
  if (StartsWith(start, "\x1F\x8B") || StartsWith(start, "\x28\xB5\x2F\xFD")) {
    Fail(begin, "a compressed file", "unpack it first, into a pipe if you like");
  }
  if (StartsWith(start, "\177ELF")) Fail(begin, "a program, not its results", kJsonAdvice);
  const std::string_view head = start.substr(0, 65536);
  if (head.find("name,iterations,real_time,cpu_time") != std::string_view::npos) {
    Fail(begin, "CSV, which lacks what a comparison needs", kJsonAdvice);
  }
  const std::size_t results = FindResults(text_, begin);
  if (results != std::string_view::npos) {
    Fail(begin,
         "text before the JSON, which begins at byte " + std::to_string(results) + ": " +
             Found(begin),
         "--benchmark_out=FILE keeps the streams apart, --lenient skips the text");
  }
  const std::size_t title = head.find("Iterations");
  if (title != std::string_view::npos && head.find("\n-----") < title) {
    Fail(begin, "the table for people, not JSON", kJsonAdvice);
  }
  Fail(begin, "not JSON: " + Found(begin), kJsonAdvice);
}

void Reader::Warn(std::size_t offset, std::string_view what) {
  for (Warning& warning : warnings_) {
    if (warning.what == what) {
      ++warning.times;
      return;
    }
  }
  if (warnings_.size() == kMaxWarnings) {
    ++warnings_left_out_;
    return;
  }
  warnings_.push_back({std::string(what), offset, 1});
}

// JSON

char Reader::Peek() {
  pos_ = SkipSpace(text_, pos_);
  if (pos_ == text_.size()) throw BreaksOff{};
  return text_[pos_];
}

Value Reader::ParseValue() {
  const char c = Peek();
  const std::size_t begin = pos_;
  Value value;
  after_number_ = false;
  if (c == '"') {
    value.type = Value::Type::kText;
    value.text = ParseString(value_buffer_);
  } else if (c == '{' || c == '[') {
    if (++depth_ > kMaxDepth) {
      Fail(pos_, "nested deeper than " + std::to_string(kMaxDepth), kStreamsAdvice);
    }
    if (c == '{') {
      value.type = Value::Type::kObject;
      // Nobody reads its strings, and the buffer of keys holds the one that it belongs to.
      ParseObject(value_buffer_, false, [this](std::string_view, std::size_t) { ParseValue(); });
    } else {
      value.type = Value::Type::kArray;
      value.elements = ParseArray();
    }
    --depth_;
    after_number_ = false;
    value.text = text_.substr(begin, pos_ - begin);
  } else {
    value = ParseWord();
    after_number_ = value.type == Value::Type::kNumber;
  }
  return value;
}

/// A number, true, false or null.
Value Reader::ParseWord() {
  const std::size_t begin = pos_;
  while (pos_ < text_.size() && IsWordByte(text_[pos_])) ++pos_;
  if (pos_ == text_.size()) throw BreaksOff{};  // "Na" of "NaN", "1.2" of "1.25e3"
  Value value;
  value.text = text_.substr(begin, pos_ - begin);
  if (value.text.empty()) FailBetween("a value");
  if (value.text == "true" || value.text == "false") {
    value.type = Value::Type::kFlag;
    value.number = value.text == "true" ? 1 : 0;
    return value;
  }
  if (value.text == "null") {
    value.number = std::numeric_limits<double>::quiet_NaN();
    return value;
  }
  value.type = Value::Type::kNumber;
  if (ParseOldMicrosoft(value.text, value.number)) return value;
  // from_chars knows "nan", "-nan(ind)", "inf" and "Infinity", in any case.
  const char* end = value.text.data() + value.text.size();
  const auto [rest, error] = std::from_chars(value.text.data(), end, value.number);
  if (error == std::errc::result_out_of_range) {
    Fail(begin, Quoted(value.text) + " is beyond the numbers of a double", "");
  }
  if (error == std::errc() && rest == end) return value;
  pos_ = begin;
  if (error == std::errc() && IsDigit(rest[-1]) &&
      (*rest == '.' || *rest == '\'' || IsHigh(*rest))) {
    Fail(begin, std::string(kLocaleError) + ": " + Quoted(value.text), kLocaleAdvice);
  }
  after_number_ = false;
  FailBetween("a value");
}

/// The characters between the quotes: in place, or in `buffer` when there are escapes. Raw control
/// bytes and bytes that are no UTF-8 stay, as names are compared by them.
std::string_view Reader::ParseString(std::string& buffer) {
  const std::size_t begin = ++pos_;
  std::size_t run = begin;  // of characters that stand for themselves
  bool has_control = false, has_high = false, has_escape = false;
  buffer.clear();
  for (;; ++pos_) {
    if (pos_ == text_.size()) throw BreaksOff{};
    const char c = text_[pos_];
    if (c == '"') break;
    if (c == '\\') {
      buffer.append(text_, run, pos_ - run);
      ParseEscape(buffer);
      run = pos_ + 1;
      has_escape = true;
    } else if (IsHigh(c)) {
      has_high = true;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      if (c == '\0') Fail(pos_, std::string(kNulError) + " in a string", kNulAdvice);
      if (c == '\n') Fail(pos_, "a line ends inside a string", kStreamsAdvice);
      has_control = true;
    }
  }
  const std::string_view tail = text_.substr(run, pos_ - run);
  ++pos_;
  if (has_control) Warn(begin, "raw control bytes in a string, kept as they are");
  if (!has_escape && !has_high) return tail;
  if (has_escape) buffer.append(tail);
  const std::string_view string = has_escape ? std::string_view(buffer) : tail;
  if (!IsUtf8(string)) Warn(begin, "a string that is not UTF-8, kept as it is");
  return string;
}

/// Leaves `pos_` on the last character of the escape.
void Reader::ParseEscape(std::string& text) {
  const std::size_t begin = pos_++;
  if (pos_ == text_.size()) throw BreaksOff{};
  const char c = text_[pos_];
  constexpr std::string_view kEscapes = "\"\\/bfnrt";
  constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
  const std::size_t known = kEscapes.find(c);
  if (known != std::string_view::npos) {
    text += kMeanings[known];
    return;
  }
  if (c != 'u') {
    Fail(begin, "unknown escape " + Quoted(text_.substr(begin, 2)),
         "a backslash must be written twice, which versions before 1.5 did not");
  }
  char32_t code = ParseHex();
  if (code >= 0xD800 && code < 0xDC00 && StartsWith(text_.substr(pos_ + 1), "\\u")) {
    const std::size_t high_end = pos_;
    pos_ += 2;
    const char32_t low = ParseHex();
    if (low >= 0xDC00 && low < 0xE000) {
      code = 0x10000 + ((code - 0xD800) << 10U) + (low - 0xDC00);
    } else {
      pos_ = high_end;
    }
  }
  AppendUtf8(code, text);
}

/// Four digits behind the u at `pos_`.
char32_t Reader::ParseHex() {
  const std::size_t begin = pos_ + 1;
  if (text_.size() - begin < 4) throw BreaksOff{};
  const char* end = text_.data() + begin + 4;
  unsigned code = 0;
  if (std::from_chars(text_.data() + begin, end, code, 16).ptr != end) {
    Fail(begin, "expected four hexadecimal digits, found " + Found(begin), "");
  }
  pos_ += 4;
  return code;
}

/// `member` is called with each key and its offset, and reads the value. A key with escapes lies in
/// `key_buffer`.
template <typename Member>
void Reader::ParseObject(std::string& key_buffer, bool may_lack_commas, const Member& member) {
  ++pos_;
  if (Peek() == '}') {
    ++pos_;
    return;
  }
  for (;;) {
    if (Peek() != '"') FailBetween("a key");
    const std::size_t key_offset = pos_;
    const std::string_view key = ParseString(key_buffer);
    after_number_ = false;
    if (Peek() != ':') FailBetween("':'");
    ++pos_;
    member(key, key_offset);
    const char c = Peek();
    if (c == '"' && may_lack_commas) {
      Warn(pos_, "a comma is missing here, as 1.5.4 and 1.5.5 wrote it");
      continue;
    }
    if (c != ',' && c != '}') FailBetween("',' or '}'");
    ++pos_;
    if (c == '}') return;
  }
}

/// Returns the number of elements.
std::size_t Reader::ParseArray() {
  ++pos_;
  if (Peek() == ']') {
    ++pos_;
    return 0;
  }
  for (std::size_t elements = 1;; ++elements) {
    ParseValue();
    const char c = Peek();
    if (c != ',' && c != ']') FailBetween("',' or ']'");
    ++pos_;
    if (c == ']') return elements;
  }
}

// The whole

ResultFile Reader::Read() {
  const std::size_t begin =
      SkipSpace(text_, StartsWith(text_, kBom) ? kBom.size() : std::size_t{0});
  if (begin == text_.size() || StartsWith(kBom, text_)) {
    Fail(
        0, "an empty file",
        "did --benchmark_filter match nothing, was it a bad expression, did the program die before "
        "its first result, or was the disk full?");
  }
  if (text_[begin] == '{' && !StartsWith(text_.substr(begin), std::string_view("{\0", 2))) {
    if (!options_.lenient) {
      Parse(begin);
      return std::move(file_);
    }
    try {
      Parse(begin);
      return std::move(file_);
    } catch (const ReadError&) {
      // A log line that is JSON itself?
      if (FindResults(text_, begin + 1) == std::string_view::npos) throw;
    }
  }
  const std::size_t results =
      options_.lenient ? FindResults(text_, begin + 1) : std::string_view::npos;
  if (results == std::string_view::npos) FailNotJson(begin);
  Reader rest(whole_, path_, options_);
  rest.SkipText(begin, results, "before");
  rest.Parse(results);
  return std::move(rest.file_);
}

void Reader::Parse(std::size_t begin) {
  pos_ = begin;
  file_.path = path_;
  try {
    ParseTop();
  } catch (const BreaksOff&) {
    const std::string what = "breaks off; complete rows: " + std::to_string(file_.rows.size());
    if (!options_.salvage) {
      Fail(text_.size(), what,
           "the program died, or the disk was full: run again, or take the complete rows with "
           "--salvage");
    }
    file_.is_incomplete = true;
    warnings_.push_back({what, text_.size(), 1});  // however many there are
  }
  CheckHasResults(begin);
  NameOldRows();
  std::stable_sort(warnings_.begin(), warnings_.end(),
                   [](const Warning& a, const Warning& b) { return a.offset < b.offset; });
  for (const Warning& warning : warnings_) {
    file_.warnings.push_back(Place(warning.offset) + warning.what);
    if (warning.times > 1) {
      file_.warnings.back() += " (the first of " + std::to_string(warning.times) + ")";
    }
  }
  if (warnings_left_out_ > 0) {
    file_.warnings.push_back(path_ + ": " + std::to_string(warnings_left_out_) + " more warnings");
  }
}

void Reader::ParseTop() {
  ParseObject(key_buffer_, false, [this](std::string_view key, std::size_t offset) {
    if (key == "context") {
      if (has_context_) Fail(offset, "a second \"context\"", "one file for each run, please");
      has_context_ = true;
      ParseContext();
    } else if (key == "benchmarks") {
      if (has_benchmarks_) Fail(offset, "a second \"benchmarks\"", "one file for each run, please");
      has_benchmarks_ = true;
      ParseRows();
    } else {
      ParseValue();  // of a later version, or of who stored the file
    }
  });
  const std::size_t end = pos_;
  pos_ = SkipSpace(text_, pos_);
  if (pos_ == text_.size()) return;
  if (options_.lenient) {
    SkipText(pos_, text_.size(), "after");
    return;
  }
  if (text_[pos_] == '\0') Fail(pos_, std::string(kNulError) + " after the JSON", kNulAdvice);
  if (!has_benchmarks_) return;  // perhaps a log line: said later
  if (FindResults(text_, end) != std::string_view::npos) {
    Fail(pos_, "a second run after the first", "one file for each run, please");
  }
  Fail(pos_, "text after the JSON: " + Found(pos_),
       "--benchmark_out=FILE keeps the streams apart, --lenient skips the text");
}

/// Lenient: leaves a part of the file out, unless it has results too.
void Reader::SkipText(std::size_t begin, std::size_t end, const std::string& where) {
  const std::string_view text = text_.substr(begin, end - begin);
  const std::size_t results = FindResults(text, 0);
  if (results != std::string_view::npos) {
    Fail(begin + results, "results of another run " + where + " the JSON that was read",
         "one file for each run, please");
  }
  warnings_.push_back({"skipped " + std::to_string(text.size()) + " bytes " + where +
                           " the JSON: " + Quoted(FirstLine(text)),
                       begin, 1});
}

void Reader::ParseContext() {
  if (Peek() != '{') FailBetween("'{' of the context");
  std::unordered_set<std::string> keys;
  ParseObject(key_buffer_, true, [&](std::string_view key, std::size_t offset) {
    ContextEntry entry{std::string(key), ""};
    const Value value = ParseValue();
    if (!keys.insert(entry.key).second) {
      Warn(offset, "context key " + Quoted(entry.key) + " again; the first one counts");
      return;
    }
    if (key == "load_avg" && value.elements > kMaxLoadAverages) {
      Fail(offset, std::string(kLocaleError) + ": " + Quoted(value.text), kLocaleAdvice);
    }
    if (key == "json_schema_version" && value.text != "1" &&
        !(value.type == Value::Type::kNumber && value.number == 1)) {
      Fail(offset,
           "json_schema_version " + Quoted(value.text) + " is not 1, all that is known here", "");
    }
    const bool is_nested = value.type == Value::Type::kObject || value.type == Value::Type::kArray;
    entry.value = is_nested ? Compact(value.text) : std::string(value.text);
    file_.context.push_back(std::move(entry));
  });
}

void Reader::ParseRows() {
  if (Peek() != '[') FailBetween("'[' of the benchmarks");
  ++pos_;
  if (Peek() == ']') {
    ++pos_;
    return;
  }
  for (;;) {
    if (Peek() != '{') FailRows("a row");
    ParseRow();
    after_number_ = false;
    const char c = Peek();
    if (c != ',' && c != ']') FailRows("',' or ']'");
    ++pos_;
    if (c == ']') return;
  }
}

void Reader::FailRows(const std::string& expected) {
  // A program that dies says so, and where both streams go to one file it stands here.
  if (options_.salvage && options_.lenient &&
      text_.find("\"name\"", pos_) == std::string_view::npos) {
    SkipText(pos_, text_.size(), "after");
    throw BreaksOff{};
  }
  FailBetween(expected + " behind row " + std::to_string(file_.rows.size()));
}

/// Fields mostly come in the order of the table, so the search begins behind the last one.
std::size_t Reader::FindField(std::string_view key) {
  for (std::size_t i = 0; i < kFieldCount; ++i) {
    const std::size_t field = next_field_ < kFieldCount ? next_field_ : 0;
    next_field_ = field + 1;
    if (kFields[field].key == key) return field;
  }
  return kFieldCount;
}

void Reader::ParseRow() {
  const std::size_t begin = pos_;
  raw_.seen.fill(false);
  raw_.metrics.clear();
  raw_.has_more_than_name = false;
  next_field_ = 0;
  ParseObject(key_buffer_, false, [this](std::string_view key, std::size_t offset) {
    const std::size_t field = FindField(key);
    if (field != kName) raw_.has_more_than_name = true;
    AddField(field, key, ParseValue(), offset);
  });
  FinishRow(begin);
}

void Reader::AddField(std::size_t field, std::string_view key, const Value& value,
                      std::size_t offset) {
  const bool is_known = field != kFieldCount;
  const bool is_first = is_known && !raw_.seen[field];
  const FieldType type = is_known ? kFields[field].type : FieldType::kMetric;
  if (value.type == Value::Type::kText || value.type == Value::Type::kFlag) {
    const FieldType wanted = value.type == Value::Type::kText ? FieldType::kText : FieldType::kFlag;
    if (is_known && type == wanted && is_first) {
      raw_.seen[field] = true;
      raw_.number[field] = value.number;
      raw_.text[field].assign(value.text);
    } else if (is_known) {
      Warn(offset,
           "field " + Quoted(key) +
               (is_first ? " is not what it should be, left out" : " again; the first one counts"));
    }  // else of a later version
    return;
  }
  if (value.type != Value::Type::kNumber && value.type != Value::Type::kNull) return;
  if (value.type == Value::Type::kNull) Warn(offset, "null, read as NaN");

  if (is_first && type == FieldType::kInteger) {
    if (HasGroups(value.text)) {
      Fail(offset, std::string(kLocaleError) + ": " + Quoted(key) + " is " + Quoted(value.text),
           kLocaleAdvice);
    }
    // A field that cannot hold the number is a counter of its name, in a file that lacks the field.
    if (std::abs(value.number) < 9e15 && std::trunc(value.number) == value.number) {
      raw_.seen[field] = true;
      raw_.number[field] = value.number;
      return;
    }
  }
  if (key.empty()) {
    Warn(offset, "a counter without a name, left out");
    return;
  }
  if (is_first && type == FieldType::kMetric) {
    raw_.seen[field] = true;
    raw_.metric[field] = raw_.metrics.size();
  } else if (is_known) {
    Warn(offset, "a counter bears the name of the field " + Quoted(key));
  }
  raw_.metrics.push_back({std::string(key), value.number});
}

void Reader::FinishRow(std::size_t offset) {
  if (!raw_.seen[kName]) {
    Fail(offset, "row " + std::to_string(file_.rows.size() + 1) + " has no name",
         "a counter called name may have replaced it, if another tool has rewritten the file");
  }
  ResultRow row;
  row.name = Text(kName);
  row.aggregate_name = Text(kAggregateName);
  row.label = Text(kLabel);
  row.big_o = Text(kBigO);
  row.time_unit = Text(kTimeUnit);
  const auto integer = [this](Field field, std::int64_t absent) {
    return raw_.seen[field] ? static_cast<std::int64_t>(raw_.number[field]) : absent;
  };
  row.family_index = integer(kFamilyIndex, row.family_index);
  row.per_family_instance_index = integer(kPerFamilyInstanceIndex, row.per_family_instance_index);
  row.repetitions = integer(kRepetitions, row.repetitions);
  row.repetition_index = integer(kRepetitionIndex, row.repetition_index);
  row.threads = integer(kThreads, row.threads);
  if (raw_.seen[kIterations]) row.iterations = raw_.number[kIterations];

  bool is_aggregate =
      raw_.seen[kAggregateName] || raw_.seen[kBigO] || (raw_.seen[kRms] && !raw_.seen[kRealTime]);
  if (raw_.seen[kRunType]) {
    is_aggregate = Text(kRunType) == "aggregate";
    if (!is_aggregate && Text(kRunType) != "iteration") {
      FailRow(row, offset, "has the unknown run_type " + Quoted(Text(kRunType)), "");
    }
  } else if (!is_aggregate) {
    untyped_.push_back(file_.rows.size());
  }
  if (is_aggregate) {
    row.kind = raw_.seen[kBigO]                           ? RowKind::kBigO
               : raw_.seen[kRms] && !raw_.seen[kRealTime] ? RowKind::kRms
                                                          : RowKind::kAggregate;
    if (row.aggregate_name.empty() && row.kind != RowKind::kAggregate) {
      row.aggregate_name = row.kind == RowKind::kBigO ? "BigO" : "RMS";
    }
    if (raw_.seen[kAggregateUnit] && Text(kAggregateUnit) != "time" &&
        Text(kAggregateUnit) != "percentage") {
      FailRow(row, offset, "has the unknown aggregate_unit " + Quoted(Text(kAggregateUnit)), "");
    }
    row.is_percentage = Text(kAggregateUnit) == "percentage" || row.kind == RowKind::kRms;
  }
  row.run_name = raw_.seen[kRunName] ? Text(kRunName) : row.name;
  if (!raw_.seen[kRunName] && is_aggregate && EndsWith(row.name, "_" + row.aggregate_name)) {
    row.run_name.resize(row.name.size() - row.aggregate_name.size() - 1);
  }

  if (raw_.seen[kErrorOccurred] && raw_.number[kErrorOccurred] != 0) {
    row.state = RowState::kError;
    row.message = Text(kErrorMessage);
  } else if (raw_.seen[kSkipped] && raw_.number[kSkipped] != 0) {
    row.state = RowState::kSkipped;
    row.message = Text(kSkipMessage);
  }

  SetSeconds(row, offset);
  has_more_than_names_ = has_more_than_names_ || raw_.has_more_than_name;
  names_.clear();
  for (const Metric& metric : raw_.metrics) names_.push_back(metric.name);
  std::sort(names_.begin(), names_.end());
  for (std::size_t i = 1; i < names_.size(); ++i) {
    if (names_[i] == names_[i - 1] && FindField(names_[i]) == kFieldCount) {
      Warn(offset, "counter " + Quoted(names_[i]) + " twice in a row, both kept");
    }
  }
  row.metrics.assign(std::make_move_iterator(raw_.metrics.begin()),
                     std::make_move_iterator(raw_.metrics.end()));
  file_.rows.push_back(std::move(row));
}

/// Brings the row's times to seconds.
void Reader::SetSeconds(const ResultRow& row, std::size_t offset) {
  const double per_second = UnitsPerSecond(row.time_unit);
  if (raw_.seen[kTimeUnit] && per_second == 0) {
    FailRow(row, offset, "has the time_unit " + Quoted(row.time_unit), kUnitAdvice);
  }
  if (row.state != RowState::kMeasured) {
    // The library writes zeros for them, and a zero is the fastest of times.
    const auto is_time = [](const Metric& metric) {
      return metric.name == "real_time" || metric.name == "cpu_time";
    };
    raw_.metrics.erase(std::remove_if(raw_.metrics.begin(), raw_.metrics.end(), is_time),
                       raw_.metrics.end());
    has_results_ = true;
    return;
  }
  bool has_times = row.kind == RowKind::kRms;
  for (const Field field : {kRealTime, kCpuTime, kCpuCoefficient, kRealCoefficient}) {
    // A coefficient is the time of one N (or N^2, ...); in other rows it is a counter of that name.
    const bool is_coefficient = field == kCpuCoefficient || field == kRealCoefficient;
    if (!raw_.seen[field] || (is_coefficient && row.kind != RowKind::kBigO)) continue;
    has_times = true;
    if (row.is_percentage) continue;
    if (per_second == 0) FailRow(row, offset, "has no time_unit", kUnitAdvice);
    raw_.metrics[raw_.metric[field]].value /= per_second;
  }
  if (!has_times) Warn(offset, "a row without times");
  has_results_ = has_results_ || has_times;
}

/// Before 1.5 only the name tells an aggregate, and a benchmark may be called BM_mean: it is taken
/// as an aggregate when the file also has what it would be the aggregate of, or its sisters.
void Reader::NameOldRows() {
  if (untyped_.empty()) return;
  const std::array<std::string, 4> suffixes = {"_mean", "_median", "_stddev", "_cv"};
  std::unordered_set<std::string_view> names;
  for (const std::size_t i : untyped_) names.insert(file_.rows[i].name);
  bool has_aggregates = false;
  for (const std::size_t i : untyped_) {
    ResultRow& row = file_.rows[i];
    const auto suffix = std::find_if(suffixes.begin(), suffixes.end(),
                                     [&](const std::string& s) { return EndsWith(row.name, s); });
    if (suffix == suffixes.end()) continue;
    const std::string base = row.name.substr(0, row.name.size() - suffix->size());
    const auto sisters = std::count_if(suffixes.begin(), suffixes.end(), [&](const std::string& s) {
      return names.count(base + s) != 0;
    });
    if (names.count(base) == 0 && sisters < 2) continue;
    row.kind = RowKind::kAggregate;
    row.aggregate_name = suffix->substr(1);
    row.run_name = base;
    has_aggregates = true;
  }
  if (has_aggregates) Warn(0, "rows without run_type; those that end in _mean, ... are aggregates");
}

void Reader::CheckHasResults(std::size_t begin) {
  if (file_.is_incomplete && file_.rows.empty()) return;
  if (!has_benchmarks_) {
    if (FindResults(text_, begin + 1) != std::string_view::npos) FailNotJson(begin);
    Fail(begin, "no \"benchmarks\": not a result file of Google Benchmark", kJsonAdvice);
  }
  if (!file_.rows.empty() && !has_results_) {
    if (!has_more_than_names_) {
      Fail(begin, "a list, not results", "run it without --benchmark_list_tests");
    }
    Fail(begin, "none of its rows has a time: not a result file of Google Benchmark", kJsonAdvice);
  }
  if (!has_context_) Warn(begin, "no context: machine and library are unknown");
}

std::string ReadAll(const std::string& path) {
  const auto fail = [&path](const std::string& why) {
    throw ReadError(path + ": cannot be read: " + why);
  };
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"),
                                                             &std::fclose);
  if (file == nullptr) fail(std::generic_category().message(errno));
  std::string text;
  std::size_t used = 0;
  for (;;) {
    if (used == text.size()) text.resize(std::max<std::size_t>(2 * used, std::size_t{1} << 16U));
    errno = 0;
    used += std::fread(text.data() + used, 1, text.size() - used, file.get());
    if (std::ferror(file.get()) != 0) fail(std::generic_category().message(errno));
    if (std::feof(file.get()) != 0) break;
    if (used > kMaxBytes) fail("more than 4 GiB; a file for each part of the suite, please");
  }
  text.resize(used);
  return text;
}

}  // namespace

std::string_view ResultFile::ContextValue(std::string_view key) const {
  for (const ContextEntry& entry : context) {
    if (entry.key == key) return entry.value;
  }
  return {};
}

ResultFile ReadResultFile(const std::string& path, const ReadOptions& options) {
  return ParseResultFile(ReadAll(path), path, options);
}

ResultFile ParseResultFile(std::string_view text, const std::string& path,
                           const ReadOptions& options) {
  return Reader(text, path, options).Read();
}

}  // namespace cnn
