#include "model/workload_file.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "dataset/testing.h"

namespace cnn {
namespace {

using Json = nlohmann::ordered_json;

const char* const kTiny = R"({
  "name": "tiny",
  "input": [3, 32, 32],
  "layers": [
    {"name": "conv1", "kind": "Conv2D", "filters": 4, "kernel_size": 3},
    {"name": "flatten", "kind": "Flatten"},
    {"name": "dense1", "kind": "Dense", "units": 2}
  ],
  "loss": "categorical_crossentropy",
  "optimizer": {"kind": "Adam"}
})";

// kTiny with the value at a JSON pointer replaced, or taken out when there is none.
std::string Tiny(const std::string& pointer, const Json& value) {
  Json json = Json::parse(kTiny);
  const Json::json_pointer at(pointer);
  if (!value.is_discarded()) {
    json[at] = value;
  } else {
    json[at.parent_pointer()].erase(at.back());
  }
  return json.dump(1);
}

const Json kNothing(Json::value_t::discarded);

std::string Refusal(const std::string& text) {
  return ErrorOf([&] { ParseWorkloads(text, "nets.json"); });
}

// Field by field: the texts of two workloads would also be equal if one were never written.
void ExpectSame(const Workload& a, const Workload& b) {
  EXPECT_EQ(a.name, b.name);
  EXPECT_EQ(a.network.name, b.network.name);
  EXPECT_EQ(a.network.input, b.network.input);
  ASSERT_EQ(a.network.layers.size(), b.network.layers.size());
  for (std::size_t i = 0; i < a.network.layers.size(); ++i) {
    const Layer& x = a.network.layers[i];
    const Layer& y = b.network.layers[i];
    EXPECT_EQ(x.name, y.name);
    EXPECT_EQ(x.kind, y.kind) << x.name;
    EXPECT_EQ(x.outputs, y.outputs) << x.name;
    EXPECT_EQ(x.window, y.window) << x.name;
    EXPECT_EQ(x.rate, y.rate) << x.name;
  }
  EXPECT_EQ(a.augmentation.profile, b.augmentation.profile);
  EXPECT_EQ(a.augmentation.rotation_range, b.augmentation.rotation_range);
  EXPECT_EQ(a.augmentation.height_shift_range, b.augmentation.height_shift_range);
  EXPECT_EQ(a.augmentation.width_shift_range, b.augmentation.width_shift_range);
  EXPECT_EQ(a.augmentation.shear_range, b.augmentation.shear_range);
  EXPECT_EQ(a.augmentation.zoom_range, b.augmentation.zoom_range);
  EXPECT_EQ(a.augmentation.horizontal_flip, b.augmentation.horizontal_flip);
  EXPECT_EQ(a.has_plain_variant, b.has_plain_variant);
  EXPECT_EQ(a.loss, b.loss);
  EXPECT_EQ(a.optimizer, b.optimizer);
  EXPECT_EQ(a.learning_rate, b.learning_rate);
  EXPECT_EQ(a.batch, b.batch);
  EXPECT_EQ(a.steps, b.steps);
  EXPECT_EQ(a.validation_steps, b.validation_steps);
  EXPECT_EQ(a.epochs, b.epochs);
  EXPECT_EQ(a.plain_epochs, b.plain_epochs);
}

TEST(WorkloadFileTest, ThePublishedOnesComeBackAsTheyWere) {
  const std::vector<Workload> published = PublishedWorkloads();
  const std::vector<Workload> read = ParseWorkloads(WorkloadsJson(published), "all");
  ASSERT_EQ(read.size(), published.size());
  for (std::size_t i = 0; i < read.size(); ++i) {
    ExpectSame(read[i], published[i]);
    ExpectSame(ParseWorkloads(WorkloadsJson({published[i]}), "one").at(0), published[i]);
    ExpectSame(ParseWorkloads(WorkloadLine(published[i]), "line").at(0), published[i]);
    EXPECT_EQ(WorkloadLine(published[i]).find('\n'), std::string::npos);
  }
}

