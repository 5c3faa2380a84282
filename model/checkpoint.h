// A training that can go on later: weights, the optimiser's moments and steps, and what is needed
// to tell whether a run may continue it. One file, LibTorch's archive format (Python opens it with
// torch.jit.load), replaced in one rename, so that it is whole at any moment, also after kill -9.
//
// Random numbers need no place in it: they are functions of seed, epoch and image.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace cnn {

class Trainer;

using CheckpointKeys = std::vector<std::pair<std::string, std::string>>;

struct CheckpointInfo {
  /// What makes the training what it is, in an order fit to be read: network, loss, seed, ...
  CheckpointKeys settings;
  /// What may change, though then not to the bit: device, threads, versions.
  CheckpointKeys conditions;
  std::int64_t epochs = 0;  // finished
  /// The results of each finished epoch by name; all finite.
  std::vector<std::map<std::string, double>> results;
};

/// Replaces `path`. Throws std::runtime_error naming the file and why it cannot be written; what
/// was there before is then still there.
void WriteCheckpoint(const std::string& path, const CheckpointInfo& info, const Trainer& trainer);

/// Throws std::runtime_error naming the file when it cannot be read, is damaged or no checkpoint.
CheckpointInfo ReadCheckpointInfo(const std::string& path);

/// Makes `trainer`, of the same network and optimiser, the one that was written. Throws like
/// ReadCheckpointInfo, and where the file's tensors are not those of the trainer.
CheckpointInfo RestoreCheckpoint(const std::string& path, Trainer& trainer);

/// Empty where both say the same; else the first difference in words: "seed is 1 there and 2 here".
std::string DifferenceOf(const CheckpointKeys& there, const CheckpointKeys& here);

}  // namespace cnn
