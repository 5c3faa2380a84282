#include "dataset/loader.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <map>
#include <memory>
#include <opencv2/core.hpp>
#include <opencv2/imgcodecs.hpp>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "dataset/image_folder.h"
#include "dataset/random.h"
#include "dataset/testing.h"
#include "dataset/timeline_testing.h"

namespace cnn {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kImages = 13;
constexpr int kSide = 20;
constexpr std::size_t kSampleFloats = 3 * kSide * kSide;

// Thirteen JPEG files of different sizes in two classes. The left edge of image i is a broad band
// of grey level 18 i, which no augmentation but rescaling is applied to when a test reads it back.
class LoaderTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (int i = 0; i < kImages; ++i) {
      cv::Mat image = RandomImage(24 + 3 * i, 60 - 2 * i, 0, 256,
                                  KeyedRandom({1, static_cast<std::uint64_t>(i)}));
      image(cv::Rect(0, 0, 16, image.rows)) = cv::Scalar::all(18 * i);
      const std::filesystem::path path =
          dir_.path() / (i < 7 ? "cat" : "dog") / (std::to_string(100 + i) + ".jpg");
      std::filesystem::create_directories(path.parent_path());
      ASSERT_TRUE(cv::imwrite(path.string(), image, {cv::IMWRITE_JPEG_QUALITY, 95}));
    }
    folder_ = ScanImageFolder(dir_.path());
    ASSERT_EQ(folder_.images.size(), static_cast<std::size_t>(kImages));
    source_ = std::make_unique<ImageSource>(folder_, SourceKind::kFiles, kSide);
  }

  static LoaderOptions Options(int workers, int batch_size) {
    LoaderOptions options;
    options.workers = workers;
    options.schedule.batch_size = batch_size;
    options.schedule.seed = 42;
    return options;
  }

  static LoaderOptions Augmented(int workers, int batch_size) {
    LoaderOptions options = Options(workers, batch_size);
    options.schedule.augmentation = DogsVsCatsAugmentation();
    return options;
  }

  void Damage(std::size_t image) { WriteText(folder_.images[image].path, "no image at all"); }

  TempDir dir_;
  ImageFolder folder_;
  std::unique_ptr<ImageSource> source_;
};

struct Copy {
  std::vector<float> images;
  std::vector<std::int64_t> labels;
  bool operator==(const Copy& other) const {
    return images == other.images && labels == other.labels;
  }
};

Copy CopyOf(const Batch& batch) {
  return {{batch.images, batch.images + static_cast<std::size_t>(batch.count) * kSampleFloats},
          {batch.labels, batch.labels + batch.count}};
}

std::vector<Copy> Epoch(Loader& loader, std::int64_t epoch, std::int64_t steps) {
  loader.StartEpoch(epoch, steps);
  std::vector<Copy> batches;
  while (const Batch* batch = loader.Next()) batches.push_back(CopyOf(*batch));
  EXPECT_EQ(loader.Next(), nullptr);
  return batches;
}

// Which image each sample of a plainly rescaled batch is.
std::vector<int> ImagesOf(const Copy& batch) {
  std::vector<int> images;
  for (std::size_t i = 0; i < batch.labels.size(); ++i) {
    const float grey = batch.images[i * kSampleFloats + kSide * kSide / 2] * 255;
    images.push_back(static_cast<int>(std::lround(grey / 18)));
  }
  return images;
}

std::vector<int> ImagesOf(const std::vector<Copy>& batches) {
  std::vector<int> images;
  for (const Copy& batch : batches) {
    for (const int image : ImagesOf(batch)) images.push_back(image);
  }
  return images;
}

std::vector<std::int64_t> Counts(const std::vector<Copy>& batches) {
  std::vector<std::int64_t> counts;
  for (const Copy& batch : batches) {
    counts.push_back(static_cast<std::int64_t>(batch.labels.size()));
  }
  return counts;
}

using Sizes = std::vector<std::int64_t>;

