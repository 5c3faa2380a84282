#include "model/checkpoint.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

#include "dataset/testing.h"
#include "model/trainer.h"

namespace cnn {
namespace {

// Small, with dropout, whose random numbers must go on as well.
Workload Small(OptimizerKind optimizer = OptimizerKind::kAdam) {
  Workload workload;
  workload.name = "small";
  workload.network = {"small",
                      {3, 8, 8},
                      {{"conv1", LayerKind::kConv2D, 4, 3, 0},
                       {"relu1", LayerKind::kReLU, 0, 0, 0},
                       {"flatten", LayerKind::kFlatten, 0, 0, 0},
                       {"dropout", LayerKind::kDropout, 0, 0, 0.5},
                       {"dense1", LayerKind::kDense, 2, 0, 0}}};
  workload.loss = Loss::kCategoricalCrossentropy;
  workload.optimizer = optimizer;
  workload.learning_rate = 1e-2;
  return workload;
}

class CheckpointTest : public testing::Test {
 protected:
  void SetUp() override {
    WriteImages(folder_.path() / "images" / "dark", 5, 0);
    WriteImages(folder_.path() / "images" / "light", 5, 100);
    images_ = ScanImageFolder(folder_.path() / "images");
    source_ = std::make_unique<ImageSource>(images_, SourceKind::kFiles, 8);
  }

  double TrainEpoch(Trainer& trainer, std::int64_t epoch) {
    LoaderOptions options;
    options.schedule.batch_size = 4;
    options.schedule.seed = 3;
    Loader loader(*source_, options);
    return trainer.TrainEpoch(loader, epoch, 4, [](std::int64_t) { return true; }).loss;
  }

  std::string Path() const { return (folder_.path() / "training.ckpt").string(); }

