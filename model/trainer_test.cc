#include "model/trainer.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <string>
#include <vector>

#include "dataset/random.h"
#include "dataset/testing.h"
#include "dataset/timeline_testing.h"

namespace cnn {
namespace {

double LossOf(Loss loss, const std::vector<std::vector<float>>& rows,
              const std::vector<std::int64_t>& labels) {
  std::vector<float> flat;
  for (const auto& row : rows) flat.insert(flat.end(), row.begin(), row.end());
  const auto n = static_cast<std::int64_t>(rows.size());
  const at::Tensor logits = at::tensor(flat).view({n, -1});
  return ComputeLoss(loss, logits, at::tensor(labels, at::kLong)).item<double>();
}

// -log softmax: logits (0, ln 3) give (1/4, 3/4).
TEST(LossTest, CategoricalByHand) {
  const float ln3 = std::log(3.0F);
  EXPECT_NEAR(LossOf(Loss::kCategoricalCrossentropy, {{0, ln3}}, {1}), std::log(4.0 / 3), 1e-6);
  EXPECT_NEAR(LossOf(Loss::kCategoricalCrossentropy, {{0, ln3}, {0, ln3}}, {1, 0}),
              (std::log(4.0 / 3) + std::log(4.0)) / 2, 1e-6);
  EXPECT_NEAR(LossOf(Loss::kCategoricalCrossentropy, {{0, 0, 0, 0, 0, 0, 0, 0}}, {5}),
              std::log(8.0), 1e-6);
}

// -log sigmoid: logit ln 3 gives 3/4.
TEST(LossTest, BinaryByHand) {
  const float ln3 = std::log(3.0F);
  EXPECT_NEAR(LossOf(Loss::kBinaryCrossentropy, {{ln3}}, {1}), std::log(4.0 / 3), 1e-6);
  EXPECT_NEAR(LossOf(Loss::kBinaryCrossentropy, {{ln3}, {ln3}}, {1, 0}),
              (std::log(4.0 / 3) + std::log(4.0)) / 2, 1e-6);
  EXPECT_NEAR(LossOf(Loss::kBinaryCrossentropy, {{0}}, {0}), std::log(2.0), 1e-6);
}

TEST(LossTest, LargeLogitsStayFinite) {
  EXPECT_NEAR(LossOf(Loss::kCategoricalCrossentropy, {{1000, 0}}, {1}), 1000, 1e-3);
  EXPECT_NEAR(LossOf(Loss::kBinaryCrossentropy, {{-1000}}, {1}), 1000, 1e-3);
}

TEST(AccuracyTest, CountsTheLargestLogit) {
  const at::Tensor logits = at::tensor({1.0F, 2.0F, 0.0F, 3.0F, 1.0F, 2.0F}).view({2, 3});
  const auto count = [&](std::vector<std::int64_t> labels) {
    return CountCorrect(Loss::kCategoricalCrossentropy, logits, at::tensor(labels, at::kLong))
        .item<std::int64_t>();
  };
  EXPECT_EQ(count({1, 0}), 2);
  EXPECT_EQ(count({1, 2}), 1);
  EXPECT_EQ(count({0, 2}), 0);
}

// Probability above one half: a logit above zero.
TEST(AccuracyTest, BinaryThresholdIsOneHalf) {
  const at::Tensor logits = at::tensor({0.1F, -0.1F, 0.0F}).view({3, 1});
  const auto count = [&](std::vector<std::int64_t> labels) {
    return CountCorrect(Loss::kBinaryCrossentropy, logits, at::tensor(labels, at::kLong))
        .item<std::int64_t>();
  };
  EXPECT_EQ(count({1, 0, 0}), 3);
  EXPECT_EQ(count({0, 1, 1}), 0);
}

// Dropout draws from LibTorch's own generator, whose stream may change with its version.
Workload WithoutDropout(Workload workload) {
  std::vector<Layer> kept;
  for (const Layer& layer : workload.network.layers) {
    if (layer.kind != LayerKind::kDropout) kept.push_back(layer);
  }
  workload.network.layers = kept;
  return workload;
}

// Ten steps on a fixed batch of four; losses in step order.
std::vector<double> TenLosses(const Workload& workload, std::int64_t classes) {
  constexpr std::int64_t n = 4;
  at::Tensor images = at::empty({n, 3, 150, 150});
  KeyedRandom random({1234});
  for (std::int64_t i = 0; i < images.numel(); ++i) {
    images.data_ptr<float>()[i] = static_cast<float>(random.Uniform());
  }
  images = ToDevice(images, {});
  const at::Tensor labels = at::arange(n, at::kLong).remainder(classes);
  Trainer trainer(WithoutDropout(workload), {}, 42);
  std::vector<double> losses;
  for (int step = 0; step < 10; ++step) {
    trainer.Step(images, labels);
    losses.push_back(trainer.TakeTotals().loss);
  }
  return losses;
}

// Stored from this test with LibTorch 1.13 (oneDNN 2.6.3, OpenBLAS 0.3.21) on AVX-512. Restricting
// oneDNN and OpenBLAS to SSE4 moves them by up to 0.002, which the tolerance has room for.
TEST(TrainerTest, EightKindsLossesOfTenSteps) {
  const std::vector<double> expected = {2.0276639, 2.4284468, 6.7498422, 5.5135078, 0.7949874,
                                        0.1989241, 0.0442489, 0.0130614, 0.0160232, 0.0046214};
  const std::vector<double> losses = TenLosses(EightKinds(), 8);
  for (std::size_t i = 0; i < 10; ++i) EXPECT_NEAR(losses[i], expected[i], 0.01) << "step " << i;
}

TEST(TrainerTest, DogsVsCatsLossesOfTenSteps) {
  const std::vector<double> expected = {0.6922136, 0.6524230, 0.6897634, 0.6750606, 0.6162738,
                                        0.5915352, 0.5733031, 0.5555266, 0.5371023, 0.5181638};
  const std::vector<double> losses = TenLosses(DogsVsCats(), 2);
  for (std::size_t i = 0; i < 10; ++i) EXPECT_NEAR(losses[i], expected[i], 0.005) << "step " << i;
}

TEST(TrainerTest, SameSeedGivesTheSameLossesToTheBit) {
  EXPECT_EQ(TenLosses(DogsVsCats(), 2), TenLosses(DogsVsCats(), 2));
}

class TrainEpochTest : public testing::Test {
 protected:
  static constexpr int kImagesPerClass = 5;

