// Replays what the real Keras 2.7 computed (keras_values.json, made by
// tools/peers/keras_training.py): every formula of its training, and whole trainings.
//
// Keras computes in float32, as the suite does, but sums in another order. A figure near 1 has
// steps of 6e-8, so tolerances below are a few such steps unless they say why not.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "model/module.h"
#include "model/optimizer.h"
#include "model/trainer.h"

namespace cnn {
namespace {

using Json = nlohmann::json;

const Json& Values() {
  static const Json values = [] {
    std::ifstream file(CNN_KERAS_VALUES);
    if (!file) throw std::runtime_error("cannot read " CNN_KERAS_VALUES);
    return Json::parse(file);
  }();
  return values;
}

at::Tensor ToTensor(const Json& numbers) {
  return at::tensor(numbers.get<std::vector<float>>(), at::kFloat);
}

OptimizerKind KindOf(const Json& values) {
  return values["optimizer"] == "adam" ? OptimizerKind::kAdam : OptimizerKind::kRMSprop;
}

// --- optimisers

// Gradients of 1 to 1e-8, against an epsilon of 1e-7. `tolerance` is relative to the furthest that
// a weight went from 0, where it starts.
void ExpectTrajectory(const Json& values, at::ScalarType type, double tolerance) {
  const at::Tensor gradients = ToTensor(values["gradients"]);
  const at::Tensor weights = at::zeros_like(gradients, type).requires_grad_();
  Optimizer optimizer(KindOf(values), values["learning_rate"], {weights});
  at::Tensor reach = at::zeros_like(gradients);
  for (std::size_t step = 0; step < values["weights"].size(); ++step) {
    weights.mutable_grad() = (gradients * values["factors"][step].get<float>()).to(type);
    optimizer.Step();
    const at::Tensor keras = ToTensor(values["weights"][step]);
    reach = at::maximum(reach, keras.abs());
    const at::Tensor off = (weights.detach() - keras).abs();
    EXPECT_TRUE(off.le(reach * tolerance).all().item<bool>())
        << values["optimizer"] << " step " << step << ": relative\n"
        << off / reach;
  }
}

// Keras's float32 has 1 - 0.999 = 9.9999e-4, 1.3e-5 off, and its bias correction the root of that;
// ours computes the correction in double. So all updates differ by a factor of 1 + 6.5e-6.
TEST(KerasOptimizerTest, AdamFused) {
  ExpectTrajectory(Values()["optimizers"][0], at::kFloat, 1e-5);
}
TEST(KerasOptimizerTest, AdamMultiTensor) {
  ExpectTrajectory(Values()["optimizers"][0], at::kDouble, 1e-5);
}
TEST(KerasOptimizerTest, RMSpropFused) {
  ExpectTrajectory(Values()["optimizers"][1], at::kFloat, 1e-6);
}
TEST(KerasOptimizerTest, RMSpropMultiTensor) {
  ExpectTrajectory(Values()["optimizers"][1], at::kDouble, 1e-6);
}

// --- initial weights

TEST(KerasInitialisationTest, LimitsAndZeroBiases) {
  for (const Json& values : Values()["initialisation"]) {
    const bool convolution = values["kind"] == "conv2d";
    const std::int64_t inputs = values["inputs"];
    TracedLayer traced;
    traced.layer.name = "layer";
    traced.layer.kind = convolution ? LayerKind::kConv2D : LayerKind::kDense;
    traced.layer.outputs = values["outputs"];
    traced.layer.window = values["kernel"];
    traced.input = convolution ? Shape{inputs, 9, 9} : Shape{inputs};
    const std::vector<at::Tensor> parameters = Module(traced, 1, {}).Parameters();

    const double limit = values["limit"];
    const auto side = static_cast<double>(convolution ? traced.layer.window : 1);
    const auto fans = side * side * static_cast<double>(inputs + traced.layer.outputs);
    EXPECT_NEAR(limit, std::sqrt(6 / fans), 1e-9);
    const double largest = parameters[0].abs().max().item<double>();
    EXPECT_LE(largest, limit * (1 + 1e-7)) << values;
    // Of 512 uniform values, the fewest here, all stay below that once in six million.
    EXPECT_GT(largest, 0.97 * limit) << values;
    EXPECT_EQ(values["largest_bias"], 0);
    EXPECT_EQ(parameters[1].abs().max().item<double>(), 0);
  }
}

// --- losses and accuracy of single images

at::Tensor Logits(const Json& row) { return ToTensor(row["logits"]).unsqueeze(0); }
at::Tensor Label(const Json& row) {
  return at::tensor({row["label"].get<std::int64_t>()}, at::kLong);
}

// fit and evaluate take a last layer's softmax or sigmoid back and compute from the logits, as we
// do: nothing is clipped, a loss may be 300.
void ExpectLosses(Loss loss, const Json& rows) {
  for (const Json& row : rows) {
    const double keras = row["loss"];
    EXPECT_EQ(row["training_loss"], keras) << row;
    EXPECT_NEAR(ComputeLoss(loss, Logits(row), Label(row)).item<double>(), keras,
                1.2e-7 * (1 + keras))
        << row;
  }
}

TEST(KerasLossTest, Categorical) {
  ExpectLosses(Loss::kCategoricalCrossentropy, Values()["categorical"]);
}
TEST(KerasLossTest, Binary) { ExpectLosses(Loss::kBinaryCrossentropy, Values()["binary"]); }

// The difference to Keras's loss functions where they see probabilities alone, as after predict():
// there they clip to [1e-7, 1 - 1e-7], and binary crossentropy adds 1e-7 once more. So no loss is
// above -ln 1e-7 = 16.1 or -ln 2e-7 = 15.4. Up to probabilities of 1e-6 ours differs from them by
// no more than 2e-7 / 1e-6, or in float32 by a step of a probability near 1 over it.
TEST(KerasLossTest, ProbabilitiesAloneAreClippedOursAreNot) {
  int beyond = 0;
  for (const Loss loss : {Loss::kCategoricalCrossentropy, Loss::kBinaryCrossentropy}) {
    const bool binary = loss == Loss::kBinaryCrossentropy;
    for (const Json& row : Values()[binary ? "binary" : "categorical"]) {
      const auto ours = ComputeLoss(loss, Logits(row), Label(row)).item<double>();
      const double clipped = row["clipped"];
      if (ours < -std::log(1e-6)) {
        EXPECT_NEAR(ours, clipped, 3e-7 * std::exp(ours)) << row;
      } else if (ours > 17) {
        ++beyond;
        EXPECT_GT(clipped, binary ? 15.3 : 16.1) << row;
        EXPECT_LT(clipped, binary ? 15.5 : 16.2) << row;
      }
    }
  }
  EXPECT_EQ(beyond, 7);
}

TEST(KerasAccuracyTest, CategoricalTakesTheFirstOfTheLargest) {
  for (const Json& row : Values()["categorical"]) {
    EXPECT_EQ(CountCorrect(Loss::kCategoricalCrossentropy, Logits(row), Label(row)).item<int>(),
              row["accuracy"])
        << row;
  }
}

// p > 0.5: one half exactly counts as class 0. Keras compares the rounded sigmoid, we its logit, so
// logits so small that the sigmoid rounds to one half (up to 1.2e-7) are class 0 in Keras, and here
// class 1 where they are positive.
TEST(KerasAccuracyTest, BinaryThresholdAndWhereItDiffers) {
  int different = 0;
  for (const Json& row : Values()["binary"]) {
    const at::Tensor logits = Logits(row);
    const int ours = CountCorrect(Loss::kBinaryCrossentropy, logits, Label(row)).item<int>();
    if (logits.item<float>() > 0 && at::sigmoid(logits).item<float>() == 0.5F) {
      EXPECT_NE(ours, row["accuracy"]) << row;
      ++different;
    } else {
      EXPECT_EQ(ours, row["accuracy"]) << row;
    }
  }
  EXPECT_EQ(different, 2);
}

TEST(KerasDropoutTest, KeepsAndScalesInTrainingOnly) {
  const Json& values = Values()["dropout"];
  TracedLayer traced;
  traced.layer.name = "dropout";
  traced.layer.kind = LayerKind::kDropout;
  traced.layer.rate = values["rate"];
  const std::int64_t count = values["of"];
  Module dropout(traced, 1, {});
  const at::Tensor ones = at::ones({1, count});
  EXPECT_EQ(values["inference_values"], Json({1.0}));
  EXPECT_TRUE(at::equal(dropout.Forward(ones, /*training=*/false), ones));

  const at::Tensor trained = dropout.Forward(ones, /*training=*/true);
  const at::Tensor kept = trained.ne(0);
  EXPECT_EQ(values["training_values"], Json({0.0, 1.25}));
  EXPECT_TRUE(trained.masked_select(kept).eq(1.25F).all().item<bool>());
  const auto n = static_cast<double>(count);
  const double limit = 5 * std::sqrt(n * 0.8 * 0.2);  // five standard deviations
  EXPECT_NEAR(values["training_counts"][1].get<double>(), 0.8 * n, limit);
  EXPECT_NEAR(kept.sum().item<double>(), 0.8 * n, limit);
}

// --- trainings

// The script's network.
Network SmallNetwork(bool binary, bool dropout) {
  const Json& data = Values()["data"];
  Network network;
  network.name = "small";
  network.input = {data["channels"], data["height"], data["width"]};
  network.layers = {{"conv1", LayerKind::kConv2D, 4, 3},    {"relu1", LayerKind::kReLU},
                    {"pool1", LayerKind::kMaxPool2D, 0, 2}, {"flatten", LayerKind::kFlatten},
                    {"dense1", LayerKind::kDense, 5},       {"relu2", LayerKind::kReLU}};
  if (dropout) network.layers.push_back({"dropout1", LayerKind::kDropout, 0, 0, 0.2});
  network.layers.push_back({"dense2", LayerKind::kDense, binary ? 1 : 3});
  return network;
}

enum class Flattening { kKeras, kUnpermuted };

// Keras's weights as ours: kernels [row, column, input, output] to [output, input, row, column],
// dense ones [input, output] to [output, input], where the first dense layer's inputs come in
// Keras's order of flattening, (row, column, channel), and go to ours, (channel, row, column).
std::vector<at::Tensor> FromKeras(const Network& network, const Json& weights,
                                  Flattening flattening = Flattening::kKeras) {
  std::vector<at::Tensor> result;
  Shape flattened;
  for (const TracedLayer& traced : Trace(network)) {
    const Layer& layer = traced.layer;
    if (layer.kind == LayerKind::kFlatten) flattened = traced.input;
    if (layer.kind != LayerKind::kConv2D && layer.kind != LayerKind::kDense) continue;
    at::Tensor kernel = ToTensor(weights[result.size()]);
    if (layer.kind == LayerKind::kConv2D) {
      kernel = kernel.view({layer.window, layer.window, traced.input[0], layer.outputs});
      kernel = kernel.permute({3, 2, 0, 1});
    } else if (!flattened.empty() && flattening == Flattening::kKeras) {
      kernel = kernel.view({flattened[1], flattened[2], flattened[0], layer.outputs});
      kernel = kernel.permute({3, 2, 0, 1}).reshape({layer.outputs, -1});
    } else {
      kernel = kernel.view({-1, layer.outputs}).t();
    }
    if (layer.kind == LayerKind::kDense) flattened.clear();
    result.push_back(kernel);
    result.push_back(ToTensor(weights[result.size()]));
  }
  return result;
}

struct Examples {
  at::Tensor images;  // [N, 3, H, W]
  at::Tensor labels;  // int64 [N]
};

// In the order and the batches of the script, the last of which is short.
std::vector<Examples> Batches(bool binary, bool validation) {
  const Json& data = Values()["data"];
  const Json& images = data["images"];
  const Json& labels = data[binary ? "binary_labels" : "categorical_labels"];
  const std::size_t train = data["train"];
  const std::size_t end = validation ? images.size() : train;
  std::vector<Examples> batches;
  for (std::size_t first = validation ? train : 0; first < end;
       first += data["batch"].get<std::size_t>()) {
    std::vector<at::Tensor> rows;
    std::vector<std::int64_t> classes;
    for (std::size_t i = first; i < std::min(end, first + data["batch"].get<std::size_t>()); ++i) {
      rows.push_back(ToTensor(images[i])
                         .mul(static_cast<float>(1.0 / 255))
                         .view({data["height"], data["width"], data["channels"]})
                         .permute({2, 0, 1}));
      classes.push_back(labels[i]);
    }
    batches.push_back({ToDevice(at::stack(rows), {}), at::tensor(classes, at::kLong)});
  }
  return batches;
}

// Means over images, as Keras has them, and what they would be were each batch counted alike.
struct Means {
  double loss = 0;
  double accuracy = 0;
  double unweighted_loss = 0;
};

class Training {
 public:
  Training(const Json& values, Module module)
      : loss_(values["binary"] ? Loss::kBinaryCrossentropy : Loss::kCategoricalCrossentropy),
        module_(std::move(module)),
        optimizer_(KindOf(values), values["learning_rate"], module_.Parameters()) {}

