#include "tools/speedup.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "tools/comparison.h"
#include "tools/export_testing.h"
#include "tools/export_text.h"

namespace cnn {
namespace {

std::string PublishedPath(const std::string& name) {
  return std::string(CNN_PUBLISHED_RESULTS) + "/" + name;
}

std::vector<ResultFile> PublishedFiles() {
  return {ReadResultFile(PublishedPath("eight_kinds.json")),
          ReadResultFile(PublishedPath("dogs_vs_cats.json"))};
}

ResultFile Framework(ResultFile file, const std::string& framework) {
  file.context.push_back({"framework", framework});
  return file;
}

ResultRow ImageRow(const std::string& name, double seconds, double images_per_second) {
  return Row(name, {{"real_time", seconds}, {"items_per_second", images_per_second}});
}

bool Contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::string NothingToPairMessage(const std::vector<ResultFile>& files, const std::string& by) {
  try {
    FindSpeedups(files, by);
  } catch (const NothingToPair& error) {
    return error.what();
  }
  return "";
}

// Means by hand: (424 + 413 + 413 + 408 + 408) / 5 = 413.2 and (38 + 42 + 45 + 44 + 45) / 5 = 42.8.
TEST(PublishedSpeedups, AreThoseOfTheArticles) {
  const Speedups found = FindSpeedups(PublishedFiles(), "device");
  ASSERT_EQ(found.pairs.size(), 3U);
  EXPECT_TRUE(found.notes.empty());

  const Speedup& kinds = found.pairs[0];
  EXPECT_EQ(kinds.workload, "Train/eight_kinds");
  EXPECT_EQ(kinds.variant, "augment:full batch:32 workers:12 steps:1000");
  EXPECT_EQ(kinds.framework, "Keras");
  EXPECT_FALSE(kinds.is_per_image);
  EXPECT_EQ(kinds.reference.value, "cpu");
  EXPECT_EQ(kinds.other.value, "cuda");
  EXPECT_EQ(kinds.reference.seconds.size(), 5U);
  EXPECT_NEAR(kinds.reference.mean, 413.2, 1e-9);
  EXPECT_NEAR(kinds.other.mean, 42.8, 1e-9);
  EXPECT_DOUBLE_EQ(kinds.reference.median, 413);
  EXPECT_DOUBLE_EQ(kinds.other.median, 44);
  EXPECT_NEAR(kinds.ratio, 413.2 / 42.8, 1e-12);
  EXPECT_NEAR(kinds.median_ratio, 413.0 / 44, 1e-12);
  ASSERT_TRUE(kinds.interval.HasInterval());
  EXPECT_LE(kinds.interval.lower, 413.0 / 44);
  EXPECT_GE(kinds.interval.upper, kinds.ratio);
  ASSERT_TRUE(kinds.published.has_value());
  EXPECT_EQ(kinds.published->as_printed, "9.6");
  EXPECT_NEAR(kinds.published->ratio, kinds.ratio, 1e-12);

  const Speedup& plain = found.pairs[1];
  EXPECT_EQ(plain.variant, "augment:plain batch:20 workers:1 steps:100");
  EXPECT_DOUBLE_EQ(plain.ratio, 27.0 / 8);
  EXPECT_FALSE(plain.interval.HasInterval());
  ASSERT_TRUE(plain.published.has_value());
  EXPECT_EQ(plain.published->as_printed, "");
  EXPECT_DOUBLE_EQ(found.pairs[2].ratio, 28.0 / 15);
}

TEST(PublishedSpeedups, TableShowsThem) {
  const std::string table = SpeedupTable(PublishedFiles(), "device");
  EXPECT_TRUE(Contains(table, "cpu 413.2 s")) << table;
  EXPECT_TRUE(Contains(table, "9.65×")) << table;
  EXPECT_TRUE(Contains(table, "42.8 s / 413.2 s → 9.6×")) << table;
  EXPECT_TRUE(Contains(table, "8 s / 27 s → 3.4×")) << table;
  EXPECT_TRUE(Contains(table, "15 s / 28 s → 1.9×")) << table;
  EXPECT_FALSE(Contains(table, "framework:")) << table;
  EXPECT_EQ(table.back(), '\n');
  EXPECT_FALSE(Contains(table, " \n")) << table;
}

TEST(PublishedFiles, AreCleanAndHaveWhatWasPublished) {
  for (const ResultFile& file : PublishedFiles()) {
    EXPECT_TRUE(file.warnings.empty()) << file.warnings.front();
    EXPECT_FALSE(file.ContextValue("published_in").empty());
  }
  const ResultFile kinds = ReadResultFile(PublishedPath("eight_kinds.json"));
  ASSERT_EQ(kinds.rows.size(), 10U);
  for (const ResultRow& row : kinds.rows) {
    std::vector<std::string> names;
    for (const Metric& metric : row.metrics) names.push_back(metric.name);
    EXPECT_EQ(names, (std::vector<std::string>{"real_time", "accuracy", "loss", "ms_per_step",
                                               "val_accuracy", "val_accuracy_se", "val_images",
                                               "val_loss"}));
    // Of 320 images, to the four digits that Keras prints.
    const double hits = row.metrics[4].value * 320;
    EXPECT_NEAR(hits, std::round(hits), 320 * 0.5e-4 + 1e-9) << row.name;
  }
}

TEST(Speedups, WorkersAgainstTheFewest) {
  const std::string name = "Epoch/dogs_vs_cats/augment:full/device:cpu/batch:20/workers:";
  const Speedups found =
      FindSpeedups({File({TimedRow(name + "10/steps:10", 1), TimedRow(name + "2/steps:10", 4),
                          TimedRow(name + "0/steps:10", 8)})},
                   "workers");
  ASSERT_EQ(found.pairs.size(), 2U);
  EXPECT_EQ(found.pairs[0].reference.value, "0");
  EXPECT_EQ(found.pairs[0].other.value, "2");
  EXPECT_DOUBLE_EQ(found.pairs[0].ratio, 2);
  EXPECT_EQ(found.pairs[1].other.value, "10");
  EXPECT_DOUBLE_EQ(found.pairs[1].ratio, 8);
}

TEST(Speedups, RefuseTwoBenchmarksOfOneName) {
  ResultRow first = TimedRow("A/s/device:cpu", 1);
  ResultRow second = TimedRow("A/s/device:cpu", 9);
  first.family_index = 0;
  second.family_index = 1;
  const ResultRow other = TimedRow("A/s/device:cuda", 1);
  try {
    FindSpeedups({File({first, second, other})}, "device");
    FAIL() << "two benchmarks became one sample";
  } catch (const CompareError& error) {
    EXPECT_STREQ(error.what(),
                 "run.json: two benchmarks are called \"A/s/device:cpu\" (family_index 0, instance "
                 "-1; family_index 1, instance -1): give them different names");
  }
  second.family_index = 0;  // repetitions
  first.repetition_index = 0;
  second.repetition_index = 1;
  EXPECT_DOUBLE_EQ(FindSpeedups({File({first, second, other})}, "device").pairs[0].ratio, 5);
}

TEST(Speedups, TakeNamesOfCppForNoAxes) {
  const std::vector<ResultFile> files = {
      File({TimedRow("std::sort/8", 1), TimedRow("std::stable_sort/8", 2)})};
  EXPECT_THROW(FindSpeedups(files, "std"), std::invalid_argument);
  const Speedups found =
      FindSpeedups({File({TimedRow("std::sort/n:1", 1), TimedRow("std::sort/n:2", 4)})}, "n");
  ASSERT_EQ(found.pairs.size(), 1U);
  EXPECT_EQ(found.pairs[0].workload, "std::sort");
}

TEST(Speedups, SourceAgainstFiles) {
  const Speedups found = FindSpeedups({File({TimedRow("Pipeline/a/source:bytes/batch:32", 1),
                                             TimedRow("Pipeline/a/source:files/batch:32", 3)})},
                                      "source");
  ASSERT_EQ(found.pairs.size(), 1U);
  EXPECT_EQ(found.pairs[0].reference.value, "files");
  EXPECT_DOUBLE_EQ(found.pairs[0].ratio, 3);
}

TEST(Speedups, EveryFrameworkAgainstOurs) {
  const std::string name = "Epoch/a/device:cpu/batch:20/workers:1";
  const Speedups found =
      FindSpeedups({File({TimedRow(name, 2)}), Framework(File({TimedRow(name, 6)}), "Keras"),
                    Framework(File({TimedRow(name, 3)}), "PyTorch")},
                   "framework");
  ASSERT_EQ(found.pairs.size(), 2U);
  EXPECT_EQ(found.pairs[0].reference.value, "Keras");
  EXPECT_EQ(found.pairs[0].other.value, "ours");
  EXPECT_DOUBLE_EQ(found.pairs[0].ratio, 3);
  EXPECT_EQ(found.pairs[1].reference.value, "PyTorch");
  EXPECT_DOUBLE_EQ(found.pairs[1].ratio, 1.5);
}

TEST(Speedups, OursAgainstThePublishedEpochs) {
  std::vector<ResultFile> files = PublishedFiles();
  files.push_back(File(
      {TimedRow("Train/dogs_vs_cats/augment:full/device:cpu/batch:20/workers:1/steps:100", 14)}));
  const Speedups found = FindSpeedups(files, "framework");
  ASSERT_EQ(found.pairs.size(), 1U);
  EXPECT_DOUBLE_EQ(found.pairs[0].ratio, 2);
  EXPECT_FALSE(found.pairs[0].published.has_value());
}

TEST(Speedups, AnyKeyOfTheContext) {
  const ResultFile file = File({TimedRow("Model/a/device:cpu", 4)});
  ResultFile keep = file;
  ResultFile system = file;
  system.context.push_back({"allocator", "libc"});
  keep.context.push_back({"allocator", "jemalloc"});
  keep.rows[0].metrics[0].value = 1;
  const Speedups found = FindSpeedups({system, keep, file}, "allocator");
  ASSERT_EQ(found.pairs.size(), 1U);
  EXPECT_EQ(found.pairs[0].reference.value, "libc");
  EXPECT_DOUBLE_EQ(found.pairs[0].ratio, 4);
  ASSERT_EQ(found.notes.size(), 1U);
  EXPECT_TRUE(Contains(found.notes[0], "without allocator")) << found.notes[0];
}

TEST(Speedups, PublishedStandBesideOurOwn) {
  std::vector<ResultFile> files = PublishedFiles();
  const std::string name = "Epoch/eight_kinds/augment:full/device:";
  files.push_back(File({TimedRow(name + "cpu/batch:32/workers:2/steps:10", 30),
                        TimedRow(name + "cuda/batch:32/workers:2/steps:10", 2),
                        TimedRow("Layer/eight_kinds/conv1/device:cpu", 3),
                        TimedRow("Layer/eight_kinds/conv1/device:cuda", 1)}));
  const Speedups found = FindSpeedups(files, "device");
  ASSERT_EQ(found.pairs.size(), 5U);
  EXPECT_EQ(found.pairs[3].framework, "ours");
  EXPECT_DOUBLE_EQ(found.pairs[3].ratio, 15);
  ASSERT_TRUE(found.pairs[3].published.has_value());
  EXPECT_EQ(found.pairs[3].published->as_printed, "9.6");
  EXPECT_FALSE(found.pairs[4].published.has_value()) << "an epoch says nothing of a layer";
  EXPECT_TRUE(Contains(SpeedupTable(files, "device"), "framework:ours"));
}

TEST(Speedups, PerImageWhereBothSidesHaveImages) {
  const Speedups both = FindSpeedups(
      {File({ImageRow("A/a/device:cpu", 10, 100), ImageRow("A/a/device:cuda", 5, 400)})}, "device");
  EXPECT_TRUE(both.pairs.at(0).is_per_image);
  EXPECT_DOUBLE_EQ(both.pairs.at(0).reference.mean, 0.01);
  EXPECT_DOUBLE_EQ(both.pairs.at(0).ratio, 4);
  const Speedups one = FindSpeedups(
      {File({ImageRow("A/a/device:cpu", 10, 100), TimedRow("A/a/device:cuda", 5)})}, "device");
  EXPECT_FALSE(one.pairs.at(0).is_per_image);
  EXPECT_DOUBLE_EQ(one.pairs.at(0).ratio, 2);
}

TEST(Speedups, PoolEpochsRepetitionsAndFilesButNotClosingRows) {
  std::vector<ResultFile> files;
  for (const double seconds : {10.0, 12.0}) {
    files.push_back(File({TimedRow("Train/a/device:cpu/epoch:1", seconds),
                          TimedRow("Train/a/device:cpu/epoch:2", seconds + 1),
                          TimedRow("Train/a/device:cpu", 2 * seconds + 1),
                          TimedRow("Train/a/device:cuda/epoch:1", seconds / 4),
                          TimedRow("Train/a/device:cuda/epoch:2", (seconds + 1) / 4)}));
  }
  const Speedups found = FindSpeedups(files, "device");
  ASSERT_EQ(found.pairs.size(), 1U);
  EXPECT_EQ(found.pairs[0].reference.seconds, (Samples{10, 11, 12, 13}));
  EXPECT_DOUBLE_EQ(found.pairs[0].ratio, 4);
  EXPECT_TRUE(found.pairs[0].interval.HasInterval());
  EXPECT_DOUBLE_EQ(found.pairs[0].interval.estimate, 4);
  ASSERT_EQ(found.notes.size(), 1U);
  EXPECT_EQ(found.notes[0], "without a counterpart: Train/a (cpu only)");
}

TEST(Speedups, NoIntervalOfThreeAgainstThree) {
  std::vector<ResultRow> rows;
  for (const double seconds : {1.0, 1.1, 1.2}) {
    rows.push_back(TimedRow("A/a/device:cpu", seconds));
    rows.push_back(TimedRow("A/a/device:cuda", seconds / 2));
  }
  const ResultFile file = File(rows);
  EXPECT_FALSE(FindSpeedups({file}, "device").pairs.at(0).interval.HasInterval());
  EXPECT_FALSE(Contains(SpeedupTable({file}, "device"), "interval"));
}

TEST(Speedups, AggregatesStandInForRepetitionsThatAreNotThere) {
  const Speedups found = FindSpeedups(
      {File({AggregateRow("A/a/device:cpu", "mean", 6), AggregateRow("A/a/device:cpu", "median", 5),
             AggregateRow("A/a/device:cpu", "cv", 0.1), TimedRow("A/a/device:cuda", 2),
             TimedRow("A/a/device:cuda", 4), AggregateRow("A/a/device:cuda", "mean", 99)})},
      "device");
  ASSERT_EQ(found.pairs.size(), 1U);
  EXPECT_EQ(found.pairs[0].reference.seconds, Samples{6});
  EXPECT_DOUBLE_EQ(found.pairs[0].ratio, 2);
}

TEST(Speedups, LeaveOutWhatFailedAndSayIt) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<ResultFile> files = {File(
      {TimedRow("A/a/device:cpu", 2), TimedRow("A/a/device:cuda", 1), TimedRow("A/b/device:cpu", 1),
       FailedRow("A/b/device:cuda", "no \x1b[31mGPU"), TimedRow("A/c/device:cpu", 1),
       SkippedRow("A/c/device:cuda", ""), TimedRow("A/d/device:cpu", nan),
       TimedRow("A/d/device:cuda", 0), TimedRow("Augment/a", 1)})};
  const Speedups found = FindSpeedups(files, "device");
  EXPECT_EQ(found.pairs.size(), 1U);
  ASSERT_EQ(found.notes.size(), 3U);
  EXPECT_EQ(found.notes[0], "without a counterpart: A/b (cpu only), A/c (cpu only)");
  EXPECT_TRUE(Contains(found.notes[1], "A/b/device:cuda (failed: no")) << found.notes[1];
  EXPECT_TRUE(Contains(found.notes[1], "A/c/device:cuda (skipped)")) << found.notes[1];
  EXPECT_TRUE(Contains(found.notes[2], "A/d/device:cpu, A/d/device:cuda")) << found.notes[2];
  EXPECT_FALSE(Contains(SpeedupTable(files, "device"), "\x1b"));
}

TEST(Speedups, SaySoWhenNothingIsPaired) {
  const std::string message = NothingToPairMessage(
      {File({TimedRow("A/a/device:cpu", 2), FailedRow("A/a/device:cuda", "no GPU"),
             TimedRow("A/b/device:cpu", 2), TimedRow("A/c/device:cpu", 2),
             TimedRow("A/d/device:cpu", 2), TimedRow("A/e/device:cpu", 2)})},
      "device");
  EXPECT_TRUE(Contains(message, "differ in device alone")) << message;
  EXPECT_TRUE(Contains(message, "no GPU")) << message;
  EXPECT_TRUE(Contains(message, "and 2 more")) << message;
  EXPECT_NE(NothingToPairMessage(PublishedFiles(), "framework"), "");
  EXPECT_NE(NothingToPairMessage({File({})}, "framework"), "");
}

TEST(Speedups, RefuseBadUsage) {
  EXPECT_THROW(SpeedupTable({}, "device"), std::invalid_argument);
  EXPECT_THROW(SpeedupTable(PublishedFiles(), "epoch"), std::invalid_argument);
  EXPECT_THROW(SpeedupTable(PublishedFiles(), ""), std::invalid_argument);
  try {
    SpeedupTable(PublishedFiles(), "devise");
    FAIL() << "not refused";
  } catch (const std::invalid_argument& error) {
    EXPECT_TRUE(Contains(error.what(), "the names have augment, device, batch, workers, steps"))
        << error.what();
  }
}

TEST(Speedups, RefuseSeveralMachinesOnOneSide) {
  const ResultFile file = File({TimedRow("A/a/device:cpu", 2)});
  const ResultFile other = With(file, "host_name", "laptop");
  const ResultFile gpu = File({TimedRow("A/a/device:cuda", 1)});
  EXPECT_THROW(FindSpeedups({file, other, gpu}, "device"), CompareError);
  EXPECT_THROW(FindSpeedups({file, With(file, "git_commit", "def456"), gpu}, "device"),
               CompareError);
  EXPECT_EQ(FindSpeedups({file, other}, "host_name").pairs.size(), 1U);
}

TEST(Speedups, NoteWhatElseDiffers) {
  const Speedups found =
      FindSpeedups({File({TimedRow("A/a/device:cpu", 2)}),
                    With(File({TimedRow("A/a/device:cuda", 1)}), "host_name", "server")},
                   "device");
  ASSERT_EQ(found.notes.size(), 1U);
  EXPECT_EQ(found.notes[0],
            "the sides differ in more than device: host_name: vm of cpu, server of cuda");
}

TEST(SpeedupTable, ColumnsAreAlignedWhateverTheSizes) {
  std::vector<ResultRow> rows;
  for (const double factor : {1e-9, 1e-4, 1.0, 1e5}) {
    const std::string name = "A/s" + std::to_string(rows.size()) + "/device:";
    rows.push_back(TimedRow(name + "cpu", factor));
    rows.push_back(TimedRow(name + "cuda", 3 * factor * factor));
  }
  const std::string table = SpeedupTable({File(rows)}, "device");
  EXPECT_TRUE(Contains(table, "0.333×")) << table;
  EXPECT_TRUE(Contains(table, "3333×")) << table;
  EXPECT_TRUE(Contains(table, "333333333×")) << table;
  std::size_t end_of_column = 0;
  for (const std::string_view line : Split(table, '\n')) {
    if (line.substr(0, 3) != "A/s") continue;
    const std::size_t cross = CountCharacters(line.substr(0, line.find("×")));
    if (end_of_column == 0) end_of_column = cross;
    EXPECT_EQ(cross, end_of_column) << table;
  }
}

}  // namespace
}  // namespace cnn
