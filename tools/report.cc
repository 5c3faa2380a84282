#include "tools/report.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string_view>

#include "tools/export_text.h"
#include "tools/name_filter.h"
#include "tools/readable.h"

namespace cnn {
namespace {

constexpr std::string_view kRed = "\x1b[31m";
constexpr std::string_view kGreen = "\x1b[32m";
constexpr std::string_view kYellow = "\x1b[33m";
constexpr std::string_view kBold = "\x1b[1m";
constexpr std::string_view kPlain = "\x1b[0m";

// Rows that fail nothing, shown without --all: with a change, and of what is on one side only.
constexpr std::size_t kMostChanges = 25;
constexpr std::size_t kMostOnOneSide = 8;

bool IsUndecided(const ComparisonRow& row) {
  return IsGate(row) && row.verdict == Verdict::kInconclusive && !row.is_unconfirmed;
}

bool Matters(const ComparisonRow& row) {
  if (row.fails) return true;
  if (!IsGate(row) && row.role != Role::kBenchmark) return false;
  return row.verdict != Verdict::kSame && row.verdict != Verdict::kNotRun;
}

// Rows to show: all, or those that matter, with the first of each verdict that fails nothing.
std::vector<const ComparisonRow*> RowsOf(const Comparison& comparison, bool all) {
  std::vector<const ComparisonRow*> rows;
  std::array<std::size_t, kVerdicts> shown{};
  for (const ComparisonRow& row : comparison.rows) {
    std::size_t& of_its_kind = shown[static_cast<std::size_t>(row.verdict)];
    const std::size_t most = row.metric.empty() ? kMostOnOneSide : kMostChanges;
    const bool is_shown = Matters(row) && (row.fails || of_its_kind++ < most);
    if (all || is_shown) rows.push_back(&row);
  }
  return rows;
}

// --- Cells --------------------------------------------------------------------------------------

std::string ValueText(const ComparisonRow& row, double value) {
  return IsTime(row.metric) ? ReadableTime(value) : ReadableNumber(value);
}

// The median; where there is none, the value that is why.
std::string SideText(const ComparisonRow& row, const Samples& samples, double median) {
  if (row.has_effect) return ValueText(row, median);
  if (samples.empty()) return "";
  const auto is_wild = [](double x) { return !std::isfinite(x); };
  const auto wild = std::find_if(samples.begin(), samples.end(), is_wild);
  return ValueText(row, wild == samples.end() ? Median(samples) : *wild);
}

std::string ChangeText(const ComparisonRow& row, double change) {
  if (!row.is_ratio) return Signed(ValueText(row, change));
  return change >= 10 ? "x" + ReadableNumber(change) : PercentText(change - 1);
}

std::string IntervalText(const ComparisonRow& row) {
  if (!row.has_effect || !row.effect.HasInterval()) return "";
  return ChangeText(row, row.effect.lower) + " … " + ChangeText(row, row.effect.upper);
}

std::string ProbabilityText(const ComparisonRow& row) {
  if (!row.is_tested) return "";
  const double p = std::min(row.p_worse_adjusted, row.p_better_adjusted);
  return p < 0.0001 ? "<0.0001" : FourDigits(std::round(p * 1e4) / 1e4);
}

std::string RunsText(std::size_t runs) {
  return FormatInteger(static_cast<std::int64_t>(runs)) + (runs >= kManyRuns ? " or more" : "");
}

std::string NoteOf(const ComparisonRow& row, bool is_advisory) {
  std::string note = VisibleText(row.why);
  if (row.verdict == Verdict::kInconclusive && row.runs_needed > 0 && !is_advisory) {
    note += (note.empty() ? "" : "; ") + RunsText(row.runs_needed) + " files a side would decide";
  }
  if (row.role == Role::kShown) note += note.empty() ? "no gate" : "; no gate";
  return note;
}

constexpr std::size_t kColumns = 9;
using Cells = std::array<std::string, kColumns>;
constexpr std::size_t kNameColumn = 1;

const Cells& Header() {
  static const Cells header = {"verdict", "benchmark", "metric", "base", "new",
                               "change",  "interval",  "p",      "note"};
  return header;
}

bool IsRightAligned(std::size_t column) { return column >= 3 && column <= 7; }

Cells CellsOf(const ComparisonRow& row, bool is_advisory) {
  Cells cells;
  cells[0] = VerdictText(row);
  cells[kNameColumn] = VisibleText(row.benchmark);
  cells[2] = VisibleText(row.metric);
  cells[3] = SideText(row, row.base, row.base_median);
  cells[4] = SideText(row, row.contender, row.contender_median);
  if (row.has_effect) cells[5] = ChangeText(row, row.effect.estimate);
  cells[6] = IntervalText(row);
  cells[7] = ProbabilityText(row);
  cells[8] = NoteOf(row, is_advisory);
  return cells;
}

// --- Lines below the table ----------------------------------------------------------------------

std::string FilterOf(const Comparison& comparison) {
  constexpr std::size_t kLongest = 4000;
  std::vector<std::string> benchmarks;
  for (const ComparisonRow& row : comparison.rows) {
    const bool is_worse = IsGate(row) && row.verdict == Verdict::kWorse;
    if (row.fails || is_worse || IsUndecided(row)) benchmarks.push_back(row.benchmark);
  }
  std::string filter = VisibleText(FilterOfNames(benchmarks));
  return filter.size() > kLongest ? std::string() : filter;
}

std::string InShellQuotes(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted += c;
    }
  }
  return quoted + '\'';
}