TEST_F(LoaderTest, BatchesAreBitEqualForAnyNumberOfWorkersStreamAndSource) {
  const ImageSource bytes(folder_, SourceKind::kBytes, kSide);
  const ImageSource decoded(folder_, SourceKind::kDecoded, kSide);
  const std::vector<const ImageSource*> sources = {source_.get(), &bytes, &decoded};
  for (const RandomStream stream : {RandomStream::kKeyed, RandomStream::kKeras}) {
    for (const int batch_size : {1, 4, 20}) {
      LoaderOptions options = Augmented(0, batch_size);
      options.schedule.stream = stream;
      Loader alone(*source_, options);
      const std::vector<Copy> expected = Epoch(alone, 3, 15);
      ASSERT_EQ(expected.size(), 15U);
      for (const int workers : {1, 2, 5}) {
        options.workers = workers;
        for (const ImageSource* source : sources) {
          Loader loader(*source, options);
          EXPECT_EQ(Epoch(loader, 3, 15), expected) << workers << " workers, " << batch_size;
        }
      }
    }
  }
}

TEST_F(LoaderTest, BatchesDoNotDependOnTheRingsSize) {
  LoaderOptions options = Augmented(3, 4);
  options.prefetch = 2;
  Loader small(*source_, options);
  options.prefetch = 9;
  Loader large(*source_, options);
  EXPECT_EQ(Epoch(small, 0, 12), Epoch(large, 0, 12));
}

TEST_F(LoaderTest, ASamplesPixelsDoNotDependOnTheBatchSize) {
  const auto samples = [&](int batch_size, std::int64_t steps) {
    Loader loader(*source_, Augmented(2, batch_size));
    std::vector<float> all;
    for (const Copy& batch : Epoch(loader, 1, steps)) {
      all.insert(all.end(), batch.images.begin(), batch.images.end());
    }
    return all;
  };
  const std::vector<float> by_one = samples(1, 2 * kImages);
  EXPECT_EQ(by_one, samples(5, 6));
  EXPECT_EQ(by_one, samples(13, 2));
}

TEST_F(LoaderTest, ASmallDataSetWrapsManyTimesWithinTheRing) {
  LoaderOptions options = Augmented(3, 64);
  options.prefetch = 6;
  Loader loader(*source_, options);
  const std::vector<Copy> batches = Epoch(loader, 0, 20);
  EXPECT_EQ(Counts(batches), Sizes(20, kImages));
  Loader alone(*source_, Augmented(0, 64));
  EXPECT_EQ(Epoch(alone, 0, 20), batches);
}

TEST_F(LoaderTest, EveryPassSeesEveryImageOnceInAnOrderOfItsOwn) {
  Loader loader(*source_, Options(2, 4));
  const std::vector<int> images = ImagesOf(Epoch(loader, 0, 12));
  ASSERT_EQ(images.size(), 3U * kImages);
  std::set<std::vector<int>> orders;
  for (int pass = 0; pass < 3; ++pass) {
    std::vector<int> order(images.begin() + pass * kImages, images.begin() + (pass + 1) * kImages);
    orders.insert(order);
    std::sort(order.begin(), order.end());
    for (int i = 0; i < kImages; ++i) EXPECT_EQ(order[static_cast<std::size_t>(i)], i);
  }
  EXPECT_EQ(orders.size(), 3U);
}

// The published experiment's epoch in small: steps times batch size is not the images seen.
TEST_F(LoaderTest, KeepsTheShortLastBatchOfEachPass) {
  Loader loader(*source_, Options(2, 4));
  const std::vector<Copy> batches = Epoch(loader, 0, 6);
  EXPECT_EQ(Counts(batches), (Sizes{4, 4, 4, 1, 4, 4}));
  const std::vector<int> images = ImagesOf(batches);
  std::map<int, int> seen;
  for (const int image : images) ++seen[image];
  EXPECT_EQ(images.size(), 21U);
  EXPECT_EQ(seen.size(), static_cast<std::size_t>(kImages));
  EXPECT_EQ(std::count_if(seen.begin(), seen.end(), [](auto entry) { return entry.second == 2; }),
            8);
}

TEST_F(LoaderTest, LabelsBelongToTheirImages) {
  Loader loader(*source_, Options(3, 5));
  for (const Copy& batch : Epoch(loader, 7, 9)) {
    const std::vector<int> images = ImagesOf(batch);
    for (std::size_t i = 0; i < images.size(); ++i) {
      EXPECT_EQ(batch.labels[i], images[i] < 7 ? 0 : 1);
    }
  }
}

