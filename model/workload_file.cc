#include "model/workload_file.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

#include "dataset/text.h"
#include "model/json_tree.h"

namespace cnn {
namespace {

constexpr std::size_t kMaxBytes = std::size_t{1} << 20;
constexpr std::size_t kMaxNetworks = 100;
constexpr std::size_t kMaxLayers = 1000;
constexpr std::size_t kMaxNameSize = 64;
constexpr double kMaxLearningRate = 1000;

// What a file may leave out. Both of Keras's optimisers have this learning rate.
constexpr double kDefaultLearningRate = 1e-3;
constexpr std::int64_t kDefaultBatch = 32;
constexpr std::int64_t kDefaultSteps = 100;
constexpr std::int64_t kDefaultValidationSteps = 10;
constexpr std::int64_t kDefaultEpochs = 5;

template <typename Value>
using Words = std::vector<std::pair<std::string, Value>>;

template <typename Value, typename Values>
Words<Value> WordsOf(const Values& values) {
  Words<Value> words;
  for (const Value value : values) words.emplace_back(ToString(value), value);
  return words;
}

Words<LayerKind> KindWords() { return WordsOf<LayerKind>(kLayerKinds); }

const Words<Loss> kLosses =
    WordsOf<Loss>(std::array{Loss::kCategoricalCrossentropy, Loss::kBinaryCrossentropy});
const Words<OptimizerKind> kOptimizers =
    WordsOf<OptimizerKind>(std::array{OptimizerKind::kAdam, OptimizerKind::kRMSprop});

const std::vector<std::string> kWorkloadKeys = {
    "name",      "input",        "layers",      "loss",
    "optimizer", "batch",        "steps",       "validation_steps",
    "epochs",    "plain_epochs", "augmentation"};

std::vector<std::string> LayerKeys(LayerKind kind) {
  switch (kind) {
    case LayerKind::kConv2D:
      return {"name", "kind", "filters", "kernel_size"};
    case LayerKind::kMaxPool2D:
      return {"name", "kind", "pool_size"};
    case LayerKind::kDense:
      return {"name", "kind", "units"};
    case LayerKind::kDropout:
      return {"name", "kind", "rate"};
    case LayerKind::kReLU:
    case LayerKind::kFlatten:
      break;
  }
  return {"name", "kind"};
}

// What Keras has as arguments or layers and a table of this form says otherwise.
const std::map<std::string, std::string> kHints = {
    {"activation", "an activation is a layer of its own, {\"kind\": \"ReLU\"}"},
    {"strides", "a convolution has stride 1, and pooling that of its window"},
    {"padding", "there is no padding"},
    {"input_shape", "the network's 'input' says it"},
    {"Softmax", "the loss includes it: leave the layer out"},
    {"softmax", "the loss includes it: leave the layer out"},
    {"Sigmoid", "the loss includes it: leave the layer out"},
    {"sigmoid", "the loss includes it: leave the layer out"},
    {"Activation", "an activation is a layer of its own kind, ReLU"},
    {"InputLayer", "the network's 'input' says it: leave the layer out"},
    {"sparse_categorical_crossentropy",
     "that is how labels are stored, which here the program does: categorical_crossentropy"},
};

// "; did you mean 'filters'?" where a word is near enough.
std::string Suggestion(const std::string& word, const std::vector<std::string>& known) {
  const auto hint = kHints.find(word);
  if (hint != kHints.end()) return "; " + hint->second;
  std::pair<std::size_t, std::string> nearest(std::max<std::size_t>(2, word.size() / 3) + 1, "");
  for (const std::string& candidate : known) {
    nearest = std::min(nearest, {EditDistance(word, candidate), candidate});
  }
  return nearest.second.empty() ? "" : "; did you mean '" + nearest.second + "'?";
}

std::string Join(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

// A value as an error shows it.
std::string Show(const JsonNode& node) {
  constexpr std::size_t kShown = 40;
  switch (node.kind) {
    case JsonNode::Kind::kString:
      return "\"" + node.text.substr(0, kShown) + (node.text.size() > kShown ? "..." : "") + "\"";
    case JsonNode::Kind::kArray:
      return "a list";
    case JsonNode::Kind::kObject:
      return "an object";
    default:
      return node.text.substr(0, kShown);
  }
}

// 0.5 and 20, each in as few digits as tell it apart.
std::string NumberText(double value) {
  constexpr double kExact = 1e15;
  if (value == std::floor(value) && std::abs(value) < kExact) {
    return std::to_string(static_cast<std::int64_t>(value));
  }
  return nlohmann::json(value).dump();
}

struct Range {
  double low, high;
  bool has_low = true, has_high = true;  // the ends themselves

  bool Contains(double value) const {
    return (has_low ? value >= low : value > low) && (has_high ? value <= high : value < high);
  }
  std::string Text() const {
    return (has_low ? "from " : "above ") + NumberText(low) + (has_high ? " to " : " to below ") +
           NumberText(high);
  }
};

// Where something stands, for errors: "nets.json: line 8, layers[3] 'dense1' (Dense): ".
struct Place {
  std::string file;
  std::string path;  // "" for the whole

  [[noreturn]] void Fail(int line, const std::string& why) const {
    throw std::runtime_error(file + ": line " + std::to_string(line) +
                             (path.empty() ? "" : ", " + path) + ": " + why);
  }

  Place Below(const std::string& part) const {
    return {file, path.empty() ? part : path + ", " + part};
  }
};

// The values of an object, each checked when it is taken.
class ObjectReader {
 public:
  ObjectReader(const JsonNode& node, Place place) : node_(node), place_(std::move(place)) {
    if (node.kind != JsonNode::Kind::kObject) {
      place_.Fail(node.line, "must be an object in braces, is " + Show(node));
    }
  }

  const Place& place() const { return place_; }
  int line() const { return node_.line; }
  const JsonNode* Find(const std::string& key) const { return node_.Find(key); }

  // Every key must be one of `keys`; `owner` is what has them.
  void RequireKeys(const std::string& owner, const std::vector<std::string>& keys) const {
    for (const JsonNode& item : node_.items) {
      if (std::find(keys.begin(), keys.end(), item.key) != keys.end()) continue;
      const std::string suggestion = Suggestion(item.key, keys);
      const bool is_question = !suggestion.empty() && suggestion.back() == '?';
      place_.Fail(item.key_line, "unknown key '" + item.key.substr(0, kMaxNameSize) + "'" +
                                     suggestion + (is_question ? " " : "; ") + owner + " has " +
                                     Join(keys));
    }
  }

  const JsonNode& Require(const std::string& key, const std::string& what) const {
    if (const JsonNode* value = Find(key)) return *value;
    place_.Fail(node_.line, "'" + key + "' is missing: " + what);
  }

  // [a-z0-9_]+: it becomes part of the names of benchmarks.
  std::string Name(const std::string& key) const {
    static const std::string kAlphabet = "abcdefghijklmnopqrstuvwxyz0123456789_";
    const std::string what =
        "a name of small letters, digits and '_', at most " + std::to_string(kMaxNameSize);
    const JsonNode& value = Require(key, what);
    const bool is_name = value.kind == JsonNode::Kind::kString && !value.text.empty() &&
                         value.text.size() <= kMaxNameSize &&
                         value.text.find_first_not_of(kAlphabet) == std::string::npos;
    if (!is_name) Refuse(value, key, "must be " + what);
    return value.text;
  }

  std::int64_t Whole(const std::string& key, std::int64_t high) const {
    const std::string what = "a whole number from 1 to " + std::to_string(high);
    const JsonNode& value = Require(key, what);
    if (value.kind != JsonNode::Kind::kWhole || value.whole < 1 || value.whole > high) {
      Refuse(value, key, "must be " + what);
    }
    return value.whole;
  }

  std::int64_t WholeOr(const std::string& key, std::int64_t high, std::int64_t otherwise) const {
    return Find(key) != nullptr ? Whole(key, high) : otherwise;
  }

  double Real(const std::string& key, const Range& range) const {
    const std::string what = "a number " + range.Text();
    const JsonNode& value = Require(key, what);
    const bool is_number =
        value.kind == JsonNode::Kind::kWhole || value.kind == JsonNode::Kind::kReal;
    if (!is_number || !range.Contains(value.number)) Refuse(value, key, "must be " + what);
    return value.number;
  }

  double RealOr(const std::string& key, const Range& range, double otherwise) const {
    return Find(key) != nullptr ? Real(key, range) : otherwise;
  }

  bool BooleanOr(const std::string& key, bool otherwise) const {
    const JsonNode* value = Find(key);
    if (value == nullptr) return otherwise;
    if (value->kind != JsonNode::Kind::kBoolean) Refuse(*value, key, "must be true or false");
    return value->boolean;
  }

  template <typename Value>
  Value Word(const std::string& key, const Words<Value>& words) const {
    std::vector<std::string> known;
    for (const auto& [word, meaning] : words) known.push_back(word);
    const JsonNode& value = Require(key, "one of " + Join(known));
    if (value.kind != JsonNode::Kind::kString) Refuse(value, key, "must be one of " + Join(known));
    for (const auto& [word, meaning] : words) {
      if (word == value.text) return meaning;
    }
    Refuse(value, key, "must be one of " + Join(known), Suggestion(value.text, known));
  }

  [[noreturn]] void Refuse(const JsonNode& value, const std::string& key, const std::string& must,
                           const std::string& hint = "") const {
    place_.Below(key).Fail(value.line, must + ", is " + Show(value) + hint);
  }

 private:
  const JsonNode& node_;
  Place place_;
};

// "layers[3] 'dense1' (Dense)", as far as the table says so.
std::string LayerPath(std::size_t index, const JsonNode& node) {
  std::string path = "layers[" + std::to_string(index) + "]";
  const JsonNode* name = node.Find("name");
  if (name != nullptr && name->kind == JsonNode::Kind::kString) {
    path += " '" + name->text.substr(0, kMaxNameSize) + "'";
  }
  const JsonNode* kind = node.Find("kind");
  if (kind != nullptr && kind->kind == JsonNode::Kind::kString) {
    path += " (" + kind->text.substr(0, kMaxNameSize) + ")";
  }
  return path;
}

Layer ReadLayer(const JsonNode& node, const Place& place) {
  const ObjectReader reader(node, place);
  Layer layer{};
  layer.kind = reader.Word("kind", KindWords());
  reader.RequireKeys(ToString(layer.kind), LayerKeys(layer.kind));
  layer.name = reader.Name("name");
  switch (layer.kind) {
    case LayerKind::kConv2D:
      layer.outputs = reader.Whole("filters", kMaxOutputs);
      layer.window = reader.Whole("kernel_size", kMaxSide);
      break;
    case LayerKind::kMaxPool2D:
      layer.window = reader.Whole("pool_size", kMaxSide);
      break;
    case LayerKind::kDense:
      layer.outputs = reader.Whole("units", kMaxOutputs);
      break;
    case LayerKind::kDropout:
      layer.rate = reader.Real("rate", {0, 1, true, false});
      break;
    case LayerKind::kReLU:
    case LayerKind::kFlatten:
      break;
  }
  return layer;
}

Shape ReadInput(const ObjectReader& reader) {
  const std::string what =
      "[3, S, S], square RGB images with a side from 1 to " + std::to_string(kMaxSide);
  const JsonNode& node = reader.Require("input", what);
  Shape shape;
  for (const JsonNode& size : node.items) {
    shape.push_back(size.kind == JsonNode::Kind::kWhole ? size.whole : 0);
  }
  const bool is_image = node.kind == JsonNode::Kind::kArray && shape.size() == 3 && shape[0] == 3 &&
                        shape[1] == shape[2] && shape[1] >= 1 && shape[1] <= kMaxSide;
  if (is_image) return shape;
  std::string is;
  for (const JsonNode& size : node.items) is += (is.empty() ? "" : ", ") + Show(size);
  constexpr std::size_t kShown = 60;
  reader.place().Below("input").Fail(
      node.line,
      "must be " + what + ", is " +
          (node.kind == JsonNode::Kind::kArray ? "[" + is.substr(0, kShown) + "]" : Show(node)));
}

Augmentation ReadAugmentation(const JsonNode& node, const Place& place) {
  const ObjectReader reader(node, place);
  reader.RequireKeys("an augmentation",
                     {"rotation_range", "height_shift_range", "width_shift_range", "shear_range",
                      "zoom_range", "horizontal_flip"});
  const Range fraction = {0, 1, true, false};
  Augmentation augmentation;
  augmentation.rotation_range = reader.RealOr("rotation_range", {0, 360}, 0);
  augmentation.height_shift_range = reader.RealOr("height_shift_range", fraction, 0);
  augmentation.width_shift_range = reader.RealOr("width_shift_range", fraction, 0);
  augmentation.shear_range = reader.RealOr("shear_range", {0, 90, true, false}, 0);
  augmentation.zoom_range = reader.RealOr("zoom_range", fraction, 0);
  augmentation.horizontal_flip = reader.BooleanOr("horizontal_flip", false);
  return augmentation;
}

class WorkloadReader {
 public:
  WorkloadReader(const JsonNode& node, const Place& place) : reader_(node, place) {}

  Workload Read() {
    reader_.RequireKeys("a network", kWorkloadKeys);
    Workload workload{};
    workload.name = workload.network.name = reader_.Name("name");
    workload.network.input = ReadInput(reader_);
    ReadLayers(workload.network);
    workload.loss = reader_.Word("loss", kLosses);
    CheckOutputs(workload);
    ReadOptimizer(workload);
    workload.batch = reader_.WholeOr("batch", kMaxBatch, kDefaultBatch);
    workload.steps = reader_.WholeOr("steps", kMaxSteps, kDefaultSteps);
    workload.validation_steps =
        reader_.WholeOr("validation_steps", kMaxSteps, kDefaultValidationSteps);
    workload.epochs = reader_.WholeOr("epochs", kMaxEpochs, kDefaultEpochs);
    ReadAugment(workload);
    CheckName(workload);
    return workload;
  }

 private:
  void ReadLayers(Network& network) {
    const JsonNode& list = reader_.Require("layers", "a list of layers");
    const Place place = reader_.place().Below("layers");
    if (list.kind != JsonNode::Kind::kArray) {
      place.Fail(list.line, "must be a list in brackets, is " + Show(list));
    }
    if (list.items.empty()) place.Fail(list.line, "a network has one layer at least");
    if (list.items.size() > kMaxLayers) {
      place.Fail(list.line, std::to_string(list.items.size()) + " layers; " +
                                std::to_string(kMaxLayers) + " at most");
    }
    for (std::size_t i = 0; i < list.items.size(); ++i) {
      network.layers.push_back(ReadLayer(list.items[i], PlaceOf(i, list)));
    }
    std::vector<TracedLayer> traced;
    try {
      traced = Trace(network);
    } catch (const LayerError& error) {
      PlaceOf(error.layer, list).Fail(list.items[error.layer].line, error.reason);
    }
    const std::size_t last = traced.size() - 1;
    output_ = traced[last].output;
    if (output_.size() != 1) {
      PlaceOf(last, list)
          .Fail(list.items[last].line, "the last layer gives " + ToString(output_) +
                                           ", a loss takes [features]: end with a Flatten and a "
                                           "Dense layer");
    }
    const auto learns = [](const TracedLayer& layer) { return layer.parameters > 0; };
    if (std::none_of(traced.begin(), traced.end(), learns)) {
      place.Fail(list.line,
                 "no layer has parameters, so that there is nothing to train: add a "
                 "Dense or Conv2D layer");
    }
    last_layer_ = NameAndKind(network.layers[last]);
  }

  Place PlaceOf(std::size_t layer, const JsonNode& list) const {
    return reader_.place().Below(LayerPath(layer, list.items[layer]));
  }

  void CheckOutputs(const Workload& workload) const {
    const std::int64_t outputs = output_[0];
    const std::string gives = ", and " + last_layer_ + " gives " + std::to_string(outputs) + ": ";
    const Place place = reader_.place().Below("loss");
    const int line = reader_.Find("loss")->line;
    if (workload.loss == Loss::kBinaryCrossentropy && outputs != 1) {
      place.Fail(line, "binary_crossentropy takes one output" + gives +
                           "make it one, or use categorical_crossentropy");
    }
    if (workload.loss == Loss::kCategoricalCrossentropy && outputs < 2) {
      place.Fail(line, "categorical_crossentropy takes an output for each class, two at least" +
                           gives + "make it two, or use binary_crossentropy");
    }
  }

  void ReadOptimizer(Workload& workload) const {
    const JsonNode& node =
        reader_.Require("optimizer", "{\"kind\": \"Adam\"}, or RMSprop, and its learning_rate");
    const ObjectReader reader(node, reader_.place().Below("optimizer"));
    reader.RequireKeys("an optimizer", {"kind", "learning_rate"});
    workload.optimizer = reader.Word("kind", kOptimizers);
    workload.learning_rate =
        reader.RealOr("learning_rate", {0, kMaxLearningRate, false}, kDefaultLearningRate);
  }

  void ReadAugment(Workload& workload) const {
    if (const JsonNode* node = reader_.Find("augmentation")) {
      workload.augmentation = ReadAugmentation(*node, reader_.place().Below("augmentation"));
    }
    const JsonNode* plain = reader_.Find("plain_epochs");
    if (plain != nullptr && !workload.augmentation.IsRandom()) {
      reader_.place()
          .Below("plain_epochs")
          .Fail(plain->line,
                "there is no augmentation, so that all epochs are plain: 'epochs' says how many");
    }
    // Without an augmentation all there is is the plain variant.
    workload.plain_epochs = workload.augmentation.IsRandom() ? 0 : workload.epochs;
    workload.plain_epochs = reader_.WholeOr("plain_epochs", kMaxEpochs, workload.plain_epochs);
    workload.has_plain_variant = workload.plain_epochs > 0;
  }

  void CheckName(const Workload& workload) const {
    for (const Workload& published : PublishedWorkloads()) {
      if (workload.name != published.name || WorkloadLine(workload) == WorkloadLine(published)) {
        continue;
      }
      reader_.place().Below("name").Fail(
          reader_.Find("name")->line,
          "'" + workload.name +
              "' is a published network and this table is another: give it a name of its own, "
              "results are compared by name");
    }
  }

  ObjectReader reader_;
  Shape output_;            // of the last layer
  std::string last_layer_;  // in words
};

std::string Quoted(const std::string& text) { return nlohmann::json(text).dump(); }

// An object's members, each with its value as JSON.
using Members = std::vector<std::pair<std::string, std::string>>;

std::string ObjectText(const Members& members) {
  std::string text;
  for (const auto& [key, value] : members) {
    text += (text.empty() ? "" : ", ") + Quoted(key) + ": " + value;
  }
  return "{" + text + "}";
}

std::string LayerText(const Layer& layer) {
  Members members = {{"name", Quoted(layer.name)}, {"kind", Quoted(ToString(layer.kind))}};
  switch (layer.kind) {
    case LayerKind::kConv2D:
      members.emplace_back("filters", std::to_string(layer.outputs));
      members.emplace_back("kernel_size", std::to_string(layer.window));
      break;
    case LayerKind::kMaxPool2D:
      members.emplace_back("pool_size", std::to_string(layer.window));
      break;
    case LayerKind::kDense:
      members.emplace_back("units", std::to_string(layer.outputs));
      break;
    case LayerKind::kDropout:
      members.emplace_back("rate", NumberText(layer.rate));
      break;
    case LayerKind::kReLU:
    case LayerKind::kFlatten:
      break;
  }
  return ObjectText(members);
}

std::string AugmentationText(const Augmentation& augmentation) {
  Members members;
  for (const auto& [key, range] : {std::pair{"rotation_range", augmentation.rotation_range},
                                   std::pair{"height_shift_range", augmentation.height_shift_range},
                                   std::pair{"width_shift_range", augmentation.width_shift_range},
                                   std::pair{"shear_range", augmentation.shear_range},
                                   std::pair{"zoom_range", augmentation.zoom_range}}) {
    if (range != 0) members.emplace_back(key, NumberText(range));
  }
  if (augmentation.horizontal_flip) members.emplace_back("horizontal_flip", "true");
  return ObjectText(members);
}

// `layers`: the list of them as JSON.
Members WorkloadMembers(const Workload& workload, const std::string& layers) {
  std::string input;
  for (const std::int64_t size : workload.network.input) {
    input += (input.empty() ? "" : ", ") + std::to_string(size);
  }
  Members members = {
      {"name", Quoted(workload.name)},
      {"input", "[" + input + "]"},
      {"layers", layers},
      {"loss", Quoted(ToString(workload.loss))},
      {"optimizer", ObjectText({{"kind", Quoted(ToString(workload.optimizer))},
                                {"learning_rate", NumberText(workload.learning_rate)}})},
      {"batch", std::to_string(workload.batch)},
      {"steps", std::to_string(workload.steps)},
      {"validation_steps", std::to_string(workload.validation_steps)},
      {"epochs", std::to_string(workload.epochs)}};
  if (!workload.augmentation.IsRandom()) return members;
  if (workload.has_plain_variant) {
    members.emplace_back("plain_epochs", std::to_string(workload.plain_epochs));
  }
  members.emplace_back("augmentation", AugmentationText(workload.augmentation));
  return members;
}

std::string JoinLayers(const Network& network, const std::string& separator) {
  std::string text;
  for (const Layer& layer : network.layers) {
    text += (text.empty() ? "" : separator) + LayerText(layer);
  }
  return text;
}

std::string WorkloadText(const Workload& workload) {
  const std::string layers = "[\n    " + JoinLayers(workload.network, ",\n    ") + "\n  ]";
  std::string text;
  for (const auto& [key, value] : WorkloadMembers(workload, layers)) {
    text += (text.empty() ? "{\n  " : ",\n  ") + Quoted(key) + ": " + value;
  }
  return text + "\n}";
}

}  // namespace

std::vector<Workload> ReadWorkloads(const std::string& path) {
  if (std::filesystem::is_directory(path)) {
    throw std::runtime_error("'" + path + "' is a folder: name a JSON file");
  }
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::string text(kMaxBytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!file.is_open() || file.bad()) {
    throw std::runtime_error("cannot read '" + path + "'" +
                             (errno != 0 ? std::string(": ") + std::strerror(errno) : ""));
  }
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (text.size() > kMaxBytes) {
    throw std::runtime_error("'" + path + "' has more than " + std::to_string(kMaxBytes) +
                             " bytes: no table of layers needs as many");
  }
  return ParseWorkloads(text, path);
}

std::vector<Workload> ParseWorkloads(const std::string& text, const std::string& source) {
  if (text.find_first_not_of(" \t\r\n") == std::string::npos) {
    throw std::runtime_error(source + ": is empty; --print_networks=json shows the form");
  }
  const JsonNode root = ParseJson(text, source);
  const Place place = {source, ""};
  if (root.kind == JsonNode::Kind::kObject) return {WorkloadReader(root, place).Read()};
  if (root.kind != JsonNode::Kind::kArray || root.items.empty()) {
    place.Fail(root.line,
               "must be a network, which is an object in braces, or a list of them; "
               "--print_networks=json shows the form");
  }
  if (root.items.size() > kMaxNetworks) {
    place.Fail(root.line, std::to_string(root.items.size()) + " networks; " +
                              std::to_string(kMaxNetworks) + " at most");
  }
  std::vector<Workload> workloads;
  for (std::size_t i = 0; i < root.items.size(); ++i) {
    const JsonNode& item = root.items[i];
    const Place own = place.Below("[" + std::to_string(i) + "]");
    workloads.push_back(WorkloadReader(item, own).Read());
    for (std::size_t other = 0; other < i; ++other) {
      if (workloads[other].name != workloads[i].name) continue;
      own.Below("name").Fail(
          item.Find("name")->line,
          "'" + workloads[i].name + "' is the name of [" + std::to_string(other) + "] too");
    }
  }
  return workloads;
}

std::string WorkloadsJson(const std::vector<Workload>& workloads) {
  if (workloads.size() == 1) return WorkloadText(workloads[0]) + "\n";
  std::string text;
  for (const Workload& workload : workloads) {
    text += (text.empty() ? "[\n" : ",\n") + WorkloadText(workload);
  }
  return text + "\n]\n";
}

std::string WorkloadLine(const Workload& workload) {
  return ObjectText(WorkloadMembers(workload, "[" + JoinLayers(workload.network, ", ") + "]"));
}

}  // namespace cnn