// As it is where no shell takes a character of it for its own.
std::string ShellWord(const std::string& text) {
  const auto is_plain = [](unsigned char c) {
    return std::isalnum(c) != 0 ||
           std::string_view("_-./:=@%+,").find(static_cast<char>(c)) != std::string_view::npos;
  };
  const bool is_word = !text.empty() && std::all_of(text.begin(), text.end(), is_plain);
  return is_word ? text : InShellQuotes(text);
}

std::string FilterFlag(const Advice& advice) {
  return "--benchmark_filter=" + InShellQuotes(advice.filter);
}

// The command that confirms makes its own filter.
bool HasFilterLine(const Advice& advice, const ReportOptions& report) {
  return !advice.filter.empty() && report.run_folder.empty();
}

std::string CountsText(const Comparison& comparison) {
  std::string text;
  std::size_t all = 0;
  for (std::size_t i = 0; i < kVerdicts; ++i) {
    const std::size_t count = comparison.summary.rows[i];
    if (count == 0) continue;
    all += count;
    text += (text.empty() ? "" : ", ") + FormatInteger(static_cast<std::int64_t>(count)) + ' ' +
            std::string(VerdictText(static_cast<Verdict>(i)));
  }
  return text.empty() ? "no rows" : "of " + Plural(all, "row") + ' ' + text;
}

double ThresholdOf(const Comparison& comparison, const CompareOptions& options) {
  return comparison.is_advisory ? std::max(options.threshold, options.single_threshold)
                                : options.threshold;
}

std::string SummaryText(const Comparison& comparison, const CompareOptions& options) {
  std::string text = Plural(comparison.summary.compared, "benchmark") + " compared, " +
                     FormatInteger(static_cast<std::int64_t>(comparison.base_files)) + " against " +
                     Plural(comparison.contender_files, "file");
  if (!comparison.time_metric.empty()) text += ", by " + comparison.time_metric;
  const std::string limit = PercentText(ThresholdOf(comparison, options)).substr(1);
  return text + (options.calibration ? ", thresholds calibrated" : ", threshold " + limit) + ": " +
         CountsText(comparison);
}

