// A libFuzzer target for the reader: whatever the bytes, a file that keeps its promises or a
// ReadError.
//   clang++ -std=c++17 -g -O2 -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all -I.
//     tools/result_file.cc tools/result_file_fuzz.cc -o result_file_fuzz
//   mkdir corpus && cp results/*/*.json corpus
//   ./result_file_fuzz -runs=10000000 -max_len=2048 corpus
// Any result files will do to start from; without them it takes longer to find its way in.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include "tools/result_file.h"

namespace {

void Require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::abort();
}

bool Equal(double a, double b) { return a == b || (a != a && b != b); }

void RequireEqual(const cnn::ResultFile& a, const cnn::ResultFile& b) {
  Require(a.warnings == b.warnings && a.is_incomplete == b.is_incomplete, "equal warnings");
  Require(a.context.size() == b.context.size() && a.rows.size() == b.rows.size(), "equal sizes");
  for (std::size_t i = 0; i < a.context.size(); ++i) {
    Require(a.context[i].key == b.context[i].key && a.context[i].value == b.context[i].value,
            "equal context");
  }
  for (std::size_t i = 0; i < a.rows.size(); ++i) {
    const cnn::ResultRow& x = a.rows[i];
    const cnn::ResultRow& y = b.rows[i];
    Require(x.name == y.name && x.run_name == y.run_name && x.kind == y.kind &&
                x.state == y.state && x.label == y.label && x.threads == y.threads &&
                x.repetition_index == y.repetition_index && x.metrics.size() == y.metrics.size(),
            "equal rows");
    for (std::size_t k = 0; k < x.metrics.size(); ++k) {
      Require(
          x.metrics[k].name == y.metrics[k].name && Equal(x.metrics[k].value, y.metrics[k].value),
          "equal metrics");
    }
  }
}

std::optional<cnn::ResultFile> Read(std::string_view text, const cnn::ReadOptions& options) {
  try {
    cnn::ResultFile file = cnn::ParseResultFile(text, "f", options);
    Require(!file.is_incomplete || options.salvage, "only salvage is incomplete");
    Require(file.warnings.size() <= 54, "few warnings");
    for (const std::string& warning : file.warnings) {
      Require(warning.rfind("f:", 0) == 0 && warning.size() < 500, "a warning has its place");
    }
    for (const cnn::ResultRow& row : file.rows) {
      for (const cnn::Metric& metric : row.metrics) Require(!metric.name.empty(), "named metrics");
    }
    return file;
  } catch (const cnn::ReadError& error) {
    const std::string_view message = error.what();
    const std::size_t byte = message.find("(byte ");
    Require(message.substr(0, 2) == "f:" && byte != std::string_view::npos, "a refusal's place");
    return std::nullopt;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string text(size, '\0');
  if (size != 0) std::memcpy(text.data(), data, size);
  const auto strict = Read(text, {});
  for (const cnn::ReadOptions& options :
       {cnn::ReadOptions{true, false}, cnn::ReadOptions{false, true},
        cnn::ReadOptions{true, true}}) {
    const auto other = Read(text, options);
    if (!strict) continue;
    Require(other.has_value(), "what is read without options is read with them");
    RequireEqual(*strict, *other);
  }
  if (!strict) return 0;
  // A part of a good file, cut anywhere, is salvaged or is no file of results yet.
  const std::size_t cut = text.size() * 0x9E3779B9U % text.size();
  if (const auto part = Read(std::string_view(text).substr(0, cut), {false, true})) {
    Require(part->rows.size() <= strict->rows.size(), "no more rows than in the whole");
  }
  return 0;
}
