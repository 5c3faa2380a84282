#include "tools/benchmark_table.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tools/benchmark_name.h"
#include "tools/export_text.h"

namespace cnn {
namespace {

struct Table {
  std::vector<Benchmark> benchmarks;
  std::unordered_map<std::string, std::size_t> index;
};

FileRows& RowsOf(Table& table, std::string name, std::size_t ordinal, std::size_t side,
                 std::size_t file) {
  if (ordinal > 0) name += " #" + std::to_string(ordinal + 1);
  const auto found = table.index.try_emplace(name, table.benchmarks.size());
  if (found.second) table.benchmarks.push_back({std::move(name), {}});
  std::vector<FileRows>& files = table.benchmarks[found.first->second].sides[side];
  if (files.empty() || files.back().file != file) {
    files.emplace_back();
    files.back().file = file;
  }
  return files.back();
}

void AddRow(const ResultRow& row, FileRows& rows) {
  if (row.state != RowState::kMeasured) {
    ++(row.state == RowState::kError ? rows.errors : rows.skips);
    if (rows.message.empty()) rows.message = row.message;
  } else if (row.kind != RowKind::kAggregate) {
    rows.rows.push_back(&row);
  } else if (row.aggregate_name == "median") {
    rows.median = &row;
  } else if (row.aggregate_name == "mean") {
    rows.mean = &row;
  } else if (row.aggregate_name == "stddev") {
    rows.deviation = &row;
  }
}

void AddFile(const ResultFile& file, std::size_t side, std::size_t index,
             const PairingOptions& options, Table& table) {
  Namesakes namesakes(file);
  for (const ResultRow& row : file.rows) {
    if (row.kind == RowKind::kRms) continue;  // says how well the complexity fits, no result
    const std::string name = WithoutKeys(BenchmarkName(row), options.ignored_keys);
    const std::size_t ordinal = namesakes.OrdinalOf(name, row);
    if (ordinal > 0 && !options.duplicates_by_index) {
      namesakes.Refuse(name, row, "give them different names, or pair them by index");
    }
    AddRow(row, RowsOf(table, name, ordinal, side, index));
  }
}

struct Range {
  double low = std::numeric_limits<double>::infinity();
  double high = 0;

  void Add(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
  double Spread() const { return high / low - 1; }
};

}  // namespace

std::size_t Namesakes::OrdinalOf(const std::string& name, const ResultRow& row) {
  Rows& rows = rows_[name];
  const auto found = rows.families.try_emplace({row.family_index, row.per_family_instance_index},
                                               rows.families.size());
  std::size_t ordinal = found.first->second;
  if (row.kind == RowKind::kIteration && row.repetition_index >= 0) {
    ordinal += rows.repetitions[{ordinal, row.repetition_index}]++;
  }
  return ordinal;
}

void Namesakes::Refuse(const std::string& name, const ResultRow& row,
                       const std::string& way_out) const {
  std::vector<std::string> places;
  for (const auto& family : rows_.at(name).families) {
    places.push_back("family_index " + std::to_string(family.first.first) + ", instance " +
                     std::to_string(family.first.second));
  }
  if (places.size() == 1) {
    places.push_back("repetition_index " + std::to_string(row.repetition_index) + " again");
  }
  throw CompareError(file_.path + ": two benchmarks are called \"" + name + "\" (" +
                     Joined(places, "; ") + "): " + way_out);
}

const ResultRow* FirstRow(const std::vector<FileRows>& files) {
  for (const FileRows& file : files) {
    if (!file.rows.empty()) return file.rows.front();
    if (file.Aggregate() != nullptr) return file.Aggregate();
  }
  return nullptr;
}

std::vector<Benchmark> CollectBenchmarks(const Sides& sides, const PairingOptions& options) {
  Table table;
  for (const std::size_t side : {kBase, kContender}) {
    for (std::size_t i = 0; i < sides[side]->size(); ++i) {
      AddFile((*sides[side])[i], side, i, options, table);
    }
  }
  return std::move(table.benchmarks);
}

Metrics::Metrics(const Benchmark& benchmark) {
  for (const std::size_t side : {kBase, kContender}) {
    for (const FileRows& file : benchmark.sides[side]) {
      for (const ResultRow* row : file.rows) AddRowOf(*row, side, file.file);
      if (file.rows.empty() && file.Aggregate() != nullptr) {
        AddRowOf(*file.Aggregate(), side, file.file);
      }
    }
  }
}

const MetricData* Metrics::Find(std::string_view name) const {
  const auto found = index_.find(std::string(name));
  return found == index_.end() ? nullptr : &all_[found->second];
}

void Metrics::AddRowOf(const ResultRow& row, std::size_t side, std::size_t file) {
  for (const Metric& metric : row.metrics) {
    MetricData* data = &Data(metric.name);
    // A counter that is named like a field of the row.
    const bool is_second = !data->by_row.empty() && data->by_row.back().first == rows_;
    if (is_second) data = &Data(metric.name + " (counter)");
    if (data->last_file[side] != file) data->files[side].emplace_back();
    data->last_file[side] = file;
    data->files[side].back().push_back(metric.value);
    data->by_row.emplace_back(rows_, metric.value);
  }
  ++rows_;
}

MetricData& Metrics::Data(const std::string& name) {
  const auto found = index_.try_emplace(name, all_.size());
  if (found.second) {
    all_.emplace_back();
    all_.back().name = name;
  }
  return all_[found.first->second];
}

bool IsFunctionOf(const MetricData& metric, const MetricData& time) {
  constexpr double kRounding = 1e-6;
  constexpr double kVaries = 1e-5;
  if (metric.by_row.size() != time.by_row.size()) return false;
  Range times;
  Range products;
  Range quotients;
  for (std::size_t i = 0; i < metric.by_row.size(); ++i) {
    const double value = metric.by_row[i].second;
    const double seconds = time.by_row[i].second;
    if (metric.by_row[i].first != time.by_row[i].first) return false;
    if (!(value > 0 && seconds > 0) || !std::isfinite(value) || !std::isfinite(seconds)) {
      return false;
    }
    times.Add(seconds);
    products.Add(value * seconds);
    quotients.Add(value / seconds);
  }
  return times.Spread() > kVaries &&
         (products.Spread() < kRounding || quotients.Spread() < kRounding);
}

}  // namespace cnn
