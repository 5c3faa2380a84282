// The program as a user starts it: output, result files, exit codes.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "dataset/testing.h"

namespace cnn {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

struct Outcome {
  int code = -1;
  std::string out;
  std::string err;
};

class ProgramTest : public testing::Test {
 protected:
  // Starts the program in a folder of its own. `environment` is "NAME=value".
  pid_t Start(const std::vector<std::string>& arguments,
              const std::vector<std::string>& environment = {}) {
    std::vector<std::string> words = {"/usr/bin/env", "-C", dir_.path().string()};
    words.insert(words.end(), environment.begin(), environment.end());
    words.emplace_back(CNN_BENCHMARKS_PROGRAM);
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    constexpr int kWrite = O_WRONLY | O_CREAT | O_TRUNC;
    posix_spawn_file_actions_addopen(&files, 1, (dir_.path() / "out").c_str(), kWrite, 0600);
    posix_spawn_file_actions_addopen(&files, 2, (dir_.path() / "err").c_str(), kWrite, 0600);
    pid_t child = 0;
    EXPECT_EQ(posix_spawn(&child, words[0].c_str(), &files, nullptr, pointers.data(), environ), 0);
    posix_spawn_file_actions_destroy(&files);
    return child;
  }

  Outcome Finish(pid_t child) {
    int status = 0;
    waitpid(child, &status, 0);
    Outcome outcome;
    outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    outcome.out = ReadText(dir_.path() / "out");
    outcome.err = ReadText(dir_.path() / "err");
    return outcome;
  }

  Outcome Run(const std::vector<std::string>& arguments,
              const std::vector<std::string>& environment = {}) {
    return Finish(Start(arguments, environment));
  }

  // One file of the given content in each class of both splits.
  void WritePhotos(const std::string& content) const {
    for (const char* split : {"train", "test"}) {
      for (const char* label : {"cats", "dogs"}) {
        WriteText(dir_.path() / "photos" / split / label / "bad.jpg", content);
      }
    }
  }

  // So many in each class of both splits, which a network can tell apart.
  void WriteGoodPhotos(int count) const {
    for (const char* split : {"train", "test"}) {
      WriteImages(dir_.path() / "photos" / split / "cats", count, 0);
      WriteImages(dir_.path() / "photos" / split / "dogs", count, 100);
    }
  }

  json Latest() const { return json::parse(ReadText(dir_.path() / "results" / "latest.json")); }
  bool HasResults() const { return fs::exists(dir_.path() / "results" / "latest.json"); }

