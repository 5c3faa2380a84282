#include "dataset/loader.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <new>
#include <numeric>
#include <stdexcept>
#include <thread>
#include <utility>

#include "dataset/decode.h"

namespace cnn {
namespace {

using Clock = std::chrono::steady_clock;

// First words of the keys, so that no permutation shares its random numbers with a sample.
constexpr std::uint64_t kOrderDomain = 0x6F72646572;     // "order"
constexpr std::uint64_t kSampleDomain = 0x73616D706C65;  // "sample"

constexpr std::size_t kAlignment = 64;  // bytes

double Seconds(Clock::duration duration) { return std::chrono::duration<double>(duration).count(); }

void Require(bool condition, const char* message) {
  if (!condition) throw std::invalid_argument(std::string("loader: ") + message);
}

void CheckOptions(const ImageFolder& folder, const LoaderOptions& options) {
  Require(!folder.images.empty(), "the image folder is empty");
  // The upper bounds keep the size of the ring far from overflow.
  Require(options.side >= 1 && options.side <= 1 << 14, "side must be from 1 to 16384");
  Require(options.batch_size >= 1 && options.batch_size <= 1 << 16,
          "batch_size must be from 1 to 65536");
  Require(options.workers >= 0 && options.workers <= 1 << 10, "workers must be from 0 to 1024");
  Require(options.prefetch >= (options.workers == 0 ? 1 : 2) && options.prefetch <= 1 << 10,
          "prefetch must be from 2 (1 without workers) to 1024");
  const Augmentation& a = options.augmentation;
  const auto valid = [](double range, double end) { return range >= 0 && range < end; };
  Require(valid(a.rotation_range, HUGE_VAL) && valid(a.shear_range, HUGE_VAL),
          "rotation_range and shear_range must be finite and not negative");
  Require(valid(a.height_shift_range, 1) && valid(a.width_shift_range, 1) && valid(a.zoom_range, 1),
          "height_shift_range, width_shift_range and zoom_range must be from 0 to below 1");
}

std::shared_ptr<float> AllocateFloats(std::size_t floats) {
  const std::size_t bytes = (floats * sizeof(float) + kAlignment - 1) / kAlignment * kAlignment;
  void* memory = std::aligned_alloc(kAlignment, bytes);
  if (memory == nullptr) throw std::bad_alloc();
  std::fill_n(static_cast<float*>(memory), floats, 0.0F);
  return {static_cast<float*>(memory), std::free};
}

struct Slot {
  float* images = nullptr;
  std::vector<std::int64_t> labels;
  std::vector<std::size_t> indices;  // into ImageFolder::images
  std::int64_t batch = -1;           // the epoch's batch that it holds or is being filled with
  std::int64_t pass = 0;
  int unfinished = 0;  // samples not yet written
  // The error of the first bad sample in batch order, whichever worker was first to see one.
  std::exception_ptr error;
  int error_position = 0;
};

// A sample that one thread is to load.
struct Claim {
  Slot* slot = nullptr;
  int position = 0;
};

}  // namespace

void LoadSample(const std::string& path, int side, const Augmentation& augmentation,
                KeyedRandom random, SampleScratch& scratch, float* planar) {
  ReadFile(path, scratch.bytes);
  DecodeRgb(scratch.bytes, path, scratch.decoded);
  const bool fits = scratch.decoded.rows == side && scratch.decoded.cols == side;
  if (!fits) ResizeNearest(scratch.decoded, side, side, scratch.resized);
  const Transform transform = DrawTransform(augmentation, side, side, random);
  ApplyTransform(fits ? scratch.decoded : scratch.resized, transform, planar);
}

// Everything below is guarded by `mutex`, except the memory of claimed samples: from Claim to
// Finish a sample's place belongs to the thread that claimed it, a slot whose samples are all
// finished to the consumer, until Release. The mutex is taken twice a sample, which is nothing
// beside a decode.
struct Loader::Impl {
  Impl(const ImageFolder& image_folder, LoaderOptions loader_options);
  ~Impl();

  void StartWorkers();
  void StartEpoch(std::int64_t new_epoch, std::int64_t new_steps);
  const Batch* Next();
  LoaderTimes Times();

 private:
  void Work();
  void Load(const Claim& claim, SampleScratch& scratch);
  std::exception_ptr TryLoad(const Claim& claim, SampleScratch& scratch);

  // Called with the mutex held:
  bool HasUnclaimed() const { return open_left > 0 || next_batch < steps; }
  bool CanClaim() const {
    return open_left > 0 || (next_batch < steps && next_batch < released + RingSize());
  }
  Claim ClaimSample();
  void OpenNextBatch();
  void Finish(const Claim& claim, std::exception_ptr error);
  void WakeOneWorker();
  void Account();

