#include "benchmarks/suite.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>

#include "benchmarks/context.h"
#include "benchmarks/machine.h"
#include "benchmarks/testing.h"
#include "dataset/testing.h"
#include "model/workload_file.h"

namespace cnn {
namespace {

// On the CPU where the options name no device.
std::vector<SuiteCase> Make(Options options) {
  if (options.devices.empty()) options.devices = {{}};
  return MakeCases(options, SelectWorkloads(options));
}

std::vector<std::string> Names(const std::vector<SuiteCase>& benchmarks) {
  std::vector<std::string> names;
  for (const SuiteCase& entry : benchmarks) names.push_back(entry.id.Name());
  return names;
}

std::vector<std::string> Matching(const std::string& filter, const Options& options = {}) {
  return Names(Filter(Make(options), filter));
}

// All axes at once, as many cases as there can be.
Options Everything() {
  Options options;
  options.devices = {{}, {Device::Kind::kCuda, 0}, {Device::Kind::kCuda, 1}};
  options.batches = {1, 20, 32};
  options.workers = {0, 1, 12};
  options.sources = {SourceKind::kFiles, SourceKind::kBytes, SourceKind::kDecoded};
  options.steps = kPublished;
  return options;
}

TEST(SuiteTest, NamesAreUniqueAndInTheAlphabet) {
  const std::regex alphabet("[A-Za-z0-9_/:.]+");
  for (const Options& options : {Options{}, Everything()}) {
    const std::vector<std::string> names = Names(Make(options));
    EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), names.size());
    for (const std::string& name : names) EXPECT_TRUE(std::regex_match(name, alphabet)) << name;
  }
}

TEST(SuiteTest, EveryNameIsItsOwnFilter) {
  for (const std::string& name : Names(Make({}))) {
    EXPECT_EQ(Matching("^" + name + "$"), std::vector<std::string>{name});
  }
}

TEST(SuiteTest, HasAllFamiliesInOrder) {
  std::vector<std::string> families;
  for (const SuiteCase& entry : Make({})) {
    if (families.empty() || families.back() != entry.id.family) {
      families.push_back(entry.id.family);
    }
  }
  EXPECT_EQ(families,
            (std::vector<std::string>{"Layer", "Model", "Augment", "Pipeline", "Epoch", "Train"}));
}

TEST(SuiteTest, EveryLayerOfBothNetworksInBothPasses) {
  std::size_t layers = 0;
  for (const Workload& workload : PublishedWorkloads()) layers += workload.network.layers.size();
  EXPECT_EQ(Matching("^Layer/").size(), 2 * layers);
}

TEST(SuiteTest, DefaultsAreThePublishedBatchesAndAtLeastSixEpochs) {
  const std::vector<std::string> epochs = Matching("^Epoch");
  EXPECT_GE(epochs.size(), AvailableCores() > 1 ? 6U : 3U);
  EXPECT_EQ(epochs.front(),
            "Epoch/eight_kinds/augment:full/device:cpu/batch:32/workers:0/steps:10");
  EXPECT_EQ(Matching("^Epoch/dogs_vs_cats/augment:plain.*batch:20").size(),
            Matching("^Epoch/dogs_vs_cats/augment:full.*batch:20").size());
}

TEST(SuiteTest, PublishedStepsStandInTheName) {
  Options options;
  options.steps = kPublished;
  EXPECT_FALSE(Matching("^Epoch/eight_kinds/.*/steps:1000$", options).empty());
  EXPECT_FALSE(Matching("^Epoch/dogs_vs_cats/.*/steps:100$", options).empty());
}

