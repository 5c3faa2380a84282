#include "dataset/timeline.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "dataset/testing.h"
#include "dataset/timeline_testing.h"

namespace cnn {
namespace {

using std::chrono::nanoseconds;

TEST(TimelineTest, WritesTheTraceEventFormat) {
  Timeline timeline;
  const auto begin = Timeline::Clock::now();
  Timeline::Track& worker = timeline.GetTrack("worker 0");
  worker.Add(
      {"load", "loader", begin, begin + nanoseconds(1500), {{"image", "a.jpg"}, {"batch", 7}}});
  timeline.AddNote("case", "Train/eight_kinds");
  const nlohmann::json trace = nlohmann::json::parse(timeline.Json());
  EXPECT_EQ(trace.at("displayTimeUnit"), "ms");
  EXPECT_EQ(trace.at("otherData"), (nlohmann::json{{"case", "Train/eight_kinds"}}));
  const nlohmann::json& events = trace.at("traceEvents");
  ASSERT_EQ(events.size(), 6U);
  EXPECT_EQ(events[0], nlohmann::json::parse(R"({"name": "process_name", "ph": "M", "pid": 1,
      "tid": 1, "args": {"name": "cnn_benchmarks"}})"));
  EXPECT_EQ(events[1], nlohmann::json::parse(R"({"name": "thread_name", "ph": "M", "pid": 1,
      "tid": 1, "args": {"name": "training thread"}})"));
  EXPECT_EQ(events[2], nlohmann::json::parse(R"({"name": "thread_sort_index", "ph": "M", "pid": 1,
      "tid": 1, "args": {"sort_index": 0}})"));
  EXPECT_EQ(events[3].at("args").at("name"), "worker 0");
  EXPECT_EQ(events[4].at("args").at("sort_index"), 1);
  EXPECT_EQ(events[5].at("name"), "load");
  EXPECT_EQ(events[5].at("cat"), "loader");
  EXPECT_EQ(events[5].at("ph"), "X");
  EXPECT_EQ(events[5].at("tid"), 2);
  EXPECT_NEAR(events[5].at("dur"), 1.5, 0.125);
  EXPECT_EQ(events[5].at("args"), (nlohmann::json{{"image", "a.jpg"}, {"batch", 7}}));
}

TEST(TimelineTest, AnEmptyTimelineIsATraceToo) {
  const auto tracks = ReadBack(Timeline());
  ASSERT_EQ(tracks.size(), 1U);
  EXPECT_TRUE(tracks.at("training thread").empty());
}

TEST(TimelineTest, ATrackIsFoundByItsName) {
  Timeline timeline;
  Timeline::Track& track = timeline.GetTrack("worker 0");
  for (int i = 1; i < 100; ++i) timeline.GetTrack("worker " + std::to_string(i));
  EXPECT_EQ(&timeline.GetTrack("worker 0"), &track);
  EXPECT_EQ(&timeline.GetTrack("training thread"), &timeline.training_thread());
}

TEST(TimelineTest, EventsComeInOrderAndTheOuterFirst) {
  Timeline timeline;
  const auto begin = Timeline::Clock::now();
  Timeline::Track& track = timeline.training_thread();
  track.Add({"last", "test", begin + nanoseconds(9000), begin + nanoseconds(9500), {}});
  track.Add({"inner", "test", begin, begin + nanoseconds(5000), {}});
  track.Add({"outer", "test", begin, begin + nanoseconds(6000), {}});
  const auto events = ReadBack(timeline).at("training thread");
  ASSERT_EQ(events.size(), 3U);
  EXPECT_EQ(events[0].name, "outer");
  EXPECT_EQ(events[1].name, "inner");
  EXPECT_EQ(events[2].name, "last");
}

// As Perfetto converts them to whole nanoseconds.
TEST(TimelineTest, EventsThatTouchDoNotOverlapForAReaderInDoubles) {
  Timeline timeline;
  auto at = Timeline::Clock::now();
  KeyedRandom random({5});
  for (int i = 0; i < 10000; ++i) {
    const auto end = at + nanoseconds(random.Below(3000000));
    timeline.training_thread().Add({"step", "test", at, end, {}});
    at = end;
  }
  const nlohmann::json trace = nlohmann::json::parse(timeline.Json());
  std::int64_t last_end = 0;
  int events = 0;
  for (const nlohmann::json& event : trace.at("traceEvents")) {
    if (event.at("ph") != "X") continue;
    const auto begin = static_cast<std::int64_t>(event.at("ts").get<double>() * 1000);
    ASSERT_TRUE(events == 0 || begin == last_end) << events;
    last_end = begin + static_cast<std::int64_t>(event.at("dur").get<double>() * 1000);
    ++events;
  }
  EXPECT_EQ(events, 10000);
}

TEST(TimelineTest, WhatBeganBeforeTheTimelineIsCutOff) {
  const auto before = Timeline::Clock::now() - std::chrono::seconds(1);
  Timeline timeline;
  timeline.training_thread().Add({"early", "test", before, before + nanoseconds(1), {}});
  const auto events = ReadBack(timeline).at("training thread");
  EXPECT_EQ(events[0].begin, 0);
  EXPECT_EQ(events[0].end, 0);
}

TEST(TimelineTest, AnyBytesGiveValidJson) {
  const std::vector<std::string> hostile = {"quote\" back\\slash /",
                                            "new\nline\ttab\x01\x7f",
                                            std::string("nul\0inside", 10),
                                            "\xff\xfe",
                                            "half \xc3",
                                            "\xed\xa0\x80",
                                            "caf\xc3\xa9 \xf0\x9f\x90\xb1",
                                            "</script>"};
  Timeline timeline;
  const auto now = Timeline::Clock::now();
  for (const std::string& text : hostile) {
    timeline.training_thread().Add({"load", "test", now, now, {{"image", text}}});
    timeline.GetTrack(text);
    timeline.AddNote(text, text);
  }
  const auto low = std::numeric_limits<std::int64_t>::min();
  timeline.training_thread().Add({"load", "test", now, now, {{"image", low}}});
  const auto tracks = ReadBack(timeline);
  EXPECT_EQ(tracks.size(), 1 + hostile.size());
  const auto& events = tracks.at("training thread");
  ASSERT_EQ(events.size(), hostile.size() + 1);
  EXPECT_EQ(events[0].args.at("image"), hostile[0]);
  EXPECT_EQ(events[1].args.at("image"), R"(new\x0aline\x09tab\x01\x7f)");
  EXPECT_EQ(events[3].args.at("image"), R"(\xff\xfe)");
  EXPECT_EQ(events[6].args.at("image"), hostile[6]);
  EXPECT_EQ(events.back().args.at("image"), low);
  // Some readers know no \u.
  EXPECT_FALSE(Contains(timeline.Json(), "\\u"));
}

TEST(TimelineTest, EachThreadWritesOnATrackOfItsOwn) {
  Timeline timeline;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&track = timeline.GetTrack("worker " + std::to_string(i)), i] {
      for (int event = 0; event < 1000; ++event) {
        const auto now = Timeline::Clock::now();
        track.Add({"load", "test", now, now, {{"worker", i}, {"image", std::to_string(event)}}});
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const auto tracks = ReadBack(timeline);
  for (int i = 0; i < 4; ++i) {
    const auto& events = tracks.at("worker " + std::to_string(i));
    ASSERT_EQ(events.size(), 1000U);
    for (const TracedEvent& event : events) ASSERT_EQ(event.args.at("worker"), i);
    EXPECT_TRUE(AreApart(events));
  }
}

class TimelineFileTest : public testing::Test {
 protected:
  std::size_t Files() const {
    const std::filesystem::directory_iterator files(dir_.path());
    return static_cast<std::size_t>(std::distance(begin(files), end(files)));
  }

  TempDir dir_;
  Timeline timeline_;
};

TEST_F(TimelineFileTest, IsWrittenWholeAndReplacesAnother) {
  const std::filesystem::path path = dir_.path() / "trace.json";
  WriteText(path, "something older");
  timeline_.Write(path);
  EXPECT_EQ(ReadText(path), timeline_.Json());
  EXPECT_EQ(Files(), 1U) << "nothing is left beside it";
}

TEST_F(TimelineFileTest, ALinkStaysOne) {
  WriteText(dir_.path() / "kept.json", "");
  std::filesystem::create_symlink("kept.json", dir_.path() / "link.json");
  timeline_.Write(dir_.path() / "link.json");
  EXPECT_TRUE(std::filesystem::is_symlink(dir_.path() / "link.json"));
  EXPECT_EQ(ReadText(dir_.path() / "kept.json"), timeline_.Json());
}

TEST_F(TimelineFileTest, APipeIsWrittenInPlace) {
  const std::filesystem::path path = dir_.path() / "pipe";
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  std::string text;
  std::thread reader([&] { text = ReadText(path); });
  timeline_.Write(path);
  reader.join();
  EXPECT_EQ(text, timeline_.Json());
  EXPECT_EQ(Files(), 1U);
}

TEST_F(TimelineFileTest, ErrorsNameTheFileAndLeaveNothing) {
  const std::filesystem::path nowhere = dir_.path() / "no folder" / "trace.json";
  EXPECT_TRUE(Contains(ErrorOf([&] { timeline_.Write(nowhere); }), nowhere.string()));
  EXPECT_TRUE(Contains(ErrorOf([&] { timeline_.Write(dir_.path()); }), dir_.path().string()));
  EXPECT_EQ(Files(), 0U);
  EXPECT_TRUE(Contains(ErrorOf([&] { timeline_.Write("/dev/full"); }), "/dev/full"));
}

}  // namespace
}  // namespace cnn
