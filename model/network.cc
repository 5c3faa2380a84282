#include "model/network.h"

#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>
#include <numeric>
#include <utility>

namespace cnn {
namespace {

// The layer at `index` with what it follows, to say both in an error.
struct Place {
  const Network& network;
  std::size_t index;

  const Layer& layer() const { return network.layers[index]; }

  [[noreturn]] void Refuse(const std::string& why) const { throw LayerError(network, index, why); }

  // "64x36x36 from layer 'pool2' (MaxPooling2D)"
  std::string Input(const Shape& shape) const {
    return ToString(shape) + " from " +
           (index == 0 ? "the input" : NameAndKind(network.layers[index - 1]));
  }

  void RequireImage(const Shape& in) const {
    if (in.size() != 3) Refuse("needs an image, gets " + Input(in));
  }

  void RequireSize(const char* what, std::int64_t size, std::int64_t limit) const {
    if (size >= 1 && size <= limit) return;
    Refuse(std::string(what) + " must be from 1 to " + std::to_string(limit) + ", is " +
           std::to_string(size));
  }

  void RequireWindow(const char* what, const Shape& in) const {
    RequireSize(what, layer().window, kMaxSide);
    if (in[1] >= layer().window && in[2] >= layer().window) return;
    const std::string side = std::to_string(layer().window);
    Refuse(std::string(what) + " of " + side + "x" + side + " is larger than its input, gets " +
           Input(in));
  }
};

// Fills in output and parameters of one layer from its input.
void TraceLayer(const Place& place, TracedLayer& traced) {
  const Layer& layer = traced.layer;
  const Shape& in = traced.input;
  switch (layer.kind) {
    case LayerKind::kConv2D:
      place.RequireImage(in);
      place.RequireSize("filters", layer.outputs, kMaxOutputs);
      place.RequireWindow("a kernel", in);
      traced.output = {layer.outputs, in[1] - layer.window + 1, in[2] - layer.window + 1};
      traced.parameters = layer.outputs * (in[0] * layer.window * layer.window + 1);
      return;
    case LayerKind::kMaxPool2D:
      place.RequireImage(in);
      place.RequireWindow("a window", in);
      traced.output = {in[0], in[1] / layer.window, in[2] / layer.window};
      return;
    case LayerKind::kFlatten:
      traced.output = {Elements(in)};
      return;
    case LayerKind::kDense:
      if (in.size() == 3) {
        place.Refuse("needs a Flatten layer before it, gets " + place.Input(in));
      }
      place.RequireSize("units", layer.outputs, kMaxOutputs);
      traced.output = {layer.outputs};
      traced.parameters = layer.outputs * (in[0] + 1);
      return;
    case LayerKind::kDropout:
      if (!(layer.rate >= 0 && layer.rate < 1)) place.Refuse("rate must be from 0 to below 1");
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

std::string NameAndKind(const Layer& layer) {
  return "layer '" + layer.name + "' (" + ToString(layer.kind) + ")";
}

LayerError::LayerError(const Network& network, std::size_t index, const std::string& why)
    : std::invalid_argument("network '" + network.name + "', " +
                            NameAndKind(network.layers[index]) + ", number " +
                            std::to_string(index + 1) + ": " + why),
      layer(index),
      reason(why) {}

std::vector<TracedLayer> Trace(const Network& network) {
  if (network.layers.empty()) {
    throw std::invalid_argument("network '" + network.name + "' has no layers");
  }
  const auto is_side = [](std::int64_t size) { return size >= 1 && size <= kMaxSide; };
  if (network.input.size() != 3 ||
      !std::all_of(network.input.begin(), network.input.end(), is_side)) {
    throw std::invalid_argument("network '" + network.name +
                                "': input must be channels x height x width, each from 1 to " +
                                std::to_string(kMaxSide) + ", is " + ToString(network.input));
  }
  std::vector<TracedLayer> traced;
  std::map<std::string, std::size_t> names;
  Shape shape = network.input;
  std::int64_t parameters = 0;
  for (std::size_t i = 0; i < network.layers.size(); ++i) {
    const Place place{network, i};
    const Layer& layer = network.layers[i];
    if (layer.name.empty()) place.Refuse("every layer needs a name of its own");
    const auto [namesake, is_new] = names.emplace(layer.name, i);
    if (!is_new) {
      place.Refuse("every layer needs a name of its own, and this one is that of number " +
                   std::to_string(namesake->second + 1));
    }
    TracedLayer next;
    next.layer = layer;
    next.input = shape;
    next.needs_input_gradient = parameters > 0;
    TraceLayer(place, next);
    shape = next.output;
    // A product of two bounded numbers each, so that neither has overflowed.
    parameters += next.parameters;
    if (Elements(shape) > kMaxValues) {
      place.Refuse("gives " + ToString(shape) + ", more than " + std::to_string(kMaxValues) +
                   " values an image");
    }
    if (parameters > kMaxParameters) {
      place.Refuse("brings the network to " + std::to_string(parameters) +
                   " parameters, more than " + std::to_string(kMaxParameters));
    }
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
      if (traced.needs_input_gradient) {
        cost.backward_flops += products;  // input
        cost.backward_bytes += 4 * (out + weights + in);
      }
      return cost;
    }
    case LayerKind::kReLU:
      cost = {in, in, 8 * in, 12 * in};
      break;
    case LayerKind::kMaxPool2D:  // + 8-byte indices of the maxima, written forward, read backward
      cost = {3 * out, out, 4 * in + 12 * out, 12 * out + 4 * in};
      break;
    case LayerKind::kDropout:
      cost = {2 * in, 2 * in, 12 * in, 12 * in};
      break;
    case LayerKind::kFlatten:
      break;
  }
  if (!traced.HasBackward()) cost.backward_flops = cost.backward_bytes = 0;
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
