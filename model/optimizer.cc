#include "model/optimizer.h"

#include <ATen/ATen.h>
#include <ATen/TensorIterator.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <cmath>

// The loops below are bound by memory only when vectorised wider than x86-64's baseline; the
// program picks the variant that the CPU has.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
#define CNN_VECTOR_CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define CNN_VECTOR_CLONES
#endif

namespace cnn {
namespace {

constexpr double kBeta1 = 0.9;
constexpr double kBeta2 = 0.999;
constexpr double kRho = 0.9;
constexpr double kEpsilon = 1e-7;

bool IsPlainCpuFloat(const at::Tensor& tensor) {
  return tensor.device().is_cpu() && tensor.scalar_type() == at::kFloat;
}

// Hands `update(tensors..., n)` contiguous pieces of equally shaped tensors, on LibTorch's own
// threads. (at::parallel_for is a header template: serial unless this file were compiled with
// OpenMP too.)
template <std::size_t kTensors, typename Update>
void ForEachPiece(at::TensorIteratorConfig& config, const Update& update) {
  at::TensorIterator iterator = config.resize_outputs(false).build();
  iterator.for_each([&](char** data, const std::int64_t* strides, std::int64_t n) {
    bool contiguous = true;
    for (std::size_t i = 0; i < kTensors; ++i) contiguous &= strides[i] == sizeof(float);
    if (contiguous) {
      update(reinterpret_cast<float**>(data), n);
      return;
    }
    char* at[kTensors];
    std::copy(data, data + kTensors, at);
    for (std::int64_t k = 0; k < n; ++k) {
      update(reinterpret_cast<float**>(at), 1);
      for (std::size_t i = 0; i < kTensors; ++i) at[i] += strides[i];
    }
  });
}

CNN_VECTOR_CLONES
void AdamPiece(float* __restrict w, float* __restrict m, float* __restrict v,
               const float* __restrict g, std::int64_t n, float step_size) {
  constexpr auto b1 = static_cast<float>(kBeta1);
  constexpr auto b2 = static_cast<float>(kBeta2);
  constexpr auto epsilon = static_cast<float>(kEpsilon);
  for (std::int64_t i = 0; i < n; ++i) {
    m[i] = b1 * m[i] + (1 - b1) * g[i];
    v[i] = b2 * v[i] + (1 - b2) * g[i] * g[i];
    w[i] -= step_size * m[i] / (std::sqrt(v[i]) + epsilon);
  }
}

CNN_VECTOR_CLONES
void RMSpropPiece(float* __restrict w, float* __restrict v, const float* __restrict g,
                  std::int64_t n, float step_size) {
  constexpr auto rho = static_cast<float>(kRho);
  constexpr auto epsilon = static_cast<float>(kEpsilon);
  for (std::int64_t i = 0; i < n; ++i) {
    v[i] = rho * v[i] + (1 - rho) * g[i] * g[i];
    w[i] -= step_size * g[i] / (std::sqrt(v[i]) + epsilon);
  }
}

}  // namespace

Optimizer::Optimizer(OptimizerKind kind, double learning_rate, std::vector<at::Tensor> parameters)
    : kind_(kind), learning_rate_(learning_rate), parameters_(std::move(parameters)) {
  for (const at::Tensor& parameter : parameters_) {
    if (kind_ == OptimizerKind::kAdam) first_moments_.push_back(at::zeros_like(parameter));
    second_moments_.push_back(at::zeros_like(parameter));
  }
}

void Optimizer::Step() {
  const c10::NoGradGuard no_grad;
  ++steps_;
  double step_size = learning_rate_;
  if (kind_ == OptimizerKind::kAdam) {
    const auto t = static_cast<double>(steps_);
    step_size *= std::sqrt(1 - std::pow(kBeta2, t)) / (1 - std::pow(kBeta1, t));
  }
  if (std::all_of(parameters_.begin(), parameters_.end(), IsPlainCpuFloat)) {
    for (std::size_t i = 0; i < parameters_.size(); ++i) StepFused(parameters_[i], i, step_size);
  } else {
    StepMultiTensor(step_size);
  }
}

void Optimizer::StepFused(const at::Tensor& parameter, std::size_t index, double step_size) {
  const at::Tensor& gradient = parameter.grad();
  if (!gradient.defined()) return;
  const auto size = static_cast<float>(step_size);
  at::TensorIteratorConfig config;
  config.add_output(parameter);
  if (kind_ == OptimizerKind::kAdam) {
    config.add_output(first_moments_[index]).add_output(second_moments_[index]).add_input(gradient);
    ForEachPiece<4>(
        config, [size](float** p, std::int64_t n) { AdamPiece(p[0], p[1], p[2], p[3], n, size); });
  } else {
    config.add_output(second_moments_[index]).add_input(gradient);
    ForEachPiece<3>(config,
                    [size](float** p, std::int64_t n) { RMSpropPiece(p[0], p[1], p[2], n, size); });
  }
}

void Optimizer::StepMultiTensor(double step_size) {
  std::vector<at::Tensor> weights, gradients, first, second;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    if (!parameters_[i].grad().defined()) continue;
    weights.push_back(parameters_[i]);
    gradients.push_back(parameters_[i].grad());
    second.push_back(second_moments_[i]);
    if (kind_ == OptimizerKind::kAdam) first.push_back(first_moments_[i]);
  }
  if (weights.empty()) return;
  const double decay = kind_ == OptimizerKind::kAdam ? kBeta2 : kRho;
  at::_foreach_mul_(second, decay);
  at::_foreach_addcmul_(second, gradients, gradients, 1 - decay);
  std::vector<at::Tensor> denominators = at::_foreach_sqrt(second);
  at::_foreach_add_(denominators, kEpsilon);
  if (kind_ == OptimizerKind::kAdam) {
    at::_foreach_mul_(first, kBeta1);
    at::_foreach_add_(first, gradients, 1 - kBeta1);
    at::_foreach_addcdiv_(weights, first, denominators, -step_size);
  } else {
    at::_foreach_addcdiv_(weights, gradients, denominators, -step_size);
  }
}

void Optimizer::ClearGradients() {
  for (at::Tensor& parameter : parameters_) parameter.mutable_grad().reset();
}

}  // namespace cnn
