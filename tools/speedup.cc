#include "tools/speedup.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <numeric>
#include <string_view>
#include <utility>

#include "tools/benchmark_name.h"
#include "tools/comparison.h"
#include "tools/export_text.h"
#include "tools/readable.h"

namespace cnn {
namespace {

constexpr double kConfidence = 0.95;
constexpr std::size_t kMostNamed = 3;  // benchmarks that a note names; the rest is counted
constexpr std::string_view kOurs = "ours";
constexpr std::string_view kFramework = "framework";
constexpr std::string_view kPublished = "published_in";

/// What should be equal on both sides unless it is the axis.
constexpr std::array<std::string_view, 5> kWatched = {"host_name", "git_commit", "build_type",
                                                      "allocator", "precision"};
/// What must be equal among the samples of one side.
constexpr std::array<std::string_view, 2> kOneSide = {"host_name", "git_commit"};

using Axis = std::pair<std::string, std::string>;  // key, value

/// "Train/eight_kinds/device:cpu/epoch:3" taken apart.
struct Subject {
  std::string workload;  // "Train/eight_kinds"
  std::vector<Axis> axes;
  bool has_epoch = false;

  std::string_view Value(std::string_view key) const {
    for (const Axis& axis : axes) {
      if (axis.first == key) return axis.second;
    }
    return {};
  }
};

/// The rows of one benchmark at one value of the axis.
struct Side {
  std::string value;
  Samples seconds;
  Samples seconds_per_image;
  bool all_have_images = true;
  std::optional<double> aggregate;            // mean of repetitions that are not in the file
  std::optional<double> aggregate_per_image;  // likewise
  std::vector<const ResultFile*> files;       // that it comes from, each once
};

/// Benchmarks that differ in the axis alone.
struct Group {
  Subject parts;  // without the axis and the epoch
  std::string framework;
  std::vector<Side> sides;  // in the order of the files
};

Subject TakeApart(std::string_view name) {
  Subject subject;
  for (const NamePart& part : NameParts(name)) {
    if (part.key.empty()) {
      if (!subject.workload.empty()) subject.workload += '/';
      subject.workload += part.value;
    } else if (part.key == "epoch") {
      subject.has_epoch = true;
    } else {
      subject.axes.emplace_back(part.key, part.value);
    }
  }
  return subject;
}

std::string VariantOf(const Subject& parts) {
  std::string variant;
  for (const Axis& axis : parts.axes) {
    if (!variant.empty()) variant += ' ';
    variant += axis.first + ':' + axis.second;
  }
  return variant;
}

std::string TitleOf(const Group& group) {
  const std::string variant = VariantOf(group.parts);
  return group.parts.workload + (variant.empty() ? "" : " " + variant) +
         (group.parts.has_epoch ? " (epochs)" : "");
}

std::string FrameworkOf(const ResultFile& file) {
  const std::string_view framework = file.ContextValue(kFramework);
  return std::string(framework.empty() ? kOurs : framework);
}

double MetricOf(const ResultRow& row, std::string_view name) {
  for (const Metric& metric : row.metrics) {
    if (metric.name == name) return metric.value;
  }
  return std::nan("");
}

bool IsPositive(double value) { return std::isfinite(value) && value > 0; }

double Mean(const Samples& samples) {
  return std::accumulate(samples.begin(), samples.end(), 0.0) / static_cast<double>(samples.size());
}

/// "a, b, c and 7 more".
std::string Listed(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), kMostNamed); ++i) {
    text += (i == 0 ? "" : ", ") + names[i];
  }
  if (names.size() > kMostNamed)
    text += " and " + std::to_string(names.size() - kMostNamed) + " more";
  return text;
}

/// Distinct texts in the order they came.
void AddOnce(std::vector<std::string>& texts, const std::string& text) {
  if (std::find(texts.begin(), texts.end(), text) == texts.end()) texts.push_back(text);
}

class Grouper {
 public:
  Grouper(const std::vector<ResultFile>& files, const std::string& by) : files_(files), by_(by) {}

  Speedups Find();