TEST(WorkloadFileTest, WritesALayerALine) {
  const std::string text = WorkloadsJson({EightKinds()});
  for (const char* line :
       {"\n  \"input\": [3, 150, 150],\n",
        "\n    {\"name\": \"conv1\", \"kind\": \"Conv2D\", \"filters\": 32, \"kernel_size\": 3},\n",
        "\n    {\"name\": \"dropout1\", \"kind\": \"Dropout\", \"rate\": 0.2},\n",
        "\n    {\"name\": \"dense3\", \"kind\": \"Dense\", \"units\": 8}\n",
        "\n  \"optimizer\": {\"kind\": \"Adam\", \"learning_rate\": 0.001},\n",
        "\"rotation_range\": 20, "}) {
    EXPECT_NE(text.find(line), std::string::npos) << line << " is not in\n" << text;
  }
}

TEST(WorkloadFileTest, LeavesOutWhatHasADefault) {
  const Workload tiny = ParseWorkloads(kTiny, "nets.json").at(0);
  EXPECT_EQ(tiny.name, "tiny");
  EXPECT_EQ(tiny.network.name, "tiny");
  EXPECT_EQ(tiny.network.layers.size(), 3U);
  EXPECT_EQ(tiny.learning_rate, 1e-3);
  EXPECT_EQ(tiny.batch, 32);
  EXPECT_EQ(tiny.steps, 100);
  EXPECT_EQ(tiny.validation_steps, 10);
  EXPECT_EQ(tiny.epochs, 5);
  EXPECT_EQ(Classes(tiny), 2);
  ExpectSame(ParseWorkloads(WorkloadLine(tiny), "line").at(0), tiny);
}

TEST(WorkloadFileTest, WithoutAnAugmentationAllEpochsArePlain) {
  const Workload plain = ParseWorkloads(Tiny("/epochs", 7), "nets.json").at(0);
  EXPECT_FALSE(plain.augmentation.IsRandom());
  EXPECT_TRUE(plain.has_plain_variant);
  EXPECT_EQ(plain.plain_epochs, 7);
  const Json flip = {{"horizontal_flip", true}};
  const Workload full = ParseWorkloads(Tiny("/augmentation", flip), "nets.json").at(0);
  EXPECT_TRUE(full.augmentation.horizontal_flip);
  EXPECT_FALSE(full.has_plain_variant);
  EXPECT_EQ(full.plain_epochs, 0);
}

TEST(WorkloadFileTest, ReadsAListAndAnEmptyList) {
  const std::string list = "[" + std::string(kTiny) + "," + Tiny("/name", "other") + "]";
  EXPECT_EQ(ParseWorkloads(list, "nets.json").size(), 2U);
  EXPECT_NE(Refusal("[" + std::string(kTiny) + "," + kTiny + "]").find("'tiny' is the name of [0]"),
            std::string::npos);
  EXPECT_NE(Refusal("[]").find("must be a network"), std::string::npos);
  EXPECT_NE(Refusal("[3]").find("line 1, [0]: must be an object in braces, is 3"),
            std::string::npos);
}

TEST(WorkloadFileTest, APublishedNameIsForThatNetworkOnly) {
  EXPECT_EQ(ParseWorkloads(WorkloadsJson({DogsVsCats()}), "nets.json").size(), 1U);
  const std::string why = Refusal(Tiny("/name", "dogs_vs_cats"));
  EXPECT_NE(why.find("line 2, name: 'dogs_vs_cats' is a published network"), std::string::npos)
      << why;
}

struct Wrong {
  std::string pointer;
  Json value;
  std::string expected;  // in the message
};