std::string MeanText(const GeometricMeanRow& mean) {
  std::string text =
      "geometric mean of " + VisibleText(mean.metric) + ": " + PercentText(mean.ratio.estimate - 1);
  if (mean.ratio.HasInterval()) {
    text +=
        " (" + PercentText(mean.ratio.lower - 1) + " … " + PercentText(mean.ratio.upper - 1) + ")";
  }
  text += " of " + Plural(mean.pairs, "pair");
  if (mean.excluded.empty()) return text;
  constexpr std::size_t kMostNamed = 3;
  const std::size_t named = std::min(kMostNamed, mean.excluded.size());
  text += ", without ";
  for (std::size_t i = 0; i < named; ++i) {
    text += (i == 0 ? "" : ", ") + VisibleText(mean.excluded[i]);
  }
  const std::size_t others = mean.excluded.size() - named;
  return others == 0 ? text : text + " and " + Plural(others, "more benchmark");
}

std::string_view SeverityText(Severity severity) {
  constexpr std::array<std::string_view, 4> kTexts = {"identity", "build", "settings",
                                                      "environment"};
  return kTexts[static_cast<std::size_t>(severity)];
}

// Two long values, such as tables of layers, are shown from a little before where they differ.
std::string DifferenceText(const ContextDifference& difference) {
  constexpr std::size_t kLongest = 120;
  constexpr std::size_t kBefore = 40;
  const std::string base = VisibleText(difference.base.empty() ? "(absent)" : difference.base);
  const std::string contender =
      VisibleText(difference.contender.empty() ? "(absent)" : difference.contender);
  std::size_t begin = 0;
  if (std::max(base.size(), contender.size()) > kLongest) {
    const auto [end, ignored] =
        std::mismatch(base.begin(), base.end(), contender.begin(), contender.end());
    const auto same = static_cast<std::size_t>(end - base.begin());
    begin = CutUtf8(base, same - std::min(same, kBefore)).size();
  }
  const auto shown = [begin](const std::string& text) {
    const std::string_view rest = std::string_view(text).substr(begin);
    return (begin > 0 ? "…" : "") + std::string(CutUtf8(rest, kLongest)) +
           (rest.size() > kLongest ? "…" : "");
  };
  const std::string kind =
      difference.is_expected ? "compared" : std::string(SeverityText(difference.severity));
  return kind + ": " + VisibleText(difference.key) + ": " + shown(base) + " → " + shown(contender);
}

struct Line {
  std::string_view colour;
  std::string text;
};

bool IsGatingTime(const Comparison& comparison, const std::string& metric) {
  const std::vector<std::string_view> times = Split(comparison.time_metric, ',');
  return std::any_of(times.begin(), times.end(), [&](std::string_view time) {
    return time.substr(std::min(time.find_first_not_of(' '), time.size())) == metric;
  });
}

// A broken test calls nearly everything slower, or nearly everything faster.
std::string SelfCheckText(const ComparisonSummary& summary) {
  const auto count = [&](Verdict verdict) {
    return FormatInteger(
        static_cast<std::int64_t>(summary.rows[static_cast<std::size_t>(verdict)]));
  };
  return Plural(summary.tested_times, "time") + " and " +
         Plural(summary.tested_counters, "counter") +
         " tested, corrected: a false alarm has a chance of at most " +
         PercentText(summary.false_alarm_bound).substr(1) + " (without correction " +
         FourDigits(summary.uncorrected_false_alarms) + " would be expected); " +
         count(Verdict::kWorse) + " worse and " + count(Verdict::kBetter) +
         " better, sign test p = " + FourDigits(summary.asymmetry_p);
}

