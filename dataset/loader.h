// Batches by N worker threads: a bounded ring of batch buffers, allocated once; the unit of work is
// a sample, which a worker writes straight into its place in the ring; batches come out in order.
// What a batch holds is the Schedule's affair and threads decide nothing, so batches are bit-equal
// for any number of workers. `workers == 0` does the work in the caller's thread.
//
// A bad image is an error, or it is replaced by the next good one of its class in the folder's
// order, which gets the transform that was meant for it. Replacements are counted as batches are
// delivered, so that giving up does not depend on threads either.
//
// Thread rules: all public functions are for one consumer thread. Worker threads live as long as
// the Loader and sleep between epochs. A timeline's tracks are handed over by SetTimeline while no
// worker loads; from then on each worker writes on its own, always before it takes the mutex to
// hand in the sample, or holding it. So whoever was given the epoch's last batch, or has returned
// from StartEpoch or SetTimeline, sees all that was written before, without a lock around an event.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "dataset/image_source.h"
#include "dataset/schedule.h"
#include "dataset/timeline.h"

namespace cnn {

/// What the loader does for one sample, from the source to [3, side, side] floats. For any thread
/// that has a scratch of its own. Throws ImageError naming the file.
void LoadSample(const ImageSource& source, const ScheduledSample& sample, ImageScratch& scratch,
                float* planar);

/// A view into the ring: valid until the next call of Next, StartEpoch, SetTimeline or the
/// destructor.
struct Batch {
  const float* images = nullptr;         // [count, 3, side, side], RGB, 0..1
  const std::int64_t* labels = nullptr;  // [count]
  std::int64_t count = 0;
  std::int64_t side = 0;
};

enum class BadImages {
  kSkip,  // replace them; an error once more than 1 % of a class's images are bad
  kFail   // an error
};

struct LoaderOptions {
  ScheduleOptions schedule;
  int workers = 1;   // threads; 0: in the caller's thread
  int prefetch = 4;  // batches in the ring (at least 2, and 1 is enough for workers == 0)
  BadImages bad_images = BadImages::kSkip;
  /// Called by Next with the message of a replaced image, once for each bad image.
  std::function<void(const std::string& message)> on_bad_image;
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
  /// `source` must outlive the loader and its folder not be empty. Throws std::invalid_argument on
  /// options that make no sense.
  Loader(const ImageSource& source, LoaderOptions options);
  ~Loader();
  Loader(const Loader&) = delete;
  Loader& operator=(const Loader&) = delete;

  /// Begins epoch `epoch` of `steps` batches. May be called in the middle of an epoch: what is left
  /// of that one is dropped.
  void StartEpoch(std::int64_t epoch, std::int64_t steps);

  /// The next batch, or nullptr after the last of the epoch. Throws, at the batch it belongs to,
  /// the error of the first sample that could not be loaded, or a std::runtime_error when too many
  /// images of a class are bad; the batches after it, or a new epoch, can be had all the same.
  const Batch* Next();

  /// From the next StartEpoch on, events of category "loader" are recorded on `timeline` (nullptr:
  /// on none): "load" for each sample, with the image that the schedule asks for, its batch in the
  /// epoch and its position there, counted from 0; and "wait for room" where workers are blocked
  /// for space in the ring. Tracks: "`threads` 0" and so on; for workers == 0 the training
  /// thread's, which is the caller. Two loaders that may be at work at once need different words.
  ///
  /// Between epochs; in the middle of one, what is left of it is dropped. The timeline must not be
  /// read in the middle of an epoch, and must live until its end or the next SetTimeline.
  void SetTimeline(Timeline* timeline, const std::string& threads = "worker");

  LoaderTimes Times() const;

  /// Samples of the batches delivered since StartEpoch that another image of their class stands
  /// for.
  std::int64_t replaced() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace cnn
