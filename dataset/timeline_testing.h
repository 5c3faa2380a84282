// A timeline read back as its viewers read it, for the tests of those who write on one.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "dataset/timeline.h"

namespace cnn {

struct TracedEvent {
  std::string name, category;
  double begin = 0, end = 0;  // microseconds
  nlohmann::json args;
};

/// The events of each track, by its name and in their order. Fails the test where the trace is not
/// what the format wants.
inline std::map<std::string, std::vector<TracedEvent>> ReadBack(const Timeline& timeline) {
  const nlohmann::json trace = nlohmann::json::parse(timeline.Json());
  std::map<int, std::string> names;
  std::map<std::string, std::vector<TracedEvent>> tracks;
  for (const nlohmann::json& event : trace.at("traceEvents")) {
    const int thread = event.at("tid");
    if (event.at("ph") == "M") {
      if (event.at("name") != "thread_name") continue;
      names[thread] = event.at("args").at("name");
      EXPECT_EQ(tracks.count(names[thread]), 0U) << "two tracks of one name";
      tracks[names[thread]];
      continue;
    }
    EXPECT_EQ(event.at("ph"), "X");
    TracedEvent read;
    read.name = event.at("name");
    read.category = event.at("cat");
    read.begin = event.at("ts");
    const double duration = event.at("dur");
    EXPECT_GE(read.begin, 0);
    EXPECT_GE(duration, 0);
    read.end = read.begin + duration;
    read.args = event.at("args");
    tracks.at(names.at(thread)).push_back(read);
  }
  return tracks;
}

/// Whether the events follow each other, the next beginning when the last has ended or later.
inline bool AreApart(const std::vector<TracedEvent>& events) {
  return std::adjacent_find(events.begin(), events.end(), [](const auto& a, const auto& b) {
           return b.begin < a.end;
         }) == events.end();
}

/// Those of one name, in their order.
inline std::vector<TracedEvent> Named(const std::vector<TracedEvent>& events,
                                      const std::string& name) {
  std::vector<TracedEvent> named;
  for (const TracedEvent& event : events) {
    if (event.name == name) named.push_back(event);
  }
  return named;
}

}  // namespace cnn
