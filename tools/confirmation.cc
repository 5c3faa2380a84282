#include "tools/confirmation.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "tools/readable.h"

namespace cnn {
namespace {

bool IsUndecided(const ComparisonRow& row) {
  return IsGate(row) && row.verdict == Verdict::kInconclusive;
}

bool IsFlagged(const ComparisonRow& row, bool undecided) {
  return row.fails || (undecided && IsUndecided(row));
}

// The change, or where there is none what happened.
std::string Brief(const ComparisonRow& row) {
  if (row.has_effect && row.is_ratio) return PercentText(row.effect.estimate - 1);
  if (row.has_effect) return Signed(ReadableNumber(row.effect.estimate));
  return std::string(VerdictText(row)) + (row.why.empty() ? "" : " (" + row.why + ")");
}

bool IsCompared(const ComparisonRow& row) {
  return !row.base.empty() && !row.contender.empty() && row.verdict != Verdict::kNotComparable;
}

class SecondStage {
 public:
  explicit SecondStage(const Comparison& second) {
    for (const ComparisonRow& row : second.rows) {
      rows_.emplace(Key(row), &row);
      if (row.fails) failing_.emplace(row.benchmark, &row);
      if (IsGate(row) && IsCompared(row)) measured_.emplace(row.benchmark, &row);
    }
  }

  const ComparisonRow* Same(const ComparisonRow& row) const { return Find(rows_, Key(row)); }
  const ComparisonRow* Failing(const ComparisonRow& row) const {
    return Find(failing_, row.benchmark);
  }
  const ComparisonRow* Measured(const ComparisonRow& row) const {
    return Find(measured_, row.benchmark);
  }

 private:
  using Rows = std::unordered_map<std::string, const ComparisonRow*>;

  static std::string Key(const ComparisonRow& row) { return row.benchmark + '\n' + row.metric; }
  static const ComparisonRow* Find(const Rows& rows, const std::string& key) {
    const auto found = rows.find(key);
    return found == rows.end() ? nullptr : found->second;
  }

  Rows rows_;
  Rows failing_;   // the worst of each benchmark
  Rows measured_;  // a gate of each benchmark that was compared
};

// "confirmed: +6.1 % then +5.9 %", and what the row said before.
std::string Why(const std::string& outcome, const ComparisonRow& first,
                const ComparisonRow& second) {
  const std::string note = first.has_effect && !first.why.empty() ? "; " + first.why : "";
  return outcome + ": " + Brief(first) + " then " + Brief(second) + note;
}

void Take(const ComparisonRow& from, std::string why, ComparisonRow& row) {
  const std::size_t index = row.benchmark_index;
  row = from;
  row.benchmark_index = index;
  row.why = std::move(why);
}

void JudgeFailure(const SecondStage& stage, ComparisonRow& row) {
  const ComparisonRow* same = stage.Same(row);
  const ComparisonRow* failing = stage.Failing(row);
  const ComparisonRow* measured = row.metric.empty() ? stage.Measured(row) : same;
  if (measured != nullptr && !IsCompared(*measured)) measured = nullptr;
  if (same != nullptr && same->fails) {
    Take(*same, Why("confirmed", row, *same), row);
  } else if (failing != nullptr && row.metric.empty()) {
    Take(*failing, Why("confirmed", row, *failing), row);
  } else if (failing != nullptr && failing->metric.empty()) {
    row.why = Why("confirmed", row, *failing);
  } else if (measured != nullptr) {
    row.why = Why("not confirmed", row, *measured);
    row.verdict = Verdict::kInconclusive;
    row.fails = false;
    row.is_unconfirmed = true;
    row.runs_needed = 0;
  } else {
    row.why += (row.why.empty() ? "" : "; ") + std::string("could not be measured again");
  }
}

void JudgeUndecided(const ComparisonRow& same, ComparisonRow& row) {
  if (same.verdict == Verdict::kSame || same.verdict == Verdict::kBetter) {
    Take(same, Why("decided", row, same), row);
  } else if (same.verdict == Verdict::kWorse) {
    row.why = Why("worse only the second time", row, same);
  } else {
    row.why = Why("undecided twice", row, same);
  }
}

// Verdicts of a benchmark's gating time, before and after.
struct TimeVerdicts {
  Verdict before;
  Verdict after;
};
using Times = std::unordered_map<std::string, TimeVerdicts>;

void FollowTime(const Times& times, const SecondStage& stage, ComparisonRow& row) {
  const auto time = times.find(row.benchmark);
  if (row.role != Role::kDerived || time == times.end()) return;
  if (row.verdict != time->second.before) return;
  const ComparisonRow* same = stage.Same(row);
  if (same != nullptr && time->second.after == same->verdict) {
    Take(*same, same->why, row);
  } else {
    row.verdict = time->second.after;
    row.runs_needed = 0;
  }
}

}  // namespace

std::vector<std::string> BenchmarksToConfirm(const Comparison& first, bool undecided) {
  std::vector<std::string> benchmarks;
  std::unordered_set<std::string> seen;
  for (const ComparisonRow& row : first.rows) {
    if (IsFlagged(row, undecided) && seen.insert(row.benchmark).second) {
      benchmarks.push_back(row.benchmark);
    }
  }
  return benchmarks;
}

std::size_t RoundsToConfirm(const Comparison& first, const std::vector<std::string>& benchmarks,
                            double alpha) {
  const std::unordered_set<std::string> selected(benchmarks.begin(), benchmarks.end());
  std::size_t rounds = 1;
  for (const Role family : {Role::kTime, Role::kCounter}) {
    std::size_t tests = 0;
    bool is_needed = false;
    for (const ComparisonRow& row : first.rows) {
      if (row.role != family || !row.is_tested || selected.count(row.benchmark) == 0) continue;
      ++tests;
      is_needed = is_needed || row.fails || row.verdict == Verdict::kInconclusive;
    }
    if (is_needed) rounds = std::max(rounds, RunsToReject(alpha, tests));
  }
  return rounds;
}

Comparison Confirm(const Comparison& first, const Comparison& second, bool undecided) {
  const SecondStage stage(second);
  Comparison result = first;
  Times times;
  for (ComparisonRow& row : result.rows) {
    if (!IsFlagged(row, undecided)) continue;
    const Verdict before = row.verdict;
    const std::string benchmark = row.benchmark;
    const bool is_time = row.role == Role::kTime;
    const ComparisonRow* same = stage.Same(row);
    if (row.fails) {
      JudgeFailure(stage, row);
    } else if (same != nullptr) {
      JudgeUndecided(*same, row);
    }
    if (is_time) times.emplace(benchmark, TimeVerdicts{before, row.verdict});
  }
  for (ComparisonRow& row : result.rows) FollowTime(times, stage, row);
  for (const std::string& warning : second.warnings) {
    const auto& known = result.warnings;
    if (std::find(known.begin(), known.end(), warning) == known.end()) {
      result.warnings.push_back("second stage: " + warning);
    }
  }
  result.is_incomplete = first.is_incomplete || second.is_incomplete;
  SortAndCount(result);
  return result;
}

}  // namespace cnn
