#include "tools/comparison.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include "tools/exit_codes.h"
#include "tools/export_text.h"
#include "tools/readable.h"

namespace cnn {
namespace {

constexpr std::string_view kRealTime = "real_time";
constexpr std::string_view kCpuTime = "cpu_time";
constexpr const char* kComplexity = "complexity";

// Looked up once a name: there are few names and many rows.
struct NameTraits {
  Direction direction = Direction::kUnknown;
  bool is_part_of_time = false;
  bool is_rate = false;
  double floor = 0;
};

double SummaryOf(const Samples& values, const ComparisonRow& row, const CompareOptions& options) {
  for (const double value : values) {
    if (!std::isfinite(value)) return value;
  }
  const Direction direction = row.direction;
  Summary summary = options.summary;
  if (summary == Summary::kDefault) {
    // Clocks and transfers of a GPU make some runs faster than the work is: its minimum is noise.
    const bool is_on_gpu = row.benchmark.find("/device:cuda") != std::string::npos;
    summary = IsTime(row.metric) && !is_on_gpu ? Summary::kMinimum : Summary::kMedian;
  }
  const double share = summary == Summary::kMinimum ? 0 : summary == Summary::kQ10 ? 0.1 : 0.5;
  if (direction == Direction::kLower) return Quantile(values, share);
  if (direction == Direction::kHigher) return Quantile(values, 1 - share);
  return Median(values);
}

std::size_t CountFinite(const Samples& values) {
  return static_cast<std::size_t>(
      std::count_if(values.begin(), values.end(), [](double x) { return std::isfinite(x); }));
}

bool AreFinite(const Samples& values) { return CountFinite(values) == values.size(); }

// --- Effects and verdicts -----------------------------------------------------------------------

bool HasDirection(Direction direction) {
  return direction == Direction::kLower || direction == Direction::kHigher;
}

double BestOf(const Samples& samples, Direction direction) {
  if (direction == Direction::kLower) return Minimum(samples);
  if (direction == Direction::kHigher) return Quantile(samples, 1);
  return Median(samples);
}

// On a scale where 0 is no change and above is worse (of an unknown direction: larger).
struct Change {
  double low_end = 0;
  double effect = 0;
  double lower = 0;
  double upper = 0;
  double limit = 0;
};

Change ChangeOf(const ComparisonRow& row) {
  Change change;
  if (row.is_ratio) {
    change = {std::log(row.contender_best / row.base_best), std::log(row.effect.estimate),
              std::log(row.effect.lower), std::log(row.effect.upper), std::log1p(row.threshold)};
  } else {
    change = {row.contender_best - row.base_best, row.effect.estimate, row.effect.lower,
              row.effect.upper, row.threshold};
  }
  if (row.direction == Direction::kHigher) {
    change = {-change.low_end, -change.effect, -change.upper, -change.lower, change.limit};
  }
  return change;
}

bool IsInside(const ComparisonRow& row, const Change& change) {
  return row.effect.HasInterval() && change.lower >= -change.limit && change.upper <= change.limit;
}

void FillEffect(ComparisonRow& row, double relative_threshold, double floor, double confidence,
                RankDistributions& distributions) {
  row.has_effect = true;
  row.base_median = Median(row.base);
  row.contender_median = Median(row.contender);
  row.base_best = BestOf(row.base, row.direction);
  row.contender_best = BestOf(row.contender, row.direction);
  row.is_ratio = Minimum(row.base) > 0 && Minimum(row.contender) > 0;
  if (row.is_ratio) {
    row.effect = HodgesLehmannRatio(row.base, row.contender, confidence, distributions);
    row.threshold = std::max(relative_threshold, floor / row.base_median);
  } else {
    row.effect = HodgesLehmannShift(row.base, row.contender, confidence, distributions);
    row.threshold = std::max(relative_threshold * std::fabs(row.base_median), floor);
  }
}

bool AllEqual(const ComparisonRow& row) {
  const auto is_first = [&](double x) { return x == row.base.front(); };
  return std::all_of(row.base.begin(), row.base.end(), is_first) &&
         std::all_of(row.contender.begin(), row.contender.end(), is_first);
}

bool VariesWithin(const Samples& samples) { return Minimum(samples) < Quantile(samples, 1); }

void JudgeExact(ComparisonRow& row) {
  if (VariesWithin(row.base) || VariesWithin(row.contender)) {
    row.why = "said to be exact, but varies between runs of one side";
  } else {
    row.verdict = Verdict::kChanged;
  }
}

void JudgeNonFinite(ComparisonRow& row) {
  const std::size_t base = CountFinite(row.base);
  const std::size_t contender = CountFinite(row.contender);
  if (base == 0 && contender == 0) {
    row.verdict = Verdict::kSame;
    row.why = "not finite on either side";
  } else if (base == 0 || contender == row.contender.size()) {
    row.verdict = row.direction == Direction::kUnknown ? Verdict::kChanged : Verdict::kBetter;
    row.why = "became finite";
  } else if (contender == 0 || base == row.base.size()) {
    row.verdict = row.direction == Direction::kUnknown ? Verdict::kChanged : Verdict::kWorse;
    row.why = "became non-finite";
  } else {
    row.why = "not finite in some runs of either side";
  }
}

std::size_t RunsNeeded(const ComparisonRow& row, const Change& change, double superiority,
                       std::size_t tests, double alpha) {
  const std::size_t runs = std::min(row.base.size(), row.contender.size());
  const std::size_t to_reject = RunsToReject(alpha, tests);
  std::size_t needed = 0;
  if (std::fabs(change.effect) <= change.limit) {
    const Effect scaled = {change.effect, change.lower, change.upper, row.effect.method};
    needed = RunsForInterval(scaled, change.limit, runs, 1 - alpha);
  } else {
    needed = RunsToDetect(superiority, alpha / static_cast<double>(tests));
  }
  return std::min(kManyRuns, std::max({needed, to_reject, runs + 1}));
}

double TwoSidedP(const ComparisonRow& row) {
  return std::min(1.0, 2 * std::min(row.p_worse, row.p_better));
}

void Decide(ComparisonRow& row, double superiority, std::size_t tests, double alpha) {
  const Change change = ChangeOf(row);
  const bool is_unknown = row.direction == Direction::kUnknown;
  if (row.p_worse_adjusted <= alpha && std::min(change.low_end, change.effect) > change.limit) {
    row.verdict = is_unknown ? Verdict::kChanged : Verdict::kWorse;
  } else if (row.p_better_adjusted <= alpha &&
             std::max(change.low_end, change.effect) < -change.limit) {
    row.verdict = is_unknown ? Verdict::kChanged : Verdict::kBetter;
  } else if (IsInside(row, change)) {
    row.verdict = Verdict::kSame;
  } else {
    row.verdict = Verdict::kInconclusive;
    row.runs_needed = RunsNeeded(row, change, superiority, tests, alpha);
  }
}

// --- The comparison -----------------------------------------------------------------------------

enum class State { kAbsent, kMeasured, kError, kSkipped };

State StateOf(const std::vector<FileRows>& files) {
  State state = State::kAbsent;
  for (const FileRows& file : files) {
    if (file.errors > 0) return State::kError;
    if (file.IsMeasured()) {
      state = State::kMeasured;
    } else if (file.skips > 0 && state == State::kAbsent) {
      state = State::kSkipped;
    }
  }
  return state;
}

bool IsMeasured(const std::vector<FileRows>& files) {
  return std::any_of(files.begin(), files.end(), [](const FileRows& f) { return f.IsMeasured(); });
}

std::string FirstMessage(const std::vector<FileRows>& files, std::size_t FileRows::*count) {
  for (const FileRows& file : files) {
    if (file.*count > 0) return std::string(file.message);
  }
  return {};
}

// "2 of 6 files".
std::string ShareText(std::size_t part, std::size_t files) {
  return std::to_string(part) + " of " + std::to_string(files) + " files";
}

std::size_t FilesWith(const std::vector<FileRows>& files, std::size_t FileRows::*count) {
  return static_cast<std::size_t>(std::count_if(
      files.begin(), files.end(), [&](const FileRows& file) { return file.*count > 0; }));
}

// How rows of complexity are ordered; -1 for what is none of the library's own.
int ComplexityRank(std::string_view big_o) {
  constexpr std::array<std::string_view, 6> kOrder = {"(1)", "lgN", "N", "NlgN", "N^2", "N^3"};
  const auto* const found = std::find(kOrder.begin(), kOrder.end(), big_o);
  return found == kOrder.end() ? -1 : static_cast<int>(found - kOrder.begin());
}

bool IsComplexity(const Benchmark& benchmark) {
  const ResultRow* row = FirstRow(benchmark.sides[kBase]);
  return row != nullptr && row->kind == RowKind::kBigO;
}

// Values are in seconds whatever the unit; a reader of the files should know why they look so
// different.
std::string UnitChange(const Benchmark& benchmark) {
  const ResultRow* base = FirstRow(benchmark.sides[kBase]);
  const ResultRow* contender = FirstRow(benchmark.sides[kContender]);
  if (base == nullptr || contender == nullptr || base->time_unit == contender->time_unit) return {};
  return "unit changed from " + base->time_unit + " to " + contender->time_unit;
}

// Sums of log times over all benchmarks and files by the position in the order of repetitions.
struct RepetitionDrift {
  Samples sums;

