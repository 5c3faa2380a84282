#include "benchmarks/google_flags.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <vector>

#include "benchmarks/options.h"

namespace cnn {
namespace {

GoogleFlags Take(std::vector<std::string> arguments, std::vector<std::string>* left = nullptr) {
  arguments.insert(arguments.begin(), "cnn_benchmarks");
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  int count = static_cast<int>(arguments.size());
  const GoogleFlags flags = TakeGoogleFlags(count, pointers.data());
  if (left != nullptr) left->assign(pointers.begin() + 1, pointers.begin() + count);
  return flags;
}

TEST(GoogleFlagsTest, DefaultsToLatestJson) {
  const GoogleFlags flags = Take({});
  EXPECT_EQ(flags.out, "results/latest.json");
  EXPECT_EQ(flags.out_format, "json");
  EXPECT_FALSE(flags.list_tests);
  EXPECT_TRUE(flags.own_table);
}

TEST(GoogleFlagsTest, TakesItsFlagsAndLeavesTheRest) {
  std::vector<std::string> left;
  const GoogleFlags flags =
      Take({"--steps=3", "--benchmark_out=a.csv", "--benchmark_out_format=csv",
            "--benchmark_list_tests", "--benchmark_filter=x"},
           &left);
  EXPECT_EQ(flags.out, "a.csv");
  EXPECT_EQ(flags.out_format, "csv");
  EXPECT_TRUE(flags.list_tests);
  EXPECT_EQ(left, (std::vector<std::string>{"--steps=3", "--benchmark_filter=x"}));
}

TEST(GoogleFlagsTest, ReadsTheEnvironmentAndFlagsWin) {
  setenv("BENCHMARK_OUT", "env.json", 1);
  setenv("BENCHMARK_LIST_TESTS", "1", 1);
  const GoogleFlags from_environment = Take({});
  const GoogleFlags from_flags =
      Take({"--benchmark_out=flag.json", "--benchmark_list_tests=false"});
  unsetenv("BENCHMARK_OUT");
  unsetenv("BENCHMARK_LIST_TESTS");
  EXPECT_EQ(from_environment.out, "env.json");
  EXPECT_TRUE(from_environment.list_tests);
  EXPECT_EQ(from_flags.out, "flag.json");
  EXPECT_FALSE(from_flags.list_tests);
}

TEST(GoogleFlagsTest, OtherDisplaysReplaceTheTable) {
  EXPECT_FALSE(Take({"--benchmark_format=json"}).own_table);
  EXPECT_FALSE(Take({"--benchmark_counters_tabular=true"}).own_table);
  EXPECT_TRUE(Take({"--benchmark_format=console"}).own_table);
  EXPECT_TRUE(Take({"--benchmark_counters_tabular=false"}).own_table);
}

TEST(GoogleFlagsTest, ATimeUnitThatIsAskedForReplacesOurs) {
  EXPECT_TRUE(Take({}).own_time_units);
  EXPECT_FALSE(Take({"--benchmark_time_unit=ns"}).own_time_units);
}

TEST(GoogleFlagsTest, RefusesUnknownFormatsAndNoFile) {
  EXPECT_THROW(Take({"--benchmark_out_format=xml"}), UsageError);
  EXPECT_THROW(Take({"--benchmark_out="}), UsageError);
  EXPECT_THROW(Take({"--benchmark_out"}), UsageError);
}

TEST(GoogleFlagsTest, JunkIsRefusedByFlagAndValueAlsoInTheEnvironment) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"benchmark_format", "xml"},
      {"benchmark_format", "JSON"},
      {"benchmark_format", ""},
      {"benchmark_time_unit", "h"},
      {"benchmark_list_tests", "junk"},
      {"benchmark_report_aggregates_only", "maybe"},
      {"benchmark_color", "blue"},
      {"benchmark_repetitions", "0"},
      {"benchmark_repetitions", "-1"},
      {"benchmark_repetitions", ""},
      {"benchmark_repetitions", "3x"},
      {"benchmark_min_time", "nan"},
      {"benchmark_min_time", "inf"},
      {"benchmark_min_time", "1e400"},
      {"benchmark_min_time", "-1"},
      {"benchmark_min_time", "soon"},
      {"benchmark_min_warmup_time", "2 s"}};
  for (const auto& [flag, value] : cases) {
    try {
      Take({"--" + flag + "=" + value});
      ADD_FAILURE() << "accepted --" << flag << "=" << value;
    } catch (const UsageError& error) {
      const std::string why = error.what();
      EXPECT_NE(why.find("--" + flag), std::string::npos) << why;
      EXPECT_NE(why.find("'" + value + "'"), std::string::npos) << why;
    }
  }
  setenv("BENCHMARK_REPETITIONS", "junk", 1);
  EXPECT_THROW(Take({}), UsageError);
  unsetenv("BENCHMARK_REPETITIONS");
}

TEST(GoogleFlagsTest, SensibleValuesPass) {
  EXPECT_EQ(Take({"--benchmark_repetitions=10"}).repetitions, 10);
  Take({"--benchmark_color=True", "--benchmark_enable_random_interleaving=y"});
  for (const char* value : {"0", "0.5", "1e-3", "2s", "10x"}) {
    Take({std::string("--benchmark_min_time=") + value});
  }
}

}  // namespace
}  // namespace cnn
