#include "tools/benchmark_name.h"

#include <gtest/gtest.h>

#include <string>

namespace cnn {
namespace {

// "Family|subject|key=value".
std::string Read(const std::string& name) {
  std::string text;
  for (const NamePart& part : NameParts(name)) {
    if (part.value.data() != name.data()) text += '|';
    if (!part.key.empty()) text += std::string(part.key) + '=';
    text += part.value;
  }
  return text;
}

TEST(BenchmarkName, HasAFamilyASubjectAndPairs) {
  EXPECT_EQ(Read("Layer/eight_kinds/conv1/device:cpu/batch:32"),
            "Layer|eight_kinds|conv1|device=cpu|batch=32");
  EXPECT_EQ(Read("A"), "A");
  EXPECT_EQ(Read(""), "");
  EXPECT_EQ(Read("A//b/"), "A||b|");
  EXPECT_EQ(Read("A/device:cuda:1"), "A|device=cuda:1");
}

TEST(BenchmarkName, TakesNamesOfCppForNoPairs) {
  EXPECT_EQ(Read("std::sort/8"), "std::sort|8");
  EXPECT_EQ(Read("BM_x/std::sort/n:8"), "BM_x|std::sort|n=8");
  EXPECT_EQ(Read("BM_x<a:b>/c"), "BM_x<a:b>|c");
  EXPECT_EQ(Read("device:cpu/x"), "device:cpu|x");
  for (const char* part : {"a:", ":a", "1a:b", "a b:c", "a-b:c", "é:c", "a::b"}) {
    EXPECT_EQ(Read(std::string("A/") + part), std::string("A|") + part);
  }
}

TEST(BenchmarkName, GoesWithoutKeys) {
  const auto without = [](const std::string& name) {
    return WithoutKeys(name, {"handicap", "workers"});
  };
  EXPECT_EQ(without("A/s/workers:2/steps:3/handicap:0.05"), "A/s/steps:3");
  EXPECT_EQ(without("A/workers:2/workers:4"), "A");
  EXPECT_EQ(without("A/workers::x/workers:/noworkers:1"), "A/workers::x/workers:/noworkers:1");
  EXPECT_EQ(without("workers:2/s/workers:1//"), "workers:2/s//");
}

}  // namespace
}  // namespace cnn
