// CSV by RFC 4180: CRLF, text in quotes with its quotes doubled, one header for all rows of all
// files (Google Benchmark's own has the counters of the first row), the same number of fields in
// every row. Control characters are pictures, so that a record is one line.
//
// A row per row, aggregates and fitted complexities too. Text is always in quotes and numbers never
// are; a value that is absent is empty, one that is not finite NaN, Infinity or -Infinity, as
// Python, Java and PostgreSQL read them. Times are in seconds; where `is_percentage` is true,
// shares.
#include <cstdint>
#include <unordered_map>

#include "tools/export_pool.h"
#include "tools/export_text.h"
#include "tools/export_writers.h"

namespace cnn {
namespace {

class CsvLine {
 public:
  explicit CsvLine(const ExportOptions& options) : guard_(options.csv_formula_guard) {}

  void AddText(std::string_view text) {
    const std::string visible = VisibleText(text);
    std::string quoted = "\"";
    if (guard_ && IsFormula(visible)) quoted += '\'';
    for (const char character : visible) {
      if (character == '"') quoted += '"';
      quoted += character;
    }
    AddRaw(quoted + '"');
  }
  void AddRaw(std::string_view field) {
    if (!is_first_) text_ += ',';
    is_first_ = false;
    text_ += field;
  }
  // Negative: the file does not say.
  void AddIndex(std::int64_t value) { AddRaw(value < 0 ? "" : FormatInteger(value)); }

  std::string Text() const { return text_ + "\r\n"; }

 private:
  static bool IsFormula(std::string_view text) {
    return !text.empty() && std::string_view("=+-@").find(text[0]) != std::string_view::npos;
  }

  const bool guard_;
  bool is_first_ = true;
  std::string text_;
};

// What every row has. A column that is wanted is added here and nowhere else.
struct Column {
  std::string_view name;
  void (*add)(const ResultFile& file, const ResultRow& row, CsvLine& line);
};

std::string_view KindName(RowKind kind) {
  switch (kind) {
    case RowKind::kAggregate:
      return "aggregate";
    case RowKind::kBigO:
      return "big_o";
    case RowKind::kRms:
      return "rms";
    case RowKind::kIteration:
      break;
  }
  return "iteration";
}

constexpr Column kColumns[] = {
    {"file",
     [](const ResultFile& file, const ResultRow&, CsvLine& line) { line.AddText(file.path); }},
    {"time",
     [](const ResultFile& file, const ResultRow&, CsvLine& line) {
       const auto time = ParseTime(file.ContextValue("date"));
       line.AddText(time ? FormatTime(*time) + 'Z' : "");
     }},
    {"host", [](const ResultFile& file, const ResultRow&,
                CsvLine& line) { line.AddText(file.ContextValue("host_name")); }},
    {"git_commit", [](const ResultFile& file, const ResultRow&,
                      CsvLine& line) { line.AddText(file.ContextValue("git_commit")); }},
    {"name",
     [](const ResultFile&, const ResultRow& row, CsvLine& line) { line.AddText(row.name); }},
    {"run_name",
     [](const ResultFile&, const ResultRow& row, CsvLine& line) { line.AddText(row.run_name); }},
    {"kind", [](const ResultFile&, const ResultRow& row,
                CsvLine& line) { line.AddText(KindName(row.kind)); }},
    {"aggregate_name", [](const ResultFile&, const ResultRow& row,
                          CsvLine& line) { line.AddText(row.aggregate_name); }},
    {"is_percentage", [](const ResultFile&, const ResultRow& row,
                         CsvLine& line) { line.AddRaw(row.is_percentage ? "true" : "false"); }},
    {"big_o",
     [](const ResultFile&, const ResultRow& row, CsvLine& line) { line.AddText(row.big_o); }},
    {"state", [](const ResultFile&, const ResultRow& row,
                 CsvLine& line) { line.AddText(StateName(row.state)); }},
    {"message",
     [](const ResultFile&, const ResultRow& row, CsvLine& line) { line.AddText(row.message); }},
    {"label",
     [](const ResultFile&, const ResultRow& row, CsvLine& line) { line.AddText(row.label); }},
    {"family_index", [](const ResultFile&, const ResultRow& row,
                        CsvLine& line) { line.AddIndex(row.family_index); }},
    {"per_family_instance_index",
     [](const ResultFile&, const ResultRow& row, CsvLine& line) {
       line.AddIndex(row.per_family_instance_index);
     }},
    {"repetitions", [](const ResultFile&, const ResultRow& row,
                       CsvLine& line) { line.AddIndex(row.repetitions); }},
    {"repetition_index", [](const ResultFile&, const ResultRow& row,
                            CsvLine& line) { line.AddIndex(row.repetition_index); }},
    {"threads",
     [](const ResultFile&, const ResultRow& row, CsvLine& line) { line.AddIndex(row.threads); }},
    {"iterations", [](const ResultFile&, const ResultRow& row,
                      CsvLine& line) { line.AddRaw(FormatReal(row.iterations)); }},
};

// The union of all rows' metrics, in the order in which they first appear.
class MetricColumns {
 public:
  explicit MetricColumns(const ResultFiles& files) {
    for (const Column& column : kColumns) headers_.Take(std::string(column.name), "_");
    for (const ResultFile& file : files) {
      for (const ResultRow& row : file.rows) Add(row);
    }
  }

  const std::vector<std::string>& names() const { return names_; }

  // Errors and skips have no values: Google Benchmark writes zeros there.
  void AddValues(const ResultRow& row, CsvLine& line) const {
    std::vector<std::string> fields(names_.size());
    if (row.state == RowState::kMeasured) {
      const std::vector<std::string> metrics = MetricNames(row);
      for (std::size_t i = 0; i < metrics.size(); ++i) {
        fields[index_.at(metrics[i])] = FormatReal(row.metrics[i].value);
      }
    }
    for (const std::string& field : fields) line.AddRaw(field);
  }

 private:
  void Add(const ResultRow& row) {
    if (row.state != RowState::kMeasured) return;
    for (std::string& metric : MetricNames(row)) {
      if (!index_.try_emplace(metric, names_.size()).second) continue;
      // Two counters may differ in bytes that look the same, or be called as a column is.
      names_.push_back(headers_.Take(VisibleText(metric), "_"));
    }
  }

  UniqueNames headers_;
  std::vector<std::string> names_;
  std::unordered_map<std::string, std::size_t> index_;
};

}  // namespace

void WriteCsv(const ResultFiles& files, const ExportOptions& options, std::ostream& out) {
  const MetricColumns metrics(files);
  CsvLine header(options);
  for (const Column& column : kColumns) header.AddText(column.name);
  for (const std::string& name : metrics.names()) header.AddText(name);
  out << header.Text();
  for (const ResultFile& file : files) {
    for (const ResultRow& row : file.rows) {
      CsvLine line(options);
      for (const Column& column : kColumns) column.add(file, row, line);
      metrics.AddValues(row, line);
      out << line.Text();
    }
  }
}

}  // namespace cnn