TEST(WorkloadFileTest, SaysWhereAValueIsWrongAndWhy) {
  const std::vector<Wrong> cases = {
      {"/name", kNothing, "line 1: 'name' is missing"},
      {"/name", "Tiny", "line 2, name: must be a name of small letters"},
      {"/name", "a/b", "is \"a/b\""},
      {"/name", "", "is \"\""},
      {"/name", 3, "name: must be a name"},
      {"/name", std::string(65, 'a'), "at most 64"},
      {"/input", kNothing, "'input' is missing: [3, S, S]"},
      {"/input", 32, "line 3, input: must be [3, S, S]"},
      {"/input", {1, 32, 32}, "is [1, 32, 32]"},
      {"/input", {3, 32, 48}, "is [3, 32, 48]"},
      {"/input", {3, 0, 0}, "is [3, 0, 0]"},
      {"/input", {3, 5000, 5000}, "to 4096"},
      {"/input", {3, 32.5, 32.5}, "is [3, 32.5, 32.5]"},
      {"/input", {3, 32}, "is [3, 32]"},
      {"/layers", kNothing, "'layers' is missing"},
      {"/layers", Json::array(), "layers: a network has one layer at least"},
      {"/layers", 3, "layers: must be a list in brackets, is 3"},
      {"/layers/1", "Flatten", "layers[1]: must be an object in braces, is \"Flatten\""},
      {"/layers/0/kind", kNothing, "layers[0] 'conv1': 'kind' is missing: one of Conv2D, ReLU"},
      {"/layers/0/kind", "Conv2d",
       "kind: must be one of Conv2D, ReLU, MaxPooling2D, Flatten, "
       "Dense, Dropout, is \"Conv2d\"; did you mean 'Conv2D'?"},
      {"/layers/2/kind", "Softmax", "the loss includes it: leave the layer out"},
      {"/layers/2/kind", "Sigmoid", "the loss includes it: leave the layer out"},
      {"/layers/0/kind", 7, "kind: must be one of"},
      {"/layers/0/name", kNothing, "layers[0] (Conv2D): 'name' is missing"},
      {"/layers/0/name", "conv 1", "must be a name of small letters"},
      {"/layers/2/name", "conv1",
       "layers[2] 'conv1' (Dense): every layer needs a name of its own, "
       "and this one is that of number 1"},
      {"/layers/0/filters", kNothing, "layers[0] 'conv1' (Conv2D): 'filters' is missing"},
      {"/layers/0/filters", -3,
       "layers[0] 'conv1' (Conv2D), filters: must be a whole number from "
       "1 to 1048576, is -3"},
      {"/layers/0/filters", 0, "is 0"},
      {"/layers/0/filters", 4.0, "is 4.0"},
      {"/layers/0/filters", "4", "is \"4\""},
      {"/layers/0/filters", nullptr, "is null"},
      {"/layers/0/filters", true, "is true"},
      {"/layers/0/filters", {4}, "is a list"},
      {"/layers/0/filters", 1048577, "is 1048577"},
      {"/layers/0/filters", UINT64_MAX, "is 18446744073709551615"},
      {"/layers/0/kernel_size", {3, 3}, "kernel_size: must be a whole number"},
      {"/layers/0/filter", 4,
       "unknown key 'filter'; did you mean 'filters'? Conv2D has name, kind"},
      {"/layers/0/activation", "relu", "an activation is a layer of its own"},
      {"/layers/2/units", kNothing, "'units' is missing"},
      {"/layers/1/rate", 0.5, "unknown key 'rate'"},
      {"/loss", kNothing, "'loss' is missing: one of categorical_crossentropy"},
      {"/loss", "mse", "loss: must be one of"},
      {"/loss", "binary_crossentropy",
       "loss: binary_crossentropy takes one output, and layer 'dense1' (Dense) gives 2"},
      {"/layers/2/units", 1,
       "categorical_crossentropy takes an output for each class, two at least, and layer 'dense1' "
       "(Dense) gives 1"},
      {"/optimizer", kNothing, "'optimizer' is missing"},
      {"/optimizer", "Adam", "optimizer: must be an object in braces, is \"Adam\""},
      {"/optimizer/kind", "SGD", "optimizer, kind: must be one of Adam, RMSprop, is \"SGD\""},
      {"/optimizer/lr", 0.1, "unknown key 'lr'"},
      {"/optimizer/learning_rate", 0, "learning_rate: must be a number above 0 to 1000, is 0"},
      {"/optimizer/learning_rate", -0.1, "is -0.1"},
      {"/optimizer/learning_rate", "0.1", "is \"0.1\""},
      {"/batch", 0, "batch: must be a whole number from 1 to 65536, is 0"},
      {"/batch", 65537, "is 65537"},
      {"/batch", 1.5, "is 1.5"},
      {"/steps", -1, "steps: must be"},
      {"/validation_steps", 0, "validation_steps: must be"},
      {"/epochs", 0, "epochs: must be"},
      {"/plain_epochs", 3, "plain_epochs: there is no augmentation"},
      {"/augmentation", 1, "augmentation: must be an object in braces"},
      {"/augmentation", {{"zoom", 0.2}}, "unknown key 'zoom'"},
      {"/augmentation",
       {{"zoom_range", 1}},
       "augmentation, zoom_range: must be a number from 0 to "
       "below 1, is 1"},
      {"/augmentation", {{"width_shift_range", -0.1}}, "width_shift_range: must be"},
      {"/augmentation", {{"height_shift_range", 2}}, "height_shift_range: must be"},
      {"/augmentation",
       {{"rotation_range", 361}},
       "rotation_range: must be a number from 0 to 360"},
      {"/augmentation", {{"shear_range", 90}}, "shear_range: must be"},
      {"/augmentation", {{"horizontal_flip", 1}}, "horizontal_flip: must be true or false, is 1"},
      {"/optimiser", {{"kind", "Adam"}}, "unknown key 'optimiser'; did you mean 'optimizer'?"},
  };
  for (const Wrong& wrong : cases) {
    const std::string why = Refusal(Tiny(wrong.pointer, wrong.value));
    EXPECT_EQ(why.rfind("nets.json: line ", 0), 0U) << why;
    EXPECT_NE(why.find(wrong.expected), std::string::npos)
        << wrong.pointer << " = " << wrong.value << ": " << why;
  }
}

