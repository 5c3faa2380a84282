// The rows of all files, sorted into benchmarks and their metrics, without any judgement.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tools/result_file.h"
#include "tools/statistics.h"

namespace cnn {

constexpr std::size_t kBase = 0;
constexpr std::size_t kContender = 1;

/// The files of base and contender, which outlive whatever is made of them: rows are read where
/// they are.
using Sides = std::array<const std::vector<ResultFile>*, 2>;

/// What one file has of a benchmark.
struct FileRows {
  std::size_t file = 0;                // index into its side
  std::vector<const ResultRow*> rows;  // measured repetitions, or the complexity
  const ResultRow* median = nullptr;   // aggregates
  const ResultRow* mean = nullptr;
  const ResultRow* deviation = nullptr;
  std::size_t errors = 0;
  std::size_t skips = 0;
  std::string_view message;

  /// What stands for the file's repetitions where there are none.
  const ResultRow* Aggregate() const { return median != nullptr ? median : mean; }
  bool IsMeasured() const { return !rows.empty() || Aggregate() != nullptr; }
};

struct Benchmark {
  std::string name;  // without ignored keys; " #2" for the second of a name
  std::array<std::vector<FileRows>, 2> sides;
};

/// The first measured row; nullptr where there is none.
const ResultRow* FirstRow(const std::vector<FileRows>& files);

/// What cannot be compared at all: duplicate names, files of several machines or builds on one
/// side, a calibration of another machine, too few files to calibrate. Exit code 3.
struct CompareError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Tells the benchmarks of one name in a file apart, by their place in the program: rows that are
/// neither repetitions nor aggregates of one another are of two benchmarks.
class Namesakes {
 public:
  /// The file outlives this.
  explicit Namesakes(const ResultFile& file) : file_(file) {}

  /// Which of the benchmarks of this name a row belongs to, from 0. Rows come in the file's order,
  /// each once.
  std::size_t OrdinalOf(const std::string& name, const ResultRow& row);

  /// Throws CompareError naming the file and both places; `row` is the one that was given last.
  [[noreturn]] void Refuse(const std::string& name, const ResultRow& row,
                           const std::string& way_out) const;

 private:
  struct Rows {
    std::map<std::pair<std::int64_t, std::int64_t>, std::size_t> families;
    std::map<std::pair<std::size_t, std::int64_t>, std::size_t> repetitions;
  };

  const ResultFile& file_;
  std::unordered_map<std::string, Rows> rows_;
};

struct PairingOptions {
  // Keys left out of names, so that workers:0 meets workers:4. Rows that only they tell apart are
  // duplicates. What --handicap slows down meets what it does not.
  std::vector<std::string> ignored_keys = {"handicap"};
  bool duplicates_by_index = false;  // pair the k-th of a name with the k-th, else refuse them
};

/// Benchmarks in order of first appearance, base before contender. Throws CompareError for two
/// benchmarks of one name in a file, unless they are to be paired by index.
std::vector<Benchmark> CollectBenchmarks(const Sides& sides, const PairingOptions& options);

struct MetricData {
  std::string name;
  std::array<std::vector<Samples>, 2> files;  // values of each file that has it
  std::array<std::size_t, 2> last_file = {SIZE_MAX, SIZE_MAX};
  std::vector<std::pair<std::size_t, double>> by_row;  // number of the row in the benchmark
};

/// The metrics of one benchmark, in order of first appearance.
class Metrics {
 public:
  explicit Metrics(const Benchmark& benchmark);

  const std::vector<MetricData>& all() const { return all_; }
  const MetricData* Find(std::string_view name) const;

 private:
  void AddRowOf(const ResultRow& row, std::size_t side, std::size_t file);
  MetricData& Data(const std::string& name);

  std::size_t rows_ = 0;
  std::vector<MetricData> all_;
  std::unordered_map<std::string, std::size_t> index_;
};

/// Is it a constant times the time or divided by it, in every row of both sides? Then it is no
/// second measurement: images per second of a fixed number of images.
bool IsFunctionOf(const MetricData& metric, const MetricData& time);

}  // namespace cnn