  void Add(const FileRows& file, std::string_view metric) {
    constexpr std::size_t kFewest = 5;
    if (file.rows.size() < kFewest) return;
    if (sums.empty()) sums.resize(file.rows.size());
    if (sums.size() != file.rows.size()) return;
    std::vector<std::pair<std::int64_t, double>> logs;  // by repetition: they may be interleaved
    for (const ResultRow* row : file.rows) {
      for (const Metric& value : row->metrics) {
        if (value.name != metric) continue;
        if (!(value.value > 0) || !std::isfinite(value.value)) return;
        logs.emplace_back(row->repetition_index, std::log(value.value));
        break;
      }
    }
    if (logs.size() != sums.size()) return;
    std::stable_sort(logs.begin(), logs.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    for (std::size_t i = 0; i < logs.size(); ++i) sums[i] += logs[i].second;
  }
};

void CountVerdicts(const std::vector<ComparisonRow>& rows, ComparisonSummary& summary) {
  summary.rows = {};
  summary.failures = 0;
  for (const ComparisonRow& row : rows) {
    if (row.fails) ++summary.failures;
    if (IsGate(row) || row.role == Role::kBenchmark) {
      ++summary.rows[static_cast<std::size_t>(row.verdict)];
    }
  }
  const auto worse = summary.rows[static_cast<std::size_t>(Verdict::kWorse)];
  summary.asymmetry_p = SignTest(worse, summary.rows[static_cast<std::size_t>(Verdict::kBetter)]);
}

bool IsSortedByEffect(Verdict verdict) {
  return verdict == Verdict::kWorse || verdict == Verdict::kInconclusive ||
         verdict == Verdict::kBetter;
}

void SortRows(std::vector<ComparisonRow>& rows) {
  const auto is_before = [](const ComparisonRow& a, const ComparisonRow& b) {
    if (a.fails != b.fails) return a.fails;
    if (a.verdict != b.verdict) return a.verdict < b.verdict;
    const auto rank = [](const ComparisonRow& row) { return IsGate(row) ? 0 : 1; };
    if (rank(a) != rank(b)) return rank(a) < rank(b);
    if (!IsSortedByEffect(a.verdict)) return false;
    if (a.has_effect != b.has_effect) return !a.has_effect;  // became non-finite
    if (!a.has_effect || a.is_ratio != b.is_ratio) return !a.is_ratio && b.is_ratio;
    const double change_a = ChangeOf(a).effect;
    const double change_b = ChangeOf(b).effect;
    return a.verdict == Verdict::kBetter ? change_a < change_b : change_a > change_b;
  };
  std::vector<std::size_t> order(rows.size());  // rows are large: move each once
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return is_before(rows[a], rows[b]); });
  std::vector<ComparisonRow> sorted;
  sorted.reserve(order.size());
  for (const std::size_t i : order) sorted.push_back(std::move(rows[i]));
  rows = std::move(sorted);
}

class Comparer {
 public:
  Comparer(const Sides& sides, const CompareOptions& options) : sides_(sides), options_(options) {}