TEST_F(LoaderTest, WithoutShufflingTheOrderIsTheFolders) {
  LoaderOptions options = Options(3, 4);
  options.schedule.shuffle = false;
  Loader loader(*source_, options);
  const std::vector<int> images = ImagesOf(Epoch(loader, 0, 8));
  for (std::size_t i = 0; i < images.size(); ++i) {
    EXPECT_EQ(images[i], static_cast<int>(i % kImages));
  }
}

TEST_F(LoaderTest, EpochsDifferAndRepeat) {
  Loader loader(*source_, Augmented(2, 4));
  const std::vector<Copy> first = Epoch(loader, 0, 5);
  const std::vector<Copy> second = Epoch(loader, 1, 5);
  EXPECT_NE(first, second);
  EXPECT_EQ(Epoch(loader, 0, 5), first);
  LoaderOptions other_seed = Augmented(2, 4);
  other_seed.schedule.seed = 43;
  Loader other(*source_, other_seed);
  EXPECT_NE(Epoch(other, 0, 5), first);
}

TEST_F(LoaderTest, APassAugmentsAnImageAnew) {
  LoaderOptions options = Augmented(1, kImages);
  options.schedule.shuffle = false;
  Loader loader(*source_, options);
  const std::vector<Copy> passes = Epoch(loader, 0, 2);
  EXPECT_EQ(passes[0].labels, passes[1].labels);
  EXPECT_NE(passes[0].images, passes[1].images);
}

TEST_F(LoaderTest, TakesImagesThatAlreadyHaveTheSize) {
  for (const ImageFile& image : folder_.images) {
    cv::imwrite(image.path, cv::Mat(kSide, kSide, CV_8UC3, cv::Scalar(10, 20, 200)));
  }
  Loader loader(*source_, Options(0, kImages));
  const std::vector<Copy> batches = Epoch(loader, 0, 1);
  EXPECT_NEAR(batches[0].images[0] * 255, 200, 3) << "red comes first";
  EXPECT_NEAR(batches[0].images[2 * kSide * kSide] * 255, 10, 3);
}

TEST_F(LoaderTest, RestartsInTheMiddleOfAnEpoch) {
  for (const int workers : {0, 1, 4}) {
    Loader loader(*source_, Augmented(workers, 3));
    const std::vector<Copy> expected = Epoch(loader, 5, 8);
    for (int taken = 0; taken < 6; ++taken) {
      loader.StartEpoch(4, 100);
      for (int i = 0; i < taken; ++i) ASSERT_NE(loader.Next(), nullptr);
      EXPECT_EQ(Epoch(loader, 5, 8), expected) << workers << " workers, after " << taken;
    }
  }
}

TEST_F(LoaderTest, StopsInTheMiddleOfAnEpoch) {
  for (const int workers : {0, 1, 4}) {
    for (int taken = 0; taken < 4; ++taken) {
      Loader loader(*source_, Options(workers, 3));
      loader.StartEpoch(0, 1000000);
      for (int i = 0; i < taken; ++i) ASSERT_NE(loader.Next(), nullptr);
    }
    Loader never_started(*source_, Options(workers, 3));
    EXPECT_EQ(never_started.Next(), nullptr);
  }
}

TEST_F(LoaderTest, TheViewHoldsUntilTheNextCall) {
  LoaderOptions options = Augmented(4, 2);
  options.prefetch = 2;
  Loader loader(*source_, options);
  loader.StartEpoch(0, 30);
  while (const Batch* batch = loader.Next()) {
    const Copy before = CopyOf(*batch);
    // Time for workers to do damage, were the slot theirs.
    for (int i = 0; i < 20; ++i) ASSERT_EQ(CopyOf(*batch), before);
    EXPECT_EQ(batch->side, kSide);
  }
}

TEST_F(LoaderTest, AnErrorNamesItsFileAndSparesTheOtherBatches) {
  LoaderOptions options = Options(0, 4);
  options.bad_images = BadImages::kFail;
  options.schedule.shuffle = false;
  Loader healthy(*source_, options);
  const std::vector<Copy> expected = Epoch(healthy, 0, 4);
  Damage(5);
  for (const int workers : {0, 1, 3}) {
    options.workers = workers;
    Loader loader(*source_, options);
    for (int repeat = 0; repeat < 3; ++repeat) {  // more errors than threads: none is lost
      loader.StartEpoch(0, 4);
      EXPECT_EQ(CopyOf(*loader.Next()), expected[0]);
      const std::string error = ErrorOf([&] { loader.Next(); });
      EXPECT_TRUE(Contains(error, folder_.images[5].path)) << error;
      EXPECT_EQ(CopyOf(*loader.Next()), expected[2]);
      EXPECT_EQ(CopyOf(*loader.Next()), expected[3]);
      EXPECT_EQ(loader.Next(), nullptr);
    }
  }
}

