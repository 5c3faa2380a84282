#include "model/optimizer.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

namespace cnn {
namespace {

// Keras's formulas for one weight, in double.
struct Reference {
  OptimizerKind kind;
  double rate;
  double w;
  double m = 0;
  double v = 0;
  int t = 0;

  void Step(double g) {
    ++t;
    if (kind == OptimizerKind::kAdam) {
      m = 0.9 * m + 0.1 * g;
      v = 0.999 * v + 0.001 * g * g;
      w -= rate * std::sqrt(1 - std::pow(0.999, t)) / (1 - std::pow(0.9, t)) * m /
           (std::sqrt(v) + 1e-7);
    } else {
      v = 0.9 * v + 0.1 * g * g;
      w -= rate * g / (std::sqrt(v) + 1e-7);
    }
  }
};

double Gradient(std::int64_t index, int step) {
  return std::sin(static_cast<double>(index) + 1) * (step % 3 == 0 ? -0.7 : 1.3) /
         (1 + static_cast<double>(step));
}

// Steps a parameter of `n` values eight times and compares every value with the reference. Float
// runs through the fused loop, double through LibTorch's multi-tensor operations.
void ExpectKeras(OptimizerKind kind, at::ScalarType type, double rate, double tolerance) {
  constexpr std::int64_t n = 1003;  // no multiple of a vector's width
  at::Tensor parameter = at::zeros({n}, type);
  std::vector<Reference> references;
  for (std::int64_t i = 0; i < n; ++i) {
    references.push_back({kind, rate, 0.01 * static_cast<double>(i % 17)});
    parameter[i] = references.back().w;
  }
  parameter.requires_grad_();
  Optimizer optimizer(kind, rate, {parameter});
  for (int step = 0; step < 8; ++step) {
    at::Tensor gradient = at::zeros({n}, type);
    for (std::int64_t i = 0; i < n; ++i) {
      gradient[i] = Gradient(i, step);
      references[static_cast<std::size_t>(i)].Step(Gradient(i, step));
    }
    parameter.mutable_grad() = gradient;
    optimizer.Step();
    EXPECT_TRUE(at::equal(parameter.grad(), gradient)) << "the gradient was changed";
  }
  for (std::int64_t i = 0; i < n; ++i) {
    EXPECT_NEAR(parameter[i].item<double>(), references[static_cast<std::size_t>(i)].w, tolerance)
        << "weight " << i;
  }
}

TEST(OptimizerTest, AdamFused) { ExpectKeras(OptimizerKind::kAdam, at::kFloat, 1e-3, 1e-7); }
TEST(OptimizerTest, AdamMultiTensor) {
  ExpectKeras(OptimizerKind::kAdam, at::kDouble, 1e-3, 1e-12);
}
TEST(OptimizerTest, RMSpropFused) { ExpectKeras(OptimizerKind::kRMSprop, at::kFloat, 1e-4, 1e-7); }
TEST(OptimizerTest, RMSpropMultiTensor) {
  ExpectKeras(OptimizerKind::kRMSprop, at::kDouble, 1e-4, 1e-12);
}

// Three steps by hand, w = 1, g = 0.5, -0.25, 1, with pencil and the formulas.
// Adam, rate 0.1: m = .05, .02, .118; v = 2.5e-4, 3.1225e-4, 1.31193775e-3;
//   corrected rates .1 sqrt(1-.999^t)/(1-.9^t) = .0316228, .0235317, .0202011.
TEST(OptimizerTest, AdamByHand) {
  at::Tensor w = at::ones({1}).requires_grad_();
  Optimizer optimizer(OptimizerKind::kAdam, 0.1, {w});
  const double gradients[] = {0.5, -0.25, 1};
  const double expected[] = {0.9000006, 0.8733671, 0.8075561};
  for (int i = 0; i < 3; ++i) {
    w.mutable_grad() = at::full({1}, gradients[i]);
    optimizer.Step();
    EXPECT_NEAR(w.item<double>(), expected[i], 2e-6) << "step " << i + 1;
  }
}

// RMSprop, rate 0.1: v = .025, .02875, .125875; w -= .1 g / (sqrt(v) + 1e-7).
TEST(OptimizerTest, RMSpropByHand) {
  at::Tensor w = at::ones({1}).requires_grad_();
  Optimizer optimizer(OptimizerKind::kRMSprop, 0.1, {w});
  const double gradients[] = {0.5, -0.25, 1};
  const double expected[] = {0.6837724, 0.8312143, 0.5493565};
  for (int i = 0; i < 3; ++i) {
    w.mutable_grad() = at::full({1}, gradients[i]);
    optimizer.Step();
    EXPECT_NEAR(w.item<double>(), expected[i], 2e-6) << "step " << i + 1;
  }
}

// Keras adds epsilon before the bias correction: with tiny gradients the first step is far from lr.
TEST(OptimizerTest, EpsilonStandsBeforeTheBiasCorrection) {
  at::Tensor w = at::zeros({1}).requires_grad_();
  Optimizer optimizer(OptimizerKind::kAdam, 1e-3, {w});
  w.mutable_grad() = at::full({1}, 1e-7);
  optimizer.Step();
  const double root = std::sqrt(1e-3) * 1e-7;
  EXPECT_NEAR(w.item<double>(), -1e-3 * std::sqrt(1e-3) * 1e-7 / (root + 1e-7), 1e-8);
}

// The gradient of a channels-last convolution may be laid out unlike its weight.
TEST(OptimizerTest, GradientsMayBeLaidOutDifferently) {
  const at::Tensor start = at::rand({4, 3, 5, 5});
  const at::Tensor gradient = at::rand({4, 3, 5, 5}) - 0.5;
  std::vector<at::Tensor> results;
  for (const auto format : {at::MemoryFormat::Contiguous, at::MemoryFormat::ChannelsLast}) {
    at::Tensor w = start.clone().requires_grad_();
    Optimizer optimizer(OptimizerKind::kAdam, 1e-2, {w});
    for (int i = 0; i < 3; ++i) {
      w.mutable_grad() = gradient.contiguous(format);
      optimizer.Step();
    }
    results.push_back(w.detach());
  }
  EXPECT_TRUE(at::allclose(results[0], results[1], 0, 1e-7));
  EXPECT_FALSE(at::equal(results[0], start));
}

TEST(OptimizerTest, ParametersWithoutGradientStay) {
  at::Tensor with = at::ones({3}).requires_grad_();
  at::Tensor without = at::ones({3}).requires_grad_();
  for (const auto kind : {OptimizerKind::kAdam, OptimizerKind::kRMSprop}) {
    Optimizer optimizer(kind, 0.1, {without, with});
    with.mutable_grad() = at::ones({3});
    optimizer.Step();
    EXPECT_TRUE(at::equal(without, at::ones({3})));
    EXPECT_FALSE(at::equal(with, at::ones({3})));
  }
}

TEST(OptimizerTest, ClearGradientsDropsThem) {
  at::Tensor w = at::ones({3}).requires_grad_();
  Optimizer optimizer(OptimizerKind::kAdam, 0.1, {w});
  w.mutable_grad() = at::ones({3});
  optimizer.ClearGradients();
  EXPECT_FALSE(w.grad().defined());
}

}  // namespace
}  // namespace cnn
