#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "tools/export_testing.h"
#include "tools/export_text.h"

namespace cnn {
namespace {

// What GitHub shows of a cell: the inside of a code span, else text with its entities replaced.
// Refuses markup that is neither.
std::string Shown(std::string_view cell) {
  if (cell.size() > 1 && cell.front() == '`' && cell.back() == '`') {
    std::string inside(cell.substr(1, cell.size() - 2));
    if (inside.find_first_of("`\\") != std::string::npos) throw std::runtime_error("code span");
    return inside;
  }
  std::string text;
  for (std::size_t i = 0; i < cell.size(); ++i) {
    if (cell.substr(i, 2) == "&#") {
      const std::size_t end = cell.find(';', i);
      text += static_cast<char>(std::stoi(std::string(cell.substr(i + 2, end - i - 2))));
      i = end;
      continue;
    }
    const bool is_bold = cell.substr(i, 2) == "**";  // ours: "**failed**"
    if (is_bold) ++i;
    if (!is_bold && std::string_view("`<>&\\_[]~@#!*").find(cell[i]) != std::string_view::npos) {
      throw std::runtime_error("markup in " + std::string(cell));
    }
    if (!is_bold) text += cell[i];
  }
  return text;
}

std::string_view Trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

struct Markdown {
  std::vector<std::vector<std::string>> rows;  // as shown; without the header
  std::string before, after;
  std::vector<std::size_t> widths;  // of each line of the table
};

// GitHub's tables: every pipe ends a cell, also in a code span; a backslash would escape it.
Markdown ReadMarkdown(const std::string& text) {
  Markdown markdown;
  std::size_t table_lines = 0;
  for (const std::string_view line : Split(text, '\n')) {
    if (line.empty() || line[0] != '|') {
      (table_lines == 0 ? markdown.before : markdown.after) += std::string(line) + '\n';
      continue;
    }
    if (!markdown.after.empty()) throw std::runtime_error("two tables");
    const auto cells = Split(line.substr(1, line.size() - 2), '|');
    if (line.back() != '|' || cells.size() != 6) throw std::runtime_error(std::string(line));
    markdown.widths.push_back(CountCharacters(line));
    std::vector<std::string> shown;
    for (const std::string_view cell : cells) shown.push_back(Shown(Trimmed(cell)));
    if (++table_lines > 2) markdown.rows.push_back(shown);
  }
  return markdown;
}

TEST(ExportMarkdown, WritesAnAlignedTable) {
  ResultRow row = TimedRow("Layer/eight_kinds/conv1", 0.0072616);
  row.metrics.push_back({"items_per_second", 4406.7});
  row.label = "a|b";
  ResultRow again = row;
  again.metrics[0].value = 0.0072618;
  EXPECT_EQ(Exported({File({row, again, FailedRow("Model", "no <GPU>"), SkippedRow("S", "")})},
                     "markdown"),
            "3 benchmarks from 1 file, 1 failed, 1 skipped.\n"
            "\n"
            "| Benchmark                 |     Time |              Spread |      CPU | Items/s | "
            "Note                         |\n"
            "|---------------------------|---------:|--------------------:|---------:|--------:|-"
            "-----------------------------|\n"
            "| `Model`                   |          |                     |          |         | "
            "**failed**: no &#60;GPU&#62; |\n"
            "| `Layer/eight_kinds/conv1` | 7.262 ms | 7.262 ms … 7.262 ms | 14.52 ms |    4407 | "
            "a&#124;b                     |\n"
            "| `S`                       |          |                     |          |         | "
            "skipped:                     |\n");
}

TEST(ExportMarkdown, SurvivesHostileText) {
  const std::string text = Exported({HostileFile()}, "markdown");
  const Markdown markdown = ReadMarkdown(text);
  ASSERT_EQ(markdown.rows.size(), HostileNames().size() + 5);
  EXPECT_EQ(markdown.rows[0][0], "Failed/device:cuda");
  for (std::size_t i = 0; i < HostileNames().size(); ++i) {
    const std::string& name = HostileNames()[i];
    if (name.size() > 100 || name.empty() || name.front() == ' ') continue;
    const std::string shown = markdown.rows[i + 1][0];
    EXPECT_EQ(shown.substr(0, VisibleText(name).size()), VisibleText(name));
  }
}

TEST(ExportMarkdown, AlignsAllButTheWidestLines) {
  const Markdown markdown =
      ReadMarkdown(Exported({File({TimedRow("a", 1), TimedRow(std::string(98, '\xff'), 1),
                                   TimedRow(std::string(3000, 'x'), 1)})},
                            "markdown"));
  ASSERT_EQ(markdown.widths.size(), 5U);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(markdown.widths[i], markdown.widths[0]);
  EXPECT_EQ(markdown.rows[2][0].size(), 400 + std::string("…").size());
}

TEST(ExportMarkdown, StopsBelowTheLimitAndCountsTheRest) {
  std::vector<ResultRow> rows;
  for (int i = 0; i < 5000; ++i) {
    rows.push_back(TimedRow("Layer/eight_kinds/conv1/batch:" + std::to_string(i), 0.001));
    rows.back().label = "|\xE2\x82\xAC";
  }
  rows.push_back(FailedRow("Last", "why"));
  const std::string text = Exported({File(rows)}, "markdown");
  EXPECT_LT(text.size(), 65000U);
  EXPECT_GT(text.size(), 60000U);
  const Markdown markdown = ReadMarkdown(text);
  EXPECT_EQ(markdown.rows[0][0], "Last") << "failures first";
  EXPECT_EQ(markdown.after, "\n… and " + std::to_string(5001 - markdown.rows.size()) +
                                " more benchmarks, left out to keep this below 65000 bytes.\n\n");
}

TEST(ExportMarkdown, StaysBelowAnyLimit) {
  for (std::size_t limit : {0U, 400U, 1000U, 3000U, 20000U}) {
    ExportOptions options;
    options.markdown_limit = limit;
    EXPECT_LE(Exported({HostileFile()}, "markdown", options).size(),
              std::max<std::size_t>(limit, 300));
  }
}

TEST(ExportMarkdown, ScalesWhatItShows) {
  const auto time = [](double seconds) {
    return ReadMarkdown(Exported({File({TimedRow("a", seconds)})}, "markdown")).rows.at(0).at(1);
  };
  EXPECT_EQ(time(12.3456), "12.35 s");
  EXPECT_EQ(time(0.5), "500 ms");
  EXPECT_EQ(time(2e-6), "2 us");
  EXPECT_EQ(time(3e-10), "0.3 ns");
  EXPECT_EQ(time(0), "0 ns");
  EXPECT_EQ(time(std::nan("")), "NaN");
  const auto rate = [](double value) {
    return ReadMarkdown(Exported({File({Row("a", {{"items_per_second", value}})})}, "markdown"))
        .rows.at(0)
        .at(4);
  };
  EXPECT_EQ(rate(9999), "9999");
  EXPECT_EQ(rate(12345), "12.35 k");
  EXPECT_EQ(rate(1.5e6), "1.5 M");
  EXPECT_EQ(rate(0.25), "0.25");
}

TEST(ExportMarkdown, IsALineWithoutResults) {
  EXPECT_EQ(Exported({}, "markdown"), "0 benchmarks from 0 files, 0 failed, 0 skipped.\n");
}

}  // namespace
}  // namespace cnn