TEST_F(LoaderTest, OfSeveralErrorsInABatchTheFirstSampleIsNamed) {
  for (const std::size_t image : {6, 5, 9}) Damage(image);
  std::filesystem::remove(folder_.images[12].path);
  LoaderOptions options = Options(4, 4);
  options.bad_images = BadImages::kFail;
  options.schedule.shuffle = false;
  Loader loader(*source_, options);
  for (int repeat = 0; repeat < 10; ++repeat) {
    loader.StartEpoch(repeat, 4);
    loader.Next();
    EXPECT_TRUE(Contains(ErrorOf([&] { loader.Next(); }), folder_.images[5].path));
    EXPECT_TRUE(Contains(ErrorOf([&] { loader.Next(); }), folder_.images[9].path));
    EXPECT_TRUE(Contains(ErrorOf([&] { loader.Next(); }), folder_.images[12].path));
    EXPECT_EQ(loader.Next(), nullptr);
  }
}

TEST_F(LoaderTest, RecoversWhenEverySampleFails) {
  LoaderOptions options = Options(3, 4);
  options.bad_images = BadImages::kFail;
  Loader loader(*source_, options);
  const std::vector<Copy> expected = Epoch(loader, 0, 4);
  const std::filesystem::path hidden = dir_.path() / ".hidden";
  std::filesystem::rename(dir_.path() / "cat", hidden);
  std::filesystem::rename(dir_.path() / "dog", dir_.path() / ".dog");
  loader.StartEpoch(0, 4);
  for (int i = 0; i < 4; ++i) EXPECT_THROW(loader.Next(), std::runtime_error);
  EXPECT_EQ(loader.Next(), nullptr);
  loader.StartEpoch(0, 4);  // dropped with its errors undelivered
  std::filesystem::rename(hidden, dir_.path() / "cat");
  std::filesystem::rename(dir_.path() / ".dog", dir_.path() / "dog");
  EXPECT_EQ(Epoch(loader, 0, 4), expected);
}

TEST_F(LoaderTest, AnEpochOfNoStepsIsOver) {
  Loader loader(*source_, Options(2, 4));
  loader.StartEpoch(0, 0);
  EXPECT_EQ(loader.Next(), nullptr);
  EXPECT_EQ(Epoch(loader, 0, 1).size(), 1U);
}

TEST_F(LoaderTest, UsesTheMemoryItIsGiven) {
  for (const int batch_size : {3, 4}) {
    LoaderOptions options = Options(2, batch_size);
    const ImageSource small(folder_, SourceKind::kFiles, 5);
    options.prefetch = 3;
    std::vector<float> arena;
    std::size_t asked = 0;
    options.allocate = [&](std::size_t floats) {
      asked = floats;
      arena.resize(floats);
      return std::shared_ptr<float>(arena.data(), [](float*) {});
    };
    Loader loader(small, options);
    EXPECT_GE(asked, 3U * static_cast<std::size_t>(batch_size) * 75);
    loader.StartEpoch(0, 6);
    while (const Batch* batch = loader.Next()) {
      EXPECT_GE(batch->images, arena.data());
      EXPECT_LE(batch->images + batch->count * 75, arena.data() + asked);
      EXPECT_EQ((batch->images - arena.data()) % 16, 0) << "batches start on cache lines";
    }
  }
}

TEST_F(LoaderTest, DefaultMemoryIsAligned) {
  LoaderOptions options = Options(1, 3);
  const ImageSource small(folder_, SourceKind::kFiles, 7);
  Loader loader(small, options);
  loader.StartEpoch(0, 8);
  while (const Batch* batch = loader.Next()) {
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(batch->images) % 64, 0U);
  }
}

double SecondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