  Comparison Run() {
    Prepare();
    const std::vector<Benchmark> benchmarks = CollectBenchmarks(sides_, options_.pairing);
    result_.rows.reserve(benchmarks.size());
    for (std::size_t i = 0; i < benchmarks.size(); ++i) JudgeBenchmark(benchmarks[i], i);
    Correct();
    FollowTimes();
    MarkFailures();
    DescribeTimes();
    SummariseMeans();
    Count();
    WarnOfDrift();
    WarnOfPower();
    SortRows(result_.rows);
    return std::move(result_);
  }

 private:
  void Prepare();
  void JudgeBenchmark(const Benchmark& benchmark, std::size_t index);
  bool JudgeState(const Benchmark& benchmark, std::size_t index);
  bool JudgeComplexity(const Benchmark& benchmark, std::size_t index);
  void JudgeMetric(const MetricData& metric, const MetricData* derived_from, bool has_raw,
                   ComparisonRow row);
  void NotePartialSides(ComparisonRow& row) const;
  std::string_view GateTime(const Benchmark& benchmark, const Metrics& metrics) const;
  std::string WhyNotComparable(const std::string& metric, bool is_threaded);
  Role RoleOf(const std::string& metric, std::string_view gate_time, bool is_derived);
  const NameTraits& TraitsOf(const std::string& metric);
  double ThresholdOf(const ComparisonRow& row) const;
  void FillAggregateInterval(const Benchmark& benchmark, ComparisonRow& row) const;
  std::size_t CorrectTests(Role role);
  void Correct();
  void FollowTimes();
  void MarkFailures();
  void DescribeTimes();
  void SummariseMeans();
  void FillMean(const std::vector<const ComparisonRow*>& rows, GeometricMeanRow& mean);
  void Count();
  void WarnOfDrift();
  void WarnOfPower();
  bool IsIncomplete(std::size_t side) const;