 private:
  bool IsInNames() const;
  [[noreturn]] void FailUnknown() const;
  void AddRow(const ResultFile& file, const ResultRow& row, Namesakes& namesakes);
  Group& GroupOf(const Subject& parts, const ResultFile& file);
  void FinishSides();
  void CheckOneSource(const Group& group, const Side& side) const;
  void Order(std::vector<Side>& sides) const;
  void AddPairs(const Group& group);
  Speedup Pair(const Group& group, const Side& reference, const Side& other);
  void NoteDifferences(const Side& reference, const Side& other);
  std::optional<PublishedSpeedup> Published(const Group& group, const Side& reference,
                                            const Side& other) const;
  [[noreturn]] void FailNothing() const;
  void AddNotes();

  const std::vector<ResultFile>& files_;
  const std::string& by_;
  bool is_in_names_ = false;
  std::vector<Group> groups_;
  std::map<std::string, std::size_t> group_index_;
  std::vector<std::string> failed_;
  std::vector<std::string> unusable_;
  std::vector<std::string> unpaired_;
  std::vector<std::string> without_value_;
  std::vector<std::string> differences_;
  RankDistributions distributions_;
  Speedups found_;
};

Speedups Grouper::Find() {
  if (files_.empty()) throw std::invalid_argument("speedup needs result files");
  if (by_ == "epoch") {
    throw std::invalid_argument("epochs are samples of one benchmark, not an axis to compare by");
  }
  is_in_names_ = IsInNames();
  const auto has_key = [this](const ResultFile& file) { return !file.ContextValue(by_).empty(); };
  if (!is_in_names_ && by_ != kFramework && std::none_of(files_.begin(), files_.end(), has_key)) {
    FailUnknown();
  }
  for (const ResultFile& file : files_) {
    Namesakes namesakes(file);
    for (const ResultRow& row : file.rows) AddRow(file, row, namesakes);
  }
  FinishSides();
  for (const Group& group : groups_) AddPairs(group);
  if (found_.pairs.empty()) FailNothing();
  AddNotes();
  return std::move(found_);
}

bool Grouper::IsInNames() const {
  for (const ResultFile& file : files_) {
    for (const ResultRow& row : file.rows) {
      if (!TakeApart(row.run_name).Value(by_).empty()) return true;
    }
  }
  return false;
}

void Grouper::FailUnknown() const {
  std::vector<std::string> keys;
  for (const ResultFile& file : files_) {
    for (const ResultRow& row : file.rows) {
      for (const Axis& axis : TakeApart(row.run_name).axes) AddOnce(keys, axis.first);
    }
  }
  std::string known;
  for (const std::string& key : keys) known += (known.empty() ? "" : ", ") + key;
  throw std::invalid_argument("'" + VisibleText(by_) +
                              "' is neither in the name of a benchmark nor in a file's context; "
                              "the names have " +
                              (known.empty() ? "no keys" : VisibleText(known)) +
                              ", and framework can always be asked for");
}

void Grouper::AddRow(const ResultFile& file, const ResultRow& row, Namesakes& namesakes) {
  if (row.kind != RowKind::kIteration && row.kind != RowKind::kAggregate) return;
  if (namesakes.OrdinalOf(row.run_name, row) > 0) {
    namesakes.Refuse(row.run_name, row, "give them different names");
  }
  Subject parts = TakeApart(row.run_name);
  std::string value;
  if (is_in_names_) {
    value = std::string(parts.Value(by_));
    const auto is_axis = [this](const Axis& axis) { return axis.first == by_; };
    parts.axes.erase(std::remove_if(parts.axes.begin(), parts.axes.end(), is_axis),
                     parts.axes.end());
    if (value.empty()) return;  // of a family without this axis
  } else {
    value = by_ == kFramework ? FrameworkOf(file) : std::string(file.ContextValue(by_));
    if (value.empty()) return AddOnce(without_value_, file.path);
  }
  if (row.state != RowState::kMeasured) {
    const std::string what = row.state == RowState::kError ? "failed" : "skipped";
    return AddOnce(failed_, row.run_name + " (" + what +
                                (row.message.empty() ? "" : ": " + row.message) + ")");
  }
  const bool is_aggregate = row.kind == RowKind::kAggregate;
  if (is_aggregate && row.aggregate_name != "mean") return;
  const double seconds = MetricOf(row, "real_time");
  if (!IsPositive(seconds)) return AddOnce(unusable_, row.run_name);
  const double rate = MetricOf(row, "items_per_second");

  Group& group = GroupOf(parts, file);
  const auto has_value = [&value](const Side& side) { return side.value == value; };
  auto side = std::find_if(group.sides.begin(), group.sides.end(), has_value);
  if (side == group.sides.end()) {
    side = group.sides.emplace(side);
    side->value = value;
  }
  if (std::find(side->files.begin(), side->files.end(), &file) == side->files.end()) {
    side->files.push_back(&file);
  }
  if (is_aggregate) {
    side->aggregate = seconds;
    if (IsPositive(rate)) side->aggregate_per_image = 1 / rate;
    return;
  }
  side->seconds.push_back(seconds);
  if (IsPositive(rate)) {
    side->seconds_per_image.push_back(1 / rate);
  } else {
    side->all_have_images = false;
  }
}