TEST_F(LoaderTest, AccountsForItsTime) {
  Loader alone(*source_, Augmented(0, 4));
  const Clock::time_point start = Clock::now();
  Epoch(alone, 0, 8);
  EXPECT_GT(alone.Times().consumer_wait, 0);
  EXPECT_LE(alone.Times().consumer_wait, SecondsSince(start));
  EXPECT_EQ(alone.Times().worker_busy, 0);
  EXPECT_EQ(alone.Times().worker_wait, 0);
  Loader loader(*source_, Augmented(2, 4));
  const Clock::time_point threads_start = Clock::now();
  Epoch(loader, 0, 8);
  const LoaderTimes times = loader.Times();
  const double passed = SecondsSince(threads_start);
  EXPECT_GT(times.worker_busy, 0);
  EXPECT_LE(times.worker_busy + times.worker_wait, 2 * passed);
  EXPECT_GT(times.consumer_wait, 0);
  EXPECT_LE(times.consumer_wait, passed);
  // Idle between epochs is not waiting for space.
  EXPECT_EQ(loader.Times().worker_wait, times.worker_wait);
  EXPECT_EQ(loader.Times().worker_busy, times.worker_busy);
  loader.StartEpoch(1, 0);
  EXPECT_EQ(loader.Times().worker_busy, 0);
}

TEST_F(LoaderTest, AFullRingMakesTheWorkerWait) {
  LoaderOptions options = Augmented(1, 4);
  options.prefetch = 2;
  Loader loader(*source_, options);
  const Clock::time_point start = Clock::now();
  loader.StartEpoch(0, 8);  // and nobody takes a batch
  LoaderTimes times, before;
  do {
    before = times;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    times = loader.Times();
    ASSERT_LT(SecondsSince(start), 60) << "the workers never filled the ring";
  } while (times.worker_busy == 0 || times.worker_busy > before.worker_busy);
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  const LoaderTimes later = loader.Times();
  EXPECT_EQ(later.worker_busy, times.worker_busy);
  EXPECT_GE(later.worker_wait - times.worker_wait, 0.005);
  EXPECT_LE(later.worker_wait + later.worker_busy, SecondsSince(start));
  EXPECT_EQ(later.consumer_wait, 0);
}

using Place = std::pair<int, int>;  // batch in the epoch, position in the batch

// Where each sample was loaded to, and that each was loaded once, with the schedule's image.
std::map<Place, std::string> LoadsOf(const std::vector<TracedEvent>& events) {
  std::map<Place, std::string> loads;
  for (const TracedEvent& event : Named(events, "load")) {
    EXPECT_EQ(event.category, "loader");
    const Place place{event.args.at("batch"), event.args.at("position")};
    EXPECT_TRUE(loads.emplace(place, event.args.at("image")).second);
  }
  return loads;
}

TEST_F(LoaderTest, ATimelineShowsEverySampleOnceForAnyNumberOfWorkers) {
  constexpr int kSteps = 9;
  Loader untraced(*source_, Augmented(2, 4));
  const std::vector<Copy> expected = Epoch(untraced, 2, kSteps);
  std::map<Place, std::string> images;
  Schedule schedule(kImages, kSide, Augmented(2, 4).schedule);
  schedule.StartEpoch(2, kSteps);
  std::vector<ScheduledSample> samples;
  for (int batch = 0; batch < kSteps; ++batch) {
    schedule.NextBatch(samples);
    for (std::size_t i = 0; i < samples.size(); ++i) {
      const std::filesystem::path path = folder_.images[samples[i].image].path;
      images[{batch, static_cast<int>(i)}] = path.lexically_relative(dir_.path()).string();
    }
  }
  for (const int workers : {0, 1, 2, 5}) {
    for (const int prefetch : {2, 20}) {
      LoaderOptions options = Augmented(workers, 4);
      options.prefetch = prefetch;
      Loader loader(*source_, options);
      const Clock::time_point start = Clock::now();
      Timeline timeline;
      loader.SetTimeline(&timeline);
      EXPECT_EQ(Epoch(loader, 2, kSteps), expected) << "batches are as without a timeline";
      const double end = std::chrono::duration<double, std::micro>(Clock::now() - start).count();
      const auto tracks = ReadBack(timeline);
      EXPECT_EQ(tracks.size(), 1U + static_cast<std::size_t>(workers));
      std::map<Place, std::string> loads;
      for (const auto& [name, events] : tracks) {
        EXPECT_TRUE(AreApart(events)) << name;
        for (const TracedEvent& event : events) EXPECT_LE(event.end, end);
        const auto its_loads = LoadsOf(events);
        EXPECT_TRUE(name != "training thread" || workers == 0 || its_loads.empty());
        loads.insert(its_loads.begin(), its_loads.end());
        const std::size_t waits = Named(events, "wait for room").size();
        EXPECT_EQ(waits + its_loads.size(), events.size());
      }
      EXPECT_EQ(loads, images) << workers << " workers";
    }
  }
}