  const Sides& sides_;
  const CompareOptions& options_;
  Comparison result_;
  RankDistributions distributions_;
  std::unordered_map<std::string, NameTraits> traits_;
  std::unordered_set<std::string> gate_metrics_;
  std::unordered_map<std::string, double> bands_;             // by benchmark, line feed, metric
  std::vector<double> superiority_;                           // of each row
  std::vector<std::pair<std::size_t, std::string>> derived_;  // row, and the time it follows
  std::set<std::string> gate_times_;
  std::array<RepetitionDrift, 2> repetitions_;
  std::array<std::vector<Samples>, 2> gate_runs_;  // of the gating time: [files][benchmarks]
  bool is_real_ = false;                           // the context says that real_time is the time
  bool has_same_thread_times_ = true;
  bool has_same_thread_rates_ = true;
  bool has_same_counters_ = true;
};

std::string BandKey(std::string_view benchmark, std::string_view metric) {
  return std::string(benchmark) + '\n' + std::string(metric);
}

void RefuseOtherMachine(const std::vector<ContextEntry>& machine, const ResultFile& file) {
  for (const ContextEntry& entry : machine) {
    const std::string_view value = file.ContextValue(entry.key);
    // A device that a file does not name was not used.
    if (value == entry.value || (value.empty() && HasSubject(entry.key))) continue;
    throw CompareError(file.path + ": the calibration is of another machine: its " + entry.key +
                       " is \"" + entry.value + "\", this file's \"" +
                       std::string(file.ContextValue(entry.key)) + "\"; calibrate on this machine");
  }
}

void Comparer::Prepare() {
  result_.base_files = sides_[kBase]->size();
  result_.contender_files = sides_[kContender]->size();
  result_.is_advisory = result_.base_files == 1 && result_.contender_files == 1;
  result_.is_incomplete = IsIncomplete(kBase) || IsIncomplete(kContender);
  result_.context = CompareContexts(sides_, options_.allow_mixed_context);
  WarnOfCircumstances(sides_, result_.warnings);
  constexpr std::size_t kFewFiles = 3;
  const std::size_t fewest = std::min(result_.base_files, result_.contender_files);
  if (!result_.is_advisory && fewest < kFewFiles) {
    result_.warnings.push_back("a side with " + std::to_string(fewest) +
                               (fewest == 1 ? " file" : " files") +
                               ": one odd process decides; take 5 or more a side");
  }
  for (const auto& [metric, direction] : options_.directions) {
    TraitsOf(metric);
    traits_[metric].direction = direction;
  }
  gate_metrics_.insert(options_.gate_metrics.begin(), options_.gate_metrics.end());
  if (options_.calibration) {
    for (const auto& band : options_.calibration->bands) {
      bands_[BandKey(band.benchmark, band.metric)] = band.threshold;
    }
    for (const auto* files : sides_) {
      for (const ResultFile& file : *files) {
        RefuseOtherMachine(options_.calibration->machine, file);
      }
    }
  }
  is_real_ = AreOfManyThreads(sides_);
  has_same_counters_ = HaveSameCounters(sides_);
  has_same_thread_times_ = HaveSameThreadTimes(sides_);
  has_same_thread_rates_ = HaveSameThreadRates(sides_);
}

bool Comparer::IsIncomplete(std::size_t side) const {
  return std::any_of(sides_[side]->begin(), sides_[side]->end(),
                     [](const ResultFile& file) { return file.is_incomplete; });
}

const NameTraits& Comparer::TraitsOf(const std::string& metric) {
  const auto found = traits_.find(metric);
  if (found != traits_.end()) return found->second;
  return traits_[metric] = {DefaultDirection(metric), IsPartOfTime(metric), IsRate(metric),
                            FloorOf(metric, options_.time_floor)};
}

std::string_view Comparer::GateTime(const Benchmark& benchmark, const Metrics& metrics) const {
  if (options_.time_metric == TimeMetric::kReal) return kRealTime;
  if (options_.time_metric == TimeMetric::kCpu) return kCpuTime;
  bool is_real = is_real_ || metrics.Find(kCpuTime) == nullptr;
  for (const std::string_view part : {"/real_time", "/manual_time", "/process_time"}) {
    is_real = is_real || benchmark.name.find(part) != std::string::npos;
  }
  for (const auto& side : benchmark.sides) {
    const ResultRow* row = FirstRow(side);
    is_real = is_real || (row != nullptr && row->threads > 1);
  }
  return is_real && metrics.Find(kRealTime) != nullptr ? kRealTime : kCpuTime;
}

std::string Comparer::WhyNotComparable(const std::string& metric, bool is_threaded) {
  if (is_threaded && IsTime(metric) && !has_same_thread_times_) {
    return "Google Benchmark 1.9.0 changed the time of threads, and the versions differ or are "
           "unknown";
  }
  if (is_threaded && !has_same_thread_rates_ && TraitsOf(metric).is_rate) {
    return "Google Benchmark 1.9.0 and 1.9.5 changed rates of threads, and the versions differ or "
           "are unknown";
  }
  if (!IsTime(metric) && !has_same_counters_) {
    return "suite_schema_version differs: counters changed their meaning";
  }
  return {};
}

Role Comparer::RoleOf(const std::string& metric, std::string_view gate_time, bool is_derived) {
  const bool is_time = IsTime(metric);
  const bool has_unknown_direction = TraitsOf(metric).direction == Direction::kUnknown;
  if (!gate_metrics_.empty()) {
    const bool is_gate = !has_unknown_direction && gate_metrics_.count(metric) > 0;
    if (is_gate) return is_time ? Role::kTime : Role::kCounter;
    return is_derived ? Role::kDerived : Role::kShown;
  }
  if (is_time) return metric == gate_time ? Role::kTime : Role::kShown;
  if (is_derived) return Role::kDerived;
  return has_unknown_direction || TraitsOf(metric).is_part_of_time ? Role::kShown : Role::kCounter;
}

double Comparer::ThresholdOf(const ComparisonRow& row) const {
  if (!bands_.empty()) {
    const auto found = bands_.find(BandKey(row.benchmark, row.metric));
    if (found != bands_.end()) return std::max(found->second, options_.least_calibrated);
  }
  return result_.is_advisory ? std::max(options_.threshold, options_.single_threshold)
                             : options_.threshold;
}

// Adds a row for what happened to the benchmark as a whole. Are its metrics to be compared?
bool Comparer::JudgeState(const Benchmark& benchmark, std::size_t index) {
  const std::vector<FileRows>& base = benchmark.sides[kBase];
  const std::vector<FileRows>& contender = benchmark.sides[kContender];
  const State from = StateOf(base);
  const State to = StateOf(contender);
  if (from == State::kMeasured && to == State::kMeasured) return true;
  ComparisonRow row;
  row.benchmark = benchmark.name;
  row.benchmark_index = index;
  if (to == State::kError) {
    // Some failing processes on both sides are a flaky benchmark; none that works any more is not.
    const bool broke = from != State::kError || (IsMeasured(base) && !IsMeasured(contender));
    row.verdict = broke ? Verdict::kBroke : Verdict::kStillBroken;
    row.why = FirstMessage(contender, &FileRows::errors);
    if (result_.contender_files > 1) {
      row.why += " (" + ShareText(FilesWith(contender, &FileRows::errors), result_.contender_files);
      const std::size_t before = FilesWith(base, &FileRows::errors);
      if (before > 0) row.why += ", before " + ShareText(before, result_.base_files);
      row.why += ")";
    }
  } else if (to == State::kSkipped) {
    row.verdict = Verdict::kSkipped;
    row.why = FirstMessage(contender, &FileRows::skips);
    row.fails = options_.fail_on_skipped && (from == State::kMeasured || from == State::kError);
  } else if (to == State::kAbsent) {
    const bool is_not_run = IsIncomplete(kContender);
    row.verdict = is_not_run ? Verdict::kNotRun : Verdict::kRemoved;
    if (is_not_run) row.why = "a new file is incomplete";
  } else if (from == State::kError) {
    row.verdict = Verdict::kFixed;
    row.why = "failed before: " + FirstMessage(base, &FileRows::errors);
  } else if (from == State::kAbsent && IsIncomplete(kBase)) {
    row.verdict = Verdict::kNotRun;
    row.why = "a base file is incomplete";
  } else {
    row.verdict = Verdict::kAdded;
    if (from == State::kSkipped)
      row.why = "skipped before: " + FirstMessage(base, &FileRows::skips);
  }
  result_.rows.push_back(std::move(row));
  return to == State::kMeasured && IsMeasured(base);
}

// Are the coefficients of the same thing?
bool Comparer::JudgeComplexity(const Benchmark& benchmark, std::size_t index) {
  std::array<std::set<std::string>, 2> classes;
  for (const std::size_t side : {kBase, kContender}) {
    for (const FileRows& file : benchmark.sides[side]) {
      for (const ResultRow* row : file.rows) classes[side].insert(row->big_o);
    }
  }
  ComparisonRow row;
  row.benchmark = benchmark.name;
  row.benchmark_index = index;
  row.metric = kComplexity;
  row.direction = Direction::kLower;
  row.role = Role::kShown;
  if (classes[kBase].size() > 1 || classes[kContender].size() > 1) {
    row.why = "the files of one side disagree";
  } else {
    const std::string& from = *classes[kBase].begin();
    const std::string& to = *classes[kContender].begin();
    const int change = ComplexityRank(to) - ComplexityRank(from);
    const bool is_known = ComplexityRank(from) >= 0 && ComplexityRank(to) >= 0;
    row.role = Role::kCounter;
    row.why = from == to ? from : from + " to " + to;
    row.verdict = from == to   ? Verdict::kSame
                  : !is_known  ? Verdict::kChanged
                  : change > 0 ? Verdict::kWorse
                               : Verdict::kBetter;
  }
  result_.rows.push_back(std::move(row));
  return result_.rows.back().verdict == Verdict::kSame;
}

void Comparer::JudgeBenchmark(const Benchmark& benchmark, std::size_t index) {
  if (!JudgeState(benchmark, index)) return;
  const bool is_fit = IsComplexity(benchmark);
  if (is_fit && !JudgeComplexity(benchmark, index)) return;
  const Metrics metrics(benchmark);
  const std::string_view gate_time = GateTime(benchmark, metrics);
  bool is_threaded = false;
  bool has_raw = true;
  for (const std::size_t side : {kBase, kContender}) {
    for (const FileRows& file : benchmark.sides[side]) {
      if (!file.IsMeasured()) continue;
      has_raw = has_raw && !file.rows.empty();
      const ResultRow* row = file.rows.empty() ? file.Aggregate() : file.rows.front();
      is_threaded = is_threaded || row->threads > 1;
      repetitions_[side].Add(file, gate_time);
    }
  }
  for (const MetricData& metric : metrics.all()) {
    ComparisonRow row;
    row.benchmark = benchmark.name;
    row.benchmark_index = index;
    row.metric = metric.name;
    row.direction = TraitsOf(metric.name).direction;
    if (row.direction == Direction::kIgnore) continue;
    const MetricData* derived_from = nullptr;
    for (const std::string_view time : {kRealTime, kCpuTime}) {
      const MetricData* data = IsTime(metric.name) ? nullptr : metrics.Find(time);
      if (derived_from == nullptr && data != nullptr && IsFunctionOf(metric, *data)) {
        derived_from = data;
      }
    }
    row.role = is_fit ? Role::kShown : RoleOf(metric.name, gate_time, derived_from != nullptr);
    if (row.role == Role::kTime) gate_times_.insert(metric.name);
    row.why = WhyNotComparable(metric.name, is_threaded);
    if (!row.why.empty()) {
      row.verdict = Verdict::kNotComparable;
    } else if (!has_raw) {
      row.why = result_.is_advisory ? "no raw samples: no rank test" : "no raw samples";
    } else if (IsTime(metric.name)) {
      row.why = UnitChange(benchmark);
    }
    const std::size_t before = result_.rows.size();
    JudgeMetric(metric, derived_from, has_raw, std::move(row));
    if (!has_raw && result_.is_advisory) FillAggregateInterval(benchmark, result_.rows[before]);
  }
}

// A side of which some files do not have the metric is not the sample that the header tells.
void Comparer::NotePartialSides(ComparisonRow& row) const {
  const auto note = [&row](std::size_t part, std::size_t files, const char* side) {
    if (part == 0 || part == files) return;
    row.why += (row.why.empty() ? "in " : "; in ") + std::to_string(part) + " of " +
               std::to_string(files) + ' ' + side + " files";
  };
  note(row.base.size(), result_.base_files, "base");
  note(row.contender.size(), result_.contender_files, "new");
}

void Comparer::JudgeMetric(const MetricData& metric, const MetricData* derived_from, bool has_raw,
                           ComparisonRow row) {
  for (const std::size_t side : {kBase, kContender}) {
    Samples& samples = side == kBase ? row.base : row.contender;
    for (const Samples& values : metric.files[side]) {
      if (result_.is_advisory) {
        samples = values;
      } else {
        samples.push_back(SummaryOf(values, row, options_));
      }
    }
  }
  if (!result_.is_advisory) NotePartialSides(row);
  double superiority = 0.5;
  if (row.verdict == Verdict::kNotComparable) {
    // Values without a verdict.
  } else if (row.base.empty() || row.contender.empty()) {
    row.verdict = row.base.empty() ? Verdict::kAdded : Verdict::kRemoved;
  } else if (!AreFinite(row.base) || !AreFinite(row.contender)) {
    JudgeNonFinite(row);
  } else {
    FillEffect(row, ThresholdOf(row), TraitsOf(metric.name).floor, 1 - options_.alpha,
               distributions_);
    if (AllEqual(row)) {
      row.verdict = Verdict::kSame;
    } else if (row.direction == Direction::kExact) {
      JudgeExact(row);
    } else if (row.role == Role::kDerived) {
      row.why = "follows " + derived_from->name + ": not tested";
      derived_.emplace_back(result_.rows.size(), derived_from->name);
    } else if (has_raw || !result_.is_advisory) {
      const RankTest test = MannWhitney(row.base, row.contender, distributions_);
      const bool is_higher = row.direction == Direction::kHigher;
      row.is_tested = true;
      row.p_worse = is_higher ? test.p_less : test.p_greater;
      row.p_better = is_higher ? test.p_greater : test.p_less;
      superiority = test.superiority;
    }
  }
  superiority_.resize(result_.rows.size(), 0.5);
  superiority_.push_back(superiority);
  result_.rows.push_back(std::move(row));
}

// Only aggregates, one file a side: the spread of the repetitions as their standard deviation tells
// it, by the delta method.
void Comparer::FillAggregateInterval(const Benchmark& benchmark, ComparisonRow& row) const {
  if (!row.has_effect || !row.is_ratio || row.verdict == Verdict::kSame) return;
  double variance = 0;  // of the log ratio
  for (const std::size_t side : {kBase, kContender}) {
    const FileRows& file = benchmark.sides[side].front();
    const double middle = side == kBase ? row.base_median : row.contender_median;
    if (file.deviation == nullptr || !(file.Aggregate()->iterations > 1)) return;
    for (const Metric& metric : file.deviation->metrics) {
      if (metric.name != row.metric) continue;
      const double share = metric.value / middle;
      variance += share * share / file.Aggregate()->iterations;
      break;
    }
  }
  if (!(variance > 0) || !std::isfinite(variance)) return;
  const double quantile = NormalQuantile(options_.alpha / 2);
  const double margin = std::exp(quantile * std::sqrt(variance));
  row.effect.lower = row.effect.estimate / margin;
  row.effect.upper = row.effect.estimate * margin;
  row.effect.method = Method::kNormalApproximation;
  if (IsInside(row, ChangeOf(row))) row.verdict = Verdict::kSame;
}

// Holm's correction of what gates, Benjamini and Hochberg's of what is shown. Returns the number of
// tests.
std::size_t Comparer::CorrectTests(Role role) {
  const bool are_gates = role != Role::kShown;
  std::vector<std::size_t> rows;
  std::vector<double> worse;
  std::vector<double> better;
  for (std::size_t i = 0; i < result_.rows.size(); ++i) {
    const ComparisonRow& row = result_.rows[i];
    if (!row.is_tested || row.role != role) continue;
    rows.push_back(i);
    worse.push_back(are_gates ? row.p_worse : TwoSidedP(row));
    better.push_back(are_gates ? row.p_better : TwoSidedP(row));
  }
  worse = are_gates ? HolmAdjusted(worse) : BenjaminiHochbergAdjusted(worse);
  better = are_gates ? HolmAdjusted(better) : BenjaminiHochbergAdjusted(better);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    ComparisonRow& row = result_.rows[rows[i]];
    row.p_worse_adjusted = worse[i];
    row.p_better_adjusted = better[i];
    Decide(row, superiority_[rows[i]], rows.size(), options_.alpha);
  }
  return rows.size();
}