TEST(SuiteTest, TrainRunsTheWholeExperimentWhenAsked) {
  const auto epochs = [](const std::string& filter, std::optional<std::int64_t> asked) {
    Options options;
    options.epochs = asked;
    const std::vector<SuiteCase> cases = Filter(Make(options), filter);
    EXPECT_EQ(cases.size(), 1U) << filter;
    return cases.front().epochs;
  };
  EXPECT_EQ(epochs("^Train/eight_kinds", std::nullopt), kDefaultTrainEpochs);
  EXPECT_EQ(epochs("^Train/eight_kinds", 7), 7);
  EXPECT_EQ(epochs("^Train/eight_kinds", kPublished), 5);
  EXPECT_EQ(epochs("^Train/dogs_vs_cats/augment:plain", kPublished), 30);
  EXPECT_EQ(epochs("^Train/dogs_vs_cats/augment:full", kPublished), 100);
}

// Whoever compares a run with the articles' figures finds the same names.
TEST(SuiteTest, PublishedRowsBearTheNamesOfOurs) {
  Options options;
  options.devices = {{}, {Device::Kind::kCuda, 0}};
  options.workers = {1, 12};
  options.steps = kPublished;
  options.epochs = kPublished;
  const std::vector<SuiteCase> cases = Make(options);
  for (const char* file : {"eight_kinds.json", "dogs_vs_cats.json"}) {
    const auto published =
        nlohmann::json::parse(ReadText(std::filesystem::path(CNN_PUBLISHED_RESULTS) / file));
    for (const auto& row : published["benchmarks"]) {
      const std::string name = row["name"];
      EXPECT_EQ(Filter(cases, "^" + name + "$").size(), 1U) << name;
    }
  }
}

TEST(SuiteTest, AFileIsForOneTraining) {
  Options options;
  const GoogleFlags flags;
  const auto refusal = [&](const std::string& filter, const GoogleFlags& google) {
    return UsageErrorOf([&] { CheckTrainings(Filter(Make(options), filter), options, google); });
  };
  EXPECT_EQ(refusal("^Train", flags), "");
  options.checkpoint = "a.ckpt";
  EXPECT_EQ(refusal("^Train/eight", flags), "");
  EXPECT_NE(refusal("^Train/dogs", flags).find("2 are selected"), std::string::npos);
  EXPECT_NE(refusal("^Epoch", flags).find("no Train case"), std::string::npos);
  GoogleFlags repeated;
  repeated.repetitions = 2;
  EXPECT_NE(refusal("^Train/eight", repeated).find("repetitions"), std::string::npos);
  options.checkpoint.clear();
  options.trace = "a.json";
  EXPECT_NE(refusal("^Train/dogs", flags).find("--trace"), std::string::npos);
  options.checkpoint = "./a.json";
  EXPECT_NE(refusal("^Train/eight", flags).find("is the file of --checkpoint already"),
            std::string::npos);
  options.checkpoint = flags.out;
  EXPECT_NE(refusal("^Train/eight", flags).find("is the file of --benchmark_out already"),
            std::string::npos);
  GoogleFlags warm;
  warm.warms_up = true;
  EXPECT_NE(refusal("^Train/eight", warm).find("warmup"), std::string::npos);
  options.checkpoint.clear();
  options.trace.clear();
  EXPECT_EQ(refusal("^Epoch", warm), "");
}

TEST(SuiteTest, NetworksLimitTheSuite) {
  Options options;
  options.networks = {"dogs_vs_cats"};
  for (const std::string& name : Names(Make(options))) {
    EXPECT_EQ(name.find("eight_kinds"), std::string::npos) << name;
  }
}

