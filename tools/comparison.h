// Judges new results against base results.
//
// The file is the replicate: one process, one value per benchmark and metric. Repetitions inside a
// process share its memory layout, its clock and its neighbours; tests that take them for
// independent raise six times the false alarms they promise. With one file a side there is nothing
// else to test, and the verdicts are advisory.
//
// A benchmark is worse when three things agree: the exact one-sided rank test, corrected by Holm
// for all that is tested; the low end of the samples, which noise hardly moves, by more than the
// threshold; and the effect, the Hodges-Lehmann ratio, by more than the threshold. It is the same
// when the interval of the effect lies inside ± threshold. All else is inconclusive and comes with
// the number of runs that would decide.
//
// Holm's correction is made twice, over all times and over all counters that gate: a counter that
// wobbles (peak memory) must not cost the times their power, and with few runs it would cost all of
// it. The chance of a false alarm is thus at most alpha for times and alpha for counters. What all
// runs agree on is not tested. Shown metrics are tested for the report only, with Benjamini and
// Hochberg's correction. Time and memory are linear in the rows
// (n log n in the rows of one benchmark).
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/benchmark_table.h"
#include "tools/comparison_context.h"
#include "tools/direction.h"
#include "tools/result_file.h"
#include "tools/statistics.h"

namespace cnn {

/// From worst to best, as rows are sorted. Those that are about a benchmark as a whole: kBroke,
/// kStillBroken, kRemoved, kNotRun, kSkipped, kAdded, kFixed (their row has no metric, unless a
/// single metric was added or removed).
enum class Verdict {
  kBroke,  // fails in new files and in no base file
  kWorse,
  kStillBroken,
  kInconclusive,
  kNotComparable,  // the values mean different things: ComparisonRow::why
  kChanged,        // direction unknown or exact
  kRemoved,
  kSkipped,
  kNotRun,  // absent from a file that is incomplete, or not selected by a filter
  kAdded,
  kSame,
  kFixed,
  kBetter
};
constexpr std::size_t kVerdicts = 13;

enum class Summary { kDefault, kMinimum, kQ10, kMedian };  // default: times minimum, else median
enum class TimeMetric { kAuto, kReal, kCpu };

enum class Role {
  kBenchmark,  // the row is about the benchmark as a whole
  kTime,       // gates
  kCounter,    // gates
  kShown,      // tested for the report: other times, parts of a time, unknown directions
  kDerived     // a function of one of the times (its reciprocal, mostly): takes that one's verdict
};

/// The noise of a machine, learned from runs of one program: DeltaIQR as rustc-perf's thresholds.
struct Calibration {
  struct Band {
    std::string benchmark;
    std::string metric;
    double threshold = 0;  // relative: 0.03 is 3 %
  };
  std::vector<ContextEntry> machine;  // MachineIdentity of the files
  std::size_t files = 0;
  std::vector<Band> bands;
};

struct CompareOptions {
  // Of all times, and again of all counters; intervals have confidence 1 - alpha. Smaller values
  // need more runs: 5 files a side can reject up to 12 tests at 5 %, and 2 at 1 %; 6 up to 46, 7 up
  // to 171.
  double alpha = 0.05;
  double threshold = 0.02;              // relative change that matters
  double single_threshold = 0.10;       // the same with one file a side, unless it is calibrated
  double least_calibrated = 0;          // thresholds of a calibration are raised to it
  double time_floor = 5e-9;             // seconds: no smaller change of a time matters
  Summary summary = Summary::kDefault;  // of a file's repetitions; what is unknown: median
  TimeMetric time_metric = TimeMetric::kAuto;
  std::vector<std::pair<std::string, Direction>> directions;  // metric, before the default
  // These alone gate, where their direction is known. Empty: of a benchmark the time metric, and
  // counters that are neither parts nor functions of a time.
  std::vector<std::string> gate_metrics;
  PairingOptions pairing;
  std::optional<Calibration> calibration;

  bool gate_single = false;          // one file a side gates too
  bool allow_mixed_context = false;  // files of one side from several machines or builds

