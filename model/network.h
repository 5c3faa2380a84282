// A network is data: one ordered table of layers. The module, the printed summary, the parameter
// counts, the FLOPs and bytes of each layer and the layer benchmarks are all derived from it.
//
// The last layer yields logits. The output activation of the published networks (softmax, sigmoid)
// is computed together with the loss, as is usual in LibTorch, and has no row of its own.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace cnn {

/// Sizes without the batch: [channels, height, width] before the flatten layer, [features] after
/// it.
using Shape = std::vector<std::int64_t>;

std::int64_t Elements(const Shape& shape);
std::string ToString(const Shape& shape);  // "32x148x148"

enum class LayerKind { kConv2D, kReLU, kMaxPool2D, kFlatten, kDense, kDropout };

/// Keras's class name of the kind: "Conv2D".
const char* ToString(LayerKind kind);

struct Layer {
  std::string name;  // unique within the network, [a-z0-9_]
  LayerKind kind;
  std::int64_t outputs = 0;  // Conv2D: filters; Dense: units
  // Side of the window. Conv2D: the kernel's (stride 1, no padding); MaxPool2D: also the stride.
  std::int64_t window = 0;
  double rate = 0;  // Dropout: share that is dropped
};

struct Network {
  std::string name;
  Shape input;  // [3, H, W]
  std::vector<Layer> layers;
};

/// One layer with what follows from its place in the network.
struct TracedLayer {
  Layer layer;
  Shape input;
  Shape output;
  std::int64_t parameters = 0;
  bool is_first = false;  // its backward pass needs no gradient of its input
};

/// Walks the table. Throws std::invalid_argument naming the layer and the shape it cannot take, a
/// name that is used twice or empty, or a size that makes no sense.
std::vector<TracedLayer> Trace(const Network& network);

std::int64_t CountParameters(const Network& network);

/// Arithmetic and compulsory memory traffic of one pass over a batch, in FLOPs and bytes of
/// float32: a multiply-add is two FLOPs, each tensor is read or written once. Per layer of batch N:
///   Conv2D C,H,W -> K,OH,OW: forward 2 N K OH OW C R S + N K OH OW; backward the same for the
///   weights,
///     and once more without the bias term for the input; Dense likewise.
///   ReLU E: E and E. MaxPool2D: 3 per output, 1 per output. Dropout E: 2 E and 2 E. Flatten: none.
struct Cost {
  double forward_flops = 0;
  double backward_flops = 0;
  double forward_bytes = 0;
  double backward_bytes = 0;

  Cost& operator+=(const Cost& other);
};
Cost LayerCost(const TracedLayer& layer, std::int64_t batch);

/// Keras's summary table with FLOPs and bytes per image at `batch` beside.
std::string Summary(const Network& network, std::int64_t batch);

}  // namespace cnn
