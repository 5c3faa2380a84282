#include "dataset/schedule.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <set>
#include <stdexcept>
#include <vector>

#include "dataset/keras_random.h"
#include "dataset/testing.h"

namespace cnn {
namespace {

ScheduleOptions Options(RandomStream stream, int batch_size) {
  ScheduleOptions options;
  options.augmentation = DogsVsCatsAugmentation();
  options.batch_size = batch_size;
  options.seed = 5;
  options.stream = stream;
  return options;
}

using Batches = std::vector<std::vector<ScheduledSample>>;

Batches Epoch(Schedule& schedule, std::int64_t epoch, std::int64_t steps) {
  schedule.StartEpoch(epoch, steps);
  Batches batches;
  while (schedule.left() > 0) {
    batches.emplace_back();
    schedule.NextBatch(batches.back());
  }
  return batches;
}

std::vector<std::vector<std::size_t>> ImagesOf(const Batches& batches) {
  std::vector<std::vector<std::size_t>> images;
  for (const auto& batch : batches) {
    images.emplace_back();
    for (const ScheduledSample& sample : batch) images.back().push_back(sample.image);
  }
  return images;
}

// np.random.seed(7); np.random.uniform(size=3), numpy 1.26.
TEST(KerasRandom, DrawsNumpysDoubles) {
  KerasRandom random(7);
  EXPECT_EQ(random.Uniform(), 0.07630828937395717);
  EXPECT_EQ(random.Uniform(), 0.7799187922401146);
  EXPECT_EQ(random.Uniform(), 0.4384092314408935);
}

// np.random.seed(123); np.random.permutation(18687), numpy 1.26: the first eight, and over all
// indices, starting with 0xcbf29ce484222325: h = (h ^ index) * 0x100000001b3 mod 2^64. (The array's
// MD5 as 32-bit little-endian integers is 0ac4645630ee16ede51ea949e83860ce.)
TEST(KerasRandom, ShufflesAsNumpy) {
  std::vector<std::size_t> order(18687);
  std::iota(order.begin(), order.end(), std::size_t{0});
  KerasRandom(123).Shuffle(order);
  const std::vector<std::size_t> first(order.begin(), order.begin() + 8);
  EXPECT_EQ(first, (std::vector<std::size_t>{6113, 2618, 12727, 11202, 12060, 3611, 1185, 4385}));
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const std::size_t index : order) hash = (hash ^ index) * 0x100000001b3ULL;
  EXPECT_EQ(hash, 0x570e9c69f58fe910ULL);
}

// get_random_transform((150, 150, 3), seed=42) of keras-preprocessing 1.1.2.
TEST(KerasRandom, GivesKerasParameters) {
  KerasRandom first(42);
  const Transform a = DrawTransform(EightKindsAugmentation(), 150, 150, first);
  EXPECT_EQ(a.theta, -5.0183952461055);
  EXPECT_EQ(a.tx, 0);
  EXPECT_EQ(a.ty, 0);
  EXPECT_EQ(a.shear, 0.18028572256396647);
  EXPECT_EQ(a.zx, 1.092797576724562);
  EXPECT_EQ(a.zy, 1.0394633936788147);
  EXPECT_TRUE(a.flip_horizontal);
  KerasRandom second(42);
  const Transform b = DrawTransform(DogsVsCatsAugmentation(), 150, 150, second);
  EXPECT_EQ(b.theta, -10.036790492211);
  EXPECT_EQ(b.tx, 27.04285838459497);
  EXPECT_EQ(b.ty, 13.919636508684302);
  EXPECT_EQ(b.shear, 0.03946339367881463);
  EXPECT_EQ(b.zx, 0.8624074561769747);
  EXPECT_EQ(b.zy, 0.8623978081344811);
  EXPECT_TRUE(b.flip_horizontal);
}

// keras_preprocessing 1.1.2: an Iterator of 7 images, batches of 3, seed 5, reset() before each of
// two epochs of five next(), get_random_transform for each sample.
TEST(Schedule, ReplaysKerasIterator) {
  Schedule schedule(7, 150, Options(RandomStream::kKeras, 3));
  const Batches first = Epoch(schedule, 0, 5);
  EXPECT_EQ(ImagesOf(first), (std::vector<std::vector<std::size_t>>{
                                 {6, 2, 4}, {1, 0, 5}, {3}, {2, 0, 6}, {5, 1, 4}}));
  EXPECT_EQ(first[0][0].transform.theta, 8.93950903221166);
  EXPECT_EQ(first[0][1].transform.theta, -27.335210582987905);
  EXPECT_EQ(first[0][2].transform.theta, -18.734470597159422);
  EXPECT_EQ(first[0][2].transform.zy, 0.866245144480507);
  EXPECT_FALSE(first[0][0].transform.flip_horizontal);
  const Batches second = Epoch(schedule, 1, 5);
  EXPECT_EQ(ImagesOf(second), (std::vector<std::vector<std::size_t>>{
                                  {2, 6, 0}, {3, 4, 5}, {1}, {1, 3, 4}, {5, 6, 0}}));
  const Transform& last = second[4][2].transform;
  EXPECT_EQ(last.theta, 34.60460743029695);
  EXPECT_EQ(last.tx, -7.545315031110475);
  EXPECT_EQ(last.ty, 15.145135325156787);
  EXPECT_EQ(last.shear, 0.10525560073820878);
  EXPECT_EQ(last.zx, 1.1481997821087);
  EXPECT_EQ(last.zy, 0.8440444713026407);
  EXPECT_TRUE(last.flip_horizontal);
}

class EitherStream : public testing::TestWithParam<RandomStream> {};
INSTANTIATE_TEST_SUITE_P(Schedule, EitherStream,
                         testing::Values(RandomStream::kKeyed, RandomStream::kKeras),
                         [](const auto& stream) {
                           return stream.param == RandomStream::kKeyed ? "Keyed" : "Keras";
                         });

// The first experiment: 1000 steps of 32 over 18,687 images are 584 batches, one of them of 31,
// and 416 of the next pass.
TEST_P(EitherStream, AnEpochSeesTheImagesThatKerasSees) {
  ScheduleOptions options = Options(GetParam(), 32);
  options.augmentation = {};
  Schedule schedule(18687, 150, options);
  std::vector<int> seen(18687);
  std::size_t images = 0;
  for (const auto& batch : Epoch(schedule, 0, 1000)) {
    images += batch.size();
    for (const ScheduledSample& sample : batch) ++seen[sample.image];
  }
  EXPECT_EQ(images, 31999U);
  EXPECT_EQ(std::count(seen.begin(), seen.end(), 1), 18687 - 13312);
  EXPECT_EQ(std::count(seen.begin(), seen.end(), 2), 13312);
}

TEST_P(EitherStream, EveryPassIsAPermutationOfItsOwn) {
  Schedule schedule(50, 150, Options(GetParam(), 8));
  std::set<std::vector<std::size_t>> orders;
  for (const std::int64_t epoch : {0, 1}) {
    const auto batches = ImagesOf(Epoch(schedule, epoch, 21));
    for (std::size_t pass = 0; pass < 3; ++pass) {
      std::vector<std::size_t> order;
      for (std::size_t i = 7 * pass; i < 7 * (pass + 1); ++i) {
        EXPECT_EQ(batches[i].size(), i % 7 == 6 ? 2U : 8U);
        order.insert(order.end(), batches[i].begin(), batches[i].end());
      }
      orders.insert(order);
      std::sort(order.begin(), order.end());
      for (std::size_t i = 0; i < 50; ++i) EXPECT_EQ(order[i], i);
    }
  }
  EXPECT_EQ(orders.size(), 6U);
}

TEST_P(EitherStream, AnEpochCanBeRepeatedAtAnyTime) {
  Schedule schedule(10, 150, Options(GetParam(), 4));
  const Batches expected = Epoch(schedule, 3, 8);
  schedule.StartEpoch(1, 8);
  std::vector<ScheduledSample> samples;
  schedule.NextBatch(samples);
  const Batches again = Epoch(schedule, 3, 8);
  ASSERT_EQ(ImagesOf(again), ImagesOf(expected));
  for (std::size_t i = 0; i < again.size(); ++i) {
    for (std::size_t k = 0; k < again[i].size(); ++k) {
      EXPECT_EQ(again[i][k].transform.theta, expected[i][k].transform.theta);
      EXPECT_EQ(again[i][k].transform.zy, expected[i][k].transform.zy);
    }
  }
}

TEST_P(EitherStream, WithoutShufflingTheOrderIsTheFolders) {
  ScheduleOptions options = Options(GetParam(), 4);
  options.shuffle = false;
  Schedule schedule(6, 150, options);
  EXPECT_EQ(ImagesOf(Epoch(schedule, 1, 3)),
            (std::vector<std::vector<std::size_t>>{{0, 1, 2, 3}, {4, 5}, {0, 1, 2, 3}}));
}

TEST_P(EitherStream, HandsOnTheProfile) {
  ScheduleOptions options = Options(GetParam(), 4);
  options.augmentation.profile = KerasProfile::kKerasHead;
  Schedule schedule(6, 150, options);
  EXPECT_EQ(Epoch(schedule, 0, 1)[0][3].transform.profile, KerasProfile::kKerasHead);
}

// Whatever the batch size: the design's rule that a sample's pixels depend on nothing else.
TEST(Schedule, KeyedTransformsDependOnTheImageAndItsPassOnly) {
  const auto by_image = [](int batch_size, std::int64_t steps) {
    Schedule schedule(12, 150, Options(RandomStream::kKeyed, batch_size));
    std::vector<double> thetas(12);
    for (const auto& batch : Epoch(schedule, 2, steps)) {
      for (const ScheduledSample& sample : batch) thetas[sample.image] = sample.transform.theta;
    }
    return thetas;
  };
  EXPECT_EQ(by_image(12, 1), by_image(5, 3));
}

TEST(Schedule, RefusesWhatMakesNoSense) {
  const auto refused = [](std::size_t images, auto change) {
    ScheduleOptions options = Options(RandomStream::kKeyed, 4);
    change(options);
    EXPECT_THROW(Schedule(images, 150, options), std::invalid_argument);
  };
  refused(0, [](ScheduleOptions&) {});
  refused(4, [](ScheduleOptions& o) { o.batch_size = 0; });
  refused(4, [](ScheduleOptions& o) { o.augmentation.zoom_range = 1; });
  refused(4, [](ScheduleOptions& o) { o.augmentation.height_shift_range = 1.5; });
  refused(4, [](ScheduleOptions& o) { o.augmentation.rotation_range = -1; });
  refused(4, [](ScheduleOptions& o) { o.augmentation.shear_range = std::nan(""); });
  Schedule schedule(10, 150, Options(RandomStream::kKeyed, 4));
  EXPECT_THROW(schedule.StartEpoch(0, -1), std::invalid_argument);
  EXPECT_THROW(schedule.StartEpoch(-1, 1), std::invalid_argument);
  EXPECT_THROW(schedule.StartEpoch(0, INT64_MAX), std::invalid_argument);
  schedule.StartEpoch(0, 0);
  std::vector<ScheduledSample> samples;
  EXPECT_THROW(schedule.NextBatch(samples), std::logic_error);
}

TEST(Schedule, RefusesSeedsThatNumpyRefuses) {
  ScheduleOptions options = Options(RandomStream::kKeras, 4);
  options.seed = UINT32_MAX - 9;
  Schedule schedule(10, 150, options);
  schedule.StartEpoch(1, 5);
  EXPECT_EQ(schedule.left(), 5);
  EXPECT_THROW(schedule.StartEpoch(2, 5), std::invalid_argument);
  options.seed = UINT64_MAX;
  Schedule far(10, 150, options);
  EXPECT_THROW(far.StartEpoch(0, 1), std::invalid_argument);
}

}  // namespace
}  // namespace cnn
