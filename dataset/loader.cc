#include "dataset/loader.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <new>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "dataset/augment.h"

namespace cnn {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kAlignment = 64;  // bytes

double Seconds(Clock::duration duration) { return std::chrono::duration<double>(duration).count(); }

void Require(bool condition, const char* message) {
  if (!condition) throw std::invalid_argument(std::string("loader: ") + message);
}

void CheckOptions(const LoaderOptions& options) {
  // The upper bounds keep the size of the ring far from overflow.
  Require(options.schedule.batch_size <= 1 << 16, "batch_size must be at most 65536");
  Require(options.workers >= 0 && options.workers <= 1 << 10, "workers must be from 0 to 1024");
  Require(options.prefetch >= (options.workers == 0 ? 1 : 2) && options.prefetch <= 1 << 10,
          "prefetch must be from 2 (1 without workers) to 1024");
}

std::shared_ptr<float> AllocateFloats(std::size_t floats) {
  const std::size_t bytes = (floats * sizeof(float) + kAlignment - 1) / kAlignment * kAlignment;
  void* memory = std::aligned_alloc(kAlignment, bytes);
  if (memory == nullptr) throw std::bad_alloc();
  std::fill_n(static_cast<float*>(memory), floats, 0.0F);
  return {static_cast<float*>(memory), std::free};
}

// An image that could not be loaded when it, or another before it, was a sample's.
struct BadImage {
  int position = 0;  // the sample's, in its batch
  std::size_t image = 0;
  std::string message;
};

struct Slot {
  float* images = nullptr;
  std::vector<std::int64_t> labels;
  std::vector<ScheduledSample> samples;
  std::int64_t batch = -1;  // the epoch's batch that it holds or is being filled with
  int unfinished = 0;       // samples not yet written
  std::vector<BadImage> bad_images;
  // The error of the first bad sample in batch order, whichever worker was first to see one.
  std::exception_ptr error;
  int error_position = 0;
};

// A sample that one thread is to load.
struct Claim {
  Slot* slot = nullptr;
  int position = 0;
};

// What became of a claimed sample.
struct Outcome {
  std::vector<BadImage> bad_images;  // in the order of the tries
  std::exception_ptr error;
};

// What a thread that loads has for itself. The consumer is the only one when there are no workers.
struct Worker {
  explicit Worker(std::int64_t max_pixels) : scratch(max_pixels) {}

  ImageScratch scratch;
  Timeline::Track* track = nullptr;                 // changes only while no worker loads
  std::optional<Clock::time_point> waits_for_room;  // since then; only with a track
};

// A class's images stand side by side in the folder.
struct ClassImages {
  std::size_t first = 0;
  std::size_t count = 0;

  bool IsTooMany(std::size_t bad_images) const { return bad_images * 100 > count; }
};

std::vector<ClassImages> ImagesByClass(const ImageFolder& folder) {
  std::vector<ClassImages> classes(folder.classes.size());
  for (std::size_t i = folder.images.size(); i-- > 0;) {
    ClassImages& its_class = classes[static_cast<std::size_t>(folder.images[i].label)];
    its_class.first = i;
    ++its_class.count;
  }
  return classes;
}

std::string NameBelowRoot(const ImageFolder& folder, std::size_t image) {
  const std::string& path = folder.images[image].path;
  const std::string& root = folder.root.native();
  if (path.compare(0, root.size(), root) != 0) return path;
  const std::size_t name = path.find_first_not_of('/', root.size());
  return name == std::string::npos ? path : path.substr(name);
}

}  // namespace

void LoadSample(const ImageSource& source, const ScheduledSample& sample, ImageScratch& scratch,
                float* planar) {
  ApplyTransform(source.Get(sample.image, scratch), sample.transform, planar);
}

// Everything below is guarded by `mutex`, except the memory of claimed samples: from Claim to
// Finish a sample's place belongs to the thread that claimed it, a slot whose samples are all
// finished to the consumer, until Release. The mutex is taken twice a sample, which is nothing
// beside a decode.
struct Loader::Impl {
  Impl(const ImageSource& image_source, LoaderOptions loader_options);
  ~Impl();

