#include "tools/comparison_context.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tools/comparison_testing.h"

namespace cnn {
namespace {

Verdict ThreadVerdict(const char* base, const char* contender, const char* metric) {
  const auto file = [](const char* version) {
    ResultRow row = Row("A", 1, {{"images_per_second", 2}});
    row.threads = 2;
    std::vector<ContextEntry> context;
    if (*version != '\0') context.push_back({"library_version", version});
    return File({row}, context);
  };
  return Find(Compare({file(base)}, {file(contender)}), "A", metric).verdict;
}

TEST(Threads, AreComparableOnOneSideOfTheChange) {
  for (const auto& [base, contender] : std::vector<std::pair<const char*, const char*>>{
           {"", ""},                          // both before 1.8.4
           {"", "v1.8.5"},                    //
           {"v1.8.4", "v1.8.5"},              //
           {"v1.9.5", "v1.9.6-3-gabc"},       //
           {"v1.9.0", "v1.9.4"},              //
           {"v1.8.5-9-g12", "v1.8.5-9-g12"},  // the same build
           {"something", "something"}}) {
    EXPECT_EQ(ThreadVerdict(base, contender, "real_time"), Verdict::kSame) << base << contender;
    EXPECT_EQ(ThreadVerdict(base, contender, "images_per_second"), Verdict::kSame);
  }
  for (const auto& [base, contender] :
       std::vector<std::pair<const char*, const char*>>{{"", "v1.9.5"},
                                                        {"v1.8.5", "v1.9.0"},
                                                        {"v1.8.5-9-g12", "v1.8.5"},
                                                        {"x", "v1.9.5"},
                                                        {"v1.9", "v1.9.5"}}) {
    EXPECT_EQ(ThreadVerdict(base, contender, "real_time"), Verdict::kNotComparable)
        << base << contender;
    EXPECT_EQ(ThreadVerdict(base, contender, "images_per_second"), Verdict::kNotComparable);
  }
  EXPECT_EQ(ThreadVerdict("v1.9.0", "v1.9.5", "real_time"), Verdict::kSame);
  EXPECT_EQ(ThreadVerdict("v1.9.0", "v1.9.5", "images_per_second"), Verdict::kNotComparable);
  EXPECT_EQ(ThreadVerdict("v1.9.4-3-g1", "v1.9.4", "images_per_second"), Verdict::kNotComparable);
}

TEST(Threads, OneThreadIsAlwaysComparable) {
  const Files base = {File({Row("A", 1)})};
  const Files contender = {File({Row("A", 1)}, {{"library_version", "v1.9.5"}})};
  EXPECT_EQ(VerdictOf(base, contender, "real_time"), Verdict::kSame);
}

TEST(Schema, OfAnotherVersionKeepsTheTimesOnly) {
  const auto file = [](const char* version) {
    return File({Row("A", 1, {{"loss", 1}})}, {{"suite_schema_version", version}});
  };
  EXPECT_EQ(VerdictOf({file("1")}, {file("2")}, "loss"), Verdict::kNotComparable);
  EXPECT_EQ(VerdictOf({file("1")}, {file("2")}, "real_time"), Verdict::kSame);
}

Files With(std::vector<ContextEntry> context) { return {File({Row("A", 1)}, std::move(context))}; }

TEST(Context, DifferencesHaveASeverity) {
  const Comparison comparison = Compare(With({{"date", "2026-12-02T01:12:48+00:00"},
                                              {"seed", "1"},
                                              {"build_type", "Release"},
                                              {"num_cpus", "2"},
                                              {"git_commit", "a"},
                                              {"load_avg", "[1,2,3]"},
                                              {"executable", "./a"},
                                              {"compiler", "GNU"}}),
                                        With({{"date", "2026-12-02T01:13:48+00:00"},
                                              {"seed", "2"},
                                              {"build_type", "Debug"},
                                              {"num_cpus", "4"},
                                              {"git_commit", "b"},
                                              {"load_avg", "[0,0,0]"},
                                              {"executable", "./b"},
                                              {"compiler", "GNU"},
                                              {"handicap", "0.05"}}));
  ASSERT_EQ(comparison.context.size(), 5U);
  EXPECT_EQ(comparison.context[0].key, "num_cpus");
  EXPECT_EQ(comparison.context[0].severity, Severity::kIdentity);
  EXPECT_EQ(comparison.context[1].key, "build_type");
  EXPECT_EQ(comparison.context[1].severity, Severity::kBuild);
  EXPECT_EQ(comparison.context[1].contender, "Debug");
  EXPECT_EQ(comparison.context[2].key, "git_commit");
  EXPECT_TRUE(comparison.context[2].is_expected);
  EXPECT_EQ(comparison.context[3].key, "seed");
  EXPECT_EQ(comparison.context[3].severity, Severity::kSettings);
  EXPECT_EQ(comparison.context[4].key, "handicap");
  EXPECT_EQ(comparison.context[4].base, "");
}

TEST(Context, StrictIsUnusableButForWhatIsCompared) {
  CompareOptions options;
  options.strict_context = true;
  const auto code = [&](const char* key, const char* base, const char* contender) {
    return ExitCode(Compare(With({{key, base}}), With({{key, contender}}), options), options);
  };
  EXPECT_EQ(code("num_cpus", "2", "4"), 3);
  EXPECT_EQ(code("device_cuda", "H100", "H200"), 3);
  EXPECT_EQ(code("library_build_type", "debug", "release"), 3);
  EXPECT_EQ(code("allocator", "libc", "jemalloc"), 3);
  EXPECT_EQ(code("git_commit", "a", "b"), 0);
  EXPECT_EQ(code("mhz_per_cpu", "2096", "2095"), 0);
  EXPECT_EQ(code("mhz_per_cpu", "2096", "3000"), 3);
  options.strict_context = false;
  EXPECT_EQ(code("num_cpus", "2", "4"), 0);
}

TEST(Context, OfOneSideIsNotMixed) {
  const auto side = [](const char* key, const char* first, const char* second) {
    return Files{File({Row("A", 1)}, {{key, first}}), File({Row("A", 1)}, {{key, second}})};
  };
  EXPECT_THROW(Compare(side("host_name", "x", "y"), Runs({1})), CompareError);
  EXPECT_THROW(Compare(Runs({1}), side("git_commit", "x", "y")), CompareError);
  EXPECT_NO_THROW(Compare(side("device_cuda", "H200", ""), Runs({1})));
  EXPECT_NO_THROW(Compare(side("mhz_per_cpu", "2000", "3000"), Runs({1})));
  EXPECT_THROW(Compare(side("allocator", "libc", "jemalloc"), Runs({1})), CompareError);
  EXPECT_THROW(Compare(side("handicap", "0.05", ""), Runs({1})), CompareError);
  for (const char* key :
       {"environment", "opencv_threads", "kernel", "bad_images_policy", "max_pixels"}) {
    EXPECT_THROW(Compare(side(key, "x", "y"), Runs({1})), CompareError) << key;
  }
  EXPECT_NO_THROW(Compare(side("dataset_dogs_vs_cats", "600 images", ""), Runs({1})));
  const Comparison layouts = Compare(side("aslr_enabled", "true", "false"), Runs({1}));
  EXPECT_EQ(layouts.context.front().base, "true | false");
  CompareOptions options;
  options.allow_mixed_context = true;
  EXPECT_NO_THROW(Compare(side("host_name", "x", "y"), Runs({1}), options));
}

// What a comparison lets be one side, an export lets be one series, and the reverse.
TEST(Context, OfOneSideIsMixedByTheRulesOfTheExports) {
  std::vector<std::string> keys = {
      "environment",   "opencv_threads", "bad_images_policy",   "max_pixels", "kernel",
      "governor",      "date",           "cpu_scaling_enabled", "load_avg",   "aslr_enabled",
      "networks_file", "nobody's key"};
  for (const char* file : {"eight_kinds.json", "../baselines/xeon-2core-cpu.json"}) {
    const std::string path = std::string(CNN_PUBLISHED_RESULTS) + '/' + file;
    for (const ContextEntry& entry : ReadResultFile(path).context) keys.push_back(entry.key);
  }
  for (const std::string& key : keys) {
    for (const char* second : {"y", ""}) {
      if (key == "executable") continue;  // a side may hold files of several programs
      const Files side = {File({Row("A", 1)}, {{key, "x"}}), File({Row("A", 1)}, {{key, second}})};
      const bool is_one_series = DifferenceOfOrigin(side[0], side[1]).empty();
      if (is_one_series) {
        EXPECT_NO_THROW(Compare(side, Runs({1}))) << key;
      } else {
        EXPECT_THROW(Compare(side, Runs({1})), CompareError) << key;
      }
    }
  }
}

Files Dated(const std::vector<std::string>& dates) {
  Files files;
  for (const std::string& date : dates) files.push_back(File({Row("A", 1)}, {{"date", date}}));
  return files;
}

TEST(Order, SwappedAndSequentialSidesAreWarnedOf) {
  const Files early = Dated({"2026-12-02T01:00:00+00:00", "2026-12-02T01:02:00+00:00"});
  const Files late = Dated({"2026-12-02T01:03:00+00:00", "2026-12-02T01:04:00+00:00"});
  const Files between = Dated({"2026-12-02T01:01:00+00:00", "2026-12-02T01:03:00+00:00"});
  EXPECT_TRUE(Warns(Compare(late, early), "swapped"));
  EXPECT_FALSE(Warns(Compare(early, late), "swapped"));
  EXPECT_TRUE(Warns(Compare(early, late), "one after the other"));
  EXPECT_FALSE(Warns(Compare(early, between), "one after the other"));
  EXPECT_FALSE(Warns(Compare(late, Dated({"yesterday"})), "swapped"));
  // 03:30 in Moscow is 00:30 in London.
  EXPECT_TRUE(
      Warns(Compare(Dated({"2026-12-02T00:31:00+00:00"}), Dated({"2026-12-02T03:30:00+03:00"})),
            "swapped"));
  EXPECT_TRUE(
      Warns(Compare(Dated({"2015/03/17-18:40:26"}), Dated({"2015/03/17-18:40:25"})), "swapped"));
}

TEST(Noise, IsWarnedOf) {
  EXPECT_TRUE(Warns(Compare(With({{"load_avg", "[4.5,1,1]"}, {"num_cpus", "4"}}), With({})),
                    "load was above"));
  EXPECT_FALSE(Warns(Compare(With({{"load_avg", "[3.5,1,1]"}, {"num_cpus", "4"}}), With({})),
                     "load was above"));
  EXPECT_FALSE(Warns(Compare(With({{"load_avg", "[]"}, {"num_cpus", "4"}}), With({})), "load"));
  EXPECT_TRUE(Warns(Compare(With({{"cpu_scaling_enabled", "true"}}), With({})), "scaling"));
}

}  // namespace
}  // namespace cnn