  void SetWeights(const std::vector<at::Tensor>& weights) {
    const c10::NoGradGuard no_grad;
    std::vector<at::Tensor> parameters = module_.Parameters();
    ASSERT_EQ(parameters.size(), weights.size());
    for (std::size_t i = 0; i < weights.size(); ++i) parameters[i].copy_(weights[i]);
  }

  Means TrainEpoch(const std::vector<Examples>& batches) {
    return Run(batches, /*training=*/true, [this](const at::Tensor& loss) {
      optimizer_.ClearGradients();
      loss.backward();
      optimizer_.Step();
    });
  }

  Means Evaluate(const std::vector<Examples>& batches, bool training = false) {
    const c10::NoGradGuard no_grad;
    return Run(batches, training, [](const at::Tensor&) {});
  }

  std::vector<at::Tensor> Weights() const { return module_.Parameters(); }

 private:
  template <typename Use>
  Means Run(const std::vector<Examples>& batches, bool training, const Use& use_loss) {
    Means means;
    double images = 0;
    for (const Examples& batch : batches) {
      const at::Tensor logits = module_.Forward(batch.images, training);
      const at::Tensor loss = ComputeLoss(loss_, logits, batch.labels);
      const auto count = static_cast<double>(batch.images.size(0));
      means.loss += loss.item<double>() * count;
      means.unweighted_loss += loss.item<double>() / static_cast<double>(batches.size());
      means.accuracy += CountCorrect(loss_, logits, batch.labels).item<double>();
      images += count;
      use_loss(loss);
    }
    means.loss /= images;
    means.accuracy /= images;
    return means;
  }