// Without an augmentation nothing of it is measured, and no backward pass where there is none.
TEST(SuiteTest, AUsersNetworkHasTheCasesThatItCanHave) {
  const TempDir dir;
  Options options;
  options.network_file = WriteTinyNetwork(dir, "tiny", 2);
  EXPECT_EQ(Matching("^Layer/tiny/", options).size(), 6U);
  EXPECT_EQ(Matching("^Augment/tiny_(plain|decode|resize|flip|to_tensor)$", options).size(), 5U);
  EXPECT_EQ(Matching("^Augment/", options).size(), 5U);
  EXPECT_EQ(Matching("augment:plain", options), Matching("^(Pipeline|Epoch|Train)/tiny/", options));
  options.network_file =
      WriteTinyNetwork(dir, "full", 2, R"(, "augmentation": {"horizontal_flip": true})");
  EXPECT_EQ(Matching("^Augment/", options).size(), 8U);
  EXPECT_EQ(Matching("augment:full", options), Matching("^(Pipeline|Epoch|Train)/full/", options));
  options.network_file = WriteTinyNetwork(
      dir, "both", 2, R"(, "augmentation": {"horizontal_flip": true}, "plain_epochs": 3)");
  EXPECT_EQ(Matching("augment:full", options).size(), Matching("augment:plain", options).size());
  WriteText(dir.path() / "pool.json", R"({"name": "pool", "input": [3, 32, 32], "layers": [
    {"name": "pool1", "kind": "MaxPooling2D", "pool_size": 2},
    {"name": "flatten", "kind": "Flatten"},
    {"name": "dense1", "kind": "Dense", "units": 1}],
    "loss": "binary_crossentropy", "optimizer": {"kind": "RMSprop"}})");
  options.network_file = (dir.path() / "pool.json").string();
  EXPECT_EQ(Matching("^Layer/.*backward", options),
            (std::vector<std::string>{"Layer/pool/dense1/device:cpu/pass:backward/batch:32"}));
  EXPECT_EQ(Matching("^Layer/.*forward", options).size(), 3U);
}

TEST(SuiteTest, SourcesStandInTheNameOnlyWhenAskedFor) {
  EXPECT_TRUE(Matching("^(Pipeline|Epoch)").size() > 0);
  for (const std::string& name : Names(Make({}))) {
    EXPECT_EQ(name.find("/source:"), std::string::npos) << name;
  }
  Options options;
  options.sources = {SourceKind::kFiles};
  EXPECT_EQ(Names(Make(options)), Names(Make({})));
  options.sources = {SourceKind::kFiles, SourceKind::kDecoded};
  EXPECT_EQ(
      Matching("^Pipeline/eight_kinds/augment:full/source:files/.*workers:0/", options).size(), 1U);
  EXPECT_EQ(Matching("^Epoch/.*/source:decoded/device:", options).size(),
            Matching("^Epoch").size());
}

TEST(SuiteTest, CasesNeedTheSourcesTheyReadFrom) {
  Options options;
  options.sources = {SourceKind::kDecoded};
  const auto needed = [&](const std::string& filter) {
    return SourcesNeeded(Filter(Make(options), filter), 2);
  };
  using Keys = std::vector<std::set<SourceKey>>;
  const SourceKey files = {Split::kTrain, SourceKind::kFiles};
  const SourceKey decoded = {Split::kTrain, SourceKind::kDecoded};
  const SourceKey decoded_test = {Split::kTest, SourceKind::kDecoded};
  EXPECT_EQ(needed("^Layer|^Model"), (Keys{{}, {}}));
  EXPECT_EQ(needed("^Augment/eight"), (Keys{{files}, {}}));
  EXPECT_EQ(needed("^Epoch/dogs"), (Keys{{}, {decoded}}));
  EXPECT_EQ(needed("^Train/dogs"), (Keys{{}, {decoded, decoded_test}}));
  EXPECT_EQ(needed("eight_kinds"), (Keys{{files, decoded, decoded_test}, {}}));
}

// The design's rule: by default nothing is oversubscribed.
TEST(SuiteTest, ThreadsAndWorkersShareOneBudgetOfCores) {
  for (const SuiteCase& entry : Make({})) {
    const int workers = entry.id.workers.value_or(0);
    EXPECT_GE(entry.threads, 1);
    if (entry.id.family == "Epoch" && AvailableCores() > 1) {
      EXPECT_LE(entry.threads + workers, AvailableCores()) << entry.id.Name();
    }
  }
  Options options;
  options.threads = 3;
  for (const SuiteCase& entry : Filter(Make(options), "^Epoch")) EXPECT_EQ(entry.threads, 3);
}

