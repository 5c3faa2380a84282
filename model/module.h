// The LibTorch module of a layer table, with Keras's initial weights.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "model/device.h"
#include "model/network.h"

namespace torch::nn {
class SequentialImpl;
}

namespace cnn {

/// c10's name for a device.
at::Device TorchDevice(const Device& device);

/// A torch::nn::Sequential whose sub-modules bear the layers' names. Tensors are [N, C, H, W] or
/// [N, features], float32. On the CPU images and kernels are laid out channels-last (as in Keras),
/// in which LibTorch pools faster; on a GPU in LibTorch's own order.
///
/// Flatten takes the values in LibTorch's order (channel, row, column), Keras in its own (row,
/// column, channel): the same network up to a permutation of the first dense layer's inputs.
class Module {
 public:
  /// Weights are Glorot uniform, U(-l, l) with l = sqrt(6 / (fan_in + fan_out)), fans including the
  /// kernel's area, as Keras has it; a function of (seed, layer's name, index) alone. Biases are
  /// zero.
  Module(const Network& network, std::uint64_t seed, const Device& device);

  /// One layer of a traced network, with the weights it has there.
  Module(const TracedLayer& layer, std::uint64_t seed, const Device& device);

  /// Logits. `training` switches dropout on.
  at::Tensor Forward(const at::Tensor& input, bool training);

  std::vector<at::Tensor> Parameters() const;
  /// The same in the same order, named "conv1.weight", "conv1.bias".
  std::vector<std::pair<std::string, at::Tensor>> NamedParameters() const;

 private:
  std::shared_ptr<torch::nn::SequentialImpl> sequential_;
};

/// A batch-like tensor in the layout that Module works on, moved from `host` ([N, C, H, W] or [N,
/// F]).
at::Tensor ToDevice(const at::Tensor& host, const Device& device);

}  // namespace cnn