  Slot& SlotOf(std::int64_t batch) { return slots[static_cast<std::size_t>(batch % RingSize())]; }
  std::int64_t RingSize() const { return static_cast<std::int64_t>(slots.size()); }
  std::int64_t ImageCount() const { return static_cast<std::int64_t>(folder.images.size()); }

  const ImageFolder& folder;
  const LoaderOptions options;
  std::shared_ptr<float> memory;
  std::vector<Slot> slots;
  std::vector<std::size_t> order;  // of the pass that is being opened
  Batch view;
  SampleScratch consumer_scratch;

  std::mutex mutex;
  std::condition_variable worker_wake;
  std::condition_variable consumer_wake;
  bool stop = false;

  std::int64_t epoch = 0;
  std::int64_t steps = 0;       // batches of this epoch
  std::int64_t next_batch = 0;  // the next to be opened for claims
  Slot* open = nullptr;         // samples are claimed from this one
  int open_left = 0;            // unclaimed samples of `open`
  std::int64_t delivered = 0;   // batches that Next has returned or thrown for
  std::int64_t released = 0;    // batches whose slots may be used again

  // State whose integral over time gives LoaderTimes; Account() before each change.
  int loading_workers = 0;
  int waiting_workers = 0;
  bool consumer_waits = false;
  Clock::time_point accounted;
  LoaderTimes times;

