#include "model/network.h"

#include <gtest/gtest.h>

#include <map>

#include "model/workloads.h"

namespace cnn {
namespace {

std::map<std::string, TracedLayer> ByName(const Network& network) {
  std::map<std::string, TracedLayer> layers;
  for (const TracedLayer& layer : Trace(network)) layers[layer.layer.name] = layer;
  return layers;
}

// What Trace says against a network that cannot be.
std::string Refusal(const Network& network) {
  try {
    Trace(network);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

Network Small(std::vector<Layer> layers) { return {"small", {3, 8, 8}, std::move(layers)}; }

TEST(NetworkTest, EightKindsHasThePublishedParameters) {
  const auto layers = ByName(EightKinds().network);
  EXPECT_EQ(layers.at("conv1").parameters, 896);
  EXPECT_EQ(layers.at("conv2").parameters, 18496);
  EXPECT_EQ(layers.at("dense1").parameters, 42467840);
  EXPECT_EQ(layers.at("dense2").parameters, 32832);
  EXPECT_EQ(layers.at("dense3").parameters, 520);
  EXPECT_EQ(CountParameters(EightKinds().network), 42520584);
}

TEST(NetworkTest, DogsVsCatsHasThePublishedParameters) {
  const auto layers = ByName(DogsVsCats().network);
  EXPECT_EQ(layers.at("conv1").parameters, 896);
  EXPECT_EQ(layers.at("conv2").parameters, 18496);
  EXPECT_EQ(layers.at("conv3").parameters, 73856);
  EXPECT_EQ(layers.at("conv4").parameters, 147584);
  EXPECT_EQ(layers.at("dense1").parameters, 3211776);
  EXPECT_EQ(layers.at("dense2").parameters, 513);
  EXPECT_EQ(CountParameters(DogsVsCats().network), 3453121);
}

TEST(NetworkTest, EightKindsHasThePublishedShapes) {
  const auto layers = ByName(EightKinds().network);
  EXPECT_EQ(layers.at("conv1").output, (Shape{32, 148, 148}));
  EXPECT_EQ(layers.at("pool1").output, (Shape{32, 74, 74}));
  EXPECT_EQ(layers.at("conv2").output, (Shape{64, 72, 72}));
  EXPECT_EQ(layers.at("pool2").output, (Shape{64, 36, 36}));
  EXPECT_EQ(layers.at("flatten").output, (Shape{82944}));
  EXPECT_EQ(layers.at("dropout1").output, (Shape{512}));
  EXPECT_EQ(layers.at("dense3").output, (Shape{8}));
}

TEST(NetworkTest, DogsVsCatsHasThePublishedShapes) {
  const auto layers = ByName(DogsVsCats().network);
  EXPECT_EQ(layers.at("pool1").output, (Shape{32, 74, 74}));
  EXPECT_EQ(layers.at("pool2").output, (Shape{64, 36, 36}));
  EXPECT_EQ(layers.at("conv3").output, (Shape{128, 34, 34}));
  EXPECT_EQ(layers.at("pool3").output, (Shape{128, 17, 17}));
  EXPECT_EQ(layers.at("conv4").output, (Shape{128, 15, 15}));
  EXPECT_EQ(layers.at("pool4").output, (Shape{128, 7, 7}));
  EXPECT_EQ(layers.at("flatten").output, (Shape{6272}));
  EXPECT_EQ(layers.at("dense2").output, (Shape{1}));
}

TEST(NetworkTest, OtherClassCountsChangeOnlyTheLastLayer) {
  const auto layers = ByName(EightKinds(5).network);
  EXPECT_EQ(layers.at("dense3").output, (Shape{5}));
  EXPECT_EQ(CountParameters(EightKinds(5).network), 42520584 - 3 * 65);
}

// By hand for conv2 of batch 2: 64 filters over 32 channels and 3 x 3, 72 x 72 positions.
TEST(NetworkTest, CostOfAConvolution) {
  const Cost cost = LayerCost(ByName(EightKinds().network).at("conv2"), 2);
  const double products = 2.0 * 2 * 64 * 72 * 72 * 32 * 9;
  const double bias = 2.0 * 64 * 72 * 72;
  EXPECT_DOUBLE_EQ(cost.forward_flops, products + bias);
  EXPECT_DOUBLE_EQ(cost.backward_flops, 2 * products + bias);
  const double in = 2.0 * 32 * 74 * 74;
  const double out = 2.0 * 64 * 72 * 72;
  const double weights = 64.0 * 32 * 9;
  EXPECT_DOUBLE_EQ(cost.forward_bytes, 4 * (in + weights + 64 + out));
  EXPECT_DOUBLE_EQ(cost.backward_bytes, 4 * (2 * out + 2 * in + 2 * weights + 64));
}

TEST(NetworkTest, FirstLayerNeedsNoGradientOfItsInput) {
  const Cost cost = LayerCost(ByName(EightKinds().network).at("conv1"), 32);
  EXPECT_DOUBLE_EQ(cost.backward_flops, cost.forward_flops);
  EXPECT_DOUBLE_EQ(cost.backward_bytes, cost.forward_bytes);
}

TEST(NetworkTest, CostOfLayersWithoutParameters) {
  const auto layers = ByName(EightKinds().network);
  const Cost relu = LayerCost(layers.at("relu3"), 4);
  EXPECT_DOUBLE_EQ(relu.forward_flops, 4 * 512);
  EXPECT_DOUBLE_EQ(relu.forward_bytes, 8 * 4 * 512);
  EXPECT_DOUBLE_EQ(relu.backward_bytes, 12 * 4 * 512);
  const Cost pool = LayerCost(layers.at("pool2"), 1);
  EXPECT_DOUBLE_EQ(pool.forward_flops, 3 * 64 * 36 * 36);
  EXPECT_DOUBLE_EQ(pool.backward_flops, 64 * 36 * 36);
  EXPECT_DOUBLE_EQ(pool.forward_bytes, 4 * 64 * 72 * 72 + 12 * 64 * 36 * 36);
  const Cost dropout = LayerCost(layers.at("dropout1"), 1);
  EXPECT_DOUBLE_EQ(dropout.forward_flops, 2 * 512);
  EXPECT_DOUBLE_EQ(dropout.forward_bytes, 12 * 512);
  EXPECT_DOUBLE_EQ(LayerCost(layers.at("flatten"), 1).forward_bytes, 0);
}

// Totals of both networks, worked out apart from this program: MFLOP per image, MB per batch.
TEST(NetworkTest, CostOfWholeNetworks) {
  const auto total = [](const Workload& workload) {
    Cost sum;
    for (const TracedLayer& layer : Trace(workload.network))
      sum += LayerCost(layer, workload.batch);
    return sum;
  };
  const Cost eight = total(EightKinds());
  EXPECT_NEAR(eight.forward_flops / 32 / 1e6, 316.797, 5e-4);
  EXPECT_NEAR(eight.backward_flops / 32 / 1e6, 592.384, 5e-4);
  EXPECT_NEAR(eight.forward_bytes / 1e6, 840.17, 5e-3);
  EXPECT_NEAR(eight.backward_bytes / 1e6, 1218.17, 5e-3);
  const Cost dogs = total(DogsVsCats());
  EXPECT_NEAR(dogs.forward_flops / 20 / 1e6, 475.515, 5e-4);
  EXPECT_NEAR(dogs.backward_flops / 20 / 1e6, 909.253, 5e-4);
  EXPECT_NEAR(dogs.forward_bytes / 1e6, 502.87, 5e-3);
  EXPECT_NEAR(dogs.backward_bytes / 1e6, 678.35, 5e-3);
}

// Nothing before the first layer with parameters learns: no backward pass goes there.
TEST(NetworkTest, NoBackwardPassGoesBehindTheFirstParameters) {
  const auto layers = ByName(Small({{"pool", LayerKind::kMaxPool2D, 0, 2, 0},
                                    {"conv", LayerKind::kConv2D, 4, 3, 0},
                                    {"relu", LayerKind::kReLU, 0, 0, 0},
                                    {"flatten", LayerKind::kFlatten, 0, 0, 0},
                                    {"dense", LayerKind::kDense, 2, 0, 0}}));
  EXPECT_FALSE(layers.at("pool").HasBackward());
  EXPECT_FALSE(layers.at("conv").needs_input_gradient);
  for (const char* name : {"conv", "relu", "flatten", "dense"}) {
    EXPECT_TRUE(layers.at(name).HasBackward()) << name;
  }
  const Cost pool = LayerCost(layers.at("pool"), 1);
  EXPECT_GT(pool.forward_flops, 0);
  EXPECT_EQ(pool.backward_flops, 0);
  EXPECT_EQ(pool.backward_bytes, 0);
  const Cost conv = LayerCost(layers.at("conv"), 1);
  EXPECT_EQ(conv.backward_flops, conv.forward_flops);
}

TEST(NetworkTest, SummaryShowsLayersShapesAndTotals) {
  const std::string text = Summary(EightKinds().network, 32);
  for (const char* expected :
       {"conv1 (Conv2D)", "32x148x148", "896", "pool1 (MaxPooling2D)", "82944", "dense1 (Dense)",
        "42,467,840", "Total params: 42,520,584", "Trainable params: 42,520,584",
        "Non-trainable params: 0", "191.435", "382.538"}) {
    EXPECT_NE(text.find(expected), std::string::npos) << expected << " is not in\n" << text;
  }
}

TEST(NetworkTest, RefusesADenseLayerOnAnImage) {
  const std::string why = Refusal(Small({{"dense", LayerKind::kDense, 4, 0, 0}}));
  EXPECT_NE(why.find("layer 'dense'"), std::string::npos) << why;
  EXPECT_NE(why.find("3x8x8"), std::string::npos) << why;
}

TEST(NetworkTest, AShapeThatDoesNotFitNamesBothLayers) {
  EXPECT_EQ(Refusal(Small(
                {{"conv", LayerKind::kConv2D, 4, 3, 0}, {"dense", LayerKind::kDense, 4, 0, 0}})),
            "network 'small', layer 'dense' (Dense), number 2: needs a Flatten layer before it, "
            "gets 4x6x6 from layer 'conv' (Conv2D)");
}

TEST(NetworkTest, RefusesAConvolutionAfterFlatten) {
  const std::string why = Refusal(
      Small({{"flatten", LayerKind::kFlatten, 0, 0, 0}, {"conv", LayerKind::kConv2D, 4, 3, 0}}));
  EXPECT_NE(why.find("layer 'conv'"), std::string::npos) << why;
  EXPECT_NE(why.find("192"), std::string::npos) << why;
}

TEST(NetworkTest, RefusesAKernelLargerThanItsInput) {
  EXPECT_NE(Refusal(Small({{"conv", LayerKind::kConv2D, 4, 9, 0}})).find("larger"),
            std::string::npos);
  EXPECT_NE(Refusal(Small({{"pool", LayerKind::kMaxPool2D, 0, 9, 0}})).find("larger"),
            std::string::npos);
}

TEST(NetworkTest, RefusesSizesAndNamesThatMakeNoSense) {
  EXPECT_NE(Refusal(Small({})), "");
  EXPECT_NE(Refusal(Small({{"", LayerKind::kReLU, 0, 0, 0}})), "");
  EXPECT_NE(Refusal(Small({{"a", LayerKind::kReLU, 0, 0, 0}, {"a", LayerKind::kReLU, 0, 0, 0}})),
            "");
  EXPECT_NE(Refusal(Small({{"conv", LayerKind::kConv2D, 0, 3, 0}})), "");
  EXPECT_NE(Refusal(Small({{"drop", LayerKind::kDropout, 0, 0, 1}})), "");
  EXPECT_NE(Refusal({"flat", {8}, {{"relu", LayerKind::kReLU, 0, 0, 0}}}), "");
  EXPECT_NE(Refusal({"huge", {3, 8, 1 << 20}, {{"relu", LayerKind::kReLU, 0, 0, 0}}}), "");
  EXPECT_NE(Refusal(Small({{"conv", LayerKind::kConv2D, INT64_MAX, 3, 0}})), "");
  EXPECT_NE(Refusal(Small({{"conv", LayerKind::kConv2D, 4, INT64_MAX, 0}})), "");
}

TEST(WorkloadsTest, HoldWhatTheExperimentsFix) {
  const Workload eight = EightKinds();
  EXPECT_EQ(eight.batch, 32);
  EXPECT_EQ(eight.steps, 1000);
  EXPECT_EQ(eight.epochs, 5);
  EXPECT_EQ(eight.optimizer, OptimizerKind::kAdam);
  EXPECT_EQ(eight.augmentation.rotation_range, 20);
  EXPECT_EQ(eight.augmentation.height_shift_range, 0);
  const Workload dogs = DogsVsCats();
  EXPECT_EQ(dogs.batch, 20);
  EXPECT_EQ(dogs.steps, 100);
  EXPECT_EQ(dogs.epochs, 100);
  EXPECT_EQ(dogs.plain_epochs, 30);
  EXPECT_EQ(dogs.optimizer, OptimizerKind::kRMSprop);
  EXPECT_EQ(dogs.augmentation.rotation_range, 40);
  EXPECT_EQ(dogs.augmentation.width_shift_range, 0.2);
}

}  // namespace
}  // namespace cnn
