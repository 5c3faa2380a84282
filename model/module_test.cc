#include "model/module.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "model/workloads.h"

namespace cnn {
namespace {

std::vector<TracedLayer> Layers(const Workload& workload) { return Trace(workload.network); }

TracedLayer Find(const Workload& workload, const std::string& name) {
  for (const TracedLayer& layer : Layers(workload)) {
    if (layer.layer.name == name) return layer;
  }
  throw std::invalid_argument(name);
}

TEST(ModuleTest, HasTheTablesParameters) {
  const Workload workload = DogsVsCats();
  std::int64_t total = 0;
  for (const at::Tensor& parameter : Module(workload.network, 1, {}).Parameters()) {
    EXPECT_TRUE(parameter.requires_grad());
    total += parameter.numel();
  }
  EXPECT_EQ(total, CountParameters(workload.network));
}

TEST(ModuleTest, ForwardGivesLogits) {
  const at::Tensor images = ToDevice(at::rand({2, 3, 150, 150}), {});
  EXPECT_EQ(Module(DogsVsCats().network, 1, {}).Forward(images, false).sizes(),
            (std::vector<std::int64_t>{2, 1}));
  EXPECT_EQ(Module(EightKinds(5).network, 1, {}).Forward(images, false).sizes(),
            (std::vector<std::int64_t>{2, 5}));
}

TEST(ModuleTest, EveryLayerAloneHasItsTracedShape) {
  for (const TracedLayer& layer : Layers(DogsVsCats())) {
    std::vector<std::int64_t> sizes = {2};
    sizes.insert(sizes.end(), layer.input.begin(), layer.input.end());
    const at::Tensor output = Module(layer, 1, {}).Forward(ToDevice(at::rand(sizes), {}), true);
    EXPECT_EQ(Shape(output.sizes().begin() + 1, output.sizes().end()), layer.output)
        << layer.layer.name;
  }
}

// The network is the chain of its layers, each with the weights it has alone.
TEST(ModuleTest, LayersAloneMakeUpTheNetwork) {
  const at::Tensor images = ToDevice(at::rand({2, 3, 150, 150}), {});
  const at::Tensor whole = Module(DogsVsCats().network, 7, {}).Forward(images, false);
  at::Tensor step = images;
  for (const TracedLayer& layer : Layers(DogsVsCats())) {
    step = Module(layer, 7, {}).Forward(step, false);
  }
  EXPECT_TRUE(at::equal(whole, step));
}

// U(-l, l), l = sqrt(6 / (9 (32 + 64))) for 3 x 3 kernels from 32 to 64 channels.
TEST(ModuleTest, KernelsAreGlorotUniform) {
  const at::Tensor weight = Module(Find(EightKinds(), "conv2"), 1, {}).Parameters()[0].detach();
  const double limit = std::sqrt(6.0 / (9 * (32 + 64)));
  EXPECT_LE(weight.abs().max().item<double>(), limit);
  EXPECT_GT(weight.abs().max().item<double>(), 0.99 * limit);
  EXPECT_NEAR(weight.mean().item<double>(), 0, 0.02 * limit);
  EXPECT_NEAR(weight.std().item<double>(), limit / std::sqrt(3.0), 0.02 * limit);
}

TEST(ModuleTest, DenseWeightsAreGlorotUniformAndBiasesZero) {
  const auto parameters = Module(Find(DogsVsCats(), "dense1"), 1, {}).Parameters();
  const double limit = std::sqrt(6.0 / (6272 + 512));
  EXPECT_LE(parameters[0].abs().max().item<double>(), limit);
  EXPECT_NEAR(parameters[0].detach().std().item<double>(), limit / std::sqrt(3.0), 0.01 * limit);
  EXPECT_EQ(parameters[1].count_nonzero().item<std::int64_t>(), 0);
}

TEST(ModuleTest, WeightsFollowTheSeedAlone) {
  const TracedLayer layer = Find(DogsVsCats(), "conv3");
  const at::Tensor first = Module(layer, 1, {}).Parameters()[0];
  at::rand({100});  // LibTorch's own generator has no say
  EXPECT_TRUE(at::equal(first, Module(layer, 1, {}).Parameters()[0]));
  EXPECT_FALSE(at::equal(first, Module(layer, 2, {}).Parameters()[0]));
}

TEST(ModuleTest, DropoutWorksInTrainingOnlyAndScales) {
  Module dropout(Find(EightKinds(), "dropout1"), 1, {});
  const at::Tensor ones = at::ones({200, 512});
  EXPECT_TRUE(at::equal(dropout.Forward(ones, false), ones));
  const at::Tensor dropped = dropout.Forward(ones, true);
  const double zeros = 1 - dropped.count_nonzero().item<double>() / (200 * 512);
  EXPECT_NEAR(zeros, 0.2, 0.01);
  EXPECT_FLOAT_EQ(dropped.max().item<float>(), 1 / 0.8F);
}

TEST(ModuleTest, CpuImagesAreChannelsLast) {
  const at::Tensor image = ToDevice(at::rand({2, 3, 4, 5}), {});
  EXPECT_TRUE(image.is_contiguous(at::MemoryFormat::ChannelsLast));
  EXPECT_TRUE(ToDevice(at::rand({2, 7}), {}).is_contiguous());
}

}  // namespace
}  // namespace cnn
