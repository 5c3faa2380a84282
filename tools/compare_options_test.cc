#include "tools/compare_options.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace cnn {
namespace {

using Arguments = std::vector<std::string>;

TEST(CompareOptions, ReadsSharesThatCannotBeMistaken) {
  for (const char* text : {"2%", "+2%", "0.02", "1.02x", "+0.02"}) {
    EXPECT_NEAR(ParseShare("--threshold", text), 0.02, 1e-12) << text;
  }
  EXPECT_EQ(ParseShare("--threshold", "0%"), 0);
  EXPECT_EQ(ParseShare("--threshold", "150%"), 1.5);
  for (const char* text : {"", "%", "x", "+", "2", "1", "1.02", "-2%", "0.9x", "2 %", "2%%", "nan",
                           "inf", "inf%", "++2%", "2e", "0,02"}) {
    EXPECT_THROW(ParseShare("--threshold", text), UsageError) << text;
  }
}

TEST(CompareOptions, TakesTheSidesApart) {
  const CompareCommand two = ParseCompare({"a", "b"});
  EXPECT_EQ(two.base, Arguments{"a"});
  EXPECT_EQ(two.contender, Arguments{"b"});
  const CompareCommand many = ParseCompare({"a", "b", "--", "c", "--all", "d"});
  EXPECT_EQ(many.base, (Arguments{"a", "b"}));
  EXPECT_EQ(many.contender, (Arguments{"c", "d"}));
  EXPECT_TRUE(many.report.all) << "flags may stand anywhere";
  for (const Arguments& arguments :
       {Arguments{}, Arguments{"a"}, Arguments{"a", "b", "c"}, Arguments{"a", "--"},
        Arguments{"--", "a"}, Arguments{"a", "--", "b", "--", "c"}, Arguments{"--", "--"}}) {
    EXPECT_THROW(ParseCompare(arguments), UsageError) << arguments.size();
  }
}

TEST(CompareOptions, ReadsEveryFlag) {
  const CompareCommand command = ParseCompare({"--threshold=5%",
                                               "--alpha=1%",
                                               "--metric-direction",
                                               "pairs=higher",
                                               "a",
                                               "--metric-direction=a=b=exact",
                                               "--gate-metric",
                                               "pairs",
                                               "b",
                                               "--summary=q10",
                                               "--time=real",
                                               "--gate-single",
                                               "--calibration=c.json",
                                               "--strict-context",
                                               "--fail-on-removed",
                                               "--fail-on-skipped",
                                               "--fail-on-changed",
                                               "--require=3",
                                               "--filter=^A",
                                               "--duplicates=index",
                                               "--lenient",
                                               "--salvage",
                                               "--format=json",
                                               "--out=o.json",
                                               "--all",
                                               "--color=never",
                                               "--allow-mixed-context"});
  EXPECT_EQ(command.base, Arguments{"a"});
  EXPECT_EQ(command.contender, Arguments{"b"});
  const CompareOptions& options = command.options;
  EXPECT_EQ(options.threshold, 0.05);
  EXPECT_EQ(options.single_threshold, 0.05) << "what was asked for holds with one file a side, too";
  EXPECT_EQ(options.alpha, 0.01);
  ASSERT_EQ(options.directions.size(), 2U);
  EXPECT_EQ(options.directions[0].second, Direction::kHigher);
  EXPECT_EQ(options.directions[1].first, "a=b");
  EXPECT_EQ(options.gate_metrics, Arguments{"pairs"});
  EXPECT_EQ(options.summary, Summary::kQ10);
  EXPECT_EQ(options.time_metric, TimeMetric::kReal);
  EXPECT_TRUE(options.gate_single && options.strict_context && options.fail_on_removed &&
              options.fail_on_skipped && options.fail_on_changed &&
              options.pairing.duplicates_by_index && options.allow_mixed_context);
  EXPECT_EQ(options.require, 3U);
  EXPECT_EQ(command.filter, "^A");
  EXPECT_EQ(command.calibration, "c.json");
  EXPECT_TRUE(command.read.lenient && command.read.salvage && command.report.all);
  EXPECT_EQ(command.format, ReportFormat::kJson);
  EXPECT_EQ(command.colour, Colour::kNever);
  EXPECT_EQ(command.out, "o.json");
}

TEST(CompareOptions, SplitsFlagsAsAShellDoes) {
  EXPECT_EQ(SplitFlags("  "), Arguments{});
  EXPECT_EQ(SplitFlags("--a=1\t-b\n c"), (Arguments{"--a=1", "-b", "c"}));
  EXPECT_EQ(SplitFlags("--a='b c' \"d e\"f ''"), (Arguments{"--a=b c", "d ef", ""}));
  EXPECT_EQ(SplitFlags(R"(a\ b 'c\d' "e\"f\.")"), (Arguments{"a b", "c\\d", "e\"f\\."}));
  for (const char* text : {"'", "a\"b", "'a\""}) EXPECT_THROW(SplitFlags(text), UsageError);
}