// With one worker and a ring of two, a worker that is never let go on has filled the ring.
TEST_F(LoaderTest, ATimelineShowsTheWaitForRoom) {
  LoaderOptions options = Options(1, 4);
  options.prefetch = 2;
  Loader loader(*source_, options);
  Timeline timeline;
  loader.SetTimeline(&timeline, "validation worker");
  loader.StartEpoch(0, 3);
  double busy = 0;
  do {  // until the worker sleeps
    busy = loader.Times().worker_busy;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  } while (busy == 0 || loader.Times().worker_busy > busy);
  while (loader.Next() != nullptr) {
  }
  const auto tracks = ReadBack(timeline);
  const std::vector<TracedEvent>& events = tracks.at("validation worker 0");
  EXPECT_TRUE(AreApart(events));
  // Third batch: only once the first is given back.
  for (std::size_t i = 1; i < events.size(); ++i) {
    if (events[i].args.value("batch", 0) != 2 || events[i].args.value("position", 1) != 0) continue;
    EXPECT_EQ(events[i - 1].name, "wait for room");
    return;
  }
  ADD_FAILURE() << "the third batch was not loaded";
}

TEST_F(LoaderTest, ATimelineHoldsTheEpochsItWasSetFor) {
  for (const int workers : {0, 3}) {
    Loader loader(*source_, Options(workers, 4));
    const std::vector<Copy> expected = Epoch(loader, 1, 8);
    auto first = std::make_unique<Timeline>();
    Timeline second;
    const auto samples = [](const Timeline& timeline) {
      std::size_t loads = 0;
      for (const auto& [name, events] : ReadBack(timeline)) loads += LoadsOf(events).size();
      return loads;
    };
    loader.SetTimeline(first.get());
    EXPECT_EQ(Epoch(loader, 1, 3), std::vector<Copy>(expected.begin(), expected.begin() + 3));
    EXPECT_EQ(samples(*first), 12U);
    // In the middle of an epoch: what is left of it is dropped, and the timeline is at rest.
    loader.StartEpoch(0, 1000000);
    ASSERT_NE(loader.Next(), nullptr);
    loader.SetTimeline(&second);
    EXPECT_EQ(loader.Next(), nullptr);
    first.reset();
    EXPECT_EQ(samples(second), 0U);
    EXPECT_EQ(Epoch(loader, 1, 8), expected);
    const std::size_t loads = samples(second);
    loader.SetTimeline(nullptr);
    EXPECT_EQ(Epoch(loader, 1, 8), expected);
    EXPECT_EQ(samples(second), loads) << "off";
  }
}

TEST_F(LoaderTest, ATimelineTakesFileNamesAsTheyAre) {
  const std::string name = "cat/a \"cat\"\n\\\xff.jpg";
  std::filesystem::rename(folder_.images[0].path, dir_.path() / name);
  const ImageFolder folder = ScanImageFolder(dir_.path().string() + "/");
  const ImageSource source(folder, SourceKind::kFiles, kSide);
  Loader loader(source, Options(2, kImages));
  Timeline timeline;
  loader.SetTimeline(&timeline);
  Epoch(loader, 0, 1);
  std::set<std::string> images;
  for (const auto& [track, events] : ReadBack(timeline)) {
    for (const auto& [place, image] : LoadsOf(events)) images.insert(image);
  }
  EXPECT_EQ(images.count(R"(cat/a "cat"\x0a\\xff.jpg)"), 1U);
  EXPECT_EQ(images.count("dog/112.jpg"), 1U);
}

TEST_F(LoaderTest, ATimelineShowsSamplesThatFail) {
  Damage(5);
  for (const BadImages bad_images : {BadImages::kFail, BadImages::kSkip}) {
    LoaderOptions options = Options(2, kImages);
    options.bad_images = bad_images;
    Loader loader(*source_, options);
    Timeline timeline;
    loader.SetTimeline(&timeline);
    loader.StartEpoch(0, 1);
    ErrorOf([&] { loader.Next(); });  // one of seven is too many
    std::size_t loads = 0;
    for (const auto& [track, events] : ReadBack(timeline)) loads += LoadsOf(events).size();
    EXPECT_EQ(loads, static_cast<std::size_t>(kImages));
  }
}