  void StartWorkers();
  void StartEpoch(std::int64_t new_epoch, std::int64_t new_steps);
  const Batch* Next();
  void SetTimeline(Timeline* timeline, const std::string& threads_name);
  LoaderTimes Times();
  std::int64_t replaced() const { return replaced_samples; }

 private:
  void Work(Worker& worker);
  void Load(const Claim& claim, ImageScratch& scratch, std::vector<BadImage>& bad_images);
  Outcome TryLoad(const Claim& claim, Worker& worker);
  void CountBadImages(std::vector<BadImage> bad_images);
  std::size_t LabelOf(std::size_t image) const {
    return static_cast<std::size_t>(source.folder().images[image].label);
  }

  // Called with the mutex held:
  bool HasUnclaimed() const { return open_left > 0 || next_batch < steps; }
  bool CanClaim() const {
    return open_left > 0 || (next_batch < steps && next_batch < released + RingSize());
  }
  Claim ClaimSample();
  void OpenNextBatch();
  void Drain(std::unique_lock<std::mutex>& lock);
  void BeginWaitForRoom(Worker& worker);
  static void EndWaitForRoom(Worker& worker);
  void Finish(const Claim& claim, Outcome outcome);
  void WakeOneWorker();
  void Account();

  Slot& SlotOf(std::int64_t batch) { return slots[static_cast<std::size_t>(batch % RingSize())]; }
  std::int64_t RingSize() const { return static_cast<std::int64_t>(slots.size()); }

  const ImageSource& source;
  const LoaderOptions options;
  const std::vector<ClassImages> classes;
  Schedule schedule;
  std::shared_ptr<float> memory;
  std::vector<Slot> slots;
  Batch view;

  std::vector<Worker> workers;

  // The consumer's own, not guarded.
  std::set<std::size_t> known_bad;
  std::vector<std::size_t> bad_by_class;
  std::int64_t replaced_samples = 0;

  std::mutex mutex;
  std::condition_variable worker_wake;
  std::condition_variable consumer_wake;
  bool stop = false;

  std::int64_t steps = 0;       // batches of this epoch
  std::int64_t next_batch = 0;  // the next to be opened for claims
  Slot* open = nullptr;         // samples are claimed from this one
  int open_left = 0;            // unclaimed samples of `open`
  std::int64_t delivered = 0;   // batches that Next has returned or thrown for
  std::int64_t released = 0;    // batches whose slots may be used again

  // State whose integral over time gives LoaderTimes; Account() before each change.
  int loading_workers = 0;
  int waiting_workers = 0;
  bool consumer_waits = false;   // for a batch
  bool consumer_drains = false;  // waits until no worker loads
  Clock::time_point accounted;
  LoaderTimes times;

  std::vector<std::thread> threads;
};

Loader::Impl::Impl(const ImageSource& image_source, LoaderOptions loader_options)
    : source(image_source),
      options(std::move(loader_options)),
      classes(ImagesByClass(source.folder())),
      schedule(source.folder().images.size(), source.side(), options.schedule),
      bad_by_class(classes.size()) {
  CheckOptions(options);
  const auto side = static_cast<std::size_t>(source.side());
  const auto batch_size = static_cast<std::size_t>(options.schedule.batch_size);
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
    slots[i].samples.reserve(batch_size);
  }
  for (int i = 0; i < std::max(options.workers, 1); ++i) {
    workers.emplace_back(source.max_pixels());
  }
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
  for (int i = 0; i < options.workers; ++i) {
    threads.emplace_back([this, i] { Work(workers[static_cast<std::size_t>(i)]); });
  }
}

void Loader::Impl::StartEpoch(std::int64_t new_epoch, std::int64_t new_steps) {
  std::unique_lock<std::mutex> lock(mutex);
  schedule.StartEpoch(new_epoch, new_steps);
  Drain(lock);
  steps = new_steps;
  replaced_samples = 0;
  Account();
  times = LoaderTimes();
  // As `times` counts it: who is asleep now waits for room until it is woken.
  for (Worker& worker : workers) BeginWaitForRoom(worker);
  WakeOneWorker();
}

