// What the files say of the circumstances they were measured in, and what a comparison should make
// of it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/benchmark_table.h"
#include "tools/context_keys.h"

namespace cnn {

struct ContextDifference {
  std::string key;
  Severity severity = Severity::kEnvironment;
  bool is_expected = false;  // git_commit and the like: what is compared
  std::string base;          // distinct values, joined by " | "; empty: absent
  std::string contender;
};

/// Worst first. Throws CompareError where files of one side are of several machines or builds,
/// unless `allow_mixed`.
std::vector<ContextDifference> CompareContexts(const Sides& sides, bool allow_mixed);

/// Do times, or rates, of several threads mean the same in all files? Google Benchmark 1.9.0
/// changed the times, 1.9.0 and 1.9.5 the rates.
bool HaveSameThreadTimes(const Sides& sides);
bool HaveSameThreadRates(const Sides& sides);

/// Do counters mean the same: is suite_schema_version the same where a file has it?
bool HaveSameCounters(const Sides& sides);

/// Is real_time the time of these files, because several threads or a GPU do the work: does a file
/// say that it is of our suite, or name a GPU?
bool AreOfManyThreads(const Sides& sides);

/// Seconds since 1970 at which each file was measured; empty when one of them does not say.
std::vector<std::int64_t> DatesOf(const std::vector<ResultFile>& files);

/// Adds warnings of swapped sides, of sides that were not measured in turn, and of a busy machine.
void WarnOfCircumstances(const Sides& sides, std::vector<std::string>& warnings);

}  // namespace cnn