void Comparer::Correct() {
  superiority_.resize(result_.rows.size(), 0.5);
  ComparisonSummary& summary = result_.summary;
  summary.tested_times = CorrectTests(Role::kTime);
  summary.tested_counters = CorrectTests(Role::kCounter);
  summary.tested = summary.tested_times + summary.tested_counters + CorrectTests(Role::kShown);
  std::vector<double> p;
  for (const ComparisonRow& row : result_.rows) {
    if (row.is_tested) p.push_back(TwoSidedP(row));
  }
  const std::vector<double> q = BenjaminiHochbergAdjusted(p);
  std::size_t next = 0;
  for (ComparisonRow& row : result_.rows) {
    if (row.is_tested) row.q = q[next++];
  }
}

// Derived metrics take the verdict of the time they are a function of.
void Comparer::FollowTimes() {
  std::map<std::pair<std::size_t, std::string_view>, const ComparisonRow*> times;
  for (const ComparisonRow& row : result_.rows) {
    if (IsTime(row.metric)) times[{row.benchmark_index, row.metric}] = &row;
  }
  for (const auto& [index, time] : derived_) {
    ComparisonRow& row = result_.rows[index];
    const auto found = times.find({row.benchmark_index, time});
    if (found == times.end()) continue;  // the time is ignored
    row.verdict = found->second->verdict;
    row.runs_needed = found->second->runs_needed;
    const bool is_judged = row.verdict == Verdict::kWorse || row.verdict == Verdict::kBetter;
    if (is_judged && !HasDirection(row.direction)) row.verdict = Verdict::kChanged;
  }
}

