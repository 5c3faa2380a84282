// Batches from image files by N worker threads: a bounded ring of batch buffers, allocated once;
// the unit of work is a sample, which a worker writes straight into its place in the ring; batches
// come out in order. A sample's pixels depend on (seed, epoch, pass, sample index) alone, so the
// batches are bit-equal for any number of workers. `workers == 0` does the work in the caller's
// thread.
//
// Epochs are Keras's: each starts with a fresh permutation; when `steps` goes beyond one pass over
// the data the next pass has a permutation of its own; the short last batch of a pass is kept.
//
// Thread rules: all public functions are for one consumer thread. Worker threads live as long as
// the Loader and sleep between epochs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <opencv2/core/mat.hpp>
#include <string>
#include <vector>

#include "dataset/augment.h"
#include "dataset/image_folder.h"
#include "dataset/random.h"

namespace cnn {

/// Memory that a thread reuses from sample to sample.
struct SampleScratch {
  std::vector<std::uint8_t> bytes;
  cv::Mat decoded;
  cv::Mat resized;
};

/// What the loader does for one sample, from a file to [3, side, side] floats: read, decode, resize
/// where the size differs, draw from `random`, apply. For any thread that has a scratch of its
/// own. Throws std::runtime_error naming the file.
void LoadSample(const std::string& path, int side, const Augmentation& augmentation,
                KeyedRandom random, SampleScratch& scratch, float* planar);

/// A view into the ring: valid until the next call of Next, StartEpoch or the destructor.
struct Batch {
  const float* images = nullptr;         // [count, 3, side, side], RGB, 0..1
  const std::int64_t* labels = nullptr;  // [count]
  std::int64_t count = 0;
  std::int64_t side = 0;
};

struct LoaderOptions {
  Augmentation augmentation;
  int side = 150;  // images are side x side
  int batch_size = 32;
  int workers = 1;      // threads; 0: in the caller's thread
  int prefetch = 4;     // batches in the ring (at least 2, and 1 is enough for workers == 0)
  bool shuffle = true;  // false: the folder's order in every pass
  std::uint64_t seed = 0;
  /// Memory of the batch buffers, `floats` long, 64-byte aligned; set it to get pinned memory.
  /// Default: ordinary memory, touched once so that no page fault is left for the first epoch.
  std::function<std::shared_ptr<float>(std::size_t floats)> allocate;
};

/// Where the loader's time went since StartEpoch, in seconds.
struct LoaderTimes {
  double consumer_wait = 0;  // Next() blocked (workers == 0: all of the loading)
  double worker_wait = 0;    // workers blocked for space in the ring, summed over workers
  double worker_busy = 0;    // workers loading samples, summed over workers
};

class Loader {
 public:
  /// `folder` must outlive the loader and not be empty. Throws std::invalid_argument on options
  /// that make no sense.
  Loader(const ImageFolder& folder, LoaderOptions options);
  ~Loader();
  Loader(const Loader&) = delete;
  Loader& operator=(const Loader&) = delete;

  /// Begins epoch `epoch` of `steps` batches. May be called in the middle of an epoch: what is left
  /// of that one is dropped.
  void StartEpoch(std::int64_t epoch, std::int64_t steps);

  /// The next batch, or nullptr after the last of the epoch. Rethrows, at the batch it belongs to,
  /// the error of a sample that could not be loaded; the loader then accepts a new StartEpoch.
  const Batch* Next();

  LoaderTimes Times() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace cnn
