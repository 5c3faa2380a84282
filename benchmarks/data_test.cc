#include "benchmarks/data.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "benchmarks/machine.h"
#include "benchmarks/testing.h"
#include "dataset/testing.h"

namespace cnn {
namespace {

class DataDirTest : public testing::Test {
 protected:
  std::string Tree(int classes) {
    for (const char* split : {"train", "test"}) {
      for (int label = 0; label < classes; ++label) {
        WriteText(dir_.path() / "photos" / split / ("class" + std::to_string(label)) / "a.jpg",
                  "x");
      }
    }
    return (dir_.path() / "photos").string();
  }

  TempDir dir_;
};

TEST_F(DataDirTest, TwoClassesAreDogsVsCats) {
  Options options;
  options.data_dir = Tree(2) + "/";
  const auto workloads = SelectWorkloads(options);
  ASSERT_EQ(workloads.size(), 1U) << "nobody asked for the other network";
  EXPECT_EQ(workloads[0].workload.name, "dogs_vs_cats");
  EXPECT_EQ(workloads[0].dataset.train.images.size(), 2U);
  EXPECT_EQ(workloads[0].dataset.name, "photos");
}

TEST_F(DataDirTest, TheOtherNetworkKeepsTheSyntheticImagesWhenItIsNamed) {
  Options options;
  options.data_dir = Tree(2);
  options.networks = {"eight_kinds", "dogs_vs_cats"};
  const auto workloads = SelectWorkloads(options);
  ASSERT_EQ(workloads.size(), 2U);
  EXPECT_TRUE(workloads[0].dataset.train.classes.empty());
  EXPECT_EQ(workloads[1].dataset.train.images.size(), 2U);
}

TEST_F(DataDirTest, OtherNumbersAreEightKindsWithAsManyOutputs) {
  Options options;
  options.data_dir = Tree(5);
  const auto workloads = SelectWorkloads(options);
  EXPECT_EQ(workloads[0].workload.network.layers.back().outputs, 5);
  EXPECT_EQ(workloads[0].dataset.train.classes.size(), 5U);
}

TEST_F(DataDirTest, AFolderThatDoesNotFitTheNetworksIsRefused) {
  Options options;
  options.data_dir = Tree(2);
  options.networks = {"eight_kinds"};
  EXPECT_NE(UsageErrorOf([&] { SelectWorkloads(options); }).find("--networks"), std::string::npos);
  options.networks.clear();
  options.data_dir = "/no/such/folder";
  EXPECT_NE(UsageErrorOf([&] { SelectWorkloads(options); }).find("/no/such/folder"),
            std::string::npos);
}

TEST_F(DataDirTest, OneClassIsRefused) {
  Options options;
  options.data_dir = Tree(1);
  EXPECT_NE(UsageErrorOf([&] { SelectWorkloads(options); }).find("one class"), std::string::npos);
}

TEST(RequireMemoryTest, LeavesAFifthToTheRest) {
  constexpr std::int64_t kMega = 1000000;
  RequireMemory("--source=decoded", 80 * kMega, 100 * kMega);
  RequireMemory("--source=files", 0, 0);
  const std::string why =
      UsageErrorOf([] { RequireMemory("--source=decoded", 81 * kMega, 100 * kMega); });
  EXPECT_NE(why.find("--source=decoded needs 81.0 MB"), std::string::npos) << why;
  EXPECT_NE(why.find("100.0 MB are available"), std::string::npos) << why;
}

TEST(MachineTest, HasCoresAndMemory) {
  EXPECT_GE(AvailableCores(), 1);
  EXPECT_GT(AvailableMemory(), 1 << 20);
  EXPECT_LT(AvailableMemory(), std::int64_t{1} << 50);
}

}  // namespace
}  // namespace cnn
