// Which images the suite reads: selects the data set of each workload, makes it ready before
// anything is timed, and checks it on request.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "benchmarks/options.h"
#include "dataset/image_folder.h"
#include "dataset/image_source.h"
#include "model/workloads.h"

namespace cnn {

enum class Split { kTrain, kTest };
using SourceKey = std::pair<Split, SourceKind>;

/// A workload with the images it trains on. Sources refer to the data set: do not move it once they
/// are made.
struct WorkloadData {
  Workload workload;
  Dataset dataset;  // no classes yet where it is to be the synthetic set
  std::map<SourceKey, std::shared_ptr<const ImageSource>> sources;
};

/// The published workloads or those of --network's file, of which --networks may name some. Throws
/// UsageError: a name that is none of theirs, or what is wrong with the file.
std::vector<Workload> ChosenWorkloads(const Options& options);

/// The chosen workloads with the images of --data_dir. Of the published ones it goes to the one it
/// fits; a user's own must all tell apart as many classes as it has. Throws UsageError.
std::vector<WorkloadData> SelectWorkloads(const Options& options);

/// Makes ready the sources that workload i needs, `needed[i]`: writes the synthetic data set where
/// there is no other, says on stderr what images were found, reads what is to be kept in memory.
/// Throws UsageError when that does not fit, or no synthetic set has the classes of a user's
/// network.
void PrepareData(const Options& options, const std::vector<std::set<SourceKey>>& needed,
                 std::vector<WorkloadData>& workloads);

/// Checks every file of the data sets, each once, without a benchmark. The report goes to stdout.
/// False when a file is bad. Throws UsageError as PrepareData does.
bool VerifyData(const Options& options, std::vector<WorkloadData>& workloads);

/// Throws UsageError naming the flag and the way out when `needed` bytes are more than four fifths
/// of the `available` ones.
void RequireMemory(const std::string& flag, std::int64_t needed, std::int64_t available);

}  // namespace cnn