// What fixtures measure is what workers do.
TEST_F(LoaderTest, LoadSampleGivesTheBatchesPixels) {
  Loader loader(*source_, Augmented(0, kImages));
  const std::vector<Copy> batches = Epoch(loader, 0, 1);
  Schedule schedule(kImages, kSide, Augmented(0, kImages).schedule);
  schedule.StartEpoch(0, 1);
  std::vector<ScheduledSample> samples;
  schedule.NextBatch(samples);
  ImageScratch scratch;
  std::vector<float> planar(kSampleFloats);
  for (std::size_t i = 0; i < kImages; ++i) {
    LoadSample(*source_, samples[i], scratch, planar.data());
    EXPECT_TRUE(
        std::equal(planar.begin(), planar.end(),
                   batches[0].images.begin() + static_cast<std::ptrdiff_t>(i * kSampleFloats)))
        << i;
  }
  Damage(3);
  const std::string error = ErrorOf([&] { LoadSample(*source_, {3, {}}, scratch, planar.data()); });
  EXPECT_TRUE(Contains(error, folder_.images[3].path));
}

TEST_F(LoaderTest, RefusesOptionsThatMakeNoSense) {
  const auto refused = [&](auto change) {
    LoaderOptions options = Options(1, 4);
    change(options);
    EXPECT_THROW(Loader(*source_, options), std::invalid_argument);
  };
  refused([](LoaderOptions& o) { o.schedule.batch_size = 0; });
  refused([](LoaderOptions& o) { o.schedule.batch_size = 1 << 30; });
  refused([](LoaderOptions& o) { o.workers = -1; });
  refused([](LoaderOptions& o) { o.prefetch = 1; });
  refused([](LoaderOptions& o) { o.workers = 0, o.prefetch = 0; });
  refused([](LoaderOptions& o) { o.allocate = [](std::size_t) { return nullptr; }; });
  const ImageFolder no_images;
  EXPECT_THROW(Loader(ImageSource(no_images, SourceKind::kFiles, kSide), Options(1, 4)),
               std::invalid_argument);
  Loader loader(*source_, Options(1, 4));
  EXPECT_THROW(loader.StartEpoch(0, -1), std::invalid_argument);
  EXPECT_THROW(loader.StartEpoch(0, std::numeric_limits<std::int64_t>::max()),
               std::invalid_argument);
  EXPECT_EQ(Epoch(loader, 0, 2).size(), 2U) << "a refused epoch changes nothing";
}

// Two classes of 250 and 150 grey images, the i-th of level i / 2, those of the second class from
// 125 on: two bad ones of the first class are not too many, and three are.
class BadImagesTest : public ::testing::Test {
 protected:
  static constexpr int kFirst = 250, kSecond = 150;

  void SetUp() override {
    for (int i = 0; i < kFirst + kSecond; ++i) {
      char name[32];
      std::snprintf(name, sizeof name, "%s/%03d.bmp", i < kFirst ? "cat" : "dog", i);
      std::vector<std::uint8_t> bytes;
      cv::imencode(".bmp", cv::Mat(4, 4, CV_8UC3, cv::Scalar::all(i / 2)), bytes);
      WriteBytes(dir_.path() / name, bytes);
    }
    folder_ = ScanImageFolder(dir_.path());
    source_ = std::make_unique<ImageSource>(folder_, SourceKind::kFiles, 4);
  }

  void Damage(std::size_t image) { WriteText(folder_.images[image].path, "no image at all"); }

  // One pass in the folder's order; the image that each sample shows, within two.
  LoaderOptions InOrder(int workers) {
    LoaderOptions options;
    options.schedule.batch_size = 25;
    options.schedule.shuffle = false;
    options.workers = workers;
    options.on_bad_image = [this](const std::string& message) { messages_.push_back(message); };
    return options;
  }

  static std::vector<int> Levels(const Batch& batch) {
    std::vector<int> levels;
    for (std::int64_t i = 0; i < batch.count; ++i) {
      levels.push_back(static_cast<int>(std::lround(batch.images[i * 48] * 255)));
    }
    return levels;
  }

  TempDir dir_;
  ImageFolder folder_;
  std::unique_ptr<ImageSource> source_;
  std::vector<std::string> messages_;
};

