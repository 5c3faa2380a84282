// Results for other people's programs: dashboards, databases, CI and spreadsheets.
//
// A dashboard wants one value per benchmark and metric. So the formats marked "pooled" give the
// median of a benchmark's repetitions, with the smallest and largest where there is room for them;
// of a file with aggregates only, its median (else mean), give or take the standard deviation. The
// formats marked "rows" give every row. Errors and skips are never numbers: where a format has no
// place for them, they are left out.
//
//   format       one record is                      files
//   ndjson       pooled, one metric                 each its own rows
//   json         the same objects in an array       the same
//   csv          rows                               each its own rows
//   bmf          pooled, all metrics                pooled to one value
//   gha-smaller  pooled, one metric where less is better; bmf's rule for files
//   gha-bigger   the same where more is better
//   influx       pooled, all metrics                pooled where host and second are the same
//   openmetrics  pooled, one metric                 bmf's rule, with timestamps influx's
//   gobench      rows                               each its own rows
//   junit        pooled, a test case                each a test suite
//   markdown     pooled, a table row                bmf's rule
//
// Files are pooled as repeated processes of one program. Of a benchmark whose files differ in
// anything else that decides a number (host, commit, build, libraries, allocator, …) the median
// would mean nothing: that is an error.
//
// All text is written piece by piece. Numbers have no locale and are the shortest that read back as
// the same double.
#pragma once

#include <cstddef>
#include <functional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "tools/direction.h"
#include "tools/result_file.h"

namespace cnn {

enum class ExportFormat {
  kNdjson,
  kJson,
  kCsv,
  kBmf,
  kGhaSmaller,
  kGhaBigger,
  kInflux,
  kOpenMetrics,
  kGoBench,
  kJUnit,
  kMarkdown
};

struct ExportOptions {
  // csv: an apostrophe before a text that a spreadsheet would take for a formula.
  bool csv_formula_guard = false;
  // openmetrics: with the time of each file, as promtool wants it to fill in history. Node
  // exporter's textfile collector refuses them.
  bool openmetrics_timestamps = false;
  // markdown: bytes. A comment on GitHub holds 65,536 characters.
  std::size_t markdown_limit = 65000;
  // Of a metric, by its name.
  std::function<Direction(std::string_view)> direction = DefaultDirection;
};

/// Throws std::invalid_argument with the names that there are.
ExportFormat ParseExportFormat(std::string_view name);

/// "ndjson, json, …", for help.
std::string ExportFormatNames();

/// Throws std::runtime_error when files cannot be pooled; nothing is written then. Whether `out`
/// took it all is for its owner to check, see WriteOutput.
void Export(const std::vector<ResultFile>& files, ExportFormat format, const ExportOptions& options,
            std::ostream& out);

}  // namespace cnn