Group& Grouper::GroupOf(const Subject& parts, const ResultFile& file) {
  const std::string framework = by_ == kFramework ? "" : FrameworkOf(file);
  // Control characters cannot be mistaken for a part of a name that holds none.
  std::string key = parts.workload + '\n' + framework + (parts.has_epoch ? "\nepochs" : "\n");
  for (const Axis& axis : parts.axes) key += '\n' + axis.first + ':' + axis.second;
  const auto [entry, is_new] = group_index_.emplace(key, groups_.size());
  if (is_new) {
    groups_.emplace_back();
    groups_.back().parts = parts;
    groups_.back().framework = framework;
  }
  return groups_[entry->second];
}

void Grouper::FinishSides() {
  for (Group& group : groups_) {
    for (Side& side : group.sides) {
      CheckOneSource(group, side);
      if (!side.seconds.empty()) continue;
      // A file of aggregates only: the mean of its repetitions is all there is.
      side.seconds.push_back(*side.aggregate);
      side.all_have_images = side.aggregate_per_image.has_value();
      if (side.all_have_images) side.seconds_per_image.push_back(*side.aggregate_per_image);
    }
    Order(group.sides);
  }
}

void Grouper::CheckOneSource(const Group& group, const Side& side) const {
  for (const std::string_view key : kOneSide) {
    for (const ResultFile* file : side.files) {
      const std::string_view first = side.files.front()->ContextValue(key);
      const std::string_view here = file->ContextValue(key);
      if (here == first) continue;
      throw CompareError(VisibleText(TitleOf(group) + ", " + by_ + ' ' + side.value +
                                     ": the files differ in " + std::string(key) + " (" +
                                     std::string(first) + " in " + side.files.front()->path + ", " +
                                     std::string(here) + " in " + file->path +
                                     "): give the files of one, or use --by=" + std::string(key)));
    }
  }
}

/// The reference first.
void Grouper::Order(std::vector<Side>& sides) const {
  const auto is_number = [](const Side& side) { return ParseReal(side.value).has_value(); };
  if (std::all_of(sides.begin(), sides.end(), is_number)) {
    std::stable_sort(sides.begin(), sides.end(), [](const Side& a, const Side& b) {
      return ParseReal(a.value).value_or(0) < ParseReal(b.value).value_or(0);
    });
    return;
  }
  constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kReferences = {
      {{"device", "cpu"}, {"source", "files"}, {"augment", "plain"}}};
  for (const auto& [key, value] : kReferences) {
    if (by_ != key) continue;
    std::stable_partition(sides.begin(), sides.end(),
                          [v = value](const Side& side) { return side.value == v; });
  }
}

void Grouper::AddPairs(const Group& group) {
  if (group.sides.size() < 2) {
    if (!group.sides.empty()) {
      unpaired_.push_back(TitleOf(group) + " (" + group.sides.front().value + " only)");
    }
    return;
  }
  const auto ours = std::find_if(group.sides.begin(), group.sides.end(), [this](const Side& side) {
    return by_ == kFramework && side.value == kOurs;
  });
  if (ours != group.sides.end()) {
    for (const Side& side : group.sides) {
      if (&side != &*ours) found_.pairs.push_back(Pair(group, side, *ours));
    }
    return;
  }
  for (std::size_t i = 1; i < group.sides.size(); ++i) {
    found_.pairs.push_back(Pair(group, group.sides[0], group.sides[i]));
  }
}

