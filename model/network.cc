#include "model/network.h"

#include <cstdio>
#include <functional>
#include <numeric>
#include <set>
#include <stdexcept>

namespace cnn {
namespace {

[[noreturn]] void Refuse(const Network& network, const Layer& layer, const std::string& why) {
  throw std::invalid_argument("network '" + network.name + "', layer '" + layer.name + "' (" +
                              ToString(layer.kind) + "): " + why);
}

// Fills in output and parameters of one layer from its input.
void TraceLayer(const Network& network, TracedLayer& traced) {
  const Layer& layer = traced.layer;
  const Shape& in = traced.input;
  const bool is_image = in.size() == 3;
  switch (layer.kind) {
    case LayerKind::kConv2D:
      if (!is_image) Refuse(network, layer, "needs an image, gets " + ToString(in));
      if (layer.outputs < 1 || layer.window < 1)
        Refuse(network, layer, "needs filters and a kernel");
      if (in[1] < layer.window || in[2] < layer.window) {
        Refuse(network, layer, "kernel is larger than its input " + ToString(in));
      }
      traced.output = {layer.outputs, in[1] - layer.window + 1, in[2] - layer.window + 1};
      traced.parameters = layer.outputs * (in[0] * layer.window * layer.window + 1);
      return;
    case LayerKind::kMaxPool2D:
      if (!is_image) Refuse(network, layer, "needs an image, gets " + ToString(in));
      if (layer.window < 1) Refuse(network, layer, "needs a window");
      if (in[1] < layer.window || in[2] < layer.window) {
        Refuse(network, layer, "window is larger than its input " + ToString(in));
      }
      traced.output = {in[0], in[1] / layer.window, in[2] / layer.window};
      return;
    case LayerKind::kFlatten:
      traced.output = {Elements(in)};
      return;
    case LayerKind::kDense:
      if (is_image) Refuse(network, layer, "needs a flatten layer before it, gets " + ToString(in));
      if (layer.outputs < 1) Refuse(network, layer, "needs units");
      traced.output = {layer.outputs};
      traced.parameters = layer.outputs * (in[0] + 1);
      return;
    case LayerKind::kDropout:
      if (!(layer.rate >= 0 && layer.rate < 1)) Refuse(network, layer, "rate must be in [0, 1)");
      traced.output = in;
      return;
    case LayerKind::kReLU:
      traced.output = in;
      return;
  }
}

std::string WithThousands(std::int64_t value) {
  std::string digits = std::to_string(value);
  for (int at = static_cast<int>(digits.size()) - 3; at > 0; at -= 3) {
    digits.insert(static_cast<std::size_t>(at), ",");
  }
  return digits;
}

std::string SummaryRow(const std::string& layer, const std::string& shape, std::int64_t parameters,
                       const Cost& cost, double images) {
  char row[160];
  std::snprintf(row, sizeof row, "%-24s %-16s %12s %10.3f %10.3f %9.3f %9.3f\n", layer.c_str(),
                shape.c_str(), WithThousands(parameters).c_str(), cost.forward_flops / images / 1e6,
                cost.backward_flops / images / 1e6, cost.forward_bytes / images / 1e6,
                cost.backward_bytes / images / 1e6);
  return row;
}

}  // namespace

std::int64_t Elements(const Shape& shape) {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

std::string ToString(const Shape& shape) {
  std::string text;
  for (const std::int64_t size : shape) text += (text.empty() ? "" : "x") + std::to_string(size);
  return text;
}

const char* ToString(LayerKind kind) {
  switch (kind) {
    case LayerKind::kConv2D:
      return "Conv2D";
    case LayerKind::kReLU:
      return "ReLU";
    case LayerKind::kMaxPool2D:
      return "MaxPooling2D";
    case LayerKind::kFlatten:
      return "Flatten";
    case LayerKind::kDense:
      return "Dense";
    case LayerKind::kDropout:
      return "Dropout";
  }
  return "?";
}

std::vector<TracedLayer> Trace(const Network& network) {
  if (network.layers.empty()) {
    throw std::invalid_argument("network '" + network.name + "' has no layers");
  }
  if (network.input.size() != 3 || Elements(network.input) < 1) {
    throw std::invalid_argument("network '" + network.name +
                                "': input must be channels x height x width, is " +
                                ToString(network.input));
  }
  std::vector<TracedLayer> traced;
  std::set<std::string> names;
  Shape shape = network.input;
  for (const Layer& layer : network.layers) {
    if (layer.name.empty() || !names.insert(layer.name).second) {
      Refuse(network, layer, "every layer needs a name of its own");
    }
    TracedLayer next;
    next.layer = layer;
    next.input = shape;
    next.is_first = traced.empty();
    TraceLayer(network, next);
    shape = next.output;
    traced.push_back(std::move(next));
  }
  return traced;
}

std::int64_t CountParameters(const Network& network) {
  std::int64_t total = 0;
  for (const TracedLayer& layer : Trace(network)) total += layer.parameters;
  return total;
}

Cost& Cost::operator+=(const Cost& other) {
  forward_flops += other.forward_flops;
  backward_flops += other.backward_flops;
  forward_bytes += other.forward_bytes;
  backward_bytes += other.backward_bytes;
  return *this;
}

Cost LayerCost(const TracedLayer& traced, std::int64_t batch) {
  const auto n = static_cast<double>(batch);
  const double in = n * static_cast<double>(Elements(traced.input));
  const double out = n * static_cast<double>(Elements(traced.output));
  Cost cost;
  switch (traced.layer.kind) {
    case LayerKind::kConv2D:
    case LayerKind::kDense: {
      const auto biases = static_cast<double>(traced.layer.outputs);
      const double weights = static_cast<double>(traced.parameters) - biases;
      // Each weight is used once per output position.
      const double positions = out / biases;
      const double products = 2 * positions * weights;
      cost.forward_flops = products + out;
      cost.backward_flops = products + out;  // weights and bias
      cost.forward_bytes = 4 * (in + weights + biases + out);
      cost.backward_bytes = 4 * (out + in + weights + biases);
      if (!traced.is_first) {
        cost.backward_flops += products;  // input
        cost.backward_bytes += 4 * (out + weights + in);
      }
      return cost;
    }
    case LayerKind::kReLU:
      return {in, in, 8 * in, 12 * in};
    case LayerKind::kMaxPool2D:  // + 8-byte indices of the maxima, written forward, read backward
      return {3 * out, out, 4 * in + 12 * out, 12 * out + 4 * in};
    case LayerKind::kDropout:
      return {2 * in, 2 * in, 12 * in, 12 * in};
    case LayerKind::kFlatten:
      return cost;
  }
  return cost;
}

std::string Summary(const Network& network, std::int64_t batch) {
  const std::vector<TracedLayer> layers = Trace(network);
  const auto images = static_cast<double>(batch);
  const std::string rule(96, '_');
  char head[160];
  std::snprintf(head, sizeof head, "%-24s %-16s %12s %10s %10s %9s %9s\n", "Layer (type)",
                "Output shape", "Param #", "fwd MFLOP", "bwd MFLOP", "fwd MB", "bwd MB");
  std::string text = "Network: " + network.name + ", input " + ToString(network.input) +
                     "; FLOPs and bytes per image at batch " + std::to_string(batch) + "\n" + rule +
                     "\n" + head + std::string(96, '=') + "\n";
  Cost total;
  std::int64_t parameters = 0;
  for (const TracedLayer& traced : layers) {
    const Cost cost = LayerCost(traced, batch);
    total += cost;
    parameters += traced.parameters;
    text += SummaryRow(traced.layer.name + " (" + ToString(traced.layer.kind) + ")",
                       ToString(traced.output), traced.parameters, cost, images);
  }
  text += std::string(96, '=') + "\n";
  text += SummaryRow("Total", "", parameters, total, images);
  text += "Total params: " + WithThousands(parameters) +
          "\nTrainable params: " + WithThousands(parameters) + "\nNon-trainable params: 0\n" +
          rule + "\n";
  return text;
}

}  // namespace cnn