TEST(WorkloadFileTest, AShapeThatDoesNotFitNamesBothLayers) {
  const Json flatten = {{"name", "relu1"}, {"kind", "ReLU"}};
  EXPECT_EQ(Refusal(Tiny("/layers/1", flatten)),
            "nets.json: line 19, layers[2] 'dense1' (Dense): needs a Flatten layer before it, gets "
            "4x30x30 from layer 'relu1' (ReLU)");
  const Json dense = {{"name", "dense0"}, {"kind", "Dense"}, {"units", 3}};
  const std::string first = Refusal(Tiny("/layers/0", dense));
  EXPECT_NE(first.find("layers[0] 'dense0' (Dense): needs a Flatten layer before it, gets 3x32x32 "
                       "from the input"),
            std::string::npos)
      << first;
  const Json conv = {{"name", "c"}, {"kind", "Conv2D"}, {"filters", 3}, {"kernel_size", 3}};
  const std::string late = Refusal(Tiny("/layers/2", conv));
  EXPECT_NE(late.find("layers[2] 'c' (Conv2D): needs an image, gets 3600 from layer 'flatten' "
                      "(Flatten)"),
            std::string::npos)
      << late;
  const std::string large = Refusal(Tiny("/layers/0/kernel_size", 33));
  EXPECT_NE(large.find("layers[0] 'conv1' (Conv2D): a kernel of 33x33 is larger than its input, "
                       "gets 3x32x32 from the input"),
            std::string::npos)
      << large;
  const Json pool = {{"name", "pool1"}, {"kind", "MaxPooling2D"}, {"pool_size", 31}};
  const std::string window = Refusal(Tiny("/layers/1", pool));
  EXPECT_NE(window.find("a window of 31x31 is larger than its input, gets 4x30x30 from layer "
                        "'conv1' (Conv2D)"),
            std::string::npos)
      << window;
}

TEST(WorkloadFileTest, TheLastLayerMustGiveFeaturesAndOneLayerLearn) {
  Json json = Json::parse(kTiny);
  json["layers"].erase(2);
  json["layers"].erase(1);
  const std::string image = Refusal(json.dump());
  EXPECT_NE(image.find("layers[0] 'conv1' (Conv2D): the last layer gives 4x30x30, a loss takes "
                       "[features]: end with a Flatten"),
            std::string::npos)
      << image;
  json["layers"][0] = {{"name", "flatten"}, {"kind", "Flatten"}};
  EXPECT_NE(Refusal(json.dump()).find("nothing to train"), std::string::npos);
}