// Ends an epoch. Nothing more to claim; the samples being loaded are waited for, so that none is
// written later into a slot that by then belongs to a new epoch.
void Loader::Impl::Drain(std::unique_lock<std::mutex>& lock) {
  Account();
  steps = 0;
  next_batch = 0;
  open_left = 0;
  for (Worker& worker : workers) EndWaitForRoom(worker);
  consumer_drains = true;
  consumer_wake.wait(lock, [this] { return loading_workers == 0; });
  consumer_drains = false;
  for (Slot& slot : slots) {
    slot.batch = -1;
  }
  delivered = 0;
  released = 0;
}

void Loader::Impl::SetTimeline(Timeline* timeline, const std::string& threads_name) {
  std::unique_lock<std::mutex> lock(mutex);
  Drain(lock);
  for (std::size_t i = 0; i < workers.size(); ++i) {
    workers[i].track = timeline == nullptr ? nullptr
                       : options.workers == 0
                           ? &timeline->training_thread()
                           : &timeline->GetTrack(threads_name + " " + std::to_string(i));
  }
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
      Finish(claim, TryLoad(claim, workers.front()));
    }
  } else {
    consumer_wake.wait(lock, ready);
  }
  Account();
  consumer_waits = false;
  ++delivered;
  lock.unlock();  // the slot is the consumer's until the next call
  if (slot.error) std::rethrow_exception(std::exchange(slot.error, nullptr));
  CountBadImages(std::exchange(slot.bad_images, {}));
  view.images = slot.images;
  view.labels = slot.labels.data();
  view.count = static_cast<std::int64_t>(slot.samples.size());
  view.side = source.side();
  return &view;
}

LoaderTimes Loader::Impl::Times() {
  const std::lock_guard<std::mutex> lock(mutex);
  Account();
  return times;
}

void Loader::Impl::Work(Worker& worker) {
  std::unique_lock<std::mutex> lock(mutex);
  for (;;) {
    if (!stop && !CanClaim()) {
      Account();
      ++waiting_workers;
      BeginWaitForRoom(worker);
      worker_wake.wait(lock, [this] { return stop || CanClaim(); });
      Account();
      --waiting_workers;
    }
    if (stop) return;
    EndWaitForRoom(worker);
    Account();
    const Claim claim = ClaimSample();
    ++loading_workers;
    // Each woken worker wakes the next while there is work for it: no crowd for one sample.
    WakeOneWorker();
    lock.unlock();
    Outcome outcome = TryLoad(claim, worker);
    lock.lock();
    Account();
    --loading_workers;
    Finish(claim, std::move(outcome));
  }
}

void Loader::Impl::Load(const Claim& claim, ImageScratch& scratch,
                        std::vector<BadImage>& bad_images) {
  const auto position = static_cast<std::size_t>(claim.position);
  const auto side = static_cast<std::size_t>(source.side());
  float* planar = claim.slot->images + position * 3 * side * side;
  ScheduledSample sample = claim.slot->samples[position];
  const ClassImages& its_class = classes[LabelOf(sample.image)];
  for (;;) {
    try {
      return LoadSample(source, sample, scratch, planar);
    } catch (const ImageError& error) {
      if (options.bad_images == BadImages::kFail) throw;
      bad_images.push_back({claim.position, sample.image, error.what()});
      // Too many for this class: whoever delivers the batch will say so.
      if (its_class.IsTooMany(bad_images.size())) return;
      sample.image = its_class.first + (sample.image - its_class.first + 1) % its_class.count;
    }
  }
}

Outcome Loader::Impl::TryLoad(const Claim& claim, Worker& worker) {
  const Clock::time_point begin = worker.track == nullptr ? Clock::time_point() : Clock::now();
  Outcome outcome;
  try {
    Load(claim, worker.scratch, outcome.bad_images);
  } catch (...) {
    outcome.error = std::current_exception();
  }
  if (worker.track != nullptr) {
    const ScheduledSample& sample = claim.slot->samples[static_cast<std::size_t>(claim.position)];
    worker.track->Add({"load",
                       "loader",
                       begin,
                       Clock::now(),
                       {{"image", NameBelowRoot(source.folder(), sample.image)},
                        {"batch", claim.slot->batch},
                        {"position", claim.position}}});
  }
  return outcome;
}

