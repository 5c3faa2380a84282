#include "model/module.h"

#include <torch/nn/modules/activation.h>
#include <torch/nn/modules/container/sequential.h>
#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/dropout.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/modules/pooling.h>

#include <cmath>

#include "dataset/hash.h"
#include "dataset/random.h"

namespace cnn {
namespace {

// Keyed by the layer's name, so that a layer has the same weights alone and in its network.
std::uint64_t NameKey(const std::string& name) {
  Fnv1a hash;
  hash.Add(name);
  return hash.hash();
}

// `weight` is [outputs, inputs] or [outputs, inputs, kernel, kernel].
void InitializeGlorotUniform(at::Tensor& weight, at::Tensor& bias, const std::string& layer,
                             std::uint64_t seed) {
  const c10::NoGradGuard no_grad;
  const double area = weight.dim() == 4 ? static_cast<double>(weight.size(2) * weight.size(3)) : 1;
  const double fans = area * static_cast<double>(weight.size(0) + weight.size(1));
  const double limit = std::sqrt(6 / fans);
  KeyedRandom random({seed, NameKey(layer)});
  auto* values = weight.data_ptr<float>();
  for (std::int64_t i = 0; i < weight.numel(); ++i) {
    values[i] = static_cast<float>(random.Uniform(-limit, limit));
  }
  bias.zero_();
}

void Append(torch::nn::SequentialImpl& sequential, const TracedLayer& traced, std::uint64_t seed) {
  const Layer& layer = traced.layer;
  switch (layer.kind) {
    case LayerKind::kConv2D: {
      torch::nn::Conv2d conv(
          torch::nn::Conv2dOptions(traced.input[0], layer.outputs, layer.window));
      InitializeGlorotUniform(conv->weight, conv->bias, layer.name, seed);
      sequential.push_back(std::string(layer.name), conv);
      return;
    }
    case LayerKind::kDense: {
      torch::nn::Linear linear(traced.input[0], layer.outputs);
      InitializeGlorotUniform(linear->weight, linear->bias, layer.name, seed);
      sequential.push_back(std::string(layer.name), linear);
      return;
    }
    case LayerKind::kReLU:
      sequential.push_back(std::string(layer.name), torch::nn::ReLU());
      return;
    case LayerKind::kMaxPool2D:
      sequential.push_back(std::string(layer.name), torch::nn::MaxPool2d(layer.window));
      return;
    case LayerKind::kFlatten:
      sequential.push_back(std::string(layer.name), torch::nn::Flatten());
      return;
    case LayerKind::kDropout:
      sequential.push_back(std::string(layer.name), torch::nn::Dropout(layer.rate));
      return;
  }
}

std::shared_ptr<torch::nn::SequentialImpl> MakeSequential(const std::vector<TracedLayer>& layers,
                                                          std::uint64_t seed,
                                                          const Device& device) {
  auto sequential = std::make_shared<torch::nn::SequentialImpl>();
  for (const TracedLayer& layer : layers) Append(*sequential, layer, seed);
  for (at::Tensor& parameter : sequential->parameters()) {
    parameter.set_data(ToDevice(parameter.detach(), device));
  }
  return sequential;
}

}  // namespace

at::Device TorchDevice(const Device& device) {
  if (!device.IsCuda()) return at::kCPU;
  return {at::kCUDA, static_cast<c10::DeviceIndex>(device.index)};
}

Module::Module(const Network& network, std::uint64_t seed, const Device& device)
    : sequential_(MakeSequential(Trace(network), seed, device)) {}

Module::Module(const TracedLayer& layer, std::uint64_t seed, const Device& device)
    : sequential_(MakeSequential({layer}, seed, device)) {}

at::Tensor Module::Forward(const at::Tensor& input, bool training) {
  if (sequential_->is_training() != training) sequential_->train(training);
  return sequential_->forward(input);
}

std::vector<at::Tensor> Module::Parameters() const { return sequential_->parameters(); }

std::vector<std::pair<std::string, at::Tensor>> Module::NamedParameters() const {
  std::vector<std::pair<std::string, at::Tensor>> named;
  for (const auto& item : sequential_->named_parameters()) {
    named.emplace_back(item.key(), item.value());
  }
  return named;
}

at::Tensor ToDevice(const at::Tensor& host, const Device& device) {
  const auto format = host.dim() == 4 && !device.IsCuda() ? at::MemoryFormat::ChannelsLast
                                                          : at::MemoryFormat::Contiguous;
  return host.to(TorchDevice(device), /*non_blocking=*/true).contiguous(format);
}

}  // namespace cnn
