// Measures two programs in alternation: AB BA AB …, one process at a time.
//
// A drift of the machine (clock, heat, neighbours) that is linear over two rounds falls on both
// sides alike, as it does not where one side is measured after the other: the same test that raises
// 27 % false alarms on AAAAABBBBB raises 1.5 % on ABAB. Every process writes a file of its own, and
// a file stays whatever becomes of the run; one that was interrupted is put aside as
// new-03.json.unfinished, so that new-*.json are results.
#pragma once

#include <cstddef>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "tools/process.h"
#include "tools/result_file.h"
#include "tools/run_record.h"

namespace cnn {

/// A program ended as it must not, or left no file that can be read. Exit code 3.
struct RunError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Throws UsageError for a flag that is set here: the result file's and its format, and those with
/// which no file is written.
void RefuseOwnFlags(const std::vector<std::string>& flags);

/// The absolute path. Throws UsageError, naming `flag`, unless it is a file that can be executed.
std::string RequireProgram(const std::string& flag, const std::string& path);

/// Makes the folder for the files of a run. Empty: sets it to a new one, "results/<what>-<UTC
/// time>". Throws UsageError where it holds results already, and OutputError.
void MakeRunFolder(const std::string& what, std::string& folder);

/// Says, after the first round, how many there shall be.
using RoundsDecision = std::function<std::size_t()>;

/// Runs the rounds of `record`, whose `completed` says afterwards how many are whole, into
/// `run_folder`, and writes its run.json. Ends early, and returns so, with the first interrupt.
/// Throws RunError, StartError and OutputError, and what `decide` throws.
void MeasureRounds(RunRecord& record, const std::string& run_folder, const ReadOptions& read,
                   Interrupts& interrupts, const RoundsDecision& decide = {});

/// The paths of the complete rounds of a side, "base" or "new".
std::vector<std::string> CompletePaths(const RunRecord& record, const std::string& run_folder,
                                       const std::string& side);

}  // namespace cnn
