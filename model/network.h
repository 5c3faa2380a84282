// A network is data: one ordered table of layers. The module, the printed summary, the parameter
// counts, the FLOPs and bytes of each layer and the layer benchmarks are all derived from it.
//
// The last layer yields logits. The output activation of the published networks (softmax, sigmoid)
// is computed together with the loss, as is usual in LibTorch, and has no row of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
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

inline constexpr LayerKind kLayerKinds[] = {LayerKind::kConv2D,    LayerKind::kReLU,
                                            LayerKind::kMaxPool2D, LayerKind::kFlatten,
                                            LayerKind::kDense,     LayerKind::kDropout};

// Bounds that no network of images reaches and no 64-bit arithmetic of ours overflows at.
inline constexpr std::int64_t kMaxSide = 4096;                      // of the input and a window
inline constexpr std::int64_t kMaxOutputs = std::int64_t{1} << 20;  // filters or units
inline constexpr std::int64_t kMaxValues = std::int64_t{1} << 30;   // that a layer gives an image
inline constexpr std::int64_t kMaxParameters = std::int64_t{1} << 31;  // of a network

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
  // False up to the first layer with parameters: nothing before that learns, so that no backward
  // pass goes further. A layer without parameters then has no backward pass at all.
  bool needs_input_gradient = false;

  bool HasBackward() const { return needs_input_gradient || parameters > 0; }
};

/// What is wrong with one layer of a table: its index, and the reason without the layer's own name.
struct LayerError : std::invalid_argument {
  LayerError(const Network& network, std::size_t index, const std::string& why);
  std::size_t layer;
  std::string reason;
};

/// "layer 'conv1' (Conv2D)"
std::string NameAndKind(const Layer& layer);

/// Walks the table. Throws LayerError naming the layer and the shape it cannot take with the layer
/// that gives it, a name that is used twice or empty, a size that makes no sense or is beyond the
/// bounds above; std::invalid_argument when the input is no image or there are no layers.
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
