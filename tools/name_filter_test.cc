#include "tools/name_filter.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace cnn {
namespace {

TEST(FilterOfNames, SelectsExactlyTheseBenchmarks) {
  EXPECT_EQ(FilterOfNames({}), "");
  EXPECT_EQ(FilterOfNames({"A"}), "^(A)$");
  EXPECT_EQ(FilterOfNames({"A", "B/8", "A"}), "^(A|B/8)$");
  EXPECT_EQ(FilterOfNames({"A", "A #2", "A #x"}), "^(A|A #x)$");
  const std::string odd = "BM<1.5>(it's)|[0]*+?^${2}\\";
  const NameFilter filter(FilterOfNames({odd, "conv1"}));
  for (const std::string& name : {odd, std::string("conv1")}) EXPECT_TRUE(filter.Selects(name));
  for (const char* name : {"conv10", "xconv1", "conv1/8", "BM", "0"}) {
    EXPECT_FALSE(filter.Selects(name)) << name;
  }
}

TEST(FilterOfNames, SelectsOurNamesAsTheProgramAndAsTheFileHasThem) {
  const std::string end = "/process_time/real_time";
  for (const std::string& name :
       {"Layer/a/batch:32" + end, "Layer/a/batch:32/handicap:0.05" + end}) {
    const NameFilter filter(FilterOfNames({name, "Layer/b" + end}));
    for (const std::string handicap : {"", "/handicap:0.05", "/handicap:0"}) {
      EXPECT_TRUE(filter.Selects("Layer/a/batch:32" + handicap));
      EXPECT_TRUE(filter.Selects("Layer/a/batch:32" + handicap + end));
    }
    EXPECT_TRUE(filter.Selects("Layer/b"));
    EXPECT_FALSE(filter.Selects("Layer/a/batch:320" + end));
    EXPECT_FALSE(filter.Selects("Layer/a/batch:32/steps:1" + end));
  }
  const NameFilter bare(FilterOfNames({"Layer/a/handicap:0.05"}));
  EXPECT_TRUE(bare.Selects("Layer/a") && bare.Selects("Layer/a/handicap:0.05"));
  const NameFilter other(FilterOfNames({"A/real_time"}));
  EXPECT_TRUE(other.Selects("A/real_time"));
  EXPECT_FALSE(other.Selects("A")) << "only ours are known to filter so";
}

TEST(FilterOfNames, SelectsWhatAComplexityWasFittedTo) {
  const NameFilter filter(FilterOfNames({"Sort_BigO", "B"}));
  for (const char* name : {"Sort/8", "Sort/512", "B"}) EXPECT_TRUE(filter.Selects(name)) << name;
  for (const char* name : {"Sort", "Sorted/8", "B/8"}) EXPECT_FALSE(filter.Selects(name)) << name;
}

TEST(FilterOfNames, SelectsNamesWithControlCharacters) {
  const std::string name = "A\n\x1b[31m";
  EXPECT_TRUE(NameFilter(FilterOfNames({name})).Selects(name));
  EXPECT_EQ(FilterOfNames({name}).find('\x1b'), std::string::npos);
}

TEST(SelectedName, LeavesOutWhatAComparisonAdds) {
  EXPECT_EQ(SelectedName("A #2"), "A");
  EXPECT_EQ(SelectedName("A #"), "A #");
  EXPECT_EQ(SelectedName("A/handicap:0.05/process_time/real_time"), "A/process_time/real_time");
  EXPECT_EQ(SelectedName("A/handicap:0.05"), "A");
  EXPECT_EQ(SelectedName("A/handicap:0.05/B"), "A/handicap:0.05/B");
}

}  // namespace
}  // namespace cnn
