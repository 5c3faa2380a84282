#include "model/trainer.h"

#include <ATen/ATen.h>
#include <torch/utils.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "dataset/random.h"

namespace cnn {
namespace {

// Sections of a step on the clock.
enum Section : std::size_t { kCopy, kForward, kBackward, kOptimizer, kSections };
constexpr const char* kSectionNames[kSections] = {"copy", "forward", "backward", "optimizer"};

// Categories of a timeline's events.
constexpr char kTraining[] = "training";
constexpr char kValidation[] = "validation";

// One stream of LibTorch's own generator, which dropout draws from, for each epoch.
void SeedDropout(std::uint64_t seed, std::int64_t epoch) {
  torch::manual_seed(KeyedRandom({seed, static_cast<std::uint64_t>(epoch)}).Next());
}

// Of the mean of n values with that mean and sum of squares; 0 for fewer than two.
double StandardError(double mean, double sum_of_squares, double n) {
  if (n < 2) return 0;
  return std::sqrt(std::max(0.0, sum_of_squares - n * mean * mean) / (n - 1) / n);
}

}  // namespace

at::Tensor ComputeLosses(Loss loss, const at::Tensor& logits, const at::Tensor& labels) {
  if (loss == Loss::kCategoricalCrossentropy) {
    return at::cross_entropy_loss(logits, labels, /*weight=*/{}, at::Reduction::None);
  }
  return at::binary_cross_entropy_with_logits(logits.squeeze(1), labels.to(logits.scalar_type()),
                                              /*weight=*/{}, /*pos_weight=*/{},
                                              at::Reduction::None);
}

at::Tensor ComputeLoss(Loss loss, const at::Tensor& logits, const at::Tensor& labels) {
  return ComputeLosses(loss, logits, labels).mean();
}

at::Tensor CountCorrect(Loss loss, const at::Tensor& logits, const at::Tensor& labels) {
  if (loss == Loss::kCategoricalCrossentropy) return logits.argmax(1).eq(labels).sum();
  return logits.squeeze(1).gt(0).eq(labels.to(at::kBool)).sum();
}

Trainer::Trainer(const Workload& workload, const Device& device, std::uint64_t seed)
    : device_(device),
      seed_(seed),
      loss_(workload.loss),
      module_(workload.network, seed, device),
      optimizer_(workload.optimizer, workload.learning_rate, module_.Parameters()),
      clock_(device, kSections),
      loss_sum_(at::zeros({}, at::TensorOptions(TorchDevice(device)).dtype(at::kDouble))),
      square_sum_(at::zeros_like(loss_sum_)),
      correct_sum_(at::zeros({}, at::TensorOptions(TorchDevice(device)).dtype(at::kLong))) {
  SeedDropout(seed, 0);
}

void Trainer::Step(const at::Tensor& images, const at::Tensor& labels) {
  clock_.Begin();
  TrainOn(images, labels);
}

void Trainer::Step(const Batch& batch) {
  clock_.Begin();
  const DeviceBatch copied = Copy(batch);
  TrainOn(copied.images, copied.labels);
  clock_.Await(kCopy);
}

Trainer::DeviceBatch Trainer::Copy(const Batch& batch) {
  const auto side = batch.side;
  // The tensors only look at the loader's memory; nothing writes through them.
  const at::Tensor images =
      at::from_blob(const_cast<float*>(batch.images), {batch.count, 3, side, side});
  const at::Tensor labels =
      at::from_blob(const_cast<std::int64_t*>(batch.labels), {batch.count}, at::kLong);
  DeviceBatch copied = {ToDevice(images, device_), ToDevice(labels, device_)};
  clock_.Mark(kCopy);
  return copied;
}

void Trainer::TrainOn(const at::Tensor& images, const at::Tensor& labels) {
  const at::Tensor logits = module_.Forward(images, /*training=*/true);
  const at::Tensor losses = ComputeLosses(loss_, logits, labels);
  const at::Tensor loss = losses.mean();
  Tally(losses.detach(), logits.detach(), labels);
  clock_.Mark(kForward);
  optimizer_.ClearGradients();
  loss.backward();
  clock_.Mark(kBackward);
  optimizer_.Step();
  clock_.Mark(kOptimizer);
}

void Trainer::Tally(const at::Tensor& losses, const at::Tensor& logits, const at::Tensor& labels) {
  const c10::NoGradGuard no_grad;
  const at::Tensor precise = losses.to(at::kDouble);
  loss_sum_.add_(precise.sum());
  square_sum_.add_(precise.dot(precise));
  correct_sum_.add_(CountCorrect(loss_, logits, labels));
  ++totals_.steps;
  totals_.images += labels.size(0);
}

at::Tensor Trainer::Predict(const at::Tensor& images) {
  const c10::NoGradGuard no_grad;
  return module_.Forward(images, /*training=*/false);
}

double Trainer::SumOfFirstWeights() const {
  return module_.Parameters().front().detach().sum(at::kDouble).item<double>();
}

std::vector<std::pair<std::string, at::Tensor>> Trainer::State() const {
  const auto parameters = module_.NamedParameters();
  auto state = parameters;
  const auto add = [&](const std::vector<at::Tensor>& moments, const char* suffix) {
    for (std::size_t i = 0; i < moments.size(); ++i) {
      state.emplace_back(parameters[i].first + suffix, moments[i]);
    }
  };
  add(optimizer_.first_moments(), "/moment1");
  add(optimizer_.second_moments(), "/moment2");
  return state;
}

TrainingTotals Trainer::TrainEpoch(Loader& loader, std::int64_t epoch, std::int64_t steps,
                                   const OnStep& on_step) {
  TakeTotals();
  SeedDropout(seed_, epoch);
  loader.StartEpoch(epoch, steps);
  while (const Batch* batch = NextBatch(loader, kTraining)) {
    const auto begin = Timeline::Clock::now();
    Step(*batch);
    RecordHost(begin, kTraining);
    if (!on_step(totals_.steps)) break;
  }
  return TakeTotals(kTraining);
}

TrainingTotals Trainer::Evaluate(Loader& loader, std::int64_t epoch, std::int64_t steps,
                                 const OnStep& on_step) {
  TakeTotals();
  loader.StartEpoch(epoch, steps);
  while (const Batch* batch = NextBatch(loader, kValidation)) {
    const auto begin = Timeline::Clock::now();
    clock_.Begin();
    const DeviceBatch copied = Copy(*batch);
    const at::Tensor logits = Predict(copied.images);
    Tally(ComputeLosses(loss_, logits, copied.labels), logits, copied.labels);
    clock_.Mark(kForward);
    clock_.Await(kCopy);
    RecordHost(begin, kValidation);
    if (!on_step(totals_.steps)) break;
  }
  return TakeTotals(kValidation);
}

void Trainer::SetTimeline(Timeline* timeline) {
  timeline_ = timeline;
  clock_.KeepIntervals(timeline != nullptr);
}

const Batch* Trainer::NextBatch(Loader& loader, const char* category) {
  if (timeline_ == nullptr) return loader.Next();
  const auto begin = Timeline::Clock::now();
  const Batch* batch = loader.Next();
  const auto end = Timeline::Clock::now();
  // What ends an epoch is no step's batch.
  if (batch != nullptr) {
    timeline_->training_thread().Add({"wait", category, begin, end, {{"step", totals_.steps}}});
  }
  return batch;
}

// The step that was just made. On the CPU its sections say the same.
void Trainer::RecordHost(Timeline::Clock::time_point begin, const char* category) {
  if (timeline_ == nullptr || !device_.IsCuda()) return;
  timeline_->training_thread().Add(
      {"step (host)", category, begin, Timeline::Clock::now(), {{"step", totals_.steps - 1}}});
}

// Not after each step: on a GPU that would make the host wait for it.
void Trainer::RecordSections(const char* category) {
  if (timeline_ == nullptr) return;
  Timeline::Track& track =
      device_.IsCuda() ? timeline_->GetTrack("cuda:" + std::to_string(device_.index) + " stream")
                       : timeline_->training_thread();
  std::int64_t step = -1;
  std::size_t last = kSections;
  for (const SectionClock::Interval& interval : clock_.TakeIntervals()) {
    // Sections of a step come in their order, so the next step begins where the order does.
    if (interval.section <= last) ++step;
    last = interval.section;
    track.Add({kSectionNames[last], category, interval.begin, interval.end, {{"step", step}}});
  }
}

TrainingTotals Trainer::PeekTotals() {
  TrainingTotals peeked = totals_;
  const std::vector<double> seconds = clock_.Seconds();
  peeked.copy = seconds[kCopy];
  peeked.forward = seconds[kForward];
  peeked.backward = seconds[kBackward];
  peeked.optimizer = seconds[kOptimizer];
  if (peeked.images > 0) {
    const auto n = static_cast<double>(peeked.images);
    peeked.loss = loss_sum_.item<double>() / n;
    peeked.loss_se = StandardError(peeked.loss, square_sum_.item<double>(), n);
    const double p = static_cast<double>(correct_sum_.item<std::int64_t>()) / n;
    peeked.accuracy = p;
    peeked.accuracy_se = std::sqrt(p * (1 - p) / n);
  }
  return peeked;
}

TrainingTotals Trainer::TakeTotals() { return TakeTotals(kTraining); }

TrainingTotals Trainer::TakeTotals(const char* category) {
  const TrainingTotals taken = PeekTotals();
  RecordSections(category);
  totals_ = {};
  clock_.Reset();
  loss_sum_.zero_();
  square_sum_.zero_();
  correct_sum_.zero_();
  return taken;
}

}  // namespace cnn
