// CSV by RFC 4180: CRLF, text in quotes with its quotes doubled, one header for all rows of all
// files (Google Benchmark's own has the counters of the first row), the same number of fields in
// every row. Control characters are pictures, so that a record is one line.
//
// A row per row, aggregates and fitted complexities too. Text is always in quotes and numbers never
// are; a value that is absent is empty, one that is not finite NaN, Infinity or -Infinity, as
// Python, Java and PostgreSQL read them. Times are in seconds; where `is_percentage` is true,
// shares.
#include <cstdint>
#include <optional>
#include <unordered_map>

#include "tools/export_pool.h"
#include "tools/export_text.h"
#include "tools/export_writers.h"

namespace cnn {
namespace {

std::string Quoted(std::string_view text, const ExportOptions& options) {
  const std::string visible = VisibleText(text);
  const bool is_formula =
      !visible.empty() && std::string_view("=+-@").find(visible[0]) != std::string_view::npos;
  std::string quoted = options.csv_formula_guard && is_formula ? "\"'" : "\"";
  for (const char character : visible) {
    if (character == '"') quoted += '"';
    quoted += character;
  }
  return quoted + '"';
}

// Negative: the file does not say.
std::string Index(std::int64_t value) { return value < 0 ? "" : FormatInteger(value); }

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

struct Field {
  std::string_view column;
  std::string text;
};

// What every row has. A column that is wanted is added here and nowhere else.
std::vector<Field> FieldsOf(const ResultFile& file, const ResultRow& row,
                            const ExportOptions& options) {
  const auto quoted = [&](std::string_view text) { return Quoted(text, options); };
  const std::optional<std::int64_t> time = ParseTime(file.ContextValue("date"));
  return {{"file", quoted(file.path)},
          {"time", quoted(time ? FormatTime(*time) + 'Z' : "")},
          {"host", quoted(file.ContextValue("host_name"))},
          {"git_commit", quoted(file.ContextValue("git_commit"))},
          {"name", quoted(row.name)},
          {"run_name", quoted(row.run_name)},
          {"kind", quoted(KindName(row.kind))},
          {"aggregate_name", quoted(row.aggregate_name)},
          {"is_percentage", row.is_percentage ? "true" : "false"},
          {"big_o", quoted(row.big_o)},
          {"state", quoted(StateName(row.state))},
          {"message", quoted(row.message)},
          {"label", quoted(row.label)},
          {"family_index", Index(row.family_index)},
          {"per_family_instance_index", Index(row.per_family_instance_index)},
          {"repetitions", Index(row.repetitions)},
          {"repetition_index", Index(row.repetition_index)},
          {"threads", Index(row.threads)},
          {"iterations", FormatReal(row.iterations)}};
}

// The union of all rows' metrics, in the order in which they first appear.
class MetricColumns {
 public:
  MetricColumns(const ResultFiles& files, const std::vector<Field>& others) {
    for (const Field& other : others) headers_.Take(std::string(other.column), "_");
    for (const ResultFile& file : files) {
      for (const ResultRow& row : file.rows) Add(row);
    }
  }

  const std::vector<std::string>& names() const { return names_; }

  // Errors and skips have no values: Google Benchmark writes zeros there.
  std::vector<std::string> ValuesOf(const ResultRow& row) const {
    std::vector<std::string> values(names_.size());
    if (row.state != RowState::kMeasured) return values;
    const std::vector<std::string> metrics = MetricNames(row);
    for (std::size_t i = 0; i < metrics.size(); ++i) {
      values[index_.at(metrics[i])] = FormatReal(row.metrics[i].value);
    }
    return values;
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
  const std::vector<Field> columns = FieldsOf({}, {}, options);
  const MetricColumns metrics(files, columns);
  std::string header;
  for (const Field& field : columns) header += ',' + Quoted(field.column, options);
  for (const std::string& name : metrics.names()) header += ',' + Quoted(name, options);
  out << header.substr(1) << "\r\n";
  for (const ResultFile& file : files) {
    for (const ResultRow& row : file.rows) {
      std::string line;
      for (const Field& field : FieldsOf(file, row, options)) line += ',' + field.text;
      for (const std::string& value : metrics.ValuesOf(row)) line += ',' + value;
      out << line.substr(1) << "\r\n";
    }
  }
}

}  // namespace cnn