  bool fail_on_removed = false;
  bool fail_on_skipped = false;
  bool fail_on_changed = false;  // exact metrics
  bool strict_context = false;   // any difference but in what is compared: exit code 3
  std::size_t require = 0;       // fewer benchmarks compared: exit code 4
};

struct ComparisonRow {
  // Run name without ignored keys; " #2" for the second of a name, "_BigO" for a complexity.
  std::string benchmark;
  std::string metric;  // empty: about the benchmark
  Verdict verdict = Verdict::kInconclusive;
  Role role = Role::kBenchmark;
  Direction direction = Direction::kUnknown;
  bool fails = false;               // makes exit code 1
  std::string why;                  // reason, message or note; may be empty
  bool is_unconfirmed = false;      // failed, and not when it was measured again: confirmation.h
  std::size_t benchmark_index = 0;  // in order of first appearance, base before new

  // One value per file in the order of the files that have it (one file a side: its repetitions).
  // Times in seconds, all else in its own unit. May hold values that are not finite: has_effect is
  // false then.
  Samples base;
  Samples contender;

  bool has_effect = false;  // the following are set and finite (but for an interval: HasInterval)
  double base_median = 0;
  double contender_median = 0;
  double base_best = 0;  // lowest, of kHigher highest, of kUnknown median
  double contender_best = 0;
  bool is_ratio = true;  // else there are values that are not above zero: effect is a difference
  Effect effect;         // contender / base, or contender - base
  double threshold = 0;  // relative of a ratio (the floor is in it), else in the metric's unit

  bool is_tested = false;  // the following are set
  double p_worse = 1;      // one-sided; of kUnknown: larger
  double p_better = 1;
  double p_worse_adjusted = 1;  // Holm in its family; of kShown: Benjamini-Hochberg of two-sided p
  double p_better_adjusted = 1;
  double q = 1;                 // Benjamini-Hochberg over every row tested, two-sided
  std::size_t runs_needed = 0;  // of kInconclusive: estimate a side, kManyRuns "or more"
};

struct GeometricMeanRow {
  std::string metric;
  Direction direction = Direction::kUnknown;
  std::size_t pairs = 0;
  Effect ratio;                       // contender / base
  std::vector<std::string> excluded;  // "benchmark (why)"
};

struct ComparisonSummary {
  std::array<std::size_t, kVerdicts> rows{};  // by verdict: rows that gate and kBenchmark
  std::size_t compared = 0;                   // benchmarks with a metric that gates on both sides
  std::size_t tested_times = 0;               // M of Holm's two corrections
  std::size_t tested_counters = 0;
  std::size_t tested = 0;               // those, and what is shown
  double uncorrected_false_alarms = 0;  // alpha M: what tests without correction would raise
  double false_alarm_bound = 0;         // chance of one or more: alpha for each of the two
  double asymmetry_p = 1;        // sign test of worse against better: small for a broken test
  bool can_fire = true;          // enough runs for Holm to reject a time (a counter, without times)
  std::size_t runs_to_fire = 0;  // a side, else
  std::size_t failures = 0;
};

struct Comparison {
  std::vector<ComparisonRow> rows;  // worst first, the larger change first
  std::vector<ContextDifference> context;
  std::vector<GeometricMeanRow> geometric_means;
  std::vector<std::string> warnings;
  ComparisonSummary summary;
  std::string time_metric;  // that gates: "real_time", "cpu_time", or "real_time, cpu_time" by case
  bool is_advisory = false;    // one file a side: repetitions are not independent
  bool is_incomplete = false;  // a file was salvaged, or the run was interrupted
  std::string why_incomplete;  // empty: a file was salvaged
  std::size_t base_files = 0;
  std::size_t contender_files = 0;
};

/// Throws CompareError, and std::invalid_argument for a side without files and for options out of
/// range. Rows of `base` and `contender` are not kept.
Comparison Compare(const std::vector<ResultFile>& base, const std::vector<ResultFile>& contender,
                   const CompareOptions& options = {});

/// Sorts the rows and counts their verdicts anew: for whoever changed some.
void SortAndCount(Comparison& comparison);

/// 1 when a row fails (also with incomplete files: what got worse got worse); else 3 for an
/// incomplete file or, when strict, another context; else 4 when nothing, or less than required,
/// was compared, or when there are several files a side and still too few to find any change; else
/// 0.
int ExitCode(const Comparison& comparison, const CompareOptions& options);

/// May it fail?
bool IsGate(const ComparisonRow& row);

/// "slower" and "faster" of times, "worse" and "better" of the rest, "broke", "not comparable", ...
std::string_view VerdictText(const ComparisonRow& row);
std::string_view VerdictText(Verdict verdict);

/// host_name, num_cpus, caches and the device_… entries.
std::vector<ContextEntry> MachineIdentity(const ResultFile& file);

}  // namespace cnn