Speedup Grouper::Pair(const Group& group, const Side& reference, const Side& other) {
  Speedup pair;
  pair.workload = group.parts.workload;
  pair.variant = VariantOf(group.parts);
  pair.is_of_epochs = group.parts.has_epoch;
  pair.framework = group.framework;
  pair.is_per_image = reference.all_have_images && other.all_have_images;
  const auto fill = [&pair](SpeedupSide& to, const Side& from) {
    to.value = from.value;
    to.seconds = pair.is_per_image ? from.seconds_per_image : from.seconds;
    to.mean = Mean(to.seconds);
    to.median = Median(to.seconds);
  };
  fill(pair.reference, reference);
  fill(pair.other, other);
  pair.ratio = pair.reference.mean / pair.other.mean;
  pair.median_ratio = pair.reference.median / pair.other.median;
  pair.interval =
      HodgesLehmannRatio(pair.other.seconds, pair.reference.seconds, kConfidence, distributions_);
  pair.published = Published(group, reference, other);
  NoteDifferences(reference, other);
  return pair;
}

void Grouper::NoteDifferences(const Side& reference, const Side& other) {
  if (by_ == kFramework || by_ == "host_name") return;  // differ in everything
  for (const std::string_view key : kWatched) {
    if (key == by_) continue;
    const std::string_view a = reference.files.front()->ContextValue(key);
    const std::string_view b = other.files.front()->ContextValue(key);
    if (a == b) continue;
    const auto shown = [](std::string_view text) {
      return std::string(text.empty() ? std::string_view("none") : text);
    };
    AddOnce(differences_, std::string(key) + ": " + shown(a) + " of " + reference.value + ", " +
                              shown(b) + " of " + other.value);
  }
}

bool IsPublished(const Side& side) {
  return std::all_of(side.files.begin(), side.files.end(), [](const ResultFile* file) {
    return !file->ContextValue(kPublished).empty();
  });
}

/// `group` itself where it is published, else the first that is and has the same subject,
/// augmentation and pair of values.
std::optional<PublishedSpeedup> Grouper::Published(const Group& group, const Side& reference,
                                                   const Side& other) const {
  const auto subject_of = [](const Group& g) {
    return g.parts.workload.substr(g.parts.workload.find('/') + 1);
  };
  const std::string subject = subject_of(group);
  const std::string augment(group.parts.Value("augment"));
  const bool is_itself = IsPublished(reference) && IsPublished(other);
  for (const Group& candidate : groups_) {
    if (is_itself && &candidate != &group) continue;
    if (subject_of(candidate) != subject || candidate.parts.Value("augment") != augment) continue;
    const auto find = [&candidate](const std::string& value) {
      const auto side =
          std::find_if(candidate.sides.begin(), candidate.sides.end(),
                       [&value](const Side& s) { return s.value == value && IsPublished(s); });
      return side == candidate.sides.end() ? nullptr : &*side;
    };
    const Side* a = find(reference.value);
    const Side* b = find(other.value);
    if (a == nullptr || b == nullptr) continue;
    PublishedSpeedup published;
    published.reference_mean = Mean(a->seconds);
    published.other_mean = Mean(b->seconds);
    published.ratio = published.reference_mean / published.other_mean;
    const std::string key = "published_speedup/" + subject +
                            (augment.empty() ? "" : "/augment:" + augment) + '/' + by_ + ':' +
                            other.value;
    published.as_printed = std::string(b->files.front()->ContextValue(key));
    return published;
  }
  return std::nullopt;
}

void Grouper::FailNothing() const {
  std::string message = "no two benchmarks differ in " + by_ + " alone";
  if (!unpaired_.empty()) message += "; unpaired: " + Listed(unpaired_);
  if (!failed_.empty()) message += "; left out: " + Listed(failed_);
  if (!unusable_.empty()) message += "; without a time: " + Listed(unusable_);
  if (!without_value_.empty()) message += "; without " + by_ + ": " + Listed(without_value_);
  throw NothingToPair(VisibleText(message));
}

void Grouper::AddNotes() {
  const auto add = [this](const std::string& what, const std::vector<std::string>& names) {
    if (!names.empty()) found_.notes.push_back(what + Listed(names));
  };
  add("without a counterpart: ", unpaired_);
  add("left out: ", failed_);
  add("left out, without a time above zero: ", unusable_);
  add("left out, without " + by_ + " in the context: ", without_value_);
  for (const std::string& difference : differences_) {
    found_.notes.push_back("the sides differ in more than " + by_ + ": " + difference);
  }
}

