// Training as Keras's fit does it: forward, loss, backward, optimiser step, with running means of
// loss and accuracy over the images of an epoch. Losses stay on the device and are read once per
// epoch.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "dataset/loader.h"
#include "dataset/timeline.h"
#include "model/device.h"
#include "model/module.h"
#include "model/optimizer.h"
#include "model/workloads.h"

namespace cnn {

/// The loss of each image, [N], of `logits` ([N, classes], or [N, 1] for binary) against int64
/// `labels` [N]: categorical crossentropy of the softmax, or binary crossentropy of the sigmoid,
/// from the logits, as Keras's fit has it when such a layer is the last (its loss functions, given
/// probabilities, clip them to [1e-7, 1 - 1e-7]).
at::Tensor ComputeLosses(Loss loss, const at::Tensor& logits, const at::Tensor& labels);

/// Their mean, which is what training minimises.
at::Tensor ComputeLoss(Loss loss, const at::Tensor& logits, const at::Tensor& labels);

/// Number of right answers: largest logit, or for binary probability > 0.5.
at::Tensor CountCorrect(Loss loss, const at::Tensor& logits, const at::Tensor& labels);

/// What happened since the totals were last taken.
struct TrainingTotals {
  std::int64_t steps = 0;
  std::int64_t images = 0;
  double loss = 0;      // mean over images, each with the weights of its step
  double accuracy = 0;  // likewise, 0..1
  // Standard errors of these two means, as if the images were drawn at random:
  double loss_se = 0;      // of the images' losses: standard deviation / sqrt(images)
  double accuracy_se = 0;  // sqrt(p (1 - p) / images)
  // Seconds on the device (on a GPU sections overlap with what the host does meanwhile):
  double copy = 0;
  double forward = 0;  // loss and accuracy included
  double backward = 0;
  double optimizer = 0;
};

class Trainer {
 public:
  /// Fresh weights and optimiser state from `seed`, which also seeds dropout.
  Trainer(const Workload& workload, const Device& device, std::uint64_t seed);

  /// One step on tensors that are on the device already: images [N, 3, H, W], labels int64 [N].
  void Step(const at::Tensor& images, const at::Tensor& labels);

  /// One step on a batch in host memory, whose buffers are free again on return.
  void Step(const Batch& batch);

  /// Logits of `images`, without dropout and without recording anything for a backward pass.
  at::Tensor Predict(const at::Tensor& images);

  /// Called after each step with the steps done so far; false ends the epoch there.
  using OnStep = std::function<bool(std::int64_t done)>;

  /// One epoch from `loader`. Dropout's random numbers depend on seed and epoch only, so that an
  /// epoch is the same after a restart.
  TrainingTotals TrainEpoch(Loader& loader, std::int64_t epoch, std::int64_t steps,
                            const OnStep& on_step);

  /// Loss and accuracy of `steps` batches from `loader`, without dropout and without training.
  /// `epoch` decides which images these are, where the loader shuffles. Drops totals that were not
  /// taken.
  TrainingTotals Evaluate(Loader& loader, std::int64_t epoch, std::int64_t steps,
                          const OnStep& on_step);

  /// From now on epochs and validations are recorded on `timeline` (nullptr: on none), which must
  /// outlive them; not in the middle of one. For each step, counted from 0: "wait" for its batch,
  /// "copy", "forward", "backward" and "optimizer", of category "training" or "validation". On the
  /// CPU all on the training thread's track; the sections of a GPU are on a track of their own
  /// ("cuda:0 stream"), and the training thread's has "step (host)" where it queued them. Sections
  /// are recorded when the totals are taken.
  void SetTimeline(Timeline* timeline);

  /// Loss and accuracy so far, without taking them; waits for the device.
  TrainingTotals PeekTotals();

  /// Waits for the device, returns the totals since the last call and starts new ones.
  TrainingTotals TakeTotals();

  /// Sum of the first layer's weights: changes with every step that trains.
  double SumOfFirstWeights() const;

  /// All that a step changes, by name: weights as "conv1.weight", the optimiser's moments as
  /// "conv1.weight/moment1" and "/moment2". The tensors are the trainer's own, on its device: to
  /// write them is to change it.
  std::vector<std::pair<std::string, at::Tensor>> State() const;
  /// Steps that the optimiser has made; Adam's bias correction needs it.
  std::int64_t OptimizerSteps() const { return optimizer_.steps(); }
  void SetOptimizerSteps(std::int64_t steps) { optimizer_.set_steps(steps); }

 private:
  struct DeviceBatch {
    at::Tensor images;  // [N, 3, H, W] in Module's layout
    at::Tensor labels;  // [N]
  };
  DeviceBatch Copy(const Batch& batch);
  void TrainOn(const at::Tensor& images, const at::Tensor& labels);
  void Tally(const at::Tensor& losses, const at::Tensor& logits, const at::Tensor& labels);
  const Batch* NextBatch(Loader& loader, const char* category);
  void RecordHost(Timeline::Clock::time_point begin, const char* category);
  void RecordSections(const char* category);
  TrainingTotals TakeTotals(const char* category);

  Device device_;
  std::uint64_t seed_;
  Loss loss_;
  Module module_;
  Optimizer optimizer_;
  SectionClock clock_;
  Timeline* timeline_ = nullptr;
  TrainingTotals totals_;
  at::Tensor loss_sum_;     // scalar, float64, on the device
  at::Tensor square_sum_;   // likewise, of the losses' squares
  at::Tensor correct_sum_;  // scalar, int64, on the device
};

}  // namespace cnn
