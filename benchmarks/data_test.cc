#include "benchmarks/data.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "benchmarks/machine.h"
#include "benchmarks/testing.h"
#include "dataset/testing.h"
#include "model/workload_file.h"

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

TEST_F(DataDirTest, AUsersNetworkTakesAsManyClassesAsItTellsApart) {
  Options options;
  options.data_dir = Tree(3);
  options.network_file = WriteTinyNetwork(dir_, "tiny", 3);
  const auto workloads = SelectWorkloads(options);
  ASSERT_EQ(workloads.size(), 1U);
  EXPECT_EQ(workloads[0].workload.name, "tiny");
  EXPECT_EQ(workloads[0].dataset.train.images.size(), 3U);
  options.network_file = WriteTinyNetwork(dir_, "binary", 1);
  const std::string why = UsageErrorOf([&] { SelectWorkloads(options); });
  EXPECT_NE(why.find("network 'binary' tells 2 classes apart, the folder has 3"), std::string::npos)
      << why;
  options.data_dir.clear();
  EXPECT_EQ(SelectWorkloads(options).size(), 1U);
}

// What fits no synthetic set can be measured as long as no images are needed.
TEST_F(DataDirTest, SyntheticImagesHaveTheClassesOfAPublishedExperiment) {
  Options options;
  options.network_file = WriteTinyNetwork(dir_, "tiny", 5);
  std::vector<WorkloadData> workloads = SelectWorkloads(options);
  EXPECT_EQ(UsageErrorOf([&] { PrepareData(options, {{}}, workloads); }), "");
  for (const std::string& why :
       {UsageErrorOf([&] {
          PrepareData(options, {{{Split::kTrain, SourceKind::kFiles}}}, workloads);
        }),
        UsageErrorOf([&] { VerifyData(options, workloads); })}) {
    EXPECT_NE(why.find("network 'tiny' tells 5 classes apart, the synthetic sets have 8 or 2"),
              std::string::npos)
        << why;
    EXPECT_NE(why.find("--data_dir"), std::string::npos) << why;
  }
}

TEST_F(DataDirTest, NetworksAreNamedAmongThoseOfTheFile) {
  Options options;
  WriteText(dir_.path() / "all.json", WorkloadsJson(PublishedWorkloads()));
  options.network_file = (dir_.path() / "all.json").string();
  EXPECT_EQ(ChosenWorkloads(options).size(), 2U);
  options.networks = {"dogs_vs_cats"};
  ASSERT_EQ(ChosenWorkloads(options).size(), 1U);
  EXPECT_EQ(ChosenWorkloads(options)[0].name, "dogs_vs_cats");
  options.network_file = WriteTinyNetwork(dir_, "tiny", 2);
  const std::string why = UsageErrorOf([&] { ChosenWorkloads(options); });
  EXPECT_NE(why.find("unknown network 'dogs_vs_cats'; there are tiny"), std::string::npos) << why;
  options.network_file.clear();
  options.networks = {"resnet"};
  EXPECT_NE(UsageErrorOf([&] {
              ChosenWorkloads(options);
            }).find("--networks: unknown network 'resnet'; there are eight_kinds, dogs_vs_cats"),
            std::string::npos);
  options.network_file = "/no/such/nets.json";
  EXPECT_NE(UsageErrorOf([&] { ChosenWorkloads(options); }).find("--network: cannot read"),
            std::string::npos);
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