void Comparer::MarkFailures() {
  const bool may_gate = !result_.is_advisory || options_.gate_single;
  for (ComparisonRow& row : result_.rows) {
    if (row.verdict == Verdict::kBroke) row.fails = true;
    if (row.verdict == Verdict::kRemoved && (IsGate(row) || row.metric.empty())) {
      row.fails = options_.fail_on_removed;
    }
    if (!IsGate(row)) continue;
    // What is no matter of chance gates in any case.
    const bool is_certain = !row.has_effect;
    if (row.verdict == Verdict::kWorse) row.fails = may_gate || is_certain;
    if (row.verdict == Verdict::kChanged) row.fails = options_.fail_on_changed;
  }
}

void Comparer::DescribeTimes() {
  const std::vector<std::string> times(gate_times_.rbegin(), gate_times_.rend());
  result_.time_metric = Joined(times, ", ");
  if (!result_.is_advisory) return;
  result_.warnings.emplace_back(
      options_.gate_single
          ? "one file a side: repetitions of one process are not independent, false alarms are "
            "likely"
          : "advisory: one file a side, and repetitions of one process are not independent; "
            "compare "
            "5 or more files a side");
}

// Runs of both sides need every quantity for an interval: a run without one has no mean.
void Comparer::FillMean(const std::vector<const ComparisonRow*>& rows, GeometricMeanRow& mean) {
  std::array<std::vector<Samples>, 2> runs;
  runs[kBase].resize(result_.base_files);
  runs[kContender].resize(result_.contender_files);
  bool is_complete = !result_.is_advisory;
  Samples ratios;
  for (const ComparisonRow* row : rows) {
    ratios.push_back(row->effect.estimate);
    is_complete = is_complete && row->base.size() == runs[kBase].size() &&
                  row->contender.size() == runs[kContender].size();
    if (!is_complete) continue;
    for (std::size_t i = 0; i < row->base.size(); ++i) runs[kBase][i].push_back(row->base[i]);
    for (std::size_t i = 0; i < row->contender.size(); ++i) {
      runs[kContender][i].push_back(row->contender[i]);
    }
  }
  mean.pairs = rows.size();
  if (is_complete) {
    mean.ratio =
        GeometricMeanRatio(runs[kBase], runs[kContender], 1 - options_.alpha, distributions_);
    if (gate_times_.size() == 1 && mean.metric == *gate_times_.begin()) gate_runs_ = runs;
  } else {
    mean.ratio.estimate = GeometricMean(ratios);
    mean.ratio.upper = std::numeric_limits<double>::infinity();
  }
}

