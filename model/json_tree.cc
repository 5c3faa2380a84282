#include "model/json_tree.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "dataset/text.h"

namespace cnn {
namespace {

using Json = nlohmann::json;

// What no table of layers needs, and what could exhaust the stack or the user's patience.
constexpr std::size_t kMaxDepth = 16;
constexpr std::size_t kMaxKeys = 64;

// Walks the text and lets others see how far it is: the library's parser tells its handler what it
// has read, not where.
class CountingIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  CountingIterator(const char* at, std::size_t* passed) : at_(at), passed_(passed) {}
  reference operator*() const { return *at_; }
  CountingIterator& operator++() {
    ++at_;
    ++*passed_;
    return *this;
  }
  CountingIterator operator++(int) {
    CountingIterator before = *this;
    ++*this;
    return before;
  }
  bool operator==(const CountingIterator& other) const { return at_ == other.at_; }
  bool operator!=(const CountingIterator& other) const { return at_ != other.at_; }

 private:
  const char* at_;
  std::size_t* passed_;
};

bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

// Builds the tree from the parser's events; the first error ends the parsing.
class TreeBuilder {
 public:
  TreeBuilder(const std::string& text, const std::string& source, const std::size_t& passed)
      : text_(text), source_(source), passed_(passed) {}

  JsonNode Take() { return std::move(root_); }
  const std::string& error() const { return error_; }

  bool null() { return Add(Make(JsonNode::Kind::kNull, "null")); }

  bool boolean(bool value) {
    JsonNode node = Make(JsonNode::Kind::kBoolean, value ? "true" : "false");
    node.boolean = value;
    return Add(std::move(node));
  }

  bool number_integer(std::int64_t value) { return AddWhole(std::to_string(value), value); }

  bool number_unsigned(std::uint64_t value) {
    constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();
    const bool fits = value <= static_cast<std::uint64_t>(kLargest);
    return AddWhole(std::to_string(value), fits ? static_cast<std::int64_t>(value) : kLargest);
  }

  bool number_float(double value, const std::string& written) {
    JsonNode node = Make(JsonNode::Kind::kReal, written);
    node.number = value;
    return Add(std::move(node));
  }

  bool string(const std::string& value) { return Add(Make(JsonNode::Kind::kString, value)); }

  static bool binary(Json::binary_t& /*value*/) { return false; }  // not in text

  bool start_object(std::size_t /*size*/) { return Open(JsonNode::Kind::kObject); }
  bool start_array(std::size_t /*size*/) { return Open(JsonNode::Kind::kArray); }
  bool end_object() { return Close(); }
  bool end_array() { return Close(); }

  bool key(const std::string& name) {
    key_line_ = Line(passed_);
    if (open_.back()->items.size() == kMaxKeys) {
      error_ = source_ + ": line " + std::to_string(key_line_) + ": an object of more than " +
               std::to_string(kMaxKeys) + " keys";
      return false;
    }
    if (const JsonNode* first = open_.back()->Find(name)) {
      error_ = source_ + ": line " + std::to_string(key_line_) + ": '" + name +
               "' stands twice in one object, first in line " + std::to_string(first->key_line);
      return false;
    }
    key_ = name;
    right_ = passed_;
    return true;
  }

  bool parse_error(std::size_t position, const std::string& /*token*/,
                   const nlohmann::detail::exception& /*theirs*/) {
    const bool is_at_end = position > text_.size();
    const std::size_t end = std::min(position, text_.size());
    // Behind the last thing that was right, and the comma or colon that may follow it.
    std::size_t at = SkipBlanks(right_, end);
    if (at + 1 < end && (text_[at] == ',' || text_[at] == ':')) at = SkipBlanks(at + 1, end);
    if (at == end && !is_at_end) --at;  // 01 is the number 0 with a digit that it read on
    const std::size_t line_begin = at == 0 ? 0 : text_.rfind('\n', at - 1) + 1;
    error_ = source_ + ": line " + std::to_string(Line(at)) + ", column " +
             std::to_string(at - line_begin + 1) + ": " +
             (is_at_end ? AtEnd(at) : Reason(at, text_.substr(at, end - at)));
    return false;
  }

 private:
  static JsonNode Make(JsonNode::Kind kind, const std::string& text) {
    JsonNode node;
    node.kind = kind;
    node.text = text;
    return node;
  }

  bool AddWhole(const std::string& written, std::int64_t value) {
    JsonNode node = Make(JsonNode::Kind::kWhole, written);
    node.whole = value;
    node.number = static_cast<double>(value);
    return Add(std::move(node));
  }

  bool Add(JsonNode node) {
    // To see the end of a number, which is a digit, the parser has read one character more.
    const bool is_number =
        node.kind == JsonNode::Kind::kWhole || node.kind == JsonNode::Kind::kReal;
    const bool is_ahead =
        is_number && std::isdigit(static_cast<unsigned char>(text_[passed_ - 1])) == 0;
    right_ = passed_ - (is_ahead ? 1 : 0);
    node.line = Line(right_);
    if (open_.empty()) {
      root_ = std::move(node);
      return true;
    }
    if (open_.back()->kind == JsonNode::Kind::kObject) {
      node.key = key_;
      node.key_line = key_line_;
    }
    open_.back()->items.push_back(std::move(node));
    return true;
  }

