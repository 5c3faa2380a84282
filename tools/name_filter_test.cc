#include "tools/name_filter.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tools/benchmark_name.h"

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

TEST(NameFilter, SelectsRowsByTheNameThatIsShown) {
  ResultRow sorting;
  sorting.name = "Sort/8_mean";
  sorting.run_name = "Sort/8";
  sorting.kind = RowKind::kAggregate;
  ResultRow fit;
  fit.name = "Sort_BigO";
  fit.run_name = "Sort";
  fit.kind = RowKind::kBigO;
  ResultRow error_of_fit = fit;
  error_of_fit.name = "Sort_RMS";
  error_of_fit.kind = RowKind::kRms;
  ResultRow nameless;
  nameless.name = "Old";
  EXPECT_EQ(BenchmarkName(sorting), "Sort/8");
  EXPECT_EQ(BenchmarkName(fit), "Sort_BigO");
  EXPECT_EQ(BenchmarkName(error_of_fit), "Sort_RMS");
  EXPECT_EQ(BenchmarkName(nameless), "Old");
  const auto selected = [&](const char* pattern) {
    ResultFile file;
    file.rows = {sorting, fit, error_of_fit, nameless};
    NameFilter(pattern).Apply(file);
    std::string names;
    for (const ResultRow& row : file.rows) names += row.name + ' ';
    return names;
  };
  EXPECT_EQ(selected("BigO"), "Sort_BigO ");
  EXPECT_EQ(selected("-BigO"), "Sort/8_mean Sort_RMS Old ");
  EXPECT_EQ(selected("^Sort/8$"), "Sort/8_mean ");
  EXPECT_EQ(selected("^Sort_"), "Sort_BigO Sort_RMS ");
  EXPECT_EQ(selected("Old|mean"), "Old ");
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
