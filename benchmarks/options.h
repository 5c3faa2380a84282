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

/// Steps of an Epoch or Pipeline epoch: where the command line says nothing, and the word for as
/// many as the experiment had.
inline constexpr std::int64_t kDefaultSteps = 10;
inline constexpr std::int64_t kPublishedSteps = 0;

struct Options {
  std::vector<Device> devices;         // empty: every device that is present
  std::vector<std::int64_t> batches;   // empty: the published batch size of each workload
  std::vector<int> workers;            // empty: a few that fit the cores
  std::string network_file;            // JSON with the user's networks; empty: the published ones
  std::vector<std::string> networks;   // names of those; empty: all
  std::int64_t steps = kDefaultSteps;  // of Epoch and Pipeline; kPublishedSteps: --steps=seed
  std::optional<int> threads;          // LibTorch's; not set: the cores that the workers leave
  std::uint64_t seed = 42;
  std::string data_dir;             // empty: the synthetic data set
  std::vector<SourceKind> sources;  // of Pipeline and Epoch; empty: files
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