  Loss loss_;
  Module module_;
  Optimizer optimizer_;
};

const Json& Find(const std::string& name) {
  for (const Json& values : Values()["trainings"]) {
    if (values["name"] == name) return values;
  }
  throw std::invalid_argument(name);
}

// With the weights that Keras began with.
Training Begin(const Json& values, Flattening flattening = Flattening::kKeras) {
  const Network network = SmallNetwork(values["binary"], values["dropout"]);
  Training training(values, Module(network, 1, {}));
  training.SetWeights(FromKeras(network, values["initial_weights"], flattening));
  return training;
}

// Of losses and of weights. Adam's updates differ by a factor of 1 + 6.5e-6 (above): 12 of at most
// about 0.01 each move a weight by 1e-6, and the loss by as much times the sum of its gradients.
double ToleranceOf(const Json& values) {
  return KindOf(values) == OptimizerKind::kAdam ? 4e-6 : 1e-6;
}
constexpr double kAccuracyTolerance = 1e-7;  // one image more or less is 0.09
// What a test must see of another formula: well beyond the tolerances.
constexpr double kVisible = 1e-4;

void ExpectFit(const Json& values) {
  const bool binary = values["binary"];
  const std::vector<Examples> train = Batches(binary, /*validation=*/false);
  const std::vector<Examples> validation = Batches(binary, /*validation=*/true);
  ASSERT_LT(train.back().images.size(0), train.front().images.size(0));
  Training training = Begin(values);
  for (std::size_t epoch = 0; epoch < values["loss"].size(); ++epoch) {
    SCOPED_TRACE(testing::Message() << values["name"] << ", epoch " << epoch);
    // Each batch with the weights of its step, so the mean lags behind an evaluation.
    const Means means = training.TrainEpoch(train);
    EXPECT_NEAR(means.loss, values["loss"][epoch], ToleranceOf(values));
    EXPECT_NEAR(means.accuracy, values["accuracy"][epoch], kAccuracyTolerance);
    EXPECT_GT(std::abs(means.unweighted_loss - means.loss), kVisible);
    EXPECT_GT(std::abs(training.Evaluate(train).loss - means.loss), kVisible);

    const Means after = training.Evaluate(validation);
    EXPECT_NEAR(after.loss, values["val_loss"][epoch], ToleranceOf(values));
    EXPECT_NEAR(after.accuracy, values["val_accuracy"][epoch], kAccuracyTolerance);
    EXPECT_GT(std::abs(after.unweighted_loss - after.loss), kVisible);
  }
  const Network network = SmallNetwork(binary, false);
  const std::vector<at::Tensor> expected = FromKeras(network, values["final_weights"]);
  const std::vector<at::Tensor> initial = FromKeras(network, values["initial_weights"]);
  const std::vector<at::Tensor> weights = training.Weights();
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const auto difference = [&](const at::Tensor& other) {
      return (weights[i].detach() - other).abs().max().item<double>();
    };
    EXPECT_LT(difference(expected[i]), ToleranceOf(values)) << "parameter " << i;
    EXPECT_GT(difference(initial[i]), kVisible) << "parameter " << i;
  }
}

TEST(KerasFitTest, AdamCategorical) { ExpectFit(Find("adam_categorical")); }
TEST(KerasFitTest, RMSpropBinary) { ExpectFit(Find("rmsprop_binary")); }

// The first dense layer's inputs come in another order: without the permutation it is another
// network.
TEST(KerasFitTest, FlattenOrderIsNotKeras) {
  for (const char* name : {"adam_categorical", "rmsprop_binary"}) {
    const Json& values = Find(name);
    const bool binary = values["binary"];
    Training training = Begin(values, Flattening::kUnpermuted);
    training.TrainEpoch(Batches(binary, /*validation=*/false));
    const double loss = training.Evaluate(Batches(binary, /*validation=*/true)).loss;
    EXPECT_GT(std::abs(loss - values["val_loss"][0].get<double>()), 10 * kVisible) << name;
  }
}

// Which units are dropped cannot be replayed, but the validation after the last epoch can: it drops
// none.
TEST(KerasFitTest, ValidationIsWithoutDropout) {
  const Json& values = Find("dropout");
  const std::vector<Examples> validation = Batches(false, /*validation=*/true);
  Training training = Begin(values);
  training.SetWeights(FromKeras(SmallNetwork(false, true), values["final_weights"]));
  const Means means = training.Evaluate(validation);
  EXPECT_NEAR(means.loss, values["val_loss"].back(), 1e-6);
  EXPECT_NEAR(means.accuracy, values["val_accuracy"].back(), kAccuracyTolerance);
}

// Told to validate on 1, 2 and 5 batches where there are 2, Keras takes 1, 2 and 2. After having
// run out of data it warns and validates no more, while training goes on: val_loss has one entry.
TEST(KerasFitTest, ValidationGoesOverTheDataAtMostOnce) {
  const Json& values = Find("adam_categorical");
  std::vector<Examples> validation = Batches(false, /*validation=*/true);
  ASSERT_EQ(validation.size(), 2U);
  const std::size_t epochs = values["loss"].size();
  for (const Json& row : Values()["validation_steps"]) {
    const std::size_t steps = row["validation_steps"];
    ASSERT_EQ(row["val_loss"].size(), steps > 2 ? 1 : epochs);
    ASSERT_EQ(row["loss"], values["loss"]);
    std::vector<Examples> seen = validation;
    seen.resize(std::min<std::size_t>(steps, 2));
    Training training = Begin(values);
    for (const Json& loss : row["val_loss"]) {
      training.TrainEpoch(Batches(false, /*validation=*/false));
      EXPECT_NEAR(training.Evaluate(seen).loss, loss, ToleranceOf(values)) << steps << " steps";
    }
  }
}

// The replay above is not the suite's Trainer; this says that Trainer computes the same, but for
// float32's rounding of a batch's mean: Trainer sums the images' losses in double.
TEST(KerasFitTest, TrainerComputesWhatTheReplayDoes) {
  for (const char* name : {"adam_categorical", "rmsprop_binary"}) {
    const Json& values = Find(name);
    const bool binary = values["binary"];
    Workload workload = binary ? DogsVsCats() : EightKinds(3);
    workload.network = SmallNetwork(binary, false);
    workload.learning_rate = values["learning_rate"];
    ASSERT_EQ(workload.optimizer, KindOf(values));
    constexpr std::uint64_t kSeed = 7;
    Trainer trainer(workload, {}, kSeed);
    Training replay(values, Module(workload.network, kSeed, {}));
    const std::vector<Examples> train = Batches(binary, /*validation=*/false);
    for (int epoch = 0; epoch < 3; ++epoch) {
      for (const Examples& batch : train) trainer.Step(batch.images, batch.labels);
      const TrainingTotals totals = trainer.TakeTotals();
      const Means means = replay.TrainEpoch(train);
      EXPECT_NEAR(totals.loss, means.loss, 1e-7 * (1 + means.loss)) << name;
      EXPECT_NEAR(totals.accuracy, means.accuracy, 1e-12) << name;
    }
  }
}

}  // namespace
}  // namespace cnn
