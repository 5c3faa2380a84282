// The second stage of a judgement: what failed is measured again, in fresh processes, and is a
// regression only when it fails again.
//
// A rank test at 5 % is wrong once in twenty quiet days, and on a noisy machine more often, for
// noise that lasts over a run is no chance that the test knows of. Two runs at different times
// seldom share it. The second stage decides about what the first flagged and nothing else: a row
// that fails only there was not asked for, and taking it would double the false alarms.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tools/comparison.h"

namespace cnn {

/// Names of the benchmarks with rows that fail; with `undecided` also of those with gates that are
/// inconclusive. Each once, in the order of the rows.
std::vector<std::string> BenchmarksToConfirm(const Comparison& first, bool undecided);

/// Rounds from which on a second stage of only these benchmarks can find a change at all: with
/// fewer, nothing could be confirmed.
std::size_t RoundsToConfirm(const Comparison& first, const std::vector<std::string>& benchmarks,
                            double alpha);

/// The first stage with its flagged rows judged again:
///
/// - failed twice: the second stage's numbers, `why` "confirmed: +6.1 % then +5.9 %". A benchmark
///   that broke in one stage and has a worse metric in the other failed twice.
/// - failed, then not: inconclusive, `why` "not confirmed: +6.1 % then +0.4 %".
/// - failed, then not measured on both sides: as it was, it still fails.
/// - with `undecided`, inconclusive and then the same or better: that, `why` "decided: …".
///
/// Metrics that are functions of a time follow it. Counts are made anew; means, tests and the
/// context are those of the first stage.
Comparison Confirm(const Comparison& first, const Comparison& second, bool undecided = false);

}  // namespace cnn
