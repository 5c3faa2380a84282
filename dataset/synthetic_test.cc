#include "dataset/synthetic.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <opencv2/core.hpp>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "dataset/decode.h"
#include "dataset/image_folder.h"
#include "dataset/photograph.h"
#include "dataset/testing.h"

namespace cnn {
namespace {

namespace fs = std::filesystem;

constexpr int kThinning = 20;  // 84 of the 1680 images

fs::path Ensure(const fs::path& cache, int threads = 1) {
  return detail::EnsureThinnedSyntheticData(cache, threads, nullptr, kThinning);
}

std::map<std::string, std::string> Contents(const fs::path& root) {
  std::map<std::string, std::string> contents;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root)) {
    if (!entry.is_regular_file()) continue;
    contents[entry.path().lexically_relative(root).string()] = ReadText(entry.path());
  }
  return contents;
}

// Sets an environment variable for one test.
class ScopedVariable {
 public:
  ScopedVariable(const char* name, const char* value) : name_(name) {
    if (const char* old = std::getenv(name)) old_ = old;
    Set(value);
  }
  ~ScopedVariable() { Set(old_ ? old_->c_str() : nullptr); }
  ScopedVariable(const ScopedVariable&) = delete;
  ScopedVariable& operator=(const ScopedVariable&) = delete;

 private:
  void Set(const char* value) {
    if (value == nullptr) {
      unsetenv(name_);
    } else {
      setenv(name_, value, 1);
    }
  }
  const char* name_;
  std::optional<std::string> old_;
};

TEST(DefaultCacheDir, FollowsXdg) {
  const ScopedVariable home("HOME", "/home/someone");
  {
    const ScopedVariable xdg("XDG_CACHE_HOME", "/var/cache/mine");
    EXPECT_EQ(DefaultCacheDir(), "/var/cache/mine/cnn_benchmarks");
  }
  for (const char* ignored : {"", "relative/path"}) {
    const ScopedVariable xdg("XDG_CACHE_HOME", ignored);
    EXPECT_EQ(DefaultCacheDir(), "/home/someone/.cache/cnn_benchmarks");
  }
  const ScopedVariable xdg("XDG_CACHE_HOME", nullptr);
  EXPECT_EQ(DefaultCacheDir(), "/home/someone/.cache/cnn_benchmarks");
  const ScopedVariable homeless("HOME", nullptr);
  EXPECT_TRUE(Contains(ErrorOf([] { DefaultCacheDir(); }), "XDG_CACHE_HOME"));
}

TEST(SyntheticData, HoldsTwoDatasetsAsPlanned) {
  const TempDir cache;
  const fs::path root = Ensure(cache.path() / "made" / "on the way");
  const Dataset eight = ScanDataset(root / "eight_kinds", "eight_kinds");
  EXPECT_EQ(eight.train.classes.size(), 8U);
  EXPECT_EQ(eight.train.images.size(), 8U * 100 / kThinning);
  EXPECT_EQ(eight.test.images.size(), 8U * 20 / kThinning);
  const Dataset two = ScanDataset(root / "dogs_vs_cats", "dogs_vs_cats");
  EXPECT_EQ(two.train.classes, (std::vector<std::string>{"cats", "dogs"}));
  EXPECT_EQ(two.train.images.size(), 2U * 300 / kThinning);
  EXPECT_EQ(two.test.images.size(), 2U * 60 / kThinning);
}

TEST(SyntheticData, FilesAreLikePhotographsInSizeAndWeight) {
  const TempDir cache;
  const fs::path root = Ensure(cache.path());
  Decoder decoder;
  int shortest = 1000, longest = 0;
  for (const auto& [name, bytes] : Contents(root)) {
    EXPECT_GE(bytes.size(), kMinPhotographBytes) << name;
    EXPECT_LE(bytes.size(), kMaxPhotographBytes) << name;
    const cv::Mat& rgb = decoder.Decode({bytes.begin(), bytes.end()}, name);
    shortest = std::min({shortest, rgb.rows, rgb.cols});
    longest = std::max({longest, rgb.rows, rgb.cols});
  }
  EXPECT_GE(shortest, kMinPhotographSide);
  EXPECT_LT(shortest, 230);
  EXPECT_LE(longest, kMaxPhotographSide);
  EXPECT_GT(longest, 470);
}

TEST(SyntheticData, BytesDependOnNothingButTheName) {
  const TempDir first, second;
  const auto contents = Contents(Ensure(first.path(), 1));
  EXPECT_EQ(contents, Contents(Ensure(second.path(), 3)));
  std::set<std::string> different;
  for (const auto& [name, bytes] : contents) different.insert(bytes);
  EXPECT_EQ(different.size(), contents.size());
}

// The share of test images whose mean colour lies nearest to that of their class's training images.
double RightByMeanColour(const Dataset& dataset) {
  const auto mean_colour = [](const ImageFile& image) {
    std::vector<std::uint8_t> bytes;
    ReadImageFile(image.path, bytes);
    return cv::mean(Decoder().Decode(bytes, image.path));
  };
  const std::size_t classes = dataset.train.classes.size();
  std::vector<cv::Scalar> means(classes);
  for (const ImageFile& image : dataset.train.images) {
    means[static_cast<std::size_t>(image.label)] +=
        mean_colour(image) *
        (static_cast<double>(classes) / static_cast<double>(dataset.train.images.size()));
  }
  int right = 0;
  for (const ImageFile& image : dataset.test.images) {
    const cv::Scalar colour = mean_colour(image);
    const auto nearest = std::min_element(means.begin(), means.end(),
                                          [&colour](const cv::Scalar& a, const cv::Scalar& b) {
                                            return cv::norm(colour - a) < cv::norm(colour - b);
                                          });
    right += nearest - means.begin() == image.label ? 1 : 0;
  }
  return right / static_cast<double>(dataset.test.images.size());
}

