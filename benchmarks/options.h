// Every flag of our own, with its default.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "dataset/loader.h"
#include "model/device.h"

namespace cnn {

/// Bad usage: main prints it and exits with 2.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// What --print_networks prints.
enum class NetworkListing { kNone, kTable, kJson };

/// Where the command line says nothing: steps of an Epoch or Pipeline epoch, epochs and steps of
/// Train, which ends within a minute.
inline constexpr std::int64_t kDefaultSteps = 10;
inline constexpr std::int64_t kDefaultTrainEpochs = 5;
inline constexpr std::int64_t kDefaultTrainSteps = 20;
/// --steps=seed, --epochs=seed: as many as the experiment had.
inline constexpr std::int64_t kPublished = 0;

/// The line on stderr that says how far an epoch is.
enum class ShowProgress { kAuto /* on a terminal */, kOn, kOff };

struct Options {
  std::vector<Device> devices;         // empty: every device that is present
  std::vector<std::int64_t> batches;   // empty: the published batch size of each workload
  std::vector<int> workers;            // empty: a few that fit the cores
  std::string network_file;            // JSON with the user's networks; empty: the published ones
  std::vector<std::string> networks;   // names of those; empty: all
  std::optional<std::int64_t> steps;   // of Train, Epoch and Pipeline; or kPublished
  std::optional<std::int64_t> epochs;  // of Train; or kPublished
  std::optional<double> target_accuracy;  // of Train's validation, 0..1
  std::string checkpoint;                 // Train writes it after each epoch; empty: none
  bool resume = false;                    // Train goes on from it
  std::string trace;                      // Train writes the timeline of an epoch; empty: none
  ShowProgress progress = ShowProgress::kAuto;
  std::optional<int> threads;  // LibTorch's; not set: the cores that the workers leave
  std::uint64_t seed = 42;
  std::string data_dir;             // empty: the synthetic data set
  std::vector<SourceKind> sources;  // of Pipeline, Epoch, Train; empty: files
  RandomStream stream = RandomStream::kKeyed;
  KerasProfile profile = KerasProfile::kKp112;
  BadImages bad_images = BadImages::kSkip;
  std::int64_t max_pixels = kDefaultMaxPixels;
  std::optional<std::string> allocator;  // system or keep; not set: keep where jemalloc is linked
  double handicap = 0;                   // share of its time that each step waits, busily
  bool list_devices = false;
  NetworkListing print_networks = NetworkListing::kNone;
  bool verify_data = false;
};

/// The words of the command line, which are also those of names and context.
std::string SourceName(SourceKind kind);
std::string StreamName(RandomStream stream);
std::string ProfileName(KerasProfile profile);
std::string BadImagesName(BadImages policy);

/// Parses what benchmark::Initialize has left in argv. `--version` prints and exits. Throws
/// UsageError naming the flag and the value.
Options ParseOptions(int argc, const char* const* argv);

/// Prints our part of --help: what the program is, families, flags, exit codes.
void PrintOptionsHelp();

}  // namespace cnn