TEST_F(BadImagesTest, AreReplacedByTheNextGoodOneOfTheirClass) {
  Damage(30);
  Damage(249);
  for (const SourceKind kind : {SourceKind::kFiles, SourceKind::kBytes, SourceKind::kDecoded}) {
    const ImageSource source(folder_, kind, 4);
    for (const int workers : {0, 1, 5}) {
      messages_.clear();
      Loader loader(source, InOrder(workers));
      loader.StartEpoch(0, 32);  // two passes
      std::vector<int> levels;
      std::vector<std::int64_t> labels;
      while (const Batch* batch = loader.Next()) {
        for (const int level : Levels(*batch)) levels.push_back(level);
        labels.insert(labels.end(), batch->labels, batch->labels + batch->count);
      }
      ASSERT_EQ(levels.size(), 800U);
      for (std::size_t i = 0; i < 800; ++i) {
        const std::size_t image = i % 400;
        const std::size_t shown = image == 30 ? 31 : image == 249 ? 0 : image;
        EXPECT_EQ(levels[i], static_cast<int>(shown / 2)) << i;
        EXPECT_EQ(labels[i], image < 250 ? 0 : 1);
      }
      EXPECT_EQ(loader.replaced(), 4);
      ASSERT_EQ(messages_.size(), 2U) << "each is named once";
      EXPECT_TRUE(Contains(messages_[0], folder_.images[30].path)) << messages_[0];
      EXPECT_TRUE(Contains(messages_[1], folder_.images[249].path)) << messages_[1];
      loader.StartEpoch(1, 1);
      loader.Next();
      EXPECT_EQ(loader.replaced(), 0) << "counted by epoch";
    }
  }
}

TEST_F(BadImagesTest, NeighboursAreSteppedOver) {
  Damage(30);
  Damage(31);
  Loader loader(*source_, InOrder(2));
  loader.StartEpoch(0, 2);
  loader.Next();
  const std::vector<int> levels = Levels(*loader.Next());
  EXPECT_EQ(levels[5], 16);
  EXPECT_EQ(levels[6], 16);
  EXPECT_EQ(loader.replaced(), 2);
  EXPECT_EQ(messages_.size(), 2U);
}

TEST_F(BadImagesTest, MoreThanAHundredthOfAClassIsAnErrorAtTheSameBatchForAnyWorkers) {
  for (const std::size_t image : {30, 31, 110}) Damage(image);
  for (const int workers : {0, 1, 5}) {
    messages_.clear();
    Loader loader(*source_, InOrder(workers));
    loader.StartEpoch(0, 16);
    for (int i = 0; i < 4; ++i) ASSERT_NE(loader.Next(), nullptr) << i;
    const std::string error = ErrorOf([&] { loader.Next(); });
    EXPECT_TRUE(Contains(error, folder_.images[110].path)) << error;
    EXPECT_TRUE(Contains(error, "3 of the 250 images of class 'cat'")) << error;
    EXPECT_TRUE(Contains(error, "--verify_data")) << error;
    EXPECT_EQ(messages_.size(), 3U);
    EXPECT_EQ(loader.Next()->count, 25) << "the next batch can be had all the same";
  }
}

TEST_F(BadImagesTest, AClassWithoutAGoodImageIsAnError) {
  for (std::size_t image = 250; image < 400; ++image) Damage(image);
  Loader loader(*source_, InOrder(3));
  loader.StartEpoch(0, 16);
  for (int i = 0; i < 10; ++i) ASSERT_NE(loader.Next(), nullptr);
  for (int i = 0; i < 6; ++i) {
    EXPECT_TRUE(Contains(ErrorOf([&] { loader.Next(); }), "images of class 'dog'"));
  }
  EXPECT_EQ(loader.Next(), nullptr);
}

TEST_F(BadImagesTest, FailStopsAtTheFirst) {
  Damage(30);
  LoaderOptions options = InOrder(2);
  options.bad_images = BadImages::kFail;
  Loader loader(*source_, options);
  loader.StartEpoch(0, 16);
  ASSERT_NE(loader.Next(), nullptr);
  EXPECT_TRUE(Contains(ErrorOf([&] { loader.Next(); }), folder_.images[30].path));
  EXPECT_TRUE(messages_.empty());
  EXPECT_EQ(loader.replaced(), 0);
}

}  // namespace
}  // namespace cnn