  bool Open(JsonNode::Kind kind) {
    if (open_.size() == kMaxDepth) {
      error_ = source_ + ": line " + std::to_string(Line(passed_)) +
               ": brackets are nested more than " + std::to_string(kMaxDepth) + " deep";
      return false;
    }
    Add(Make(kind, ""));
    // Stays where it is as long as it is open: only the innermost grows.
    open_.push_back(open_.empty() ? &root_ : &open_.back()->items.back());
    return true;
  }

  bool Close() {
    open_.pop_back();
    right_ = passed_;
    return true;
  }

  // Of the character before `offset`. The parser goes forwards, and so does the count.
  int Line(std::size_t offset) {
    if (offset < counted_) {
      return 1 +
             static_cast<int>(std::count(text_.begin(), text_.begin() + Distance(offset), '\n'));
    }
    lines_ += static_cast<int>(
        std::count(text_.begin() + Distance(counted_), text_.begin() + Distance(offset), '\n'));
    counted_ = offset;
    return lines_;
  }

  static std::ptrdiff_t Distance(std::size_t offset) { return static_cast<std::ptrdiff_t>(offset); }

  std::size_t SkipBlanks(std::size_t at, std::size_t end) const {
    while (at < end && IsBlank(text_[at])) ++at;
    return at;
  }

  std::string AtEnd(std::size_t at) const {
    if (at < text_.size() && text_[at] == '"') return "the file ends within a string";
    return "the file ends before the JSON does: a brace or bracket is not closed";
  }

  // `token`: what begins at `at`, as far as the parser went.
  std::string Reason(std::size_t at, const std::string& token) const {
    std::size_t before = at;
    while (before > 0 && IsBlank(text_[before - 1])) --before;
    const char previous = before > 0 ? text_[before - 1] : '\0';
    const char first = token.empty() ? '\0' : token[0];
    if (first == '"' && static_cast<unsigned char>(token.back()) < 0x20) {
      return "a control character in a string, such as the end of the line";
    }
    if (Printable(token) != token) return "this is not UTF-8";
    if (first == '/' || first == '#') return "JSON has no comments";
    if (first == '\'') return "strings stand in double quotes";
    const std::string shown = "'" + Word(at, token) + "'";
    if (first == '"' && (token.size() == 1 || token.back() != '"')) {
      return "an escape that JSON does not know, in " + shown;
    }
    if ((first == '}' || first == ']') && previous == ',') {
      return "a comma stands before " + shown + ", where JSON has none";
    }
    if ((first == '"' || first == '{' || first == '[') && kOpening.find(previous) == kNowhere) {
      return "a comma or colon is missing before " + shown;
    }
    if (first == '-' || first == '+' || first == '.' || (first >= '0' && first <= '9')) {
      return shown + " is no number that JSON knows, or too large";
    }
    return shown + " cannot stand here";
  }

  // The token, or all of the word that the parser gave up in.
  std::string Word(std::size_t at, const std::string& token) const {
    const auto is_letter = [](char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; };
    constexpr std::size_t kShown = 40;
    if (at == text_.size() || !is_letter(text_[at])) return token.substr(0, kShown);
    const auto begin = text_.begin() + Distance(at);
    const std::string word(begin, std::find_if_not(begin, text_.end(), is_letter));
    return word.substr(0, kShown);
  }

  static constexpr std::string_view kOpening = ",:{[";
  static constexpr std::size_t kNowhere = std::string_view::npos;

  const std::string& text_;
  const std::string& source_;
  const std::size_t& passed_;
  JsonNode root_;
  std::vector<JsonNode*> open_;
  std::string key_;
  int key_line_ = 0;
  std::size_t right_ = 0;  // how far the text was JSON
  std::size_t counted_ = 0;
  int lines_ = 1;
  std::string error_;
};

}  // namespace

const JsonNode* JsonNode::Find(const std::string& name) const {
  const auto found = std::find_if(items.begin(), items.end(),
                                  [&](const JsonNode& item) { return item.key == name; });
  return kind == Kind::kObject && found != items.end() ? &*found : nullptr;
}

JsonNode ParseJson(const std::string& text, const std::string& source) {
  const std::size_t nul = text.find('\0');
  if (nul != std::string::npos) {  // which the parser takes for the end
    throw std::runtime_error(source + ": byte " + std::to_string(nul + 1) +
                             " is zero: this is not a text file");
  }
  std::size_t passed = 0;
  TreeBuilder builder(text, source, passed);
  const char* end = text.data() + text.size();
  if (!Json::sax_parse(CountingIterator(text.data(), &passed), CountingIterator(end, &passed),
                       &builder)) {
    throw std::runtime_error(builder.error());
  }
  return builder.Take();
}

}  // namespace cnn