  TempDir dir_;
};

// The cheapest case there is.
const std::string kQuick = "--benchmark_filter=Layer/dogs_vs_cats/dense2/device:cpu/pass:forward";
const std::string kShort = "--benchmark_min_time=0.01";

TEST_F(ProgramTest, HelpShowsBothSetsOfFlags) {
  const Outcome outcome = Run({"--help"});
  EXPECT_EQ(outcome.code, 0);
  for (const char* expected : {"--devices",
                               "--batches",
                               "--workers",
                               "--networks",
                               "--network FILE.json",
                               "--steps",
                               "--threads",
                               "--seed",
                               "--data_dir",
                               "--allocator",
                               "--source",
                               "--rng",
                               "--keras_profile",
                               "--bad_images",
                               "--max_pixels",
                               "--verify_data",
                               "--handicap",
                               "--epochs",
                               "--target_accuracy",
                               "--checkpoint",
                               "--resume",
                               "--trace",
                               "--progress",
                               "Epoch",
                               "Train",
                               "Exit codes",
                               "--benchmark_filter",
                               "--benchmark_repetitions"}) {
    EXPECT_NE(outcome.out.find(expected), std::string::npos) << expected;
  }
}

TEST_F(ProgramTest, AHandicapStandsInNameAndContext) {
  const Outcome outcome = Run({kQuick, kShort, "--handicap=0.05"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  const auto latest = Latest();
  EXPECT_EQ(latest["context"]["handicap"], "0.05");
  EXPECT_NE(latest["benchmarks"][0]["name"].get<std::string>().find("/handicap:0.05"),
            std::string::npos);
}

TEST_F(ProgramTest, ListsNamesAndNothingElseOnStdout) {
  const Outcome outcome = Run({"--benchmark_list_tests", "--benchmark_filter=Epoch"});
  EXPECT_EQ(outcome.code, 0);
  std::istringstream lines(outcome.out);
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    EXPECT_EQ(line.rfind("Epoch/", 0), 0U) << line;
  }
  EXPECT_GE(count, 3);
  EXPECT_FALSE(HasResults());
}

TEST_F(ProgramTest, ARunWritesATableAndAJsonFile) {
  const Outcome outcome = Run({kQuick, kShort});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("Layer/dogs_vs_cats/dense2"), std::string::npos);
  EXPECT_NE(outcome.err.find("libtorch"), std::string::npos);
  const json latest = Latest();
  ASSERT_EQ(latest["benchmarks"].size(), 1U);
  EXPECT_EQ(latest["benchmarks"][0]["name"],
            "Layer/dogs_vs_cats/dense2/device:cpu/pass:forward/batch:20");
  EXPECT_GT(latest["benchmarks"][0]["items_per_second"].get<double>(), 0);
  EXPECT_EQ(latest["context"]["suite_schema_version"], "1");
  EXPECT_FALSE(fs::exists(dir_.path() / "results" / "latest.json.partial"));
}

TEST_F(ProgramTest, JsonOnStdoutIsNothingButJson) {
  const Outcome outcome = Run({kQuick, kShort, "--benchmark_format=json"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(json::parse(outcome.out)["benchmarks"].size(), 1U);
}

TEST_F(ProgramTest, ResultsGoWhereBenchmarkOutSays) {
  const Outcome outcome = Run({kQuick, kShort, "--benchmark_out=new/folder/run.json"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(json::parse(ReadText(dir_.path() / "new/folder/run.json"))["benchmarks"].size(), 1U);
  EXPECT_FALSE(HasResults());
}

TEST_F(ProgramTest, EnvironmentVariablesOfGoogleBenchmarkWork) {
  const Outcome outcome = Run({}, {"BENCHMARK_FILTER=" + kQuick.substr(kQuick.find('=') + 1),
                                   "BENCHMARK_MIN_TIME=0.01", "BENCHMARK_OUT=env.json"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(json::parse(ReadText(dir_.path() / "env.json"))["benchmarks"].size(), 1U);
}

TEST_F(ProgramTest, RepetitionsComeFromTheCommandLineWithAggregates) {
  const Outcome outcome = Run({kQuick, kShort, "--benchmark_repetitions=3"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(Latest()["benchmarks"].size(), 3U + 4U);  // mean, median, stddev, cv
  EXPECT_NE(outcome.out.find("_cv"), std::string::npos);
}

TEST_F(ProgramTest, ATypoInTheFilterIsAnErrorAndLeavesNoFile) {
  const Outcome outcome = Run({"--benchmark_filter=Epohc"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_NE(outcome.err.find("Did you mean Epoch"), std::string::npos) << outcome.err;
  EXPECT_FALSE(HasResults());
}

TEST_F(ProgramTest, UnknownFlagsAndJunkAreErrorsNamingThem) {
  for (const char* bad : {"--bacth=3", "--steps=many", "--benchmark_repetitions=x",
                          "--benchmark_nonsense=1", "--devices=tpu"}) {
    const Outcome outcome = Run({kQuick, bad});
    const std::string text = bad;
    EXPECT_EQ(outcome.code, 2) << bad;
    EXPECT_NE(outcome.err.find(text.substr(0, text.find('='))), std::string::npos) << outcome.err;
    EXPECT_FALSE(HasResults()) << bad;
  }
}

TEST_F(ProgramTest, ADeviceThatIsAskedForMustBeThere) {
  const Outcome outcome = Run({"--devices=cuda:99"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_NE(outcome.err.find("cuda:99"), std::string::npos) << outcome.err;
  EXPECT_TRUE(outcome.out.empty());
  EXPECT_FALSE(HasResults());
}

TEST_F(ProgramTest, PrintsNetworksAndDevices) {
  const Outcome networks = Run({"--print_networks"});
  EXPECT_EQ(networks.code, 0);
  EXPECT_NE(networks.out.find("Total params: 42,520,584"), std::string::npos);
  EXPECT_NE(networks.out.find("Total params: 3,453,121"), std::string::npos);
  const Outcome one = Run({"--print_networks", "--networks=dogs_vs_cats"});
  EXPECT_EQ(one.out.find("eight_kinds"), std::string::npos);
  const Outcome json_form = Run({"--print_networks=json"});
  EXPECT_EQ(json_form.code, 0);
  EXPECT_EQ(json::parse(json_form.out)[1]["name"], "dogs_vs_cats");
  WriteText(dir_.path() / "nets.json", json_form.out);
  EXPECT_EQ(Run({"--network=nets.json", "--print_networks=json"}).out, json_form.out);
  EXPECT_EQ(Run({"--network=nets.json", "--print_networks"}).out, networks.out);
  const Outcome devices = Run({"--list_devices"});
  EXPECT_EQ(devices.code, 0);
  EXPECT_NE(devices.out.find("cpu:"), std::string::npos);
  EXPECT_NE(devices.out.find("libtorch"), std::string::npos);
}

TEST_F(ProgramTest, AResultFileThatCannotBeWrittenIsFoundOutFirst) {
  WriteText(dir_.path() / "file", "");
  const Outcome outcome = Run({kQuick, kShort, "--benchmark_out=file/run.json"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_NE(outcome.err.find("file/run.json"), std::string::npos) << outcome.err;
  EXPECT_TRUE(outcome.out.empty());
}

TEST_F(ProgramTest, AFailingCaseGivesOneAndTheOthersGoOn) {
  WritePhotos("this is no JPEG file");
  const Outcome outcome =
      Run({"--data_dir=photos", "--networks=dogs_vs_cats", "--workers=1", "--batches=2", kShort,
           "--devices=cpu", "--benchmark_filter=dense2.*forward|Pipeline"});
  EXPECT_EQ(outcome.code, 1) << outcome.err;
  int failed = 0;
  const json latest = Latest();
  for (const json& row : latest["benchmarks"]) {
    if (row.contains("error_occurred") || row.contains("skipped")) ++failed;
  }
  EXPECT_EQ(failed, 2);
  EXPECT_EQ(latest["benchmarks"].size(), 3U);
  EXPECT_NE(outcome.out.find("bad.jpg"), std::string::npos) << outcome.out;
}

TEST_F(ProgramTest, AFailureAmongRepetitionsIsOneFailureAndTheOthersGoOn) {
  WritePhotos("this is no JPEG file");
  const Outcome outcome =
      Run({"--data_dir=photos", "--networks=dogs_vs_cats", "--workers=1", "--batches=2", kShort,
           "--devices=cpu", "--benchmark_filter=dense2.*forward|Pipeline.*plain",
           "--benchmark_repetitions=2", "--benchmark_report_aggregates_only=true"});
  EXPECT_EQ(outcome.code, 1) << outcome.err;
  EXPECT_NE(outcome.out.find("dense2"), std::string::npos) << outcome.out;
}

TEST_F(ProgramTest, AggregatesOnTheDisplayLeaveAllRowsInTheFile) {
  const Outcome outcome = Run(
      {kQuick, kShort, "--benchmark_repetitions=3", "--benchmark_display_aggregates_only=true"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(Latest()["benchmarks"].size(), 3U + 4U);
  const std::string name = "Layer/dogs_vs_cats/dense2/device:cpu/pass:forward/batch:20 ";
  EXPECT_EQ(outcome.out.find(name), std::string::npos) << outcome.out;
}

TEST_F(ProgramTest, CsvTakesAllFamilies) {
  const Outcome outcome =
      Run({"--networks=dogs_vs_cats", "--devices=cpu", kShort, "--benchmark_format=csv",
           "--benchmark_out_format=csv", "--benchmark_out=run.csv",
           "--benchmark_filter=dense2.*forward|Model.*forward"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, ReadText(dir_.path() / "run.csv"));
  EXPECT_EQ(std::count(outcome.out.begin(), outcome.out.end(), '\n'), 3);
}

// Real training on real files, from the command line to the counters.
TEST_F(ProgramTest, AnEpochTrains) {
  WriteGoodPhotos(4);
  const Outcome outcome =
      Run({"--data_dir=photos", "--devices=cpu", "--batches=4", "--steps=3", "--workers=1",
           "--benchmark_filter=Epoch/dogs_vs_cats/augment:plain"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.err.find("Found 8 images belonging to 2 classes"), std::string::npos);
  const json row = Latest()["benchmarks"][0];
  EXPECT_EQ(row["iterations"], 3);
  EXPECT_EQ(row["bad_images"], 0);
  EXPECT_GT(row["worker_busy_ms"].get<double>(), 0);
  EXPECT_GE(row["worker_wait_ms"].get<double>(), 0);
  EXPECT_LT(row["loss"].get<double>(), row["first_loss"].get<double>());
  double parts = 0;
  for (const char* part : {"wait_ms", "copy_ms", "forward_ms", "backward_ms", "optimizer_ms"}) {
    parts += row[part].get<double>();
  }
  EXPECT_LE(parts, row["ms_per_step"].get<double>());
  EXPECT_EQ(Latest()["context"]["dataset_dogs_vs_cats"],
            "photos, 8 train and 8 test images, 2 classes");
}

// The published network and the default data: three standard errors above guessing, which is 1 in
// 8, after 100 steps.
TEST_F(ProgramTest, TrainingBeatsChance) {
  const Outcome outcome = Run({"--devices=cpu", "--benchmark_filter=Train/eight_kinds"},
                              {"XDG_CACHE_HOME=" + (dir_.path() / "cache").string()});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  const json latest = Latest();
  ASSERT_EQ(latest["benchmarks"].size(), 6U);
  const json& first = latest["benchmarks"][0];
  const json& last = latest["benchmarks"][4];
  const auto number = [](const json& row, const char* key) { return row[key].get<double>(); };
  EXPECT_LT(number(last, "loss"), number(first, "loss"));
  EXPECT_LT(number(last, "val_loss"), number(first, "val_loss"));
  EXPECT_GT(number(last, "val_accuracy"), 0.125 + 3 * number(last, "val_accuracy_se"));
  EXPECT_GT(number(last, "accuracy"), 0.125 + 3 * number(last, "accuracy_se"));
}

// Three layers on images of 32 x 32.
const char* const kTiny = R"({
  "name": "tiny",
  "input": [3, 32, 32],
  "layers": [
    {"name": "conv1", "kind": "Conv2D", "filters": 4, "kernel_size": 3},
    {"name": "flatten", "kind": "Flatten"},
    {"name": "dense1", "kind": "Dense", "units": 2}
  ],
  "loss": "categorical_crossentropy",
  "optimizer": {"kind": "Adam", "learning_rate": 0.01},
  "augmentation": {"rotation_range": 20, "horizontal_flip": true},
  "batch": 4,
  "plain_epochs": 3
})";

// What an interrupt leaves of a training, and what a sudden death leaves.
class TrainProgramTest : public ProgramTest {
 protected:
  static constexpr int kEpochs = 12;  // more than a slow machine can do before it is interrupted

  void SetUp() override { WriteGoodPhotos(4); }

  static std::vector<std::string> Arguments(const std::string& out,
                                            const std::vector<std::string>& more = {},
                                            int epochs = kEpochs) {
    std::vector<std::string> arguments = {"--data_dir=photos",
                                          "--devices=cpu",
                                          "--batches=4",
                                          "--steps=4",
                                          "--threads=1",
                                          "--epochs=" + std::to_string(epochs),
                                          "--benchmark_out=" + out,
                                          "--benchmark_filter=Train/dogs_vs_cats/augment:full"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }

  // Returns when the program has reported so many epochs.
  void AwaitEpochs(pid_t child, const std::string& out, std::size_t count) {
    const auto has_them = [&] {
      return fs::exists(dir_.path() / out) && Losses(out).size() >= count;
    };
    const auto has_ended = [&] {  // and is left for Finish
      siginfo_t info{};
      return waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
             info.si_pid == child;
    };
    while (!has_them() && !has_ended()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }

  // Of the epochs in the file, in order.
  std::vector<std::pair<double, double>> Losses(const std::string& out) const {
    std::vector<std::pair<double, double>> losses;
    const json run = json::parse(ReadText(dir_.path() / out));
    for (const json& row : run["benchmarks"]) {
      const std::string end = "/epoch:" + std::to_string(losses.size() + 1);
      const std::string name = row["name"];
      if (name.size() < end.size() || name.substr(name.size() - end.size()) != end) continue;
      losses.emplace_back(row["loss"], row["val_loss"]);
    }
    return losses;
  }
};

TEST_F(TrainProgramTest, AnInterruptKeepsTheFinishedEpochs) {
  const pid_t child = Start(Arguments("run.json"));
  AwaitEpochs(child, "run.json", 2);
  kill(child, SIGINT);
  const Outcome outcome = Finish(child);
  EXPECT_EQ(outcome.code, 130) << outcome.err;
  const auto rows = json::parse(ReadText(dir_.path() / "run.json"))["benchmarks"];
  EXPECT_GE(rows.size(), 2U);
  EXPECT_LT(rows.size(), static_cast<std::size_t>(kEpochs));
  EXPECT_EQ(Losses("run.json").size(), rows.size());  // and no closing row
}

TEST_F(TrainProgramTest, AKilledTrainingGoesOnToTheBit) {
  ASSERT_EQ(Run(Arguments("whole.json")).code, 0);
  ASSERT_EQ(Losses("whole.json").size(), static_cast<std::size_t>(kEpochs));
  const pid_t child = Start(Arguments("killed.json", {"--checkpoint=dogs.ckpt"}));
  AwaitEpochs(child, "killed.json", 3);  // the checkpoint of the second is written by then
  kill(child, SIGKILL);
  EXPECT_EQ(Finish(child).code, 128 + SIGKILL);
  const Outcome refused = Run(Arguments("refused.json", {"--checkpoint=dogs.ckpt"}));
  EXPECT_EQ(refused.code, 2);
  EXPECT_NE(refused.err.find("--resume goes on from it"), std::string::npos) << refused.err;
  const Outcome resumed = Run(Arguments("resumed.json", {"--checkpoint=dogs.ckpt", "--resume"}));
  EXPECT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_EQ(Losses("resumed.json"), Losses("whole.json"));
}

// Each repetition starts from fresh weights; its epochs are rows with its index.
TEST_F(TrainProgramTest, RepetitionsAreTheSameTraining) {
  WriteText(dir_.path() / "tiny.json", kTiny);
  const Outcome outcome =
      Run({"--network=tiny.json", "--data_dir=photos", "--devices=cpu", "--epochs=2", "--steps=2",
           "--workers=0", "--handicap=0.01", "--benchmark_filter=Train/tiny/augment:full",
           "--benchmark_repetitions=2", "--benchmark_format=json"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  const json shown = json::parse(outcome.out);
  EXPECT_EQ(shown["benchmarks"], Latest()["benchmarks"]);
  std::vector<json> epochs;
  for (const json& row : shown["benchmarks"]) {
    const std::string name = row["name"];
    if (name.find("/steps:2/epoch:") != std::string::npos) epochs.push_back(row);
  }
  ASSERT_EQ(epochs.size(), 4U);
  EXPECT_EQ(shown["benchmarks"].size(), 4U + 2U + 4U) << "closing rows and aggregates";
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(epochs[i]["name"], epochs[i + 2]["name"]);
    EXPECT_EQ(epochs[i]["loss"], epochs[i + 2]["loss"]);
    EXPECT_EQ(epochs[i]["repetition_index"], 0);
    EXPECT_EQ(epochs[i + 2]["repetition_index"], 1);
    EXPECT_EQ(epochs[i]["repetitions"], 2);
  }
}

TEST_F(TrainProgramTest, ProgressIsForATerminalUnlessAskedFor) {
  const Outcome quiet = Run(Arguments("run.json", {}, 1));
  EXPECT_EQ(quiet.code, 0);
  EXPECT_EQ(quiet.err.find("epoch 1/1"), std::string::npos) << quiet.err;
  const Outcome loud = Run(Arguments("run.json", {"--progress=on"}, 1));
  EXPECT_NE(loud.err.find("epoch 1/1  4/4 [==========]"), std::string::npos) << loud.err;
  EXPECT_NE(loud.err.find("val_accuracy"), std::string::npos) << loud.err;
  EXPECT_EQ(loud.err.find('\r'), std::string::npos);
}

TEST_F(ProgramTest, AUsersNetworkRunsThroughEveryFamily) {
  WriteGoodPhotos(4);
  WriteText(dir_.path() / "tiny.json", kTiny);
  const Outcome outcome = Run({"--network=tiny.json", "--data_dir=photos", "--devices=cpu",
                               "--steps=3", "--epochs=2", "--workers=1", kShort});
  EXPECT_EQ(outcome.code, 0) << outcome.err << outcome.out;
  const json latest = Latest();
  std::map<std::string, int> rows;
  for (const json& row : latest["benchmarks"]) {
    const auto name = row["name"].get<std::string>();
    ++rows[name.substr(0, name.find('/'))];
    EXPECT_GT(row["items_per_second"].get<double>(), 0) << name;
    if (name.rfind("Epoch/tiny/augment:plain", 0) == 0) {
      EXPECT_LT(row["loss"].get<double>(), row["first_loss"].get<double>());
    }
  }
  EXPECT_EQ(rows["Layer"], 6);
  EXPECT_EQ(rows["Model"], 2);
  EXPECT_EQ(rows["Augment"], 8);
  EXPECT_EQ(rows["Pipeline"], 2);
  EXPECT_EQ(rows["Epoch"], 2);
  EXPECT_EQ(rows["Train"], 2 * (2 + 1)) << "two epochs and the closing row, plain and full";
  EXPECT_EQ(latest["context"]["networks_file"], "tiny.json");
  EXPECT_EQ(latest["context"]["dataset_tiny"], "photos, 8 train and 8 test images, 2 classes");
  const json table = json::parse(latest["context"]["network_tiny"].get<std::string>());
  EXPECT_EQ(table["layers"], json::parse(kTiny)["layers"]);
}

// A table may begin with layers that have nothing to learn.
TEST_F(ProgramTest, ANetworkThatBeginsWithPoolingRuns) {
  json network = json::parse(kTiny);
  network["layers"][0] = {{"name", "pool1"}, {"kind", "MaxPooling2D"}, {"pool_size", 2}};
  WriteText(dir_.path() / "tiny.json", network.dump());
  const Outcome outcome =
      Run({"--network=tiny.json", "--devices=cpu", kShort, "--benchmark_filter=Layer|Model"});
  EXPECT_EQ(outcome.code, 0) << outcome.err << outcome.out;
  EXPECT_EQ(Latest()["benchmarks"].size(), 6U);
}

TEST_F(ProgramTest, EachWrongTableGetsItsOwnMessage) {
  const auto replaced = [](const std::string& old_text, const std::string& new_text) {
    std::string text = kTiny;
    return text.replace(text.find(old_text), old_text.size(), new_text);
  };
  const std::vector<std::pair<std::string, std::string>> tables = {
      {replaced(R"("units": 2})", R"("units": 2},)"),
       "line 8, column 3: a comma stands before ']'"},
      {replaced("Flatten", "ReLU"),
       "line 7, layers[2] 'dense1' (Dense): needs a Flatten layer before it, gets 4x30x30 from "
       "layer 'flatten' (ReLU)"},
      {replaced("Dense", "Softmax"), "line 7, layers[2] 'dense1' (Softmax), kind: must be one of"},
      {replaced(R"("filters": 4)", R"("filters": -4)"),
       "line 5, layers[0] 'conv1' (Conv2D), filters: must be a whole number from 1"},
      {replaced("categorical", "binary"), "line 9, loss: binary_crossentropy takes one output"},
      {replaced("kernel_size", "kernel"),
       "line 5, layers[0] 'conv1' (Conv2D): unknown key 'kernel'"},
      {replaced("conv1", "dense1"), "line 7, layers[2] 'dense1' (Dense): every layer needs a name"},
      {replaced("32, 32", "32, 48"), "line 3, input: must be [3, S, S]"},
  };
  for (const auto& [text, expected] : tables) {
    WriteText(dir_.path() / "tiny.json", text);
    const Outcome outcome = Run({"--network=tiny.json", kShort});
    EXPECT_EQ(outcome.code, 2) << text;
    EXPECT_EQ(outcome.err.rfind("cnn_benchmarks: --network: tiny.json: " + expected, 0), 0U)
        << expected << "\n"
        << outcome.err;
    EXPECT_FALSE(HasResults());
  }
}

TEST_F(ProgramTest, VerifyDataNamesBadFilesAndRunsNothing) {
  WriteGoodPhotos(4);
  const std::vector<std::string> arguments = {"--verify_data", "--data_dir=photos"};
  const Outcome good = Run(arguments);
  EXPECT_EQ(good.code, 0) << good.err;
  EXPECT_NE(good.out.find("16 files checked, 0 bad, 0 with a warning"), std::string::npos)
      << good.out;
  EXPECT_EQ(good.out.find("bad:"), std::string::npos) << good.out;
  const fs::path train = dir_.path() / "photos" / "train";
  fs::resize_file(train / "cats" / "1.jpg", fs::file_size(train / "cats" / "1.jpg") / 2);
  WriteText(train / "dogs" / "2.jpg", "");
  WriteText(dir_.path() / "photos" / "test" / "dogs" / "3.jpg", "<html></html>");
  WriteText(train / "dogs" / "notes.txt", "no image, and none is meant");
  fs::create_directories(train / "none");
  fs::create_directories(dir_.path() / "photos" / "test" / "none");
  const Outcome bad = Run(arguments);
  EXPECT_EQ(bad.code, 1) << bad.err;
  for (const char* expected :
       {"train/cats/1.jpg' is a truncated", "train/dogs/2.jpg' is empty", "test/dogs/3.jpg' is not",
        "16 files checked, 3 bad, 0 with a warning", "ignored: 'photos/train/dogs/notes.txt'",
        "class 'none' has no image"}) {
    EXPECT_NE(bad.out.find(expected), std::string::npos) << expected << "\n" << bad.out;
  }
  EXPECT_FALSE(HasResults());
}

TEST_F(ProgramTest, BadImagesAreReplacedAndNamedOnce) {
  WriteGoodPhotos(100);
  WriteText(dir_.path() / "photos" / "train" / "cats" / "1.jpg", "no image");
  const std::vector<std::string> arguments = {
      "--data_dir=photos",
      "--batches=20",
      "--workers=0,1",
      kShort,
      "--source=files,decoded",
      "--rng=keras",
      "--keras_profile=keras_head",
      "--benchmark_filter=Pipeline/dogs_vs_cats/augment:full"};
  const Outcome skipped = Run(arguments);
  EXPECT_EQ(skipped.code, 0) << skipped.err;
  const json latest = Latest();
  EXPECT_EQ(latest["benchmarks"].size(), 4U);
  for (const json& row : latest["benchmarks"]) EXPECT_EQ(row["bad_images"], 1) << row["name"];
  EXPECT_EQ(latest["context"]["random_stream"], "keras");
  EXPECT_EQ(latest["context"]["keras_profile"], "keras_head");
  const std::size_t first = skipped.err.find("cats/1.jpg");
  EXPECT_NE(first, std::string::npos) << skipped.err;
  EXPECT_EQ(skipped.err.find("cats/1.jpg", first + 1), std::string::npos) << skipped.err;
  std::vector<std::string> strict = arguments;
  strict.emplace_back("--bad_images=fail");
  EXPECT_EQ(Run(strict).code, 1);
}

TEST_F(ProgramTest, AnInterruptAmongRepetitionsIsAnInterrupt) {
  const pid_t child = Start({kQuick, "--benchmark_repetitions=1000", "--benchmark_min_time=0.05"});
  std::this_thread::sleep_for(std::chrono::seconds(3));
  kill(child, SIGINT);
  EXPECT_EQ(Finish(child).code, 130);
}

TEST_F(ProgramTest, AnInterruptKeepsWhatIsFinished) {
  // The second case would take hours.
  const pid_t child =
      Start({"--networks=dogs_vs_cats", "--devices=cpu", "--steps=1000000", "--workers=0", kShort,
             "--benchmark_filter=dense2.*forward|Pipeline.*plain"},
            {"XDG_CACHE_HOME=" + (dir_.path() / "cache").string()});
  while (!HasResults() && waitpid(child, nullptr, WNOHANG) == 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  kill(child, SIGINT);
  const Outcome outcome = Finish(child);
  EXPECT_EQ(outcome.code, 130) << outcome.err;
  const json latest = Latest();
  ASSERT_EQ(latest["benchmarks"].size(), 1U);
  EXPECT_EQ(latest["benchmarks"][0]["name"],
            "Layer/dogs_vs_cats/dense2/device:cpu/pass:forward/batch:20");
}

#ifdef CNN_JEMALLOC
// 56 MB of output a step: the C library gives it back each time.
TEST_F(ProgramTest, TheAllocatorDecidesWhetherMemoryStays) {
  const std::string filter = "--benchmark_filter=Layer/dogs_vs_cats/relu1/.*forward";
  const auto faults = [&](const std::string& allocator) {
    const Outcome outcome = Run({filter, "--devices=cpu", "--allocator=" + allocator});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return Latest()["benchmarks"][0]["page_faults_per_step"].get<double>();
  };
  EXPECT_LT(faults("keep"), 10);
  EXPECT_NE(Latest()["context"]["allocator"].get<std::string>().find("jemalloc"),
            std::string::npos);
  EXPECT_GT(faults("system"), 100);
  EXPECT_NE(Latest()["context"]["allocator"].get<std::string>().find("libc"), std::string::npos);
}
#endif

}  // namespace
}  // namespace cnn
