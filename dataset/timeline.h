// What each thread did when, for a person to look at: one epoch's loads, waits and steps as bars on
// a track each, written in the Chrome trace event format, which Perfetto (ui.perfetto.dev) and
// chrome://tracing open. A trace answers what sums cannot: whether the training thread waits
// because every worker is busy, or because one image of the batch is late.
//
// Events are kept as they are given and turned into text at the end: what is traced pays for a few
// small copies an event and for no lock. That works because a track is written by one thread at a
// time, and the timeline is only read once its writers are at rest.
//
// Thread rules: all public functions but Track::Add are for one thread. Track::Add is for one
// thread at a time on each track; handing a track to another thread, or reading the timeline,
// needs a happens-before edge from the last Add (Loader::SetTimeline and Trainer::TakeTotals give
// it for their tracks).
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace cnn {

class Timeline {
 public:
  using Clock = std::chrono::steady_clock;

  struct Arg {
    const char* key;
    std::variant<std::int64_t, std::string> value;  // any bytes
  };

  /// Something that was done from `begin` to `end`. Name, category and keys are kept as pointers:
  /// they must outlive the timeline, as literals do.
  struct Event {
    const char* name;
    const char* category;
    Clock::time_point begin;
    Clock::time_point end;
    std::vector<Arg> args;
  };

  /// Events of one track, in any order; they must be apart or nested, or viewers show nonsense.
  class Track {
   public:
    explicit Track(std::string name) : name_(std::move(name)) {}
    void Add(Event event) { events_.push_back(std::move(event)); }

   private:
    friend class Timeline;
    std::string name_;
    std::deque<Event> events_;  // grows without moving what it holds
  };

  /// Begins now.
  Timeline();

  /// The topmost track, "training thread": of the thread that takes the batches and trains.
  Track& training_thread() { return *tracks_.front(); }

  /// The track of this name, which may be any bytes; a new one, below the others, if there is none.
  /// Valid as long as the timeline.
  Track& GetTrack(const std::string& name);

  /// Something to be known about the whole: "otherData", which viewers show as its metadata.
  void AddNote(std::string key, std::string value);

  /// The trace as JSON. Times are microseconds since the timeline began (what began before is cut
  /// off there), rounded to an eighth: see the source.
  std::string Json() const;

  /// Writes Json() to a file, which is whole or as it was before; what is no regular file (a pipe)
  /// is written in place. Throws std::runtime_error naming the file.
  void Write(const std::string& path) const;

 private:
  void WriteJson(std::ostream& out) const;

  Clock::time_point start_;
  std::vector<std::unique_ptr<Track>> tracks_;
  std::vector<std::pair<std::string, std::string>> notes_;
};

}  // namespace cnn