/// With so many significant digits and no exponent.
std::string RatioText(double ratio, int digits) {
  const int magnitude = static_cast<int>(std::floor(std::log10(ratio)));
  const int decimals = std::clamp(digits - 1 - magnitude, 0, 6);
  std::array<char, 400> buffer{};
  const auto result = std::to_chars(buffer.data(), buffer.data() + buffer.size(), ratio,
                                    std::chars_format::fixed, decimals);
  return std::string(buffer.data(), result.ptr);
}

std::string SideText(const SpeedupSide& side, bool is_per_image) {
  return side.value + ' ' + ReadableTime(side.mean) + (is_per_image ? "/image" : "");
}

/// Whole seconds do not carry more than two digits.
std::string PublishedText(const PublishedSpeedup& published) {
  return ReadableTime(published.other_mean) + " / " + ReadableTime(published.reference_mean) +
         " → " +
         (published.as_printed.empty() ? RatioText(published.ratio, 2) : published.as_printed) +
         "×";
}

std::vector<std::string> CellsOf(const Speedup& pair, bool show_framework) {
  std::string variant = pair.variant + (pair.is_of_epochs ? " (epochs)" : "");
  if (show_framework) variant += (variant.empty() ? "framework:" : " framework:") + pair.framework;
  std::string samples = std::to_string(pair.reference.seconds.size()) + ", " +
                        std::to_string(pair.other.seconds.size());
  const bool is_single = pair.reference.seconds.size() == 1 && pair.other.seconds.size() == 1;
  return {pair.workload,
          variant,
          SideText(pair.reference, pair.is_per_image),
          SideText(pair.other, pair.is_per_image),
          samples,
          RatioText(pair.ratio, 3) + "×",
          pair.interval.HasInterval() ? '[' + RatioText(pair.interval.lower, 3) + ", " +
                                            RatioText(pair.interval.upper, 3) + ']'
                                      : "",
          is_single ? "" : RatioText(pair.median_ratio, 3) + "×",
          pair.published ? PublishedText(*pair.published) : ""};
}

/// Columns in which nothing stands are left out; numbers are to the right.
std::string Aligned(const std::vector<std::vector<std::string>>& rows) {
  const std::vector<bool> is_right = {false, false, true, true, true, true, false, true, false};
  std::vector<std::size_t> widths(rows.front().size());
  std::vector<bool> is_used(rows.front().size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (std::size_t k = 0; k < rows[i].size(); ++k) {
      widths[k] = std::max(widths[k], CountCharacters(rows[i][k]));
      if (i > 0 && !rows[i][k].empty()) is_used[k] = true;
    }
  }
  std::string text;
  for (const std::vector<std::string>& row : rows) {
    std::string line;
    for (std::size_t k = 0; k < row.size(); ++k) {
      if (!is_used[k]) continue;
      const std::string padding(widths[k] - CountCharacters(row[k]), ' ');
      if (!line.empty()) line += "  ";
      line += is_right[k] ? padding + row[k] : row[k] + padding;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  }
  return text;
}

}  // namespace

Speedups FindSpeedups(const std::vector<ResultFile>& files, const std::string& by) {
  return Grouper(files, by).Find();
}

std::string SpeedupTable(const std::vector<ResultFile>& files, const std::string& by) {
  const Speedups speedups = FindSpeedups(files, by);
  const auto is_other = [&speedups](const Speedup& pair) {
    return pair.framework != speedups.pairs.front().framework;
  };
  const bool show_framework = std::any_of(speedups.pairs.begin(), speedups.pairs.end(), is_other);
  std::vector<std::vector<std::string>> rows = {{"workload", "variant", "reference", "other", "n",
                                                 "speed-up", "95 % interval", "medians",
                                                 "published"}};
  bool has_interval = false;
  for (const Speedup& pair : speedups.pairs) {
    rows.push_back(CellsOf(pair, show_framework));
    for (std::string& cell : rows.back()) cell = VisibleText(cell);
    has_interval = has_interval || pair.interval.HasInterval();
  }
  std::string text = "speed-up by " + VisibleText(by) + " = reference / other, of mean times\n\n" +
                     Aligned(rows) + '\n';
  if (has_interval) {
    text +=
        "intervals: of the epochs and repetitions in these files (Hodges-Lehmann), none below 4 "
        "against 4\n";
  }
  for (const std::string& note : speedups.notes) text += VisibleText(note) + '\n';
  if (text.size() > 1 && text[text.size() - 2] == '\n') text.pop_back();
  return text;
}

}  // namespace cnn