// What stands below the rows in every format for people.
std::vector<Line> LinesOf(const Comparison& comparison, const CompareOptions& options, bool all) {
  std::vector<Line> lines;
  for (const ContextDifference& difference : comparison.context) {
    const bool is_bad = !difference.is_expected && difference.severity != Severity::kEnvironment;
    lines.push_back({is_bad ? kYellow : "", DifferenceText(difference)});
  }
  for (const std::string& warning : comparison.warnings) {
    lines.push_back({kYellow, "warning: " + VisibleText(warning)});
  }
  for (const GeometricMeanRow& mean : comparison.geometric_means) {
    if (!all && !IsGatingTime(comparison, mean.metric)) continue;
    lines.push_back({"", MeanText(mean)});
    for (const std::string& name : mean.excluded) {
      if (all) lines.push_back({"", "  without " + VisibleText(name)});
    }
  }
  if (comparison.summary.tested > 0 && !comparison.is_advisory) {
    lines.push_back({"", SelfCheckText(comparison.summary)});
  }
  lines.push_back({"", SummaryText(comparison, options)});
  return lines;
}

std::string_view ColourOf(const ComparisonRow& row) {
  if (row.fails) return kRed;
  switch (row.verdict) {
    case Verdict::kBroke:
    case Verdict::kWorse:
      return kRed;
    case Verdict::kStillBroken:
    case Verdict::kRemoved:
    case Verdict::kNotComparable:
    case Verdict::kSkipped:
    case Verdict::kInconclusive:
    case Verdict::kChanged:
      return kYellow;
    case Verdict::kFixed:
    case Verdict::kBetter:
      return kGreen;
    case Verdict::kNotRun:
    case Verdict::kAdded:
    case Verdict::kSame:
      break;
  }
  return "";
}

std::string_view HeadlineColour(int exit_code) {
  return exit_code == 0 ? kGreen : exit_code == 1 ? kRed : kYellow;
}

std::string Painted(std::string_view colour, const std::string& text, bool is_coloured) {
  if (!is_coloured || colour.empty()) return text;
  return std::string(colour) + text + std::string(kPlain);
}

std::string LeftOutText(std::size_t shown, std::size_t all, std::string_view how) {
  return Plural(all - shown, "more row") + std::string(how);
}

// --- Table --------------------------------------------------------------------------------------

