#include "model/workloads.h"

namespace cnn {
namespace {

constexpr auto kConv2D = LayerKind::kConv2D;
constexpr auto kReLU = LayerKind::kReLU;
constexpr auto kMaxPool2D = LayerKind::kMaxPool2D;
constexpr auto kFlatten = LayerKind::kFlatten;
constexpr auto kDense = LayerKind::kDense;
constexpr auto kDropout = LayerKind::kDropout;

}  // namespace

const char* ToString(Loss loss) {
  return loss == Loss::kCategoricalCrossentropy ? "categorical_crossentropy"
                                                : "binary_crossentropy";
}

const char* ToString(OptimizerKind kind) {
  return kind == OptimizerKind::kAdam ? "Adam" : "RMSprop";
}

Workload EightKinds(std::int64_t classes) {
  Workload workload;
  workload.name = "eight_kinds";
  // name, kind, outputs, window, rate
  workload.network = {workload.name,
                      {3, 150, 150},
                      {{"conv1", kConv2D, 32, 3, 0},
                       {"relu1", kReLU, 0, 0, 0},
                       {"pool1", kMaxPool2D, 0, 2, 0},
                       {"conv2", kConv2D, 64, 3, 0},
                       {"relu2", kReLU, 0, 0, 0},
                       {"pool2", kMaxPool2D, 0, 2, 0},
                       {"flatten", kFlatten, 0, 0, 0},
                       {"dense1", kDense, 512, 0, 0},
                       {"relu3", kReLU, 0, 0, 0},
                       {"dropout1", kDropout, 0, 0, 0.2},
                       {"dense2", kDense, 64, 0, 0},
                       {"relu4", kReLU, 0, 0, 0},
                       {"dropout2", kDropout, 0, 0, 0.2},
                       {"dense3", kDense, classes, 0, 0}}};
  workload.augmentation.rotation_range = 20;  // tools/peers/workloads.py has the ranges too
  workload.augmentation.shear_range = 0.2;
  workload.augmentation.zoom_range = 0.2;
  workload.augmentation.horizontal_flip = true;
  workload.loss = Loss::kCategoricalCrossentropy;
  workload.optimizer = OptimizerKind::kAdam;
  workload.learning_rate = 1e-3;
  workload.batch = 32;
  workload.steps = 1000;
  workload.validation_steps = 10;
  workload.epochs = 5;
  return workload;
}

Workload DogsVsCats() {
  Workload workload;
  workload.name = "dogs_vs_cats";
  workload.network = {workload.name,
                      {3, 150, 150},
                      {{"conv1", kConv2D, 32, 3, 0},
                       {"relu1", kReLU, 0, 0, 0},
                       {"pool1", kMaxPool2D, 0, 2, 0},
                       {"conv2", kConv2D, 64, 3, 0},
                       {"relu2", kReLU, 0, 0, 0},
                       {"pool2", kMaxPool2D, 0, 2, 0},
                       {"conv3", kConv2D, 128, 3, 0},
                       {"relu3", kReLU, 0, 0, 0},
                       {"pool3", kMaxPool2D, 0, 2, 0},
                       {"conv4", kConv2D, 128, 3, 0},
                       {"relu4", kReLU, 0, 0, 0},
                       {"pool4", kMaxPool2D, 0, 2, 0},
                       {"flatten", kFlatten, 0, 0, 0},
                       {"dense1", kDense, 512, 0, 0},
                       {"relu5", kReLU, 0, 0, 0},
                       {"dense2", kDense, 1, 0, 0}}};
  workload.augmentation.rotation_range = 40;
  workload.augmentation.height_shift_range = 0.2;
  workload.augmentation.width_shift_range = 0.2;
  workload.augmentation.shear_range = 0.2;
  workload.augmentation.zoom_range = 0.2;
  workload.augmentation.horizontal_flip = true;
  workload.has_plain_variant = true;
  workload.loss = Loss::kBinaryCrossentropy;
  workload.optimizer = OptimizerKind::kRMSprop;
  workload.learning_rate = 1e-4;
  workload.batch = 20;
  workload.steps = 100;
  workload.validation_steps = 50;
  workload.epochs = 100;
  workload.plain_epochs = 30;
  return workload;
}

Workload WorkloadFor(std::int64_t classes) {
  return classes == 2 ? DogsVsCats() : EightKinds(classes);
}

std::int64_t Classes(const Workload& workload) {
  if (workload.loss == Loss::kBinaryCrossentropy) return 2;
  return Elements(Trace(workload.network).back().output);
}

std::vector<Workload> PublishedWorkloads() { return {EightKinds(), DogsVsCats()}; }

}  // namespace cnn
