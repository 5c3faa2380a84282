#include "tools/report.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tools/export_testing.h"
#include "tools/export_text.h"

namespace cnn {
namespace {

using Json = nlohmann::json;
using Files = std::vector<ResultFile>;

std::string Reported(const Comparison& comparison, ReportFormat format,
                     const ReportOptions& report = {}, const CompareOptions& options = {}) {
  std::ostringstream out;
  WriteReport(comparison, options, format, report, out);
  return out.str();
}

// Six files, each a little off, of "A" and "B"; "A" takes `factor` times as long.
Files Runs(double factor, const std::string& a = "A", const std::string& b = "B") {
  Files files;
  for (const double noise : {1.0, 1.001, 0.999, 1.002, 1.0005, 0.998}) {
    files.push_back(File({TimedRow(a, 0.001 * noise * factor), TimedRow(b, 0.002 * noise)}));
  }
  return files;
}

bool Has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(Report, ShowsTheWorstAndCountsTheRest) {
  const Comparison comparison = Compare(Runs(1), Runs(1.1));
  const std::string table = Reported(comparison, ReportFormat::kTable);
  EXPECT_TRUE(Has(table, "slower")) << table;
  EXPECT_TRUE(Has(table, "+10 %")) << table;
  EXPECT_TRUE(Has(table, "REGRESSION: 1 row failed")) << table;
  EXPECT_TRUE(Has(table, "--benchmark_filter='^(A)$'")) << table;
  EXPECT_TRUE(Has(table, "more rows: --all shows them")) << table;
  EXPECT_FALSE(Has(table, "same       B")) << table;
  EXPECT_EQ(table.find('\x1b'), std::string::npos);
  ReportOptions all;
  all.all = true;
  all.colour = true;
  const std::string full = Reported(comparison, ReportFormat::kTable, all);
  EXPECT_TRUE(Has(full, "\nsame ")) << full;
  EXPECT_FALSE(Has(full, "more row")) << full;
  EXPECT_TRUE(Has(full, "\x1b[31mslower\x1b[0m")) << full;
}

TEST(Report, ShowsLongValuesFromWhereTheyDiffer) {
  Files base = Runs(1);
  Files contender = Runs(1);
  const std::string same = "{\"layers\": [" + std::string(200, 'l');
  for (ResultFile& file : base) file.context.push_back({"network_tiny", same + "4" + same});
  for (ResultFile& file : contender) file.context.push_back({"network_tiny", same + "6" + same});
  const std::string table = Reported(Compare(base, contender), ReportFormat::kTable);
  EXPECT_TRUE(Has(table, "settings: network_tiny: …" + std::string(40, 'l') + "4{")) << table;
  EXPECT_TRUE(Has(table, " → …" + std::string(40, 'l') + "6{")) << table;
}

TEST(Report, AlignsNamesThatAreWiderThanAScreen) {
  const std::string wide = std::string(300, 'w') + "/\xC3\xA9";
  const std::string table = Reported(Compare(Runs(1, wide), Runs(1.1, wide)), ReportFormat::kTable);
  EXPECT_TRUE(Has(table, wide)) << "kept whole";
  std::istringstream lines(table);
  std::string header;
  std::string row;
  std::getline(lines, header);
  std::getline(lines, row);
  const auto column = [](const std::string& line, const std::string& word) {
    return CountCharacters(line.substr(0, line.find(word)));
  };
  EXPECT_EQ(column(header, "metric"), column(row, "real_time")) << table;
}

TEST(Report, SaysHowManyMoreRunsWouldDecide) {
  Files base;
  Files contender;
  for (const double noise : {1.0, 1.1, 0.9, 1.05, 0.95}) {
    base.push_back(File({TimedRow("A", 0.001 * noise)}));
    contender.push_back(File({TimedRow("A", 0.00108 * noise)}));
  }
  const Comparison comparison = Compare(base, contender);
  const Advice advice = AdviceOf(comparison, {});
  EXPECT_EQ(advice.exit_code, 0);
  EXPECT_TRUE(Has(advice.headline, "UNDECIDED")) << advice.headline;
  ASSERT_FALSE(advice.steps.empty());
  EXPECT_TRUE(Has(advice.steps.back(), "a side")) << advice.steps.back();
  EXPECT_EQ(advice.filter, "^(A)$");
}

TEST(Report, QuotesFiltersForRegularExpressionsAndShells) {
  const Comparison comparison =
      Compare(Runs(1, "BM_x<1.5>(it's)/8"), Runs(1.1, "BM_x<1.5>(it's)/8"));
  EXPECT_EQ(AdviceOf(comparison, {}).filter, R"(^(BM_x<1\.5>\(it's\)/8)$)");
  EXPECT_TRUE(Has(Reported(comparison, ReportFormat::kTable), R"(\(it'\''s\)/8)$')"));
}

TEST(Report, NamesABrokenBenchmarkWithoutAPercentage) {
  const Files base = {File({TimedRow("A", 0.001), TimedRow("B", 0.001)})};
  const Files contender = {File({FailedRow("A", "out of memory"), TimedRow("B", 0.001)})};
  const std::string table = Reported(Compare(base, contender), ReportFormat::kTable);
  const std::string row = table.substr(table.find("broke"),
                                       table.find('\n', table.find("broke")) - table.find("broke"));
  EXPECT_TRUE(Has(row, "out of memory")) << table;
  EXPECT_EQ(row.find('%'), std::string::npos) << row;
  EXPECT_TRUE(Has(table, "REGRESSION")) << table;
}

TEST(Report, MarkdownFitsACommentAndCountsWhatDoesNot) {
  std::vector<ResultRow> base;
  std::vector<ResultRow> contender;
  for (int i = 0; i < 3000; ++i) {
    const std::string name = "Broken|<b>/" + std::to_string(i);
    base.push_back(TimedRow(name, 0.001));
    contender.push_back(FailedRow(name, std::string(1000, '*') + "@user"));
  }
  const Comparison comparison = Compare({File(base)}, {File(contender)});
  const std::string markdown = Reported(comparison, ReportFormat::kMarkdown);
  EXPECT_LT(markdown.size(), 65000U);
  EXPECT_GT(markdown.size(), 50000U);
  EXPECT_TRUE(Has(markdown, "that should be here did not fit")) << markdown.substr(60000);
  EXPECT_FALSE(Has(markdown, "<b>"));
  EXPECT_FALSE(Has(markdown, "@user"));
  EXPECT_FALSE(Has(markdown, "```\n--benchmark_filter")) << "too long for a command line";
  ReportOptions small;
  for (const std::size_t limit : {0U, 300U, 1000U, 2000U, 5000U}) {
    small.markdown_limit = limit;
    EXPECT_LE(Reported(comparison, ReportFormat::kMarkdown, small).size(),
              std::max<std::size_t>(limit, 400));
  }
}

TEST(Report, MarkdownRowsHaveAllTheirCells) {
  const Files hostile = {HostileFile()};
  CompareOptions options;
  options.pairing.duplicates_by_index = true;
  ReportOptions all;
  all.all = true;
  const std::string markdown =
      Reported(Compare(hostile, hostile, options), ReportFormat::kMarkdown, all, options);
  std::istringstream lines(markdown);
  for (std::string line; std::getline(lines, line);) {
    if (!line.empty() && line.front() == '|') {
      EXPECT_EQ(std::count(line.begin(), line.end(), '|'), 10) << line;
    }
  }
  EXPECT_EQ(markdown.find('\x1b'), std::string::npos);
}

TEST(Report, JsonIsStrictWhateverTheValues) {
  Files hostile = {HostileFile()};
  Files other = hostile;
  for (ResultRow& row : other[0].rows) {
    for (Metric& metric : row.metrics) metric.value = 2 * metric.value + 1e-3;
  }
  CompareOptions options;
  options.pairing.duplicates_by_index = true;
  for (const Files& contender : {hostile, other, Files{File({})}}) {
    const Comparison comparison = Compare(hostile, contender, options);
    const Json json = Json::parse(Reported(comparison, ReportFormat::kJson, {}, options));
    EXPECT_EQ(json.at("schema_version"), 1);
    EXPECT_EQ(json.at("rows").size(), comparison.rows.size()) << "all of them, without --all";
    EXPECT_EQ(json.at("exit_code"), ExitCode(comparison, options));
  }
  const Json json = Json::parse(Reported(Compare(Runs(1), Runs(1.1)), ReportFormat::kJson));
  const Json& row = json.at("rows").at(0);
  EXPECT_EQ(row.at("verdict"), "worse");
  EXPECT_EQ(row.at("benchmark"), "A");
  EXPECT_EQ(row.at("base").size(), 6U);
  EXPECT_NEAR(row.at("effect").at("estimate").get<double>(), 1.1, 0.01);
  EXPECT_EQ(json.at("filter"), "^(A)$");
}

TEST(Report, SteersNoTerminalWithHostileNames) {
  CompareOptions options;
  options.pairing.duplicates_by_index = true;
  ReportOptions all;
  all.all = true;
  const Files hostile = {HostileFile()};
  const std::string table =
      Reported(Compare(hostile, hostile, options), ReportFormat::kTable, all, options);
  for (const char c : table) EXPECT_TRUE(c == '\n' || static_cast<unsigned char>(c) >= 0x20);
}

}  // namespace
}  // namespace cnn
