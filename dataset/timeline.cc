#include "dataset/timeline.h"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>

#include "dataset/replace_file.h"
#include "dataset/text.h"

namespace cnn {
namespace {

using Value = nlohmann::ordered_json;  // Timeline::Json is a function

// One process, whose first thread bears its number: the main thread, which Perfetto shows above the
// others whatever their sort index. Number 0 is the idle thread to it.
constexpr int kProcess = 1;

// Microseconds, rounded down to an eighth. Readers take times for doubles and convert them to
// nanoseconds (Perfetto: times 1000, rounded down), where ends and begins that are the same moment
// must meet: an end one nanosecond behind the next begin is an overlap, and is drawn wrongly.
// Eighths are exact on all of this way, and fine enough for what takes tens of microseconds.
double Microseconds(Timeline::Clock::duration duration) {
  const auto ns = std::chrono::duration_cast<std::chrono::nanoseconds>(duration).count();
  const std::int64_t eighths = ns / 125;
  return static_cast<double>(eighths) / 8;
}

Value Metadata(const char* what, int thread, Value args) {
  return {
      {"name", what}, {"ph", "M"}, {"pid", kProcess}, {"tid", thread}, {"args", std::move(args)}};
}

Value Complete(const Timeline::Event& event, int thread, Timeline::Clock::time_point start) {
  const double begin = Microseconds(std::max(event.begin, start) - start);
  const double end = Microseconds(std::max(event.end, start) - start);
  Value args = Value::object();
  for (const Timeline::Arg& arg : event.args) {
    if (const auto* text = std::get_if<std::string>(&arg.value)) {
      args[arg.key] = Printable(*text);
    } else {
      args[arg.key] = std::get<std::int64_t>(arg.value);
    }
  }
  return {{"name", event.name}, {"cat", event.category},  {"ph", "X"},
          {"ts", begin},        {"dur", end - begin},     {"pid", kProcess},
          {"tid", thread},      {"args", std::move(args)}};
}

// By begin; of events with the same begin the outer first, as viewers nest them.
template <typename Events>
std::vector<const Timeline::Event*> Sorted(const Events& events) {
  std::vector<const Timeline::Event*> sorted;
  sorted.reserve(events.size());
  for (const Timeline::Event& event : events) sorted.push_back(&event);
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto* a, const auto* b) {
    return a->begin != b->begin ? a->begin < b->begin : a->end > b->end;
  });
  return sorted;
}

[[noreturn]] void Fail(const std::string& path, const std::string& why) {
  throw std::runtime_error(path + ": the trace cannot be written: " + why);
}

}  // namespace

Timeline::Timeline() : start_(Clock::now()) { GetTrack("training thread"); }

Timeline::Track& Timeline::GetTrack(const std::string& name) {
  for (const auto& track : tracks_) {
    if (track->name_ == name) return *track;
  }
  return *tracks_.emplace_back(std::make_unique<Track>(name));
}

void Timeline::AddNote(std::string key, std::string value) {
  notes_.emplace_back(std::move(key), std::move(value));
}

// The format: "Trace Event Format", the document that Perfetto's page on other formats refers to.
// Object by object, because a document of a whole epoch would take ten times its text's memory.
void Timeline::WriteJson(std::ostream& out) const {
  out << "{\"traceEvents\":[\n"
      << Metadata("process_name", kProcess, {{"name", "cnn_benchmarks"}}).dump();
  for (std::size_t i = 0; i < tracks_.size(); ++i) {
    const Track& track = *tracks_[i];
    const int thread = kProcess + static_cast<int>(i);
    const auto write = [&](const Value& event) { out << ",\n" << event.dump(); };
    write(Metadata("thread_name", thread, {{"name", Printable(track.name_)}}));
    write(Metadata("thread_sort_index", thread, {{"sort_index", i}}));
    for (const Event* event : Sorted(track.events_)) write(Complete(*event, thread, start_));
  }
  Value notes = Value::object();
  for (const auto& [key, value] : notes_) notes[Printable(key)] = Printable(value);
  out << "\n],\n\"displayTimeUnit\":\"ms\",\n\"otherData\":" << notes.dump() << "}\n";
}

std::string Timeline::Json() const {
  std::ostringstream text;
  WriteJson(text);
  return text.str();
}

void Timeline::Write(const std::string& path) const {
  try {
    ReplaceFile(path, [this](const std::string& file) {
      errno = 0;
      std::ofstream out(file, std::ios::binary);
      if (out) WriteJson(out);
      out.close();
      if (!out) throw std::runtime_error(errno != 0 ? std::strerror(errno) : "disk full?");
    });
  } catch (const std::runtime_error& error) {
    Fail(path, error.what());
  }
}

}  // namespace cnn
