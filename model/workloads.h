// A workload is what an experiment fixes: network, augmentation, loss, optimiser, batch size, steps
// and epochs. Two are published; a user's own come from a file (model/workload_file.h).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "dataset/augment.h"
#include "model/network.h"

namespace cnn {

enum class Loss { kCategoricalCrossentropy, kBinaryCrossentropy };
enum class OptimizerKind { kAdam, kRMSprop };

/// Keras's names: "categorical_crossentropy", "Adam".
const char* ToString(Loss loss);
const char* ToString(OptimizerKind kind);

// Bounds that no sensible run reaches and no arithmetic of ours overflows at.
inline constexpr std::int64_t kMaxBatch = 65536;
inline constexpr std::int64_t kMaxSteps = 100000000;
inline constexpr std::int64_t kMaxEpochs = 1000000;

struct Workload {
  std::string name;
  Network network;  // its last layer yields one logit per class, or a single one for binary
  Augmentation augmentation;
  // The experiment was also run with rescaling only; without an augmentation it was only so.
  bool has_plain_variant = false;
  Loss loss;
  OptimizerKind optimizer;
  double learning_rate;
  std::int64_t batch;
  std::int64_t steps;             // per epoch
  std::int64_t validation_steps;  // after each epoch
  std::int64_t epochs;            // with augmentation
  std::int64_t plain_epochs = 0;  // with rescaling only
};

/// Keras 2.7 tutorial experiment on 18,687 photographs in 8 classes: 42,520,584 parameters, Adam,
/// batch 32. `classes` replaces the 8 outputs for a data set with another number of classes.
Workload EightKinds(std::int64_t classes = 8);

/// Chollet's cats-and-dogs network: 3,453,121 parameters, RMSprop at 1e-4, batch 20.
Workload DogsVsCats();

/// The experiment for a data set of so many classes: DogsVsCats for two, EightKinds otherwise.
Workload WorkloadFor(std::int64_t classes);

/// How many classes its loss tells apart: one output tells two. Throws as Trace does.
std::int64_t Classes(const Workload& workload);

/// Both, in this order.
std::vector<Workload> PublishedWorkloads();

}  // namespace cnn