TEST(FilterTest, SearchesAnywhereAndCanBeNegated) {
  const std::size_t all = Make({}).size();
  const std::size_t epochs = Matching("Epoch").size();
  EXPECT_EQ(Matching("poch/").size(), epochs);
  EXPECT_EQ(Matching("-Epoch").size(), all - epochs);
  EXPECT_EQ(Matching("").size(), all);
  EXPECT_EQ(Matching("all").size(), all);
  EXPECT_EQ(Matching("Layer|Epoch").size(), Matching("Layer").size() + epochs);
}

TEST(FilterTest, AnEpochsNameSelectsItsTraining) {
  const std::vector<std::string> training = Matching("^Train/eight_kinds");
  ASSERT_EQ(training.size(), 1U);
  EXPECT_EQ(Matching("^" + training[0] + "/epoch:5$"), training);
  EXPECT_NE(UsageErrorOf([&] { Matching("^" + training[0] + "/epoch:6$"); }), "");
  EXPECT_EQ(Matching("-/epoch:").size(), Make({}).size());  // no case is only an epoch
}

TEST(FilterTest, ATypoIsAnsweredWithTheNearestFamilies) {
  const std::string why = UsageErrorOf([] { Matching("Epohc"); });
  EXPECT_NE(why.find("Epohc"), std::string::npos) << why;
  EXPECT_NE(why.find("Did you mean Epoch"), std::string::npos) << why;
  EXPECT_NE(UsageErrorOf([] { Matching("^layr/x"); }).find("Did you mean Layer"),
            std::string::npos);
  EXPECT_NE(UsageErrorOf([] { Matching("Pipelin$"); }).find("Did you mean Pipeline"),
            std::string::npos);
}

TEST(FilterTest, AMalformedExpressionIsRefused) {
  EXPECT_NE(UsageErrorOf([] { Matching("Epoch("); }).find("'Epoch('"), std::string::npos);
}

TEST(ContextTest, SaysWhatIsNeededToJudgeANumber) {
  const Options options;
  std::set<std::string> keys;
  for (const auto& [key, value] :
       CollectContext(options, Make(options), SelectWorkloads(options))) {
    EXPECT_TRUE(keys.insert(key).second) << key << " stands twice";
    EXPECT_FALSE(value.empty()) << key;
  }
  for (const char* key : {"suite_schema_version",
                          "git_commit",
                          "git_dirty",
                          "compiler",
                          "cxx_flags",
                          "build_type",
                          "libtorch",
                          "onednn",
                          "blas",
                          "opencv",
                          "cuda",
                          "cudnn",
                          "device_cpu",
                          "cores",
                          "affinity",
                          "governor",
                          "compute_threads",
                          "opencv_threads",
                          "allocator",
                          "seed",
                          "random_stream",
                          "keras_profile",
                          "bad_images_policy",
                          "max_pixels"}) {
    EXPECT_EQ(keys.count(key), 1U) << key;
  }
}

TEST(ContextTest, HoldsTheTableOfEachNetworkFromAFile) {
  const TempDir dir;
  Options options;
  options.network_file = WriteTinyNetwork(dir, "tiny", 2);
  std::map<std::string, std::string> context;
  for (const auto& [key, value] :
       CollectContext(options, Make(options), SelectWorkloads(options))) {
    context[key] = value;
  }
  EXPECT_EQ(context["networks_file"], options.network_file);
  EXPECT_EQ(context["network_tiny"], WorkloadLine(ChosenWorkloads(options).at(0)));
  for (const auto& [key, value] : CollectContext({}, Make({}), SelectWorkloads({}))) {
    EXPECT_NE(key.rfind("network", 0), 0U) << key;
  }
}

TEST(ContextTest, MachineSaysWhatThereIsOrWhyNot) {
  const std::string text = DescribeMachine({});
  EXPECT_NE(text.find("libtorch "), std::string::npos);
  EXPECT_NE(text.find("opencv "), std::string::npos);
  EXPECT_NE(text.find("cpu:"), std::string::npos);
  const bool has_gpu = AvailableDevices().size() > 1;
  EXPECT_EQ(text.find("no GPU:") == std::string::npos, has_gpu) << text;
}

}  // namespace
}  // namespace cnn
