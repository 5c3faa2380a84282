// Adam and RMSprop as Keras 2.7 computes them, which is not quite as torch::optim does: Keras's
// Adam adds epsilon to sqrt(v) before the bias correction, its RMSprop decays by 0.9 with epsilon
// 1e-7.
//
// On the CPU one pass over each parameter reads and writes every value once (28 bytes per parameter
// for Adam, against about 80 for a chain of tensor operations): the first network's 42.5 million
// parameters make its step bound by memory. On other devices LibTorch's multi-tensor operations do
// it.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "model/workloads.h"

namespace cnn {

class Optimizer {
 public:
  /// `parameters` are leaves that require gradients; they stay on their device.
  Optimizer(OptimizerKind kind, double learning_rate, std::vector<at::Tensor> parameters);

  /// One update from the parameters' gradients, which it leaves as they are. A parameter without
  /// gradient is passed over.
  ///   Adam (lr, b1 = .9, b2 = .999, e = 1e-7), t counted from 1:
  ///     m <- b1 m + (1 - b1) g,  v <- b2 v + (1 - b2) g^2,
  ///     w <- w - lr sqrt(1 - b2^t) / (1 - b1^t) m / (sqrt(v) + e)
  ///   RMSprop (lr, rho = .9, e = 1e-7):
  ///     v <- rho v + (1 - rho) g^2,  w <- w - lr g / (sqrt(v) + e)
  void Step();

  /// Drops the gradients: the next backward pass stores instead of adding.
  void ClearGradients();

  /// What a checkpoint keeps. Moments stand in the parameters' order; RMSprop has no first ones.
  std::int64_t steps() const { return steps_; }
  void set_steps(std::int64_t steps) { steps_ = steps; }
  const std::vector<at::Tensor>& first_moments() const { return first_moments_; }
  const std::vector<at::Tensor>& second_moments() const { return second_moments_; }

 private:
  void StepFused(const at::Tensor& parameter, std::size_t index, double step_size);
  void StepMultiTensor(double step_size);

  OptimizerKind kind_;
  double learning_rate_;
  std::int64_t steps_ = 0;
  std::vector<at::Tensor> parameters_;
  std::vector<at::Tensor> first_moments_;  // Adam only
  std::vector<at::Tensor> second_moments_;
};

}  // namespace cnn