TEST(CompareOptions, ReadsARun) {
  const RunCommand run =
      ParseRun({"--base=a", "--new", "b", "--base-flags=--x '-y z'", "--new-flags", "--w",
                "--base-flags=", "--rounds=7", "--dir=d", "--threshold=5%", "--gate-metric=m",
                "--gate-metric=n", "--all", "--gate-single", "--", "--both", "--"});
  EXPECT_EQ(run.base, "a");
  EXPECT_EQ(run.contender, "b");
  EXPECT_EQ(run.base_flags, (Arguments{"--both", "--", "--x", "-y z"}));
  EXPECT_EQ(run.new_flags, (Arguments{"--both", "--", "--w"}));
  EXPECT_EQ(run.rounds, 7U);
  EXPECT_EQ(run.folder, "d");
  EXPECT_TRUE(run.compare.report.all);
  EXPECT_EQ(run.judgement,
            (Arguments{"--threshold=5%", "--gate-metric=m", "--gate-metric=n", "--gate-single"}));
  const ConfirmCommand confirm = ParseConfirm({"d", "--threshold=3%"}, run.judgement);
  EXPECT_EQ(confirm.folder, "d");
  EXPECT_EQ(confirm.compare.options.threshold, 0.03) << "what is given holds";
  EXPECT_TRUE(confirm.compare.options.gate_single) << "what was recorded, too";
  EXPECT_EQ(confirm.compare.options.gate_metrics, (Arguments{"m", "n"}));
  EXPECT_THROW(ParseConfirm({"d"}, {"--nonsense"}), ReadError);
  EXPECT_THROW(ParseConfirm({}), UsageError);
  EXPECT_EQ(ParseRun({"--base=a", "--new=b", "--calibration=c"}).judgement.front().find("=/"), 13U);
}

TEST(CompareOptions, RefusesWhatItDoesNotUnderstand) {
  for (const char* flag :
       {"--nonsense", "--threshold=5", "--threshold=", "--alpha=50%", "--alpha=0", "--time=wall",
        "--summary=max", "--require=-1", "--require=x", "--filter=(", "--duplicates=drop",
        "--format=xml", "--color=maybe", "--metric-direction=a", "--metric-direction==lower",
        "--metric-direction=a=up", "--out=", "-x"}) {
    EXPECT_THROW(ParseCompare({"a", "b", flag}), UsageError) << flag;
  }
  EXPECT_THROW(ParseExport({"a"}), UsageError) << "no format";
  EXPECT_THROW(ParseExport({"--format=xml", "a"}), UsageError);
  EXPECT_THROW(ParseExport({"--format=csv"}), UsageError) << "no files";
  EXPECT_THROW(ParseCalibrate({"a"}), UsageError) << "no output";
  EXPECT_THROW(ParseSpeedup({}), UsageError);
  EXPECT_THROW(ParseCompare({"--help"}), HelpRequest);
}

}  // namespace
}  // namespace cnn
