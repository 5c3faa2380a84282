// Result files made by hand for the tests of the exports.
#pragma once

#include <cmath>
#include <limits>
#include <locale>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "tools/export.h"

namespace cnn {

inline ResultRow Row(const std::string& name, std::vector<Metric> metrics) {
  ResultRow row;
  row.name = name;
  row.run_name = name;
  row.time_unit = "us";
  row.iterations = 10;
  row.metrics = std::move(metrics);
  return row;
}

inline ResultRow TimedRow(const std::string& name, double seconds) {
  return Row(name, {{"real_time", seconds}, {"cpu_time", 2 * seconds}});
}

inline ResultRow FailedRow(const std::string& name, const std::string& message) {
  ResultRow row = TimedRow(name, 0);
  row.state = RowState::kError;
  row.message = message;
  return row;
}

inline ResultRow SkippedRow(const std::string& name, const std::string& message) {
  ResultRow row = FailedRow(name, message);
  row.state = RowState::kSkipped;
  return row;
}

inline ResultRow AggregateRow(const std::string& name, const std::string& aggregate,
                              double seconds) {
  ResultRow row = TimedRow(name, seconds);
  row.kind = RowKind::kAggregate;
  row.name += "_" + aggregate;
  row.aggregate_name = aggregate;
  row.is_percentage = aggregate == "cv";
  row.iterations = 5;
  return row;
}

inline ResultFile File(std::vector<ResultRow> rows, const std::string& path = "run.json") {
  ResultFile file;
  file.path = path;
  file.context = {{"date", "2026-12-01T18:36:31+00:00"},
                  {"host_name", "vm"},
                  {"executable", "./build/cnn_benchmarks"},
                  {"git_commit", "abc123"},
                  {"build_type", "Release"},
                  {"suite_schema_version", "1"},
                  {"device_cpu", "Intel(R) Xeon(R), 2 cores"}};
  file.rows = std::move(rows);
  return file;
}

/// `file` with another value of a key.
inline ResultFile With(ResultFile file, const std::string& key, const std::string& value) {
  for (ContextEntry& entry : file.context) {
    if (entry.key == key) entry.value = value;
  }
  return file;
}

inline const std::vector<std::string>& HostileNames() {
  static const std::vector<std::string> names = {
      "BM_x<float, 3>/8/device:cpu",
      "quote\"s and 'apostrophes'/a:b",
      "a<b>&c]]>\xEF\xBF\xBE/x",
      "line\nfeed\rand\ttab/key:va\nlue",
      "\x1b[31mred\x1b[0m/8",
      "bad\xff\xc3(utf\xed\xa0\x80/batch:\xfe",
      "bad\xfe\xc3(utf\xed\xa0\x80/batch:\xfe",
      "a=b,c=d e=f/device:x=y,z w",
      "pipe|pipe\\|`code` ``more``",
      "back\\slash\\",
      "=1+1",
      "+1",
      "-1",
      "@sum",
      " edge spaces ",
      "# EOF",
      "__proto__/le:1/host:h/time:3/benchmark:x/le:2",
      std::string("\xC2\x9B") + "31m C1, \xE2\x80\x83 wide space",
      "name-3",
      "percent%20 100%",
      "//empty///parts:/",
      "emoji \xF0\x9F\x98\x80 [link](http://x) @user #1 *bold*",
      std::string("nul\0byte", 8),
      "",
      std::string(3000, 'x') + "1",
      std::string(3000, 'x') + "2",
  };
  return names;
}

/// Hostile names, counters and messages; NaN and infinities; errors, skips, aggregates and fits.
inline ResultFile HostileFile() {
  const double nan = std::nan("");
  const double infinity = std::numeric_limits<double>::infinity();
  std::vector<ResultRow> rows;
  for (const std::string& name : HostileNames()) rows.push_back(TimedRow(name, 0.001));
  rows.push_back(Row("Counters", {{"real_time", 1e-9},
                                  {"cpu_time", nan},
                                  {"real_time", 123},
                                  {"name", 7},
                                  {"a b", 1},
                                  {"a_b", 2},
                                  {"=cmd|' /C calc'!A0", 3},
                                  {"\x1b\xff\n", 4},
                                  {"", 5},
                                  {"back\\", 6},
                                  {"quo\"ted", 6},
                                  {"run_info", 1},
                                  {"time", 1},
                                  {"_field", 2},
                                  {"family", 3},
                                  {"label", 4},
                                  {"repetitions", 5},
                                  {"ns/op", 6},
                                  {"device", 7},
                                  {"forward_ms", 2.5},
                                  {"forward_seconds", 1},
                                  {"peak_memory_mb", 300},
                                  {"items_per_second", infinity},
                                  {"loss", -infinity},
                                  {"accuracy", 1e300}}));
  rows.push_back(Row("AllWild", {{"real_time", nan}, {"cpu_time", infinity}}));
  rows.push_back(FailedRow("Failed/device:cuda", "no \"GPU\" <here>,\n\x1b[0m= | `x` \xff"));
  rows.push_back(SkippedRow("Skipped", "not, today"));
  for (const char* aggregate : {"mean", "median", "stddev", "cv"}) {
    rows.push_back(AggregateRow("Aggregates", aggregate, aggregate[1] == 'e' ? 0.5 : 0.01));
  }
  ResultRow fit = Row("Fit", {{"cpu_coefficient", 2}, {"real_coefficient", 3}});
  fit.kind = RowKind::kBigO;
  fit.big_o = "N^2";
  rows.push_back(fit);
  rows.back().label = "l";
  rows[0].label = "label, \"quoted\" \x1b[0m|<b>";
  return File(std::move(rows), "dir with space/run,\"1\"\n.json");
}

inline std::string Exported(const std::vector<ResultFile>& files, const std::string& format,
                            const ExportOptions& options = {}) {
  // A program that links this may have set any locale; numbers must not notice.
  struct CommaLocale : std::numpunct<char> {
    char do_decimal_point() const override { return ','; }
    char do_thousands_sep() const override { return '.'; }
    std::string do_grouping() const override { return "\1"; }
  };
  std::ostringstream out;
  out.imbue(std::locale(std::locale::classic(), new CommaLocale));
  Export(files, ParseExportFormat(format), options, out);
  return out.str();
}

}  // namespace cnn
