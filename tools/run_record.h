// run.json: what `cnn_compare run` did, so that `cnn_compare confirm` can do it again.
//
// It stands beside the result files and is written anew after each round: what was finished can
// be judged whatever happens to the run.
//
//   schema_version, kind   1, "cnn_compare run"
//   folder                 in which the programs ran, so that relative paths in their flags hold
//   rounds, completed      asked for; whole ones, whose files are base-01.json to new-NN.json
//   base, new              program (absolute), size and fnv1a (of its bytes), flags
//   judgement              flags of the comparison that differ from the defaults
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace cnn {

struct SideRecord {
  std::string program;
  std::uint64_t size = 0;         // bytes
  std::uint64_t fingerprint = 0;  // FNV-1a, 64 bits
  std::vector<std::string> flags;
};

struct RunRecord {
  std::string folder;
  std::size_t rounds = 0;
  std::size_t completed = 0;
  SideRecord base;
  SideRecord contender;
  std::vector<std::string> judgement;

  /// Same bytes and same flags: nothing can differ but by chance.
  bool IsSameTwice() const;
};

/// Sets size and fingerprint. Throws ReadError.
void Identify(SideRecord& side);

/// Writes run.json in `run_folder`. Throws OutputError, and UsageError for what JSON cannot hold.
void WriteRunRecord(const RunRecord& record, const std::string& run_folder);

/// Throws ReadError.
RunRecord ReadRunRecord(const std::string& run_folder);

/// "DIR/base-01.json": the file of a round (from 1), side "base" or "new".
std::string RunFile(const std::string& run_folder, const std::string& side, std::size_t round,
                    const std::string& extension);

/// Does it hold a run.json, or files that a run would write?
bool HoldsResults(const std::string& run_folder);

}  // namespace cnn
