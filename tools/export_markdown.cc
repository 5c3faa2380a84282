// A table for people: pull requests and job summaries of GitHub. Failures first, then the files'
// order; columns aligned in the source too, except for what is wider than a screen. GitHub refuses
// comments above 65,536 characters, so rows stop in time and the rest is counted.
#include <algorithm>
#include <array>

#include "tools/export_pool.h"
#include "tools/export_text.h"
#include "tools/export_writers.h"
#include "tools/readable.h"

namespace cnn {
namespace {

constexpr std::size_t kColumns = 6;
constexpr std::size_t kWidestPadding = 100;

using Cells = std::array<std::string, kColumns>;

const Cells& Header() {
  static const Cells header = {"Benchmark", "Time", "Spread", "CPU", "Items/s", "Note"};
  return header;
}

bool IsRightAligned(std::size_t column) { return column >= 1 && column <= 4; }

std::string SpreadText(const PooledMetric& metric) {
  if (metric.spread == Spread::kStddev) return "± " + ReadableTime(metric.upper - metric.value);
  if (metric.spread == Spread::kNone) return "";
  return ReadableTime(metric.lower) + " … " + ReadableTime(metric.upper);
}

std::string NoteOf(const PooledBenchmark& benchmark) {
  std::string note = MarkdownText(Shortened(benchmark.label));
  if (benchmark.state == RowState::kMeasured) return note;
  const std::string state = benchmark.state == RowState::kError ? "**failed**" : "skipped";
  return state + ": " + MarkdownText(Shortened(benchmark.message)) + (note.empty() ? "" : "; ") +
         note;
}

Cells CellsOf(const PooledBenchmark& benchmark) {
  Cells cells;
  cells[0] = MarkdownCode(Shortened(benchmark.name));
  for (const PooledMetric& metric : benchmark.metrics) {
    if (metric.name == "real_time") {
      cells[1] = ReadableTime(metric.value);
      cells[2] = SpreadText(metric);
    } else if (metric.name == "cpu_time") {
      cells[3] = ReadableTime(metric.value);
    } else if (metric.name == "items_per_second") {
      cells[4] = ReadableNumber(metric.value);
    }
  }
  cells[5] = NoteOf(benchmark);
  return cells;
}

// The rows that fit, and how wide each column is.
class Table {
 public:
  Table() { Widen(Header(), widths_); }

  // Whether the table, `cells` included, stays below `limit` bytes. Takes the cells only then.
  bool Add(Cells cells, std::size_t limit) {
    auto widths = widths_;
    Widen(cells, widths);
    // Padding is by characters, a cell's size in bytes may be more.
    const std::size_t excess = excess_ + ExcessOf(cells);
    if ((rows_.size() + 3) * LineSize(widths) + excess > limit) return false;
    widths_ = widths;
    excess_ = excess;
    rows_.push_back(std::move(cells));
    return true;
  }

  std::size_t size() const { return rows_.size(); }

  void Write(std::ostream& out) const {
    WriteLine(Header(), out);
    for (std::size_t i = 0; i < kColumns; ++i) {
      out << "|-" << std::string(widths_[i], '-') << (IsRightAligned(i) ? ':' : '-');
    }
    out << "|\n";
    for (const Cells& cells : rows_) WriteLine(cells, out);
  }

 private:
  using Widths = std::array<std::size_t, kColumns>;

  static void Widen(const Cells& cells, Widths& widths) {
    for (std::size_t i = 0; i < kColumns; ++i) {
      const std::size_t width = std::min(CountCharacters(cells[i]), kWidestPadding);
      widths[i] = std::max(widths[i], width);
    }
  }

  static std::size_t LineSize(const Widths& widths) {
    std::size_t size = 2;  // the last pipe and the newline
    for (const std::size_t width : widths) size += width + 3;
    return size;
  }

  static std::size_t ExcessOf(const Cells& cells) {
    std::size_t excess = 0;
    for (const std::string& cell : cells) {
      excess += cell.size() - std::min(CountCharacters(cell), kWidestPadding);
    }
    return excess;
  }

  void WriteLine(const Cells& cells, std::ostream& out) const {
    for (std::size_t i = 0; i < kColumns; ++i) {
      const std::size_t width = CountCharacters(cells[i]);
      const std::string padding(widths_[i] - std::min(widths_[i], width), ' ');
      out << "| " << (IsRightAligned(i) ? padding + cells[i] : cells[i] + padding) << ' ';
    }
    out << "|\n";
  }

  std::vector<Cells> rows_;
  Widths widths_{};
  std::size_t excess_ = 0;
};

std::string HeadLine(const std::vector<PooledBenchmark>& benchmarks, std::size_t files) {
  std::size_t failed = 0;
  std::size_t skipped = 0;
  for (const PooledBenchmark& benchmark : benchmarks) {
    failed += benchmark.state == RowState::kError ? 1U : 0U;
    skipped += benchmark.state == RowState::kSkipped ? 1U : 0U;
  }
  return Plural(benchmarks.size(), "benchmark") + " from " + Plural(files, "file") + ", " +
         FormatInteger(static_cast<std::int64_t>(failed)) + " failed, " +
         FormatInteger(static_cast<std::int64_t>(skipped)) + " skipped.\n";
}

}  // namespace

void WriteMarkdown(const ResultFiles& files, const ExportOptions& options, std::ostream& out) {
  std::vector<PooledBenchmark> benchmarks = PoolTogether(files);
  std::stable_partition(benchmarks.begin(), benchmarks.end(), [](const PooledBenchmark& benchmark) {
    return benchmark.state == RowState::kError;
  });
  out << HeadLine(benchmarks, files.size());
  if (benchmarks.empty()) return;
  constexpr std::size_t kRoomForText = 300;  // the head line and the last
  const std::size_t limit = options.markdown_limit - std::min(options.markdown_limit, kRoomForText);
  Table table;
  for (const PooledBenchmark& benchmark : benchmarks) {
    if (!table.Add(CellsOf(benchmark), limit)) break;
  }
  if (table.size() > 0) {
    out << '\n';
    table.Write(out);
  }
  if (table.size() < benchmarks.size()) {
    out << "\n… and " << Plural(benchmarks.size() - table.size(), "more benchmark")
        << ", left out to keep this below "
        << FormatInteger(static_cast<std::int64_t>(options.markdown_limit)) << " bytes.\n";
  }
}

}  // namespace cnn