  void SetUp() override {
    WriteImages(root_.path() / "dark", kImagesPerClass, 0);
    WriteImages(root_.path() / "light", kImagesPerClass, 100);
    folder_ = ScanImageFolder(root_.path());
    source_ = std::make_unique<ImageSource>(folder_, SourceKind::kFiles, 150);
  }

  LoaderOptions Options(int workers) const {
    LoaderOptions options;
    options.schedule.augmentation = DogsVsCats().augmentation;
    options.schedule.batch_size = 4;
    options.workers = workers;
    options.schedule.seed = 3;
    return options;
  }

  TempDir root_;
  ImageFolder folder_;
  std::unique_ptr<ImageSource> source_;
};

TEST_F(TrainEpochTest, CountsStepsAndImagesReallySeen) {
  Loader loader(*source_, Options(1));
  Trainer trainer(DogsVsCats(), {}, 1);
  const TrainingTotals totals = trainer.TrainEpoch(loader, 0, 4, [](std::int64_t) { return true; });
  EXPECT_EQ(totals.steps, 4);
  EXPECT_EQ(totals.images, 4 + 4 + 2 + 4);  // ten images: the third batch is short
  EXPECT_TRUE(std::isfinite(totals.loss));
  EXPECT_GT(totals.loss, 0);
  EXPECT_GE(totals.accuracy, 0);
  EXPECT_LE(totals.accuracy, 1);
  EXPECT_GT(totals.forward, 0);
  EXPECT_GT(totals.backward, 0);
  EXPECT_GT(totals.optimizer, 0);
  EXPECT_GT(totals.copy, 0);
}

TEST_F(TrainEpochTest, ReportsEachStepAndStopsWhenTold) {
  Loader loader(*source_, Options(2));
  Trainer trainer(DogsVsCats(), {}, 1);
  std::vector<std::int64_t> seen;
  const TrainingTotals totals = trainer.TrainEpoch(loader, 0, 10, [&](std::int64_t done) {
    seen.push_back(done);
    return done < 3;
  });
  EXPECT_EQ(seen, (std::vector<std::int64_t>{1, 2, 3}));
  EXPECT_EQ(totals.steps, 3);
}

TEST_F(TrainEpochTest, LossesAreBitEqualForAnyNumberOfWorkers) {
  std::vector<std::vector<double>> losses;
  for (const int workers : {0, 1, 3}) {
    Loader loader(*source_, Options(workers));
    Trainer trainer(DogsVsCats(), {}, 1);
    losses.emplace_back();
    for (int epoch = 0; epoch < 2; ++epoch) {
      losses.back().push_back(
          trainer.TrainEpoch(loader, epoch, 3, [](std::int64_t) { return true; }).loss);
    }
  }
  EXPECT_EQ(losses[0], losses[1]);
  EXPECT_EQ(losses[0], losses[2]);
  EXPECT_NE(losses[0][0], losses[0][1]);
}

// Waits and sections of a CPU's steps, in their order.
void ExpectSteps(const std::vector<TracedEvent>& events, int steps, const std::string& category) {
  std::vector<std::string> names = {"wait", "copy", "forward"};
  if (category == "training") names.insert(names.end(), {"backward", "optimizer"});
  ASSERT_EQ(events.size(), names.size() * static_cast<std::size_t>(steps));
  for (std::size_t i = 0; i < events.size(); ++i) {
    EXPECT_EQ(events[i].name, names[i % names.size()]);
    EXPECT_EQ(events[i].category, category);
    EXPECT_EQ(events[i].args.at("step"), i / names.size());
  }
}

TEST_F(TrainEpochTest, ATimelineShowsEachStepAndChangesNothing) {
  constexpr int kSteps = 4;
  const auto go_on = [](std::int64_t) { return true; };
  double untraced = 0;
  {
    Loader loader(*source_, Options(1));
    Trainer trainer(DogsVsCats(), {}, 1);
    untraced = trainer.TrainEpoch(loader, 0, kSteps, go_on).loss;
  }
  for (const int workers : {0, 2}) {
    Loader loader(*source_, Options(workers));
    Trainer trainer(DogsVsCats(), {}, 1);
    Timeline timeline;
    const auto start = Timeline::Clock::now();
    loader.SetTimeline(&timeline);
    trainer.SetTimeline(&timeline);
    EXPECT_EQ(trainer.TrainEpoch(loader, 0, kSteps, go_on).loss, untraced);
    const std::chrono::duration<double, std::micro> passed = Timeline::Clock::now() - start;
    loader.SetTimeline(nullptr);
    trainer.SetTimeline(nullptr);
    trainer.TrainEpoch(loader, 1, 1, go_on);  // after the timeline's epoch
    auto tracks = ReadBack(timeline);
    std::vector<TracedEvent> steps, loads;
    for (TracedEvent& event : tracks.at("training thread")) {
      (event.name == "load" ? loads : steps).push_back(event);
    }
    ExpectSteps(steps, kSteps, "training");
    EXPECT_TRUE(AreApart(steps));
    EXPECT_LE(steps.back().end, steps.front().begin + passed.count());
    // Without workers the waits are the loading.
    EXPECT_EQ(loads.size(), workers == 0 ? 14U : 0U);
    EXPECT_TRUE(AreApart(loads));
    for (const TracedEvent& load : loads) {
      const int batch = load.args.at("batch");
      const TracedEvent wait = Named(steps, "wait").at(static_cast<std::size_t>(batch));
      EXPECT_LE(wait.begin, load.begin);
      EXPECT_LE(load.end, wait.end);
    }
    for (int i = 0; i < workers; ++i) {
      EXPECT_TRUE(AreApart(tracks.at("worker " + std::to_string(i))));
    }
  }
}

TEST_F(TrainEpochTest, ATimelineShowsValidationAsSuch) {
  Loader loader(*source_, Options(2));
  Loader validation_loader(*source_, Options(1));
  Trainer trainer(DogsVsCats(), {}, 1);
  Timeline timeline;
  loader.SetTimeline(&timeline);
  validation_loader.SetTimeline(&timeline, "validation worker");
  trainer.SetTimeline(&timeline);
  const auto go_on = [](std::int64_t) { return true; };
  trainer.TrainEpoch(loader, 0, 2, go_on);
  trainer.Evaluate(validation_loader, 0, 3, go_on);
  auto tracks = ReadBack(timeline);
  const std::vector<TracedEvent>& events = tracks.at("training thread");
  EXPECT_TRUE(AreApart(events));
  ASSERT_EQ(events.size(), 2U * 5 + 3U * 3);
  ExpectSteps({events.begin(), events.begin() + 10}, 2, "training");
  ExpectSteps({events.begin() + 10, events.end()}, 3, "validation");
  EXPECT_EQ(Named(tracks.at("validation worker 0"), "load").size(), 10U);
}

TEST_F(TrainEpochTest, ATimelineShowsAnEpochThatWasCutShort) {
  Loader loader(*source_, Options(2));
  Trainer trainer(DogsVsCats(), {}, 1);
  Timeline timeline;
  loader.SetTimeline(&timeline);
  trainer.SetTimeline(&timeline);
  trainer.TrainEpoch(loader, 0, 1000000, [](std::int64_t done) { return done < 2; });
  loader.SetTimeline(nullptr);
  ExpectSteps(ReadBack(timeline).at("training thread"), 2, "training");
}

TEST_F(TrainEpochTest, LearnsToTellDarkFromLight) {
  Loader loader(*source_, Options(1));
  Trainer trainer(DogsVsCats(), {}, 1);
  const auto epoch = [&](std::int64_t number) {
    return trainer.TrainEpoch(loader, number, 6, [](std::int64_t) { return true; });
  };
  const TrainingTotals first = epoch(0);
  TrainingTotals last;
  for (int number = 1; number < 5; ++number) last = epoch(number);
  EXPECT_LT(last.loss, first.loss);
  EXPECT_GT(last.accuracy, 0.9);
}

TEST(TrainerTest, TakeTotalsStartsAnew) {
  Trainer trainer(DogsVsCats(), {}, 1);
  const at::Tensor images = ToDevice(at::rand({2, 3, 150, 150}), {});
  const at::Tensor labels = at::tensor({0, 1}, at::kLong);
  trainer.Step(images, labels);
  EXPECT_EQ(trainer.TakeTotals().images, 2);
  const TrainingTotals none = trainer.TakeTotals();
  EXPECT_EQ(none.images, 0);
  EXPECT_EQ(none.loss, 0);
  EXPECT_EQ(none.forward, 0);
}

TEST(TrainerTest, PredictRecordsNothingAndChangesNothing) {
  Trainer trainer(DogsVsCats(), {}, 1);
  const at::Tensor images = ToDevice(at::rand({2, 3, 150, 150}), {});
  const at::Tensor logits = trainer.Predict(images);
  EXPECT_FALSE(logits.requires_grad());
  EXPECT_TRUE(at::equal(logits, trainer.Predict(images)));
}

// 4 images with losses of their own: the standard error of their mean, and of a share of right
// answers, by their definitions.
TEST(TrainerTest, StandardErrorsByTheirDefinition) {
  const Workload workload = WithoutDropout(EightKinds());
  Trainer trainer(workload, {}, 1);
  const at::Tensor images = ToDevice(at::rand({4, 3, 150, 150}), {});
  const at::Tensor labels = at::tensor({0, 1, 2, 3}, at::kLong);
  const at::Tensor logits = trainer.Predict(images);
  const at::Tensor losses = ComputeLosses(workload.loss, logits, labels).to(at::kDouble);
  const double p = CountCorrect(workload.loss, logits, labels).item<double>() / 4;
  trainer.Step(images, labels);
  const TrainingTotals totals = trainer.TakeTotals();
  EXPECT_NEAR(totals.loss, losses.mean().item<double>(), 1e-6);
  EXPECT_NEAR(totals.loss_se, losses.std(/*unbiased=*/true).item<double>() / 2, 1e-6);
  EXPECT_EQ(totals.accuracy, p);
  EXPECT_EQ(totals.accuracy_se, std::sqrt(p * (1 - p) / 4));
}

TEST_F(TrainEpochTest, EvaluationTrainsNothingAndDropsNothing) {
  Loader loader(*source_, Options(1));
  Trainer trainer(EightKinds(), {}, 1);  // has dropout
  const auto go_on = [](std::int64_t) { return true; };
  const auto before = trainer.State();
  std::vector<at::Tensor> copies;
  for (const auto& [name, tensor] : before) copies.push_back(tensor.detach().clone());
  const TrainingTotals first = trainer.Evaluate(loader, 0, 3, go_on);
  const TrainingTotals second = trainer.Evaluate(loader, 0, 3, go_on);
  EXPECT_EQ(first.images, 10);
  EXPECT_EQ(first.loss, second.loss);
  EXPECT_EQ(first.backward, 0);
  for (std::size_t i = 0; i < copies.size(); ++i) {
    EXPECT_TRUE(at::equal(before[i].second, copies[i])) << before[i].first;
  }
  EXPECT_EQ(trainer.OptimizerSteps(), 0);
}

// Whatever was drawn before, so that a training can go on from a file.
TEST_F(TrainEpochTest, DropoutOfAnEpochDependsOnSeedAndEpochOnly) {
  Loader loader(*source_, Options(1));
  const auto loss_of_second_epoch = [&](std::int64_t draws_before) {
    Trainer trainer(EightKinds(), {}, 1);
    at::rand({draws_before});
    return trainer.TrainEpoch(loader, 1, 2, [](std::int64_t) { return true; }).loss;
  };
  EXPECT_EQ(loss_of_second_epoch(1), loss_of_second_epoch(1000));
}

TEST(TrainerTest, StateNamesWeightsAndMoments) {
  const auto names = [](const Workload& workload) {
    std::vector<std::string> found;
    for (const auto& [name, tensor] : Trainer(workload, {}, 1).State()) found.push_back(name);
    return found;
  };
  const std::vector<std::string> dogs = names(DogsVsCats());
  EXPECT_EQ(dogs.size(), 2U * 12);  // six layers with weights and biases; RMSprop has one moment
  EXPECT_EQ(dogs.front(), "conv1.weight");
  EXPECT_EQ(dogs.back(), "dense2.bias/moment2");
  EXPECT_EQ(names(EightKinds()).size(), 3U * 10);
}

}  // namespace
}  // namespace cnn