std::string WithVerdict(const ComparisonRow& row) {
  const std::string why = row.why.empty() ? "" : ": " + row.why;
  return row.benchmark + " (" + std::string(VerdictText(row.verdict)) + why + ")";
}

void Comparer::SummariseMeans() {
  std::unordered_map<std::string, std::size_t> index;
  std::vector<std::vector<const ComparisonRow*>> included;
  std::vector<std::string> without_metric;  // what is about whole benchmarks
  for (const ComparisonRow& row : result_.rows) {
    if (row.metric.empty()) {
      if (row.verdict != Verdict::kFixed) without_metric.push_back(WithVerdict(row));
      continue;
    }
    if (!HasDirection(row.direction) || row.role == Role::kDerived) continue;
    if (row.metric == kComplexity) continue;
    const auto found = index.try_emplace(row.metric, included.size());
    if (found.second) {
      included.emplace_back();
      result_.geometric_means.emplace_back();
      result_.geometric_means.back().metric = row.metric;
      result_.geometric_means.back().direction = row.direction;
    }
    if (row.has_effect && row.is_ratio) {
      included[found.first->second].push_back(&row);
    } else {
      result_.geometric_means[found.first->second].excluded.push_back(
          row.has_effect ? row.benchmark + " (a value is not above zero)" : WithVerdict(row));
    }
  }
  for (std::size_t i = 0; i < included.size(); ++i) {
    GeometricMeanRow& mean = result_.geometric_means[i];
    if (!included[i].empty()) FillMean(included[i], mean);
    if (gate_times_.count(mean.metric) > 0) {
      mean.excluded.insert(mean.excluded.end(), without_metric.begin(), without_metric.end());
    }
  }
  auto& means = result_.geometric_means;
  means.erase(std::remove_if(means.begin(), means.end(),
                             [](const GeometricMeanRow& mean) { return mean.pairs == 0; }),
              means.end());
}

void Comparer::Count() {
  ComparisonSummary& summary = result_.summary;
  CountVerdicts(result_.rows, summary);
  std::size_t last_compared = SIZE_MAX;  // rows still stand benchmark by benchmark
  for (const ComparisonRow& row : result_.rows) {
    const bool is_on_both =
        row.metric == kComplexity || (!row.base.empty() && !row.contender.empty());
    const bool is_compared = IsGate(row) && is_on_both && row.verdict != Verdict::kNotComparable;
    if (is_compared && row.benchmark_index != last_compared) {
      ++summary.compared;
      last_compared = row.benchmark_index;
    }
  }
  const std::size_t tests = summary.tested_times + summary.tested_counters;
  const int corrections =
      (summary.tested_times > 0 ? 1 : 0) + (summary.tested_counters > 0 ? 1 : 0);
  summary.uncorrected_false_alarms = options_.alpha * static_cast<double>(tests);
  summary.false_alarm_bound = options_.alpha * corrections;
}

