#include "dataset/schedule.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>

#include "dataset/keras_random.h"
#include "dataset/random.h"

namespace cnn {
namespace {

// First words of the keys, so that no permutation shares its random numbers with a sample.
constexpr std::uint64_t kOrderDomain = 0x6F72646572;     // "order"
constexpr std::uint64_t kSampleDomain = 0x73616D706C65;  // "sample"

void Require(bool condition, const char* message) {
  if (!condition) throw std::invalid_argument(std::string("schedule: ") + message);
}

void CheckOptions(std::size_t images, const ScheduleOptions& options) {
  Require(images > 0, "there are no images");
  Require(images <= UINT32_MAX, "too many images");
  Require(options.batch_size >= 1, "batch_size must be at least 1");
  const Augmentation& a = options.augmentation;
  const auto valid = [](double range, double end) { return range >= 0 && range < end; };
  Require(valid(a.rotation_range, HUGE_VAL) && valid(a.shear_range, HUGE_VAL),
          "rotation_range and shear_range must be finite and not negative");
  Require(valid(a.height_shift_range, 1) && valid(a.width_shift_range, 1) && valid(a.zoom_range, 1),
          "height_shift_range, width_shift_range and zoom_range must be from 0 to below 1");
}

}  // namespace

Schedule::Schedule(std::size_t images, int side, const ScheduleOptions& options)
    : options_(options), side_(side) {
  CheckOptions(images, options);
  order_.resize(images);
}

void Schedule::StartEpoch(std::int64_t epoch, std::int64_t steps) {
  Require(epoch >= 0, "epoch must not be negative");
  Require(steps >= 0, "steps must not be negative");
  Require(steps <= INT64_MAX / options_.batch_size, "too many steps");
  if (options_.stream == RandomStream::kKeras) {
    constexpr double kSeeds = 4294967296.0;
    const double last = static_cast<double>(options_.seed) +
                        (static_cast<double>(epoch) + 1) * static_cast<double>(steps);
    Require(
        last <= kSeeds,
        "--rng=keras seeds batch t with --seed + t, which must stay below 2^32: a smaller --seed "
        "is needed");
  }
  epoch_ = epoch;
  steps_ = steps;
  next_ = 0;
}

void Schedule::NextBatch(std::vector<ScheduledSample>& samples) {
  if (left() <= 0) throw std::logic_error("schedule: no batch is left");
  const auto images = static_cast<std::int64_t>(order_.size());
  const std::int64_t batches_per_pass = (images + options_.batch_size - 1) / options_.batch_size;
  const std::int64_t first = next_ % batches_per_pass * options_.batch_size;
  samples.resize(
      static_cast<std::size_t>(std::min<std::int64_t>(options_.batch_size, images - first)));
  if (first == 0) std::iota(order_.begin(), order_.end(), std::size_t{0});
  if (options_.stream == RandomStream::kKeras) {
    NextKeras(first, samples);
  } else {
    NextKeyed(next_ / batches_per_pass, first, samples);
  }
  ++next_;
}

void Schedule::NextKeyed(std::int64_t pass, std::int64_t first,
                         std::vector<ScheduledSample>& samples) {
  const auto epoch_key = static_cast<std::uint64_t>(epoch_);
  const auto pass_key = static_cast<std::uint64_t>(pass);
  if (first == 0 && options_.shuffle) {
    KeyedRandom random({kOrderDomain, options_.seed, epoch_key, pass_key});
    for (std::size_t i = order_.size() - 1; i > 0; --i) {
      std::swap(order_[i], order_[random.Below(i + 1)]);
    }
  }
  TakeImages(first, samples);
  for (ScheduledSample& sample : samples) {
    KeyedRandom random({kSampleDomain, options_.seed, epoch_key, pass_key, sample.image});
    sample.transform = DrawTransform(options_.augmentation, side_, side_, random);
  }
}

void Schedule::NextKeras(std::int64_t first, std::vector<ScheduledSample>& samples) {
  const auto batch = static_cast<std::uint64_t>(epoch_ * steps_ + next_);
  KerasRandom random(static_cast<std::uint32_t>(options_.seed + batch));
  if (first == 0 && options_.shuffle) random.Shuffle(order_);
  TakeImages(first, samples);
  for (ScheduledSample& sample : samples) {
    sample.transform = DrawTransform(options_.augmentation, side_, side_, random);
  }
}

void Schedule::TakeImages(std::int64_t first, std::vector<ScheduledSample>& samples) const {
  for (ScheduledSample& sample : samples) {
    sample.image = order_[static_cast<std::size_t>(first++)];
  }
}

}  // namespace cnn
