#include "model/trainer.h"

#include <ATen/ATen.h>
#include <torch/utils.h>

#include <string>

namespace cnn {
namespace {

// Sections of a step on the clock.
enum Section : std::size_t { kCopy, kForward, kBackward, kOptimizer, kSections };
constexpr const char* kSectionNames[kSections] = {"copy", "forward", "backward", "optimizer"};

// Categories of a timeline's events.
constexpr char kTraining[] = "training";

}  // namespace

at::Tensor ComputeLoss(Loss loss, const at::Tensor& logits, const at::Tensor& labels) {
  if (loss == Loss::kCategoricalCrossentropy) return at::cross_entropy_loss(logits, labels);
  return at::binary_cross_entropy_with_logits(logits.squeeze(1), labels.to(logits.scalar_type()));
}

at::Tensor CountCorrect(Loss loss, const at::Tensor& logits, const at::Tensor& labels) {
  if (loss == Loss::kCategoricalCrossentropy) return logits.argmax(1).eq(labels).sum();
  return logits.squeeze(1).gt(0).eq(labels.to(at::kBool)).sum();
}

Trainer::Trainer(const Workload& workload, const Device& device, std::uint64_t seed)
    : device_(device),
      loss_(workload.loss),
      module_(workload.network, seed, device),
      optimizer_(workload.optimizer, workload.learning_rate, module_.Parameters()),
      clock_(device, kSections),
      loss_sum_(at::zeros({}, at::TensorOptions(TorchDevice(device)).dtype(at::kDouble))),
      correct_sum_(at::zeros({}, at::TensorOptions(TorchDevice(device)).dtype(at::kLong))) {
  torch::manual_seed(seed);
}

void Trainer::Step(const at::Tensor& images, const at::Tensor& labels) {
  clock_.Begin();
  TrainOn(images, labels);
}

void Trainer::Step(const Batch& batch) {
  clock_.Begin();
  const auto side = batch.side;
  // The tensors only look at the loader's memory; nothing writes through them.
  const at::Tensor images = ToDevice(
      at::from_blob(const_cast<float*>(batch.images), {batch.count, 3, side, side}), device_);
  const at::Tensor labels = ToDevice(
      at::from_blob(const_cast<std::int64_t*>(batch.labels), {batch.count}, at::kLong), device_);
  clock_.Mark(kCopy);
  TrainOn(images, labels);
  clock_.Await(kCopy);
}

void Trainer::TrainOn(const at::Tensor& images, const at::Tensor& labels) {
  const at::Tensor logits = module_.Forward(images, /*training=*/true);
  const at::Tensor loss = ComputeLoss(loss_, logits, labels);
  {
    const c10::NoGradGuard no_grad;
    loss_sum_.add_(loss.detach(), static_cast<double>(images.size(0)));
    correct_sum_.add_(CountCorrect(loss_, logits.detach(), labels));
  }
  clock_.Mark(kForward);
  optimizer_.ClearGradients();
  loss.backward();
  clock_.Mark(kBackward);
  optimizer_.Step();
  clock_.Mark(kOptimizer);
  ++totals_.steps;
  totals_.images += images.size(0);
}

at::Tensor Trainer::Predict(const at::Tensor& images) {
  const c10::NoGradGuard no_grad;
  return module_.Forward(images, /*training=*/false);
}

double Trainer::SumOfFirstWeights() const {
  return module_.Parameters().front().detach().sum(at::kDouble).item<double>();
}

TrainingTotals Trainer::TrainEpoch(Loader& loader, std::int64_t epoch, std::int64_t steps,
                                   const std::function<bool(std::int64_t)>& on_step) {
  TakeTotals();
  loader.StartEpoch(epoch, steps);
  while (const Batch* batch = NextBatch(loader, totals_.steps, kTraining)) {
    const auto begin = Timeline::Clock::now();
    const std::int64_t step = totals_.steps;
    Step(*batch);
    if (timeline_ != nullptr && device_.IsCuda()) {
      timeline_->training_thread().Add(
          {"step (host)", kTraining, begin, Timeline::Clock::now(), {{"step", step}}});
    }
    if (!on_step(totals_.steps)) break;
  }
  return TakeTotals();
}

void Trainer::SetTimeline(Timeline* timeline) {
  timeline_ = timeline;
  clock_.KeepIntervals(timeline != nullptr);
}

const Batch* Trainer::NextBatch(Loader& loader, std::int64_t step, const char* category) {
  if (timeline_ == nullptr) return loader.Next();
  const auto begin = Timeline::Clock::now();
  const Batch* batch = loader.Next();
  const auto end = Timeline::Clock::now();
  // What ends an epoch is no step's batch.
  if (batch != nullptr) {
    timeline_->training_thread().Add({"wait", category, begin, end, {{"step", step}}});
  }
  return batch;
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

TrainingTotals Trainer::TakeTotals() {
  TrainingTotals taken = totals_;
  const std::vector<double> seconds = clock_.Seconds();
  RecordSections(kTraining);
  taken.copy = seconds[kCopy];
  taken.forward = seconds[kForward];
  taken.backward = seconds[kBackward];
  taken.optimizer = seconds[kOptimizer];
  if (taken.images > 0) {
    taken.loss = loss_sum_.item<double>() / static_cast<double>(taken.images);
    taken.accuracy =
        static_cast<double>(correct_sum_.item<std::int64_t>()) / static_cast<double>(taken.images);
  }
  totals_ = {};
  clock_.Reset();
  loss_sum_.zero_();
  correct_sum_.zero_();
  return taken;
}

}  // namespace cnn