  TempDir folder_;
  ImageFolder images_;
  std::unique_ptr<ImageSource> source_;
};

TEST_F(CheckpointTest, ATrainingGoesOnToTheBit) {
  for (const auto optimizer : {OptimizerKind::kAdam, OptimizerKind::kRMSprop}) {
    Trainer undisturbed(Small(optimizer), {}, 7);
    std::vector<double> expected;
    for (int epoch = 0; epoch < 5; ++epoch) expected.push_back(TrainEpoch(undisturbed, epoch));

    Trainer first(Small(optimizer), {}, 7);
    TrainEpoch(first, 0);
    TrainEpoch(first, 1);
    WriteCheckpoint(Path(), {{}, {}, 2, {}}, first);
    Trainer second(Small(optimizer), {}, 7);
    TrainEpoch(second, 9);  // is somewhere else until it is restored
    RestoreCheckpoint(Path(), second);
    for (std::size_t epoch = 2; epoch < 5; ++epoch) {
      EXPECT_EQ(TrainEpoch(second, static_cast<std::int64_t>(epoch)), expected[epoch]) << epoch;
    }
  }
}

TEST_F(CheckpointTest, KeepsWhatIsSaidOfTheTraining) {
  const Trainer trainer(Small(), {}, 7);
  CheckpointInfo info;
  info.settings = {{"network", "small"}, {"a key with \"quotes\"", "and\nlines"}};
  info.conditions = {{"threads", "2"}};
  info.epochs = 3;
  info.results = {{{"loss", 1.0 / 3}, {"accuracy", 0.1}}, {}, {{"loss", 5e-324}}};
  WriteCheckpoint(Path(), info, trainer);
  const CheckpointInfo read = ReadCheckpointInfo(Path());
  EXPECT_EQ(read.settings, info.settings);
  EXPECT_EQ(read.conditions, info.conditions);
  EXPECT_EQ(read.epochs, 3);
  EXPECT_EQ(read.results, info.results);
}

TEST_F(CheckpointTest, AnotherNetworkOrOptimizerIsRefused) {
  WriteCheckpoint(Path(), {}, Trainer(Small(), {}, 7));
  Workload wider = Small();
  wider.network.layers[0].outputs = 5;
  Trainer other(wider, {}, 7);
  EXPECT_TRUE(Contains(ErrorOf([&] { RestoreCheckpoint(Path(), other); }), "conv1.weight"));
  Trainer without(Small(OptimizerKind::kRMSprop), {}, 7);
  EXPECT_TRUE(Contains(ErrorOf([&] { RestoreCheckpoint(Path(), without); }), "more tensors"));
}

TEST_F(CheckpointTest, FilesThatAreNoCheckpointsAreNamed) {
  Trainer trainer(Small(), {}, 7);
  EXPECT_TRUE(Contains(ErrorOf([&] { ReadCheckpointInfo(Path()); }), "No such file"));
  EXPECT_TRUE(Contains(ErrorOf([&] { ReadCheckpointInfo(folder_.path().string()); }),
                       folder_.path().string()));
  for (const std::string& content : {std::string(), std::string("PK"), std::string(5000, 'x')}) {
    WriteText(Path(), content);
    EXPECT_TRUE(Contains(ErrorOf([&] { ReadCheckpointInfo(Path()); }), "no checkpoint"));
    EXPECT_TRUE(Contains(ErrorOf([&] { RestoreCheckpoint(Path(), trainer); }), Path()));
  }
}

// Cut off or flipped anywhere, the file is refused or still says the same.
TEST_F(CheckpointTest, DamageIsFound) {
  const Trainer trainer(Small(), {}, 7);
  CheckpointInfo info;
  info.epochs = 3;
  WriteCheckpoint(Path(), info, trainer);
  const std::string whole = ReadText(Path());
  const auto expect_refused_or_equal = [&](const std::string& content, std::size_t at) {
    WriteText(Path(), content);
    Trainer other(Small(), {}, 8);
    try {
      RestoreCheckpoint(Path(), other);
    } catch (const std::runtime_error& error) {
      EXPECT_TRUE(Contains(error.what(), Path())) << error.what();
      return;
    }
    EXPECT_EQ(ReadCheckpointInfo(Path()).epochs, 3) << "damaged at byte " << at;
    const auto expected = trainer.State();
    const auto restored = other.State();
    for (std::size_t i = 0; i < expected.size(); ++i) {
      EXPECT_TRUE(at::equal(restored[i].second, expected[i].second))
          << expected[i].first << " differs, damaged at byte " << at;
    }
  };
  for (std::size_t at = 0; at < whole.size(); at += whole.size() / 50) {
    expect_refused_or_equal(whole.substr(0, at), at);
    std::string flipped = whole;
    flipped[at] = static_cast<char>(flipped[at] ^ 0x10);
    expect_refused_or_equal(flipped, at);
  }
}

TEST_F(CheckpointTest, AFailedWriteLeavesWhatWasThere) {
  const Trainer trainer(Small(), {}, 7);
  const std::string nowhere = (folder_.path() / "no" / "such.ckpt").string();
  EXPECT_TRUE(Contains(ErrorOf([&] { WriteCheckpoint(nowhere, {}, trainer); }), nowhere));
  std::filesystem::create_directories(Path());
  WriteText(Path() + "/kept", "");
  EXPECT_TRUE(Contains(ErrorOf([&] { WriteCheckpoint(Path(), {}, trainer); }), Path()));
  EXPECT_TRUE(std::filesystem::exists(Path() + "/kept"));
  for (const auto& entry : std::filesystem::directory_iterator(folder_.path())) {
    EXPECT_FALSE(Contains(entry.path().string(), "partial")) << entry.path();
  }
}

TEST_F(CheckpointTest, AFullDiskIsAnErrorNotTheEnd) {
  const Trainer trainer(Small(), {}, 7);
  EXPECT_TRUE(Contains(ErrorOf([&] { WriteCheckpoint("/dev/full", {}, trainer); }), "No space"));
}

TEST_F(CheckpointTest, TheFirstDifferenceIsNamed) {
  const CheckpointKeys there = {{"network", "small"}, {"seed", "1"}, {"layer 9", "dense9"}};
  EXPECT_EQ(DifferenceOf(there, there), "");
  EXPECT_EQ(DifferenceOf(there, {{"network", "small"}, {"seed", "2"}}),
            "seed is 1 there and 2 here");
  EXPECT_EQ(DifferenceOf(there, {{"network", "small"}, {"seed", "1"}}),
            "layer 9 is dense9 there and none here");
}

}  // namespace
}  // namespace cnn
