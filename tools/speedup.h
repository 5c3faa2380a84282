// How much faster one value of an axis is than another: GPU than CPU, four workers than none, ours
// than Keras.
//
// An axis is a key of the benchmarks' names ("device", "workers", "source", ...), else a key of the
// files' context ("framework", "allocator", "host_name", ...). Benchmarks that differ in nothing
// else are laid side by side, from however many files they come. Frameworks stay apart: a file that
// names none in its context is "ours".
//
// The samples of a benchmark are its repetitions and, where the name ends in /epoch:N, its epochs.
// A closing row, the same name without /epoch:N, is another benchmark. The speed-up is the ratio of
// their means, as the mean is what a user waits for, per image where both sides say
// items_per_second, so that epochs of different lengths can be compared; the ratio of the medians
// stands beside. The interval is Hodges and Lehmann's for the ratio of the samples: it says how far
// the epochs and repetitions of these files agree, not what another process would measure, and of
// skewed samples it may lie beside the ratio of the means.
//
// A file with the context key "published_in" holds the figures of an article. Their ratio is put
// beside every pair of the same subject, augmentation and values of the axis, where the article
// prints none itself: "published_speedup/<subject>[/augment:<value>]/<axis>:<value>" in the
// context.
#pragma once

#include <cstddef>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "tools/result_file.h"
#include "tools/statistics.h"

namespace cnn {

struct SpeedupSide {
  std::string value;  // of the axis: "cpu"
  Samples seconds;    // one or more, all above zero; of an epoch or iteration, or of an image
  double mean = 0;
  double median = 0;
};

struct PublishedSpeedup {
  double reference_mean = 0;  // seconds, as published
  double other_mean = 0;
  double ratio = 0;        // of these two
  std::string as_printed;  // "9.6" where the article states a ratio, else empty
};

struct Speedup {
  std::string workload;   // family and subject: "Train/eight_kinds"
  std::string variant;    // the other axes: "augment:full batch:32 workers:12 steps:1000"
  std::string framework;  // "ours" or the context's; empty where it is the axis
  bool is_per_image = false;
  bool is_of_epochs = false;  // each a row of its own; not their closing row
  SpeedupSide reference;
  SpeedupSide other;
  double ratio = 0;         // of the means: above 1 the other is faster
  double median_ratio = 0;  // of the medians
  Effect interval;          // 95 %; HasInterval() is false below 4 against 4 samples
  std::optional<PublishedSpeedup> published;
};

struct Speedups {
  std::vector<Speedup> pairs;      // in the order of the files
  std::vector<std::string> notes;  // what was left out and why; differences besides the axis
};

/// Nothing has a counterpart. Exit code 4.
struct NothingToPair : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The reference is, of device, cpu; of source, files; of augment, plain; of numbers the smallest;
/// else the value that comes first. Of framework every other one is a reference for ours, so that
/// the ratio says how much faster ours is. Rows that failed, or whose time is not above zero, are
/// left out with a note.
///
/// Throws std::invalid_argument for no files and for a `by` that nothing has, NothingToPair, and
/// CompareError where the samples of one side are from several hosts or commits.
Speedups FindSpeedups(const std::vector<ResultFile>& files, const std::string& by);

/// The same as an aligned table with its notes below; ends in a newline; UTF-8, no colours.
std::string SpeedupTable(const std::vector<ResultFile>& files, const std::string& by);

}  // namespace cnn
