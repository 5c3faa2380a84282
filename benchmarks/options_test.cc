#include "benchmarks/options.h"

#include <gtest/gtest.h>

#include "benchmarks/testing.h"

namespace cnn {
namespace {

Options Parse(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "cnn_benchmarks");
  return ParseOptions(static_cast<int>(arguments.size()), arguments.data());
}

std::string Refusal(const std::vector<const char*>& arguments) {
  return UsageErrorOf([&] { Parse(arguments); });
}

TEST(OptionsTest, Defaults) {
  const Options options = Parse({});
  EXPECT_TRUE(options.devices.empty());
  EXPECT_TRUE(options.batches.empty());
  EXPECT_TRUE(options.workers.empty());
  EXPECT_TRUE(options.networks.empty());
  EXPECT_FALSE(options.steps.has_value());
  EXPECT_FALSE(options.threads.has_value());
  EXPECT_FALSE(options.allocator.has_value());
  EXPECT_TRUE(options.sources.empty());
  EXPECT_EQ(options.stream, RandomStream::kKeyed);
  EXPECT_EQ(options.profile, KerasProfile::kKp112);
  EXPECT_EQ(options.bad_images, BadImages::kSkip);
  EXPECT_EQ(options.max_pixels, kDefaultMaxPixels);
  EXPECT_FALSE(options.verify_data);
}

TEST(OptionsTest, WordsChooseFromAList) {
  const Options options = Parse({"--source=decoded,files", "--rng=keras", "--bad_images=fail",
                                 "--keras_profile=keras_head", "--max_pixels=1000"});
  EXPECT_EQ(options.sources, (std::vector<SourceKind>{SourceKind::kDecoded, SourceKind::kFiles}));
  EXPECT_EQ(options.stream, RandomStream::kKeras);
  EXPECT_EQ(options.profile, KerasProfile::kKerasHead);
  EXPECT_EQ(options.bad_images, BadImages::kFail);
  EXPECT_EQ(options.max_pixels, 1000);
  EXPECT_EQ(SourceName(SourceKind::kBytes), "bytes");
  EXPECT_EQ(StreamName(RandomStream::kKeras), "keras");
  EXPECT_EQ(ProfileName(KerasProfile::kKerasHead), "keras_head");
  EXPECT_EQ(BadImagesName(BadImages::kFail), "fail");
}

TEST(OptionsTest, NetworksComeFromAFileAndArePrintedInTwoForms) {
  EXPECT_EQ(Parse({}).network_file, "");
  EXPECT_EQ(Parse({"--network=nets.json"}).network_file, "nets.json");
  EXPECT_EQ(Parse({"--network=nets.json", "--networks=tiny,other"}).networks,
            (std::vector<std::string>{"tiny", "other"}));
  EXPECT_EQ(Parse({}).print_networks, NetworkListing::kNone);
  EXPECT_EQ(Parse({"--print_networks"}).print_networks, NetworkListing::kTable);
  EXPECT_EQ(Parse({"--print_networks", "--steps=3"}).print_networks, NetworkListing::kTable);
  EXPECT_EQ(Parse({"--print_networks=table"}).print_networks, NetworkListing::kTable);
  EXPECT_EQ(Parse({"--print_networks=json"}).print_networks, NetworkListing::kJson);
}

TEST(OptionsTest, KerasStreamTakesNumpysSeeds) {
  EXPECT_EQ(Parse({"--rng=keras", "--seed=4194967295"}).seed, 4194967295U);
  EXPECT_NE(Refusal({"--rng=keras", "--seed=4194967296"}).find("--seed"), std::string::npos);
}

TEST(OptionsTest, Lists) {
  const Options options = Parse(
      {"--devices=cpu,cuda:1", "--batches=1,32,256", "--workers=0,4", "--networks=dogs_vs_cats"});
  EXPECT_EQ(options.devices, (std::vector<Device>{{}, {Device::Kind::kCuda, 1}}));
  EXPECT_EQ(options.batches, (std::vector<std::int64_t>{1, 32, 256}));
  EXPECT_EQ(options.workers, (std::vector<int>{0, 4}));
  EXPECT_EQ(options.networks, (std::vector<std::string>{"dogs_vs_cats"}));
}

TEST(OptionsTest, StepsAreANumberOrThePublishedOnes) {
  EXPECT_EQ(Parse({"--steps=20"}).steps, 20);
  EXPECT_EQ(Parse({"--steps=seed"}).steps, kPublished);
}

TEST(OptionsTest, TrainingsHaveFlagsOfTheirOwn) {
  EXPECT_FALSE(Parse({}).epochs.has_value());
  EXPECT_EQ(Parse({"--epochs=3"}).epochs, 3);
  EXPECT_EQ(Parse({"--epochs=seed"}).epochs, kPublished);
  EXPECT_EQ(Parse({"--target_accuracy=0.75"}).target_accuracy, 0.75);
  EXPECT_EQ(Parse({}).progress, ShowProgress::kAuto);
  EXPECT_EQ(Parse({"--progress=on"}).progress, ShowProgress::kOn);
  EXPECT_EQ(Parse({"--trace=a b.json"}).trace, "a b.json");
  const Options resumed = Parse({"--resume", "--checkpoint=a.ckpt"});
  EXPECT_EQ(resumed.checkpoint, "a.ckpt");
  EXPECT_TRUE(resumed.resume);
  EXPECT_NE(Refusal({"--resume"}).find("--checkpoint=FILE"), std::string::npos);
}

TEST(OptionsTest, ValuesMayStandApart) { EXPECT_EQ(Parse({"--steps", "7"}).steps, 7); }

TEST(OptionsTest, SeedTakesAll64Bits) {
  EXPECT_EQ(Parse({"--seed=18446744073709551615"}).seed, UINT64_MAX);
}

TEST(OptionsTest, JunkIsRefusedByFlagAndValue) {
  const std::vector<std::pair<const char*, const char*>> cases = {
      {"--data_dir=", "no value"},
      {"--source=disk", "'disk'"},
      {"--source=files,files", "'files'"},
      {"--rng=numpy", "'numpy'"},
      {"--keras_profile=kp113", "'kp113'"},
      {"--bad_images=ignore", "'ignore'"},
      {"--max_pixels=0", "'0'"},
      {"--steps=ten", "'ten'"},
      {"--steps=0", "'0'"},
      {"--steps=-1", "'-1'"},
      {"--steps=1e3", "'1e3'"},
      {"--steps=10x", "'10x'"},
      {"--steps=99999999999999999999", "'99999999999999999999'"},
      {"--batches=0", "'0'"},
      {"--batches=32,,64", "empty item"},
      {"--batches=32,", "empty item"},
      {"--batches=32,x", "'x'"},
      {"--batches=8,8", "named twice"},
      {"--workers=-1", "'-1'"},
      {"--workers=2000", "'2000'"},
      {"--threads=0", "'0'"},
      {"--threads=1.5", "'1.5'"},
      {"--seed=-3", "'-3'"},
      {"--devices=gpu", "'gpu'"},
      {"--devices=cpu,cpu", "named twice"},
      {"--networks=tiny,tiny", "named twice"},
      {"--network=", "no value"},
      {"--print_networks=yaml", "'yaml' is none of table, json"},
      {"--allocator=tcmalloc", "'tcmalloc'"},
      {"--handicap=5%", "'5%'"},
      {"--handicap=0", "'0'"},
      {"--handicap=nan", "'nan'"},
      {"--handicap=11", "'11'"},
      {"--epochs=0", "'0'"},
      {"--epochs=1e2", "'1e2'"},
      {"--target_accuracy=75", "'75'"},
      {"--target_accuracy=x", "'x'"},
      {"--progress=yes", "'yes'"},
      {"--checkpoint=", "no value"},
      {"--trace=", "no value"},
      {"--checkpoint=--resume", "names no file"},
  };
  for (const auto& [argument, expected] : cases) {
    const std::string why = Refusal({argument});
    const std::string flag = std::string(argument).substr(0, std::string(argument).find('='));
    EXPECT_NE(why.find(flag), std::string::npos) << argument << ": " << why;
    EXPECT_NE(why.find(expected), std::string::npos) << argument << ": " << why;
  }
}

TEST(OptionsTest, UnknownArgumentsAreRefusedByName) {
  EXPECT_NE(Refusal({"--bacthes=3"}).find("--bacthes=3"), std::string::npos);
  EXPECT_NE(Refusal({"stray"}).find("stray"), std::string::npos);
  EXPECT_NE(Refusal({"--benchmark_fliter=x"}).find("--benchmark_fliter"), std::string::npos);
}

TEST(OptionsTest, AFlagWithoutItsValueIsRefused) {
  for (const char* flag : {"--steps", "--devices", "--data_dir"}) {
    EXPECT_NE(Refusal({flag}).find(flag), std::string::npos) << flag;
  }
  EXPECT_NE(Refusal({"--data_dir="}), "");
}

}  // namespace
}  // namespace cnn