TEST(WorkloadFileTest, SizesThatWouldOverflowAreRefused) {
  Json json = Json::parse(kTiny);
  json["input"] = {3, 4096, 4096};
  json["layers"][0] = {
      {"name", "conv1"}, {"kind", "Conv2D"}, {"filters", 1048576}, {"kernel_size", 1}};
  const std::string values = Refusal(json.dump());
  EXPECT_NE(values.find("layers[0] 'conv1' (Conv2D): gives 1048576x4096x4096, more than"),
            std::string::npos)
      << values;
  json["layers"][0]["filters"] = 4;
  json["layers"][2]["units"] = 1048576;
  const std::string parameters = Refusal(json.dump());
  EXPECT_NE(parameters.find("layers[2] 'dense1' (Dense): brings the network to"), std::string::npos)
      << parameters;
  Json many = Json::parse(kTiny);
  for (int i = 0; i < 998; ++i) {
    many["layers"].push_back({{"name", "relu" + std::to_string(i)}, {"kind", "ReLU"}});
  }
  EXPECT_NE(Refusal(many.dump()).find("1001 layers; 1000 at most"), std::string::npos);
}

TEST(WorkloadFileTest, WhatIsNoJsonGetsLineColumnAndReason) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "nets.json: is empty"},
      {" \n", "nets.json: is empty"},
      {"{\n  \"name\": \"tiny\",\n}", "nets.json: line 3, column 1: a comma stands before '}'"},
      {"{\n  \"a\": 1\n  \"b\": 2}",
       "line 3, column 3: a comma or colon is missing before '\"b\"'"},
      {"{\"a\" 1}", "line 1, column 6: "},
      {"{\"a\": 1", "line 1, column 8: the file ends before the JSON does"},
      {"{\"a\": \"b", "line 1, column 7: the file ends within a string"},
      {"[1, 2,, 3]", "line 1, column 7: ',' cannot stand here"},
      {"[1, 2", "line 1, column 6: the file ends before the JSON does"},
      {"[1 2]", "line 1, column 4: "},
      {"{\"a\": true false}", "line 1, column 12: 'false' cannot stand here"},
      {"{\"a\": 1}\n{", "line 2, column 1: "},
      {"{'a': 1}", "line 1, column 2: strings stand in double quotes"},
      {"{\n// a\n}", "line 2, column 1: JSON has no comments"},
      {"{\"a\": NaN}", "line 1, column 7: 'NaN' cannot stand here"},
      {"{\"a\": 1e999}", "line 1, column 7: '1e999' is no number that JSON knows, or too large"},
      {"{\"a\": .5}", "line 1, column 7: "},
      {"{\"a\": 01}", "line 1, column 8: '1' is no number that JSON knows"},
      {"{\"a\": \"x\\q\"}", "an escape that JSON does not know"},
      {"{\"a\": \"x\n\"}", "line 1, column 7: a control character in a string"},
      {"{\"a\": \"caf\xE9\"}", "this is not UTF-8"},
      {"layers: 3", "line 1, column 1: 'layers' cannot stand here"},
      {std::string("{}\0{}", 5), "byte 3 is zero"},
      {std::string(20, '['), "brackets are nested more than 16 deep"},
      {"{\n \"a\": 1,\n \"b\": {\"a\": 3, \"c\": 1},\n \"a\": 2}",
       "nets.json: line 4: 'a' stands twice in one object, first in line 2"},
  };
  for (const auto& [text, expected] : cases) {
    const std::string why = Refusal(text);
    EXPECT_NE(why.find(expected), std::string::npos) << text << ": " << why;
    EXPECT_EQ(why.find("json.exception"), std::string::npos) << why;
  }
}

TEST(WorkloadFileTest, FilesThatCannotBeReadAreNamed) {
  const TempDir dir;
  const auto refusal = [&](const std::string& name) {
    return ErrorOf([&] { ReadWorkloads((dir.path() / name).string()); });
  };
  EXPECT_NE(refusal("none.json").find("none.json': No such file"), std::string::npos);
  EXPECT_NE(refusal("").find("is a folder"), std::string::npos);
  WriteText(dir.path() / "empty.json", "");
  EXPECT_NE(refusal("empty.json").find("is empty"), std::string::npos);
  WriteText(dir.path() / "huge.json", std::string((1 << 20) + 1, ' '));
  EXPECT_NE(refusal("huge.json").find("more than 1048576 bytes"), std::string::npos);
  WriteText(dir.path() / "good.json", kTiny);
  EXPECT_EQ(ReadWorkloads((dir.path() / "good.json").string()).size(), 1U);
}

}  // namespace
}  // namespace cnn