  std::vector<std::thread> threads;
};

Loader::Impl::Impl(const ImageFolder& image_folder, LoaderOptions loader_options)
    : folder(image_folder), options(std::move(loader_options)) {
  CheckOptions(folder, options);
  const auto side = static_cast<std::size_t>(options.side);
  const auto batch_size = static_cast<std::size_t>(options.batch_size);
  constexpr std::size_t kAlignedFloats = kAlignment / sizeof(float);
  const std::size_t slot_floats =
      (batch_size * 3 * side * side + kAlignedFloats - 1) / kAlignedFloats * kAlignedFloats;
  slots.resize(options.workers == 0 ? 1 : static_cast<std::size_t>(options.prefetch));
  const std::size_t floats = slot_floats * slots.size();
  memory = options.allocate ? options.allocate(floats) : AllocateFloats(floats);
  Require(memory != nullptr, "allocate returned no memory");
  for (std::size_t i = 0; i < slots.size(); ++i) {
    slots[i].images = memory.get() + i * slot_floats;
    slots[i].labels.resize(batch_size);
    slots[i].indices.resize(batch_size);
  }
  order.resize(folder.images.size());
  accounted = Clock::now();
}

Loader::Impl::~Impl() {
  {
    const std::lock_guard<std::mutex> lock(mutex);
    stop = true;
  }
  worker_wake.notify_all();
  for (std::thread& thread : threads) thread.join();
}

void Loader::Impl::StartWorkers() {
  threads.reserve(static_cast<std::size_t>(options.workers));
  for (int i = 0; i < options.workers; ++i) threads.emplace_back([this] { Work(); });
}

void Loader::Impl::StartEpoch(std::int64_t new_epoch, std::int64_t new_steps) {
  Require(new_steps >= 0, "steps must not be negative");
  Require(new_steps <= INT64_MAX / options.batch_size, "too many steps");
  std::unique_lock<std::mutex> lock(mutex);
  // Nothing more to claim; the samples being loaded are waited for, so that none is written later
  // into a slot that by then belongs to the new epoch.
  steps = 0;
  next_batch = 0;
  open_left = 0;
  consumer_wake.wait(lock, [this] { return loading_workers == 0; });
  for (Slot& slot : slots) {
    slot.batch = -1;
    slot.error = nullptr;
  }
  epoch = new_epoch;
  steps = new_steps;
  delivered = 0;
  released = 0;
  Account();
  times = LoaderTimes();
  WakeOneWorker();
}

const Batch* Loader::Impl::Next() {
  std::unique_lock<std::mutex> lock(mutex);
  Account();
  if (released < delivered) {
    released = delivered;
    WakeOneWorker();
  }
  if (delivered == steps) return nullptr;
  Slot& slot = SlotOf(delivered);
  const auto ready = [&] { return slot.batch == delivered && slot.unfinished == 0; };
  consumer_waits = true;
  if (options.workers == 0) {
    while (!ready()) {
      const Claim claim = ClaimSample();
      Finish(claim, TryLoad(claim, consumer_scratch));
    }
  } else {
    consumer_wake.wait(lock, ready);
  }
  Account();
  consumer_waits = false;
  ++delivered;
  if (slot.error) std::rethrow_exception(std::exchange(slot.error, nullptr));
  view.images = slot.images;
  view.labels = slot.labels.data();
  view.count = static_cast<std::int64_t>(slot.indices.size());
  view.side = options.side;
  return &view;
}

LoaderTimes Loader::Impl::Times() {
  const std::lock_guard<std::mutex> lock(mutex);
  Account();
  return times;
}

void Loader::Impl::Work() {
  SampleScratch scratch;
  std::unique_lock<std::mutex> lock(mutex);
  for (;;) {
    if (!stop && !CanClaim()) {
      Account();
      ++waiting_workers;
      worker_wake.wait(lock, [this] { return stop || CanClaim(); });
      Account();
      --waiting_workers;
    }
    if (stop) return;
    Account();
    const Claim claim = ClaimSample();
    ++loading_workers;
    // Each woken worker wakes the next while there is work for it: no crowd for one sample.
    WakeOneWorker();
    lock.unlock();
    std::exception_ptr error = TryLoad(claim, scratch);
    lock.lock();
    Account();
    --loading_workers;
    Finish(claim, std::move(error));
  }
}

void Loader::Impl::Load(const Claim& claim, SampleScratch& scratch) {
  const Slot& slot = *claim.slot;
  const auto position = static_cast<std::size_t>(claim.position);
  const std::size_t index = slot.indices[position];
  const auto side = static_cast<std::size_t>(options.side);
  const KeyedRandom random({kSampleDomain, options.seed, static_cast<std::uint64_t>(epoch),
                            static_cast<std::uint64_t>(slot.pass), index});
  LoadSample(folder.images[index].path, options.side, options.augmentation, random, scratch,
             slot.images + position * 3 * side * side);
}

std::exception_ptr Loader::Impl::TryLoad(const Claim& claim, SampleScratch& scratch) {
  try {
    Load(claim, scratch);
    return nullptr;
  } catch (...) {
    return std::current_exception();
  }
}

Claim Loader::Impl::ClaimSample() {
  if (open_left == 0) OpenNextBatch();
  const int position = static_cast<int>(open->indices.size()) - open_left;
  --open_left;
  return {open, position};
}

void Loader::Impl::OpenNextBatch() {
  const std::int64_t batches_per_pass =
      (ImageCount() + options.batch_size - 1) / options.batch_size;
  const std::int64_t pass = next_batch / batches_per_pass;
  const std::int64_t first = next_batch % batches_per_pass * options.batch_size;
  if (first == 0) {
    std::iota(order.begin(), order.end(), std::size_t{0});
    if (options.shuffle) {
      KeyedRandom random({kOrderDomain, options.seed, static_cast<std::uint64_t>(epoch),
                          static_cast<std::uint64_t>(pass)});
      for (std::size_t i = order.size() - 1; i > 0; --i) {
        std::swap(order[i], order[random.Below(i + 1)]);
      }
    }
  }
  const std::int64_t count = std::min<std::int64_t>(options.batch_size, ImageCount() - first);
  Slot& slot = SlotOf(next_batch);
  slot.indices.assign(order.begin() + first, order.begin() + first + count);
  for (std::size_t i = 0; i < slot.indices.size(); ++i) {
    slot.labels[i] = folder.images[slot.indices[i]].label;
  }
  slot.batch = next_batch++;
  slot.pass = pass;
  slot.unfinished = static_cast<int>(count);
  slot.error = nullptr;
  open = &slot;
  open_left = static_cast<int>(count);
}

void Loader::Impl::Finish(const Claim& claim, std::exception_ptr error) {
  Slot& slot = *claim.slot;
  if (error && (!slot.error || claim.position < slot.error_position)) {
    slot.error = std::move(error);
    slot.error_position = claim.position;
  }
  --slot.unfinished;
  if (slot.unfinished == 0 || loading_workers == 0) consumer_wake.notify_one();
}

void Loader::Impl::WakeOneWorker() {
  if (waiting_workers > 0 && CanClaim()) worker_wake.notify_one();
}

void Loader::Impl::Account() {
  const Clock::time_point now = Clock::now();
  const double passed = Seconds(now - accounted);
  accounted = now;
  times.worker_busy += loading_workers * passed;
  if (HasUnclaimed()) times.worker_wait += waiting_workers * passed;
  if (consumer_waits) times.consumer_wait += passed;
}

Loader::Loader(const ImageFolder& folder, LoaderOptions options)
    : impl_(std::make_unique<Impl>(folder, std::move(options))) {
  // Outside Impl's constructor: if a thread cannot be started, ~Impl joins the others.
  impl_->StartWorkers();
}

Loader::~Loader() = default;

void Loader::StartEpoch(std::int64_t epoch, std::int64_t steps) { impl_->StartEpoch(epoch, steps); }

const Batch* Loader::Next() { return impl_->Next(); }

LoaderTimes Loader::Times() const { return impl_->Times(); }

}  // namespace cnn