void Loader::Impl::BeginWaitForRoom(Worker& worker) {
  const bool is_recorded = worker.track != nullptr && options.workers > 0;
  if (is_recorded && HasUnclaimed()) worker.waits_for_room = Clock::now();
}

void Loader::Impl::EndWaitForRoom(Worker& worker) {
  if (!worker.waits_for_room) return;
  worker.track->Add({"wait for room", "loader", *worker.waits_for_room, Clock::now(), {}});
  worker.waits_for_room.reset();
}

void Loader::Impl::CountBadImages(std::vector<BadImage> bad_images) {
  std::stable_sort(bad_images.begin(), bad_images.end(),
                   [](const BadImage& a, const BadImage& b) { return a.position < b.position; });
  int last_position = -1;
  for (const BadImage& bad : bad_images) {
    if (bad.position != last_position) ++replaced_samples;
    last_position = bad.position;
    const std::size_t label = LabelOf(bad.image);
    if (known_bad.insert(bad.image).second) {
      ++bad_by_class[label];
      if (options.on_bad_image) options.on_bad_image(bad.message);
    }
    if (classes[label].IsTooMany(bad_by_class[label])) {
      throw std::runtime_error(bad.message + "; with that " + std::to_string(bad_by_class[label]) +
                               " of the " + std::to_string(classes[label].count) +
                               " images of class '" + source.folder().classes[label] +
                               "' are bad, more than 1 %: repair or remove them (--verify_data "
                               "names all)");
    }
  }
}

Claim Loader::Impl::ClaimSample() {
  if (open_left == 0) OpenNextBatch();
  const int position = static_cast<int>(open->samples.size()) - open_left;
  --open_left;
  if (!HasUnclaimed()) {
    // Workers that wait for room wait in vain, asleep until the next epoch.
    for (Worker& worker : workers) EndWaitForRoom(worker);
  }
  return {open, position};
}

void Loader::Impl::OpenNextBatch() {
  Slot& slot = SlotOf(next_batch);
  schedule.NextBatch(slot.samples);
  for (std::size_t i = 0; i < slot.samples.size(); ++i) {
    slot.labels[i] = source.folder().images[slot.samples[i].image].label;
  }
  slot.batch = next_batch++;
  slot.unfinished = static_cast<int>(slot.samples.size());
  slot.bad_images.clear();
  slot.error = nullptr;
  open = &slot;
  open_left = slot.unfinished;
}

void Loader::Impl::Finish(const Claim& claim, Outcome outcome) {
  Slot& slot = *claim.slot;
  for (BadImage& bad : outcome.bad_images) slot.bad_images.push_back(std::move(bad));
  if (outcome.error && (!slot.error || claim.position < slot.error_position)) {
    slot.error = std::move(outcome.error);
    slot.error_position = claim.position;
  }
  --slot.unfinished;
  // Not more often than needed: each call wakes the consumer, who then wants the mutex.
  if ((consumer_waits && slot.unfinished == 0 && slot.batch == delivered) ||
      (consumer_drains && loading_workers == 0)) {
    consumer_wake.notify_one();
  }
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

Loader::Loader(const ImageSource& source, LoaderOptions options)
    : impl_(std::make_unique<Impl>(source, std::move(options))) {
  // Outside Impl's constructor: if a thread cannot be started, ~Impl joins the others.
  impl_->StartWorkers();
}

Loader::~Loader() = default;

void Loader::StartEpoch(std::int64_t epoch, std::int64_t steps) { impl_->StartEpoch(epoch, steps); }

const Batch* Loader::Next() { return impl_->Next(); }

void Loader::SetTimeline(Timeline* timeline, const std::string& threads) {
  impl_->SetTimeline(timeline, threads);
}

LoaderTimes Loader::Times() const { return impl_->Times(); }

std::int64_t Loader::replaced() const { return impl_->replaced(); }

}  // namespace cnn
