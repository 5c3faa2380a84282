// What an epoch consists of, before any file is opened: which image stands where in which batch,
// and the random transform it gets. A function of the options, the epoch and the number of steps
// alone, so that threads decide nothing.
//
// Epochs are those of Keras's iterator: each starts with a fresh permutation; when `steps` goes
// beyond one pass over the images the next pass has a permutation of its own; the short last batch
// of a pass is kept and passes are never mixed in a batch. An epoch of 1000 steps of 32 over 18,687
// images sees 31,999. (Keras's fit also shuffles the order of the batches; the short one may then
// fall anywhere, and that epoch sees 31,998 or 31,999.)
//
// Two streams of random numbers:
// - kKeyed, the default: a sample's transform is a function of (seed, epoch, pass, image).
// - kKeras: what keras_preprocessing's DirectoryIterator(seed=seed) draws from numpy's global
//   generator when one thread calls next(). It seeds the generator with seed + t for the t-th batch
//   it makes; a pass starts with the permutation, and the parameters follow image by image. Epoch e
//   starts with t = e * steps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "dataset/augment.h"

namespace cnn {

enum class RandomStream { kKeyed, kKeras };

struct ScheduleOptions {
  Augmentation augmentation;
  int batch_size = 32;
  bool shuffle = true;  // false: the folder's order in every pass
  std::uint64_t seed = 0;
  RandomStream stream = RandomStream::kKeyed;
};

struct ScheduledSample {
  std::size_t image = 0;  // index into ImageFolder::images
  Transform transform;
};

class Schedule {
 public:
  /// Of `images` images, which are `side` x `side` when they are transformed. Throws
  /// std::invalid_argument on options that make no sense.
  Schedule(std::size_t images, int side, const ScheduleOptions& options);

  /// Begins epoch `epoch` of `steps` batches, both at least 0. Throws std::invalid_argument when
  /// the batches' seeds leave the 32 bits that numpy takes.
  void StartEpoch(std::int64_t epoch, std::int64_t steps);

  /// Batches of this epoch that NextBatch has not given yet.
  std::int64_t left() const { return steps_ - next_; }

  /// Writes the next batch, 1 to batch_size samples. Throws std::logic_error when none is left.
  void NextBatch(std::vector<ScheduledSample>& samples);

 private:
  void TakeImages(std::int64_t first, std::vector<ScheduledSample>& samples) const;
  void NextKeyed(std::int64_t pass, std::int64_t first, std::vector<ScheduledSample>& samples);
  void NextKeras(std::int64_t first, std::vector<ScheduledSample>& samples);

  ScheduleOptions options_;
  int side_;
  std::vector<std::size_t> order_;  // of the present pass
  std::int64_t epoch_ = 0;
  std::int64_t steps_ = 0;
  std::int64_t next_ = 0;
};

}  // namespace cnn