// Can any time (any counter, without times) be told from chance? Warns, and names the runs it
// takes, where not.
void Comparer::WarnOfPower() {
  ComparisonSummary& summary = result_.summary;
  const bool has_times = summary.tested_times > 0;
  double smallest = 1;  // p that can be reached
  for (const ComparisonRow& row : result_.rows) {
    if (!row.is_tested || row.role != (has_times ? Role::kTime : Role::kCounter)) continue;
    smallest = std::min(smallest, MinimumP(row.base.size(), row.contender.size()));
  }
  const std::size_t tests = has_times ? summary.tested_times : summary.tested_counters;
  if (tests == 0 || smallest * static_cast<double>(tests) <= options_.alpha) return;
  summary.can_fire = false;
  summary.runs_to_fire = RunsToReject(options_.alpha, tests);
  if (result_.is_advisory) return;  // says so already
  result_.warnings.push_back("too few runs: with " + std::to_string(tests) +
                             " tests no change can be told from chance; it takes " +
                             std::to_string(summary.runs_to_fire) + " files a side");
}

void Comparer::WarnOfDrift() {
  constexpr double kSure = 0.01;
  constexpr std::array<std::string_view, 2> kSides = {"base", "new"};
  for (const std::size_t side : {kBase, kContender}) {
    const Samples& sums = repetitions_[side].sums;
    const Trend trend = sums.empty() ? Trend{} : SpearmanTrend(sums);
    if (trend.p < kSure) {
      result_.warnings.push_back(std::string(kSides[side]) + ": later repetitions are " +
                                 (trend.rho < 0 ? "faster: warming up" : "slower") +
                                 " (Spearman's rho " + FourDigits(trend.rho) + ", p " +
                                 FourDigits(trend.p) + ")");
    }
    const std::vector<std::int64_t> dates = DatesOf(*sides_[side]);
    const std::vector<Samples>& runs = gate_runs_[side];
    if (dates.empty() || runs.size() != dates.size()) continue;
    std::vector<std::size_t> order(dates.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return dates[a] < dates[b]; });
    Samples means;
    for (const std::size_t i : order) means.push_back(GeometricMean(runs[i]));
    const Trend files = SpearmanTrend(means);
    if (files.p < kSure) {
      result_.warnings.push_back(std::string(kSides[side]) + ": later files are " +
                                 (files.rho < 0 ? "faster" : "slower") + " (Spearman's rho " +
                                 FourDigits(files.rho) + ", p " + FourDigits(files.p) + ")");
    }
  }
}

void CheckOptions(const CompareOptions& options) {
  const auto require = [](bool condition, const char* message) {
    if (!condition) throw std::invalid_argument(message);
  };
  require(options.alpha > 0 && options.alpha < 0.5, "alpha must be above 0 and below 0.5");
  for (const double share : {options.threshold, options.single_threshold, options.time_floor}) {
    require(share >= 0 && std::isfinite(share),
            "thresholds and the floor of times must be finite and not negative");
  }
}

}  // namespace

bool IsGate(const ComparisonRow& row) {
  return row.role == Role::kTime || row.role == Role::kCounter;
}

std::string_view VerdictText(Verdict verdict) {
  constexpr std::array<std::string_view, kVerdicts> kTexts = {
      "broke",   "worse",   "still broken", "inconclusive", "not comparable", "changed", "removed",
      "skipped", "not run", "added",        "same",         "fixed",          "better"};
  return kTexts[static_cast<std::size_t>(verdict)];
}

std::string_view VerdictText(const ComparisonRow& row) {
  const bool is_time = IsTime(row.metric) || IsPartOfTime(row.metric);
  if (is_time && row.verdict == Verdict::kWorse) return "slower";
  if (is_time && row.verdict == Verdict::kBetter) return "faster";
  return VerdictText(row.verdict);
}

std::vector<ContextEntry> MachineIdentity(const ResultFile& file) {
  std::vector<ContextEntry> identity;
  for (const ContextEntry& entry : file.context) {
    if (IsMachineKey(entry.key)) identity.push_back(entry);
  }
  return identity;
}

Comparison Compare(const std::vector<ResultFile>& base, const std::vector<ResultFile>& contender,
                   const CompareOptions& options) {
  CheckOptions(options);
  if (base.empty() || contender.empty()) throw std::invalid_argument("a side has no files");
  const Sides sides = {&base, &contender};
  return Comparer(sides, options).Run();
}

void SortAndCount(Comparison& comparison) {
  SortRows(comparison.rows);
  CountVerdicts(comparison.rows, comparison.summary);
}

int ExitCode(const Comparison& comparison, const CompareOptions& options) {
  if (comparison.summary.failures > 0) return kExitRegression;
  const bool is_other_context =
      std::any_of(comparison.context.begin(), comparison.context.end(),
                  [](const ContextDifference& difference) { return !difference.is_expected; });
  if (comparison.is_incomplete || (options.strict_context && is_other_context))
    return kExitUnusable;
  const std::size_t required = std::max<std::size_t>(options.require, 1);
  const bool is_blind = !comparison.summary.can_fire && !comparison.is_advisory;
  return comparison.summary.compared < required || is_blind ? kExitNothing : kExitOk;
}

}  // namespace cnn