void WriteTable(const Comparison& comparison, const CompareOptions& options,
                const ReportOptions& report, std::ostream& out) {
  const std::vector<const ComparisonRow*> rows = RowsOf(comparison, report.all);
  std::vector<Cells> table = {Header()};
  for (const ComparisonRow* row : rows) table.push_back(CellsOf(*row, comparison.is_advisory));
  std::array<std::size_t, kColumns> widths{};
  for (std::size_t i = 1; i < table.size(); ++i) {
    for (std::size_t k = 0; k < kColumns; ++k) {
      widths[k] = std::max(widths[k], CountCharacters(table[i][k]));
    }
  }
  for (std::size_t k = 0; k < kColumns; ++k) {  // a column without a value is left out
    if (widths[k] > 0) widths[k] = std::max(widths[k], CountCharacters(Header()[k]));
  }
  for (std::size_t i = 0; i < table.size() && !rows.empty(); ++i) {
    std::string line;
    for (std::size_t k = 0; k < kColumns; ++k) {
      if (widths[k] == 0) continue;
      const std::string& cell = table[i][k];
      const std::string padding(widths[k] - CountCharacters(cell), ' ');
      const std::string_view colour = i == 0 ? kBold : k == 0 ? ColourOf(*rows[i - 1]) : "";
      if (k > 0) line += "  ";
      if (IsRightAligned(k)) line += padding;
      line += Painted(colour, cell, report.colour);
      if (!IsRightAligned(k)) line += padding;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out << line << '\n';
  }
  if (rows.size() < comparison.rows.size()) {
    out << LeftOutText(rows.size(), comparison.rows.size(), ": --all shows them") << '\n';
  }
  out << '\n';
  for (const Line& line : LinesOf(comparison, options, report.all)) {
    out << Painted(line.colour, line.text, report.colour) << '\n';
  }
  const Advice advice = AdviceOf(comparison, options, report.run_folder);
  out << Painted(HeadlineColour(advice.exit_code), advice.headline, report.colour) << '\n';
  for (const std::string& step : advice.steps) out << "  " << step << '\n';
  if (HasFilterLine(advice, report)) out << "  measure again: " << FilterFlag(advice) << '\n';
}

// --- Markdown -----------------------------------------------------------------------------------

std::string MarkdownRow(const Cells& cells, bool fails) {
  std::string line = "|";
  for (std::size_t k = 0; k < kColumns; ++k) {
    const std::string cell = Shortened(cells[k]);
    std::string text = k == kNameColumn || k == 2 ? MarkdownCode(cell) : MarkdownText(cell);
    if (k == 0 && fails) text = "**" + text + "**";
    line += ' ' + text + " |";
  }
  return line + '\n';
}

void WriteMarkdown(const Comparison& comparison, const CompareOptions& options,
                   const ReportOptions& report, std::ostream& out) {
  constexpr std::size_t kRoomForCounts = 200;
  const std::size_t limit = report.markdown_limit - std::min(report.markdown_limit, kRoomForCounts);
  const Advice advice = AdviceOf(comparison, options, report.run_folder);
  std::string text = "### " + MarkdownText(advice.headline) + "\n\n" +
                     MarkdownText(SummaryText(comparison, options)) + ".\n";
  for (const std::string& step : advice.steps) text += "\n" + MarkdownText(step) + '\n';
  if (HasFilterLine(advice, report)) {
    text += "\nMeasure again:\n```\n" + FilterFlag(advice) + "\n```\n";
  }
  if (text.size() > limit) text = std::string(CutUtf8(text, limit)) + "…\n";

  // Context and warnings are short; still they get no more than a quarter.
  std::string details;
  std::size_t details_left_out = 0;
  for (const Line& line : LinesOf(comparison, options, report.all)) {
    const std::string item = "- " + MarkdownText(Shortened(line.text)) + '\n';
    if (details.size() + item.size() > limit / 4) {
      ++details_left_out;
    } else {
      details += item;
    }
  }
  if (details_left_out > 0) details += "- … and " + Plural(details_left_out, "more line") + '\n';
  details =
      "\n<details><summary>Context, warnings and means</summary>\n\n" + details + "\n</details>\n";

  const std::vector<const ComparisonRow*> rows = RowsOf(comparison, report.all);
  std::string table;
  std::size_t shown = 0;
  if (!rows.empty()) {
    table = "\n|";
    for (const std::string& name : Header()) table += ' ' + name + " |";
    table += "\n|";
    for (std::size_t k = 0; k < kColumns; ++k) table += IsRightAligned(k) ? "---:|" : "---|";
    table += '\n';
    for (const ComparisonRow* row : rows) {
      const std::string line = MarkdownRow(CellsOf(*row, comparison.is_advisory), row->fails);
      if (text.size() + table.size() + line.size() + details.size() > limit) break;
      table += line;
      ++shown;
    }
  }
  if (shown > 0) text += table;
  if (shown < comparison.rows.size()) {
    text += "\n" + LeftOutText(shown, comparison.rows.size(), "") +
            (shown < rows.size()
                 ? " (" + Plural(rows.size() - shown, "row") + " that should be here did not fit)"
                 : "") +
            ": `cnn_compare --all` shows them.\n";
  }
  if (text.size() + details.size() <= limit + kRoomForCounts) text += details;
  out << text;
}

// --- JSON ---------------------------------------------------------------------------------------

using Json = nlohmann::ordered_json;

// JSON has no other numbers. Infinite ends of an interval are null: there is none.
Json Finite(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json SamplesJson(const Samples& samples) {
  Json json = Json::array();
  for (const double value : samples) json.push_back(Finite(value));
  return json;
}

Json EffectJson(const Effect& effect) {
  const bool has_interval = effect.HasInterval();
  return {{"estimate", Finite(effect.estimate)},
          {"lower", has_interval ? Finite(effect.lower) : Json(nullptr)},
          {"upper", has_interval ? Finite(effect.upper) : Json(nullptr)}};
}

std::string_view RoleText(Role role) {
  constexpr std::array<std::string_view, 5> kTexts = {"benchmark", "time", "counter", "shown",
                                                      "derived"};
  return kTexts[static_cast<std::size_t>(role)];
}

Json RowJson(const ComparisonRow& row) {
  Json json = {{"benchmark", row.benchmark},
               {"metric", row.metric.empty() ? Json(nullptr) : Json(row.metric)},
               {"verdict", VerdictText(row.verdict)},
               {"is_unconfirmed", row.is_unconfirmed},
               {"role", RoleText(row.role)},
               {"direction", DirectionText(row.direction)},
               {"fails", row.fails},
               {"why", row.why},
               {"base", SamplesJson(row.base)},
               {"new", SamplesJson(row.contender)}};
  if (row.has_effect) {
    json["base_median"] = row.base_median;
    json["new_median"] = row.contender_median;
    json["base_best"] = row.base_best;
    json["new_best"] = row.contender_best;
    json["effect_is"] = row.is_ratio ? "ratio" : "difference";
    json["effect"] = EffectJson(row.effect);
    json["threshold"] = Finite(row.threshold);
  }
  if (row.is_tested) {
    json["p_worse"] = row.p_worse;
    json["p_better"] = row.p_better;
    json["p_worse_adjusted"] = row.p_worse_adjusted;
    json["p_better_adjusted"] = row.p_better_adjusted;
    json["q"] = row.q;
  }
  if (row.runs_needed > 0) json["runs_needed"] = row.runs_needed;
  return json;
}

Json SummaryJson(const ComparisonSummary& summary) {
  Json counts = Json::object();
  for (std::size_t i = 0; i < kVerdicts; ++i) {
    counts[std::string(VerdictText(static_cast<Verdict>(i)))] = summary.rows[i];
  }
  return {{"verdicts", counts},
          {"compared", summary.compared},
          {"tested_times", summary.tested_times},
          {"tested_counters", summary.tested_counters},
          {"tested", summary.tested},
          {"failures", summary.failures},
          {"uncorrected_false_alarms", summary.uncorrected_false_alarms},
          {"false_alarm_bound", summary.false_alarm_bound},
          {"asymmetry_p", summary.asymmetry_p},
          {"can_fire", summary.can_fire},
          {"runs_to_fire", summary.runs_to_fire}};
}

// Every row, whatever --all says: programs filter for themselves.
void WriteJson(const Comparison& comparison, const CompareOptions& options,
               const ReportOptions& report, std::ostream& out) {
  const Advice advice = AdviceOf(comparison, options, report.run_folder);
  Json json = {{"schema_version", 1},
               {"exit_code", advice.exit_code},
               {"headline", advice.headline},
               {"next", advice.steps},
               {"filter", advice.filter},
               {"alpha", options.alpha},
               {"threshold", ThresholdOf(comparison, options)},
               {"time_metric", comparison.time_metric},
               {"is_advisory", comparison.is_advisory},
               {"is_incomplete", comparison.is_incomplete},
               {"base_files", comparison.base_files},
               {"new_files", comparison.contender_files},
               {"summary", SummaryJson(comparison.summary)},
               {"warnings", comparison.warnings},
               {"context", Json::array()},
               {"geometric_means", Json::array()}};
  for (const ContextDifference& difference : comparison.context) {
    json["context"].push_back({{"key", difference.key},
                               {"severity", SeverityText(difference.severity)},
                               {"is_expected", difference.is_expected},
                               {"base", difference.base},
                               {"new", difference.contender}});
  }
  for (const GeometricMeanRow& mean : comparison.geometric_means) {
    json["geometric_means"].push_back({{"metric", mean.metric},
                                       {"direction", DirectionText(mean.direction)},
                                       {"pairs", mean.pairs},
                                       {"ratio", EffectJson(mean.ratio)},
                                       {"excluded", mean.excluded}});
  }
  // The rows one by one: a tree of 100,000 of them would take gigabytes.
  const auto dump = [](const Json& value, int indent) {
    return value.dump(indent, ' ', false, Json::error_handler_t::replace);
  };
  std::string head = dump(json, 2);
  head.erase(head.find_last_of('}'));
  head.erase(head.find_last_not_of("\n ") + 1);
  out << head << ",\n  \"rows\": [";
  for (const ComparisonRow& row : comparison.rows) {
    out << (&row == &comparison.rows.front() ? "\n    " : ",\n    ") << dump(RowJson(row), -1);
  }
  out << (comparison.rows.empty() ? "]\n}\n" : "\n  ]\n}\n");
}

// --- Advice -------------------------------------------------------------------------------------

struct Undecided {
  std::size_t rows = 0;
  std::size_t within_reach = 0;  // of them
  std::size_t runs = 0;          // a side that would decide those
};

Undecided UndecidedOf(const Comparison& comparison) {
  Undecided undecided;
  for (const ComparisonRow& row : comparison.rows) {
    if (!IsUndecided(row)) continue;
    ++undecided.rows;
    if (row.runs_needed == 0 || row.runs_needed >= kManyRuns) continue;
    ++undecided.within_reach;
    undecided.runs = std::max(undecided.runs, row.runs_needed);
  }
  return undecided;
}

// Of one file a side: the number of rows stays, and with it the number of tests.
std::string MoreFilesText(const Comparison& comparison, const Undecided& undecided,
                          const CompareOptions& options) {
  constexpr std::size_t kFewest = 5;
  const std::size_t tests = std::max<std::size_t>(1, comparison.summary.tested_times);
  return Plural(undecided.rows, "row") + " undecided: compare " +
         RunsText(std::max(kFewest, RunsToReject(options.alpha, tests))) +
         " or more files a side, each of its own process";
}

void AdviseMoreRuns(const Comparison& comparison, const Undecided& undecided,
                    const CompareOptions& options, Advice& advice) {
  if (undecided.rows == 0) return;
  if (comparison.is_advisory) {
    return advice.steps.push_back(MoreFilesText(comparison, undecided, options));
  }
  if (!comparison.summary.can_fire) return;  // said already
  const std::size_t runs = std::min(comparison.base_files, comparison.contender_files);
  if (undecided.within_reach == 0) {
    advice.steps.push_back(Plural(undecided.rows, "row") +
                           " undecided, and no sensible number of runs decides: quieten the "
                           "machine, or take a larger --threshold");
    return;
  }
  const std::size_t more = undecided.runs - std::min(undecided.runs, runs);
  advice.steps.push_back(
      Plural(undecided.rows, "row") + " undecided: about " + Plural(more, "more file") +
      " a side (" + RunsText(undecided.runs) + " in all) would decide " +
      (undecided.within_reach == undecided.rows
           ? "all of them"
           : FormatInteger(static_cast<std::int64_t>(undecided.within_reach)) + " of them"));
}

void AdviseToConfirm(const Comparison& comparison, const Undecided& undecided,
                     const std::string& run_folder, Advice& advice) {
  const std::string command = "cnn_compare confirm " + ShellWord(run_folder);
  if (comparison.summary.failures > 0) {
    advice.steps.push_back("measure again what failed, in fresh processes: " + command);
  } else if (undecided.rows > 0 && !comparison.is_advisory) {
    advice.steps.push_back("measure again what is undecided: " + command + " --undecided");
  }
}

std::string WhyNothing(const Comparison& comparison, const CompareOptions& options) {
  if (comparison.summary.compared > 0 && comparison.summary.compared >= options.require) {
    return "too few runs to find any change";
  }
  if (comparison.summary.compared > 0) {
    return "fewer benchmarks were compared than --require=" +
           FormatInteger(static_cast<std::int64_t>(options.require));
  }
  if (comparison.rows.empty()) {
    return "no file has a benchmark, or none that the filter selects";
  }
  return "no benchmark was measured on both sides (" + CountsText(comparison) + ")";
}

std::string OtherContext(const Comparison& comparison) {
  std::string keys;
  for (const ContextDifference& difference : comparison.context) {
    if (difference.is_expected) continue;
    keys += (keys.empty() ? "" : ", ") + VisibleText(difference.key);
  }
  return keys;
}

// What has exit code 3.
void AdviseOnIncomplete(const Comparison& comparison, Advice& advice) {
  if (!comparison.is_incomplete) {
    advice.headline = "OTHER CONTEXT: " + OtherContext(comparison);
    advice.steps.emplace_back("measure both sides alike, or leave out --strict-context");
  } else if (!comparison.why_incomplete.empty()) {
    advice.headline = "INCOMPLETE: " + comparison.why_incomplete;
  } else {
    advice.headline = "INCOMPLETE: a file broke off; what is missing was not compared";
    advice.steps.emplace_back("run the program again and compare the whole file");
  }
}

}  // namespace

Advice AdviceOf(const Comparison& comparison, const CompareOptions& options,
                const std::string& run_folder) {
  Advice advice;
  advice.exit_code = ExitCode(comparison, options);
  advice.filter = FilterOf(comparison);
  const auto worse = static_cast<std::size_t>(std::count_if(
      comparison.rows.begin(), comparison.rows.end(),
      [](const ComparisonRow& row) { return IsGate(row) && row.verdict == Verdict::kWorse; }));
  const auto unconfirmed = static_cast<std::size_t>(
      std::count_if(comparison.rows.begin(), comparison.rows.end(),
                    [](const ComparisonRow& row) { return row.is_unconfirmed; }));
  const Undecided undecided = UndecidedOf(comparison);
  if (advice.exit_code == 1) {
    advice.headline = "REGRESSION: " + Plural(comparison.summary.failures, "row") + " failed";
  } else if (advice.exit_code == 3) {
    AdviseOnIncomplete(comparison, advice);
  } else if (advice.exit_code == 4) {
    advice.headline = "NOTHING TOLD: " + WhyNothing(comparison, options);
  } else if (worse > 0) {
    advice.headline = "ADVISORY: " + Plural(worse, "row") + (worse == 1 ? " looks" : " look") +
                      " worse, but one file a side proves nothing";
    advice.steps.emplace_back(
        "compare 5 or more files a side, or let one file a side decide with --gate-single");
  } else if (undecided.rows > 0) {
    advice.headline = "UNDECIDED: nothing got worse for certain, " + Plural(undecided.rows, "row") +
                      " inconclusive";
  } else {
    advice.headline = "OK: nothing got worse";
  }
  if (unconfirmed > 0) advice.headline += ", " + Plural(unconfirmed, "row") + " not confirmed";
  if (!comparison.summary.can_fire && !comparison.is_advisory) {
    const std::string runs = RunsText(comparison.summary.runs_to_fire);
    advice.steps.push_back("take " +
                           (run_folder.empty() ? runs + " files a side" : "--rounds=" + runs) +
                           ", or compare fewer benchmarks: each is a test");
  }
  AdviseMoreRuns(comparison, undecided, options, advice);
  if (!run_folder.empty()) AdviseToConfirm(comparison, undecided, run_folder, advice);
  return advice;
}

void WriteReport(const Comparison& comparison, const CompareOptions& options, ReportFormat format,
                 const ReportOptions& report, std::ostream& out) {
  switch (format) {
    case ReportFormat::kTable:
      return WriteTable(comparison, options, report, out);
    case ReportFormat::kMarkdown:
      return WriteMarkdown(comparison, options, report, out);
    case ReportFormat::kJson:
      return WriteJson(comparison, options, report, out);
  }
}

}  // namespace cnn
