// Result files of Google Benchmark, from 1.5 to 1.9 and of any program, as one flat structure. The
// library writes what strict JSON parsers refuse (NaN, raw control bytes, invalid UTF-8, duplicate
// keys, numbers of a comma locale), and programs mix log lines into it or die before its end; the
// reader accepts what has one meaning, warns of it, and refuses the rest with byte, line and
// column.
//
// Linear in the size of the file, in time and memory. Numbers go through from_chars: no locale.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace cnn {

enum class RowKind {
  kIteration,  // one measurement, possibly one of several repetitions
  kAggregate,  // mean, median, stddev, cv, ... of the repetitions
  kBigO,       // fitted complexity
  kRms         // error of that fit
};

enum class RowState {
  kMeasured,
  kError,   // SkipWithError: its times are not times, and left out
  kSkipped  // SkipWithMessage (1.8 and newer): likewise
};

/// Times are in seconds, whatever the row's unit. May be NaN or infinite.
struct Metric {
  std::string name;  // "real_time", "cpu_time", or a counter's; of a fit "real_coefficient",
                     // "cpu_coefficient" (seconds) and "rms"
  double value = 0;
};

struct ResultRow {
  std::string name;      // as written; an aggregate's ends in _mean, ...
  std::string run_name;  // the benchmark's; what rows are paired by
  RowKind kind = RowKind::kIteration;
  RowState state = RowState::kMeasured;
  std::string message;         // of an error or skip
  std::string aggregate_name;  // "mean"
  bool is_percentage = false;  // an aggregate that is a share: its "times" are fractions
  std::string label;
  std::string big_o;      // "N^2"
  std::string time_unit;  // as written: ns, us, ms, s; empty where the row has none
  std::int64_t family_index = -1;
  std::int64_t per_family_instance_index = -1;
  std::int64_t repetitions = 0;  // asked for
  std::int64_t repetition_index = -1;
  std::int64_t threads = 1;
  double iterations = 0;  // of an aggregate: the number of repetitions
  std::vector<Metric>
      metrics;  // in the order of the file; counters named like a field come after it
};

/// Nested values (caches, load_avg) as their JSON text.
struct ContextEntry {
  std::string key;
  std::string value;
};

struct ResultFile {
  std::string path;
  std::vector<ContextEntry> context;  // in the file's order, the first of duplicate keys
  std::vector<ResultRow> rows;
  bool is_incomplete = false;         // salvaged: rows that are missing were perhaps never run
  std::vector<std::string> warnings;  // each with the place in the file

  /// The value of a key, or "" when it is absent.
  std::string_view ContextValue(std::string_view key) const;
};

struct ReadOptions {
  bool lenient = false;  // skip text before and after the JSON
  bool salvage = false;  // of a file that breaks off, take the complete rows
};

/// A file that cannot be used: "path:line:column: what is wrong (byte N)" and the way out. The
/// first byte is 0; a column counts bytes, from 1.
struct ReadError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Throws ReadError; also for an empty file, a list of benchmarks without results, CSV, and a
/// schema version other than 1. A file without rows is read: whoever compares decides.
ResultFile ReadResultFile(const std::string& path, const ReadOptions& options = {});

/// The same from memory; `path` is for messages.
ResultFile ParseResultFile(std::string_view text, const std::string& path,
                           const ReadOptions& options = {});

}  // namespace cnn