TEST(SyntheticData, IsNotToldApartByMeanColour) {
  const TempDir cache;
  const fs::path root = detail::EnsureThinnedSyntheticData(cache.path(), 2, nullptr, 5);
  EXPECT_LT(RightByMeanColour(ScanDataset(root / "eight_kinds", "")), 0.4);
  EXPECT_LT(RightByMeanColour(ScanDataset(root / "dogs_vs_cats", "")), 0.8);
}

TEST(SyntheticData, IsWrittenOnce) {
  const TempDir cache;
  const fs::path root = Ensure(cache.path());
  const fs::path file = root / "dogs_vs_cats" / "test" / "cats" / "0000.jpg";
  const auto written = fs::last_write_time(file);
  fs::last_write_time(file, written - std::chrono::hours(1));
  int calls = 0;
  EXPECT_EQ(detail::EnsureThinnedSyntheticData(
                cache.path(), 1, [&calls](int, int) { ++calls; }, kThinning),
            root);
  EXPECT_EQ(calls, 0);
  EXPECT_EQ(fs::last_write_time(file), written - std::chrono::hours(1));
}

TEST(SyntheticData, ReportsProgressFromTheCallingThread) {
  const TempDir cache;
  const std::thread::id caller = std::this_thread::get_id();
  int last_done = 0, last_total = 0;
  detail::EnsureThinnedSyntheticData(
      cache.path(), 2,
      [&](int done, int total) {
        EXPECT_EQ(std::this_thread::get_id(), caller);
        EXPECT_GE(done, last_done);
        EXPECT_LE(done, total);
        last_done = done;
        last_total = total;
      },
      kThinning);
  EXPECT_EQ(last_total, 84);
  EXPECT_EQ(last_done, last_total);
}

TEST(SyntheticData, RemovesWhatAnInterruptedWriterLeft) {
  const TempDir cache;
  const std::string name = Ensure(cache.path()).filename().string();
  fs::remove_all(cache.path() / name);
  WriteText(cache.path() / (name + ".partial") / "eight_kinds" / "train" / "junk" / "0000.jpg",
            "x");
  EXPECT_EQ(ScanDataset(Ensure(cache.path()) / "eight_kinds", "").train.classes.size(), 8U);
  EXPECT_FALSE(fs::exists(cache.path() / (name + ".partial")));
}

TEST(SyntheticData, SurvivesAKilledWriter) {
  const TempDir cache, reference;
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    detail::EnsureThinnedSyntheticData(
        cache.path(), 1,
        [](int done, int total) {
          if (done > total / 2) raise(SIGKILL);
        },
        kThinning);
    _exit(1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  const std::string name = Ensure(reference.path()).filename().string();
  EXPECT_FALSE(fs::exists(cache.path() / name)) << "half a set must not be visible";
  EXPECT_TRUE(fs::exists(cache.path() / (name + ".partial")));
  EXPECT_EQ(Contents(Ensure(cache.path())), Contents(reference.path() / name));
  EXPECT_FALSE(fs::exists(cache.path() / (name + ".partial")));
}

TEST(SyntheticData, RepairsASetThatIsNotWhole) {
  const TempDir cache;
  const fs::path root = Ensure(cache.path());
  const auto whole = Contents(root);
  const fs::path folder = root / "eight_kinds" / "train" / "sea";
  fs::remove(folder / "0002.jpg");
  EXPECT_EQ(Contents(Ensure(cache.path())), whole);
  for (const std::size_t size :
       {std::size_t{0}, kMinPhotographBytes - 1, kMaxPhotographBytes + 1}) {
    WriteText(folder / "0003.jpg", std::string(size, 'x'));  // as after a power failure
    EXPECT_EQ(Contents(Ensure(cache.path())), whole) << size;
  }
  WriteText(folder / "0009.jpg", "one too many");
  EXPECT_EQ(Contents(Ensure(cache.path())), whole);
  fs::remove_all(root / "dogs_vs_cats" / "test");
  EXPECT_EQ(Contents(Ensure(cache.path())), whole);
}

TEST(SyntheticData, TwoWritersAtOnceMakeOneSet) {
  const TempDir cache, reference;
  std::thread other([&] { Ensure(cache.path()); });
  const fs::path root = Ensure(cache.path());
  const auto contents = Contents(root);
  other.join();
  EXPECT_EQ(Contents(root), contents);
  EXPECT_EQ(contents, Contents(Ensure(reference.path())));
}

TEST(SyntheticData, SaysWhereItCannotWriteAndTheWayOut) {
  const TempDir dir;
  WriteText(dir.path() / "file", "x");
  const fs::path cache = dir.path() / "file" / "cache";  // not even root can write there
  const std::string error = ErrorOf([&] { Ensure(cache); });
  EXPECT_TRUE(Contains(error, cache.string())) << error;
  EXPECT_TRUE(Contains(error, "XDG_CACHE_HOME")) << error;
  EXPECT_THROW(Ensure(dir.path(), 0), std::invalid_argument);
}

TEST(SyntheticData, LeavesNothingBehindWhenWritingFails) {
  const TempDir cache;
  EXPECT_THROW(
      detail::EnsureThinnedSyntheticData(
          cache.path(), 2, [](int, int) { throw std::runtime_error("disk full"); }, kThinning),
      std::runtime_error);
  for (const fs::directory_entry& entry : fs::directory_iterator(cache.path())) {
    EXPECT_EQ(entry.path().extension(), ".lock") << entry.path();
  }
}

}  // namespace
}  // namespace cnn
