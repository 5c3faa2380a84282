#include "benchmarks/data.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <new>

#include "benchmarks/machine.h"
#include "dataset/decode.h"
#include "dataset/synthetic.h"
#include "dataset/text.h"
#include "dataset/verify.h"
#include "model/workload_file.h"

namespace cnn {
namespace {

// A counter on a terminal's line that is overwritten; nothing in a pipe.
std::function<void(int, int)> Progress() {
  if (isatty(STDERR_FILENO) != 1) return {};
  return [last = -1](int done, int count) mutable {
    const int percent = count > 0 ? 100 * done / count : 100;
    if (percent == last) return;
    last = percent;
    std::fprintf(stderr, "\r\033[K%d of %d", done, count);
    if (done == count) std::fputs("\r\033[K", stderr);
  };
}

std::string Megabytes(std::int64_t bytes) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f MB", static_cast<double>(bytes) / 1e6);
  return text;
}

// Brings the files into the page cache, as far as a quarter of the memory goes: the first case that
// reads them is then timed like the later ones. What cannot be read is the affair of the case that
// needs it.
void ReadOnce(const ImageFolder& folder) {
  std::int64_t left = AvailableMemory() / 4;
  std::vector<std::uint8_t> bytes;
  for (const ImageFile& image : folder.images) {
    if (left < 0) return;
    try {
      ReadImageFile(image.path, bytes);
      left -= static_cast<std::int64_t>(bytes.size());
    } catch (const ImageError&) {
      continue;
    }
  }
}

// The published workload whose synthetic images have as many classes.
std::string SyntheticSet(const Workload& workload) {
  const std::int64_t classes = Classes(workload);
  std::string known;
  for (const Workload& published : PublishedWorkloads()) {
    if (Classes(published) == classes) return published.name;
    known += (known.empty() ? "" : " or ") + std::to_string(Classes(published));
  }
  throw UsageError("network '" + workload.name + "' tells " + std::to_string(classes) +
                   " classes apart, the synthetic sets have " + known +
                   ": name images with --data_dir, or filter for Layer and Model, which need none");
}

// Finds the images of a workload whose data set is not there yet: the synthetic ones.
void FindSyntheticImages(WorkloadData& data) {
  const std::string set = SyntheticSet(data.workload);
  bool announced = false;
  const auto progress = [&announced, show = Progress()](int done, int count) {
    if (!announced)
      std::fprintf(stderr, "writing the synthetic data set, once: %d images\n", count);
    announced = true;
    if (show) show(done, count);
  };
  const std::filesystem::path root =
      EnsureSyntheticData(DefaultCacheDir(), AvailableCores(), progress);
  data.dataset = ScanDataset(root / set, root.filename().string());
}

void WarnOfEmptyClasses(const ImageFolder& folder, std::FILE* out) {
  for (const std::string& name : EmptyClasses(folder)) {
    std::fprintf(out, "warning: class '%s' has no image in '%s'\n", Printable(name).c_str(),
                 Printable(folder.root.string()).c_str());
  }
}

std::shared_ptr<const ImageSource> MakeSource(const Options& options, const SourceKey& key,
                                              const WorkloadData& data) {
  const auto [split, kind] = key;
  const bool is_train = split == Split::kTrain;
  const ImageFolder& folder = is_train ? data.dataset.train : data.dataset.test;
  const auto side = static_cast<int>(data.workload.network.input[1]);
  if (kind == SourceKind::kFiles) {
    ReadOnce(folder);
  } else {
    const std::int64_t needed = MemoryNeeded(folder, kind, side);
    const std::string flag = "--source=" + SourceName(kind);
    RequireMemory(flag, needed, AvailableMemory());
    std::fprintf(stderr, "%s keeps the %zu %s images of %s in %s of memory\n", flag.c_str(),
                 folder.images.size(), is_train ? "training" : "test", data.workload.name.c_str(),
                 Megabytes(needed).c_str());
  }
  try {
    return std::make_shared<const ImageSource>(folder, kind, side, options.max_pixels,
                                               AvailableCores(), Progress());
  } catch (const std::bad_alloc&) {
    throw UsageError("--source=" + SourceName(kind) +
                     ": there is not enough memory after all: use --source=files");
  }
}

// A user's network is what it is: nobody adapts its last layer to the images.
void RequireClasses(const Workload& workload, std::size_t classes) {
  const std::int64_t wanted = Classes(workload);
  if (wanted == static_cast<std::int64_t>(classes)) return;
  throw UsageError("--data_dir: network '" + workload.name + "' tells " + std::to_string(wanted) +
                   " classes apart, the folder has " + std::to_string(classes) +
                   ": change its last layer, or name other networks with --networks");
}

// Only eight_kinds is, by WorkloadFor.
bool IsAdapted(const Workload& workload) {
  return workload.name == EightKinds().name && Classes(workload) != Classes(EightKinds());
}

struct Verified {
  std::size_t files = 0, bad = 0, warned = 0;
};

void VerifySplit(const Options& options, const ImageFolder& folder, Verified& verified) {
  WarnOfEmptyClasses(folder, stdout);
  for (const std::string& path : folder.ignored) {
    std::printf("ignored: '%s' is no image by its name, or a link to a folder\n",
                Printable(path).c_str());
  }
  for (const ImageFinding& finding :
       VerifyImages(folder, options.max_pixels, AvailableCores(), Progress())) {
    std::printf("%s: %s\n", finding.is_bad ? "bad" : "warning", Printable(finding.message).c_str());
    ++(finding.is_bad ? verified.bad : verified.warned);
  }
  verified.files += folder.images.size();
  std::fflush(stdout);  // an interrupt leaves what was found
}

}  // namespace

std::vector<Workload> ChosenWorkloads(const Options& options) {
  std::vector<Workload> all = PublishedWorkloads();
  if (!options.network_file.empty()) {
    try {
      all = ReadWorkloads(options.network_file);
    } catch (const std::runtime_error& error) {
      throw UsageError(std::string("--network: ") + error.what());
    }
  }
  if (options.networks.empty()) return all;
  std::string known;
  for (const Workload& workload : all) known += (known.empty() ? "" : ", ") + workload.name;
  const auto has_name = [](const std::string& name) {
    return [name](const Workload& workload) { return workload.name == name; };
  };
  for (const std::string& name : options.networks) {
    if (std::any_of(all.begin(), all.end(), has_name(name))) continue;
    throw UsageError("--networks: unknown network '" + name + "'; there are " + known);
  }
  std::vector<Workload> chosen;
  for (const Workload& workload : all) {
    const auto& names = options.networks;
    if (std::find(names.begin(), names.end(), workload.name) != names.end()) {
      chosen.push_back(workload);
    }
  }
  return chosen;
}

std::vector<WorkloadData> SelectWorkloads(const Options& options) {
  std::vector<WorkloadData> selected;
  for (const Workload& workload : ChosenWorkloads(options)) selected.push_back({workload, {}, {}});
  if (options.data_dir.empty()) return selected;
  std::filesystem::path dir = std::filesystem::absolute(options.data_dir).lexically_normal();
  if (!dir.has_filename()) dir = dir.parent_path();
  Dataset dataset;
  try {
    dataset = ScanDataset(options.data_dir, dir.filename().string());
  } catch (const std::exception& error) {
    throw UsageError(std::string("--data_dir: ") + error.what());
  }
  const std::size_t classes = dataset.train.classes.size();
  if (classes < 2) {
    throw UsageError("--data_dir: one class leaves nothing to learn; two at least");
  }
  if (!options.network_file.empty()) {
    for (WorkloadData& data : selected) {
      RequireClasses(data.workload, classes);
      data.dataset = dataset;
    }
    return selected;
  }
  const Workload fitting = WorkloadFor(static_cast<std::int64_t>(classes));
  // Whoever brings images of one experiment does not ask for the other's, unless by name.
  if (options.networks.empty()) return {{fitting, dataset, {}}};
  for (WorkloadData& data : selected) {
    if (data.workload.name != fitting.name) continue;
    data = {fitting, dataset, {}};
    return selected;
  }
  throw UsageError("--data_dir: " + std::to_string(classes) + " classes fit " + fitting.name +
                   ", which --networks leaves out");
}

void PrepareData(const Options& options, const std::vector<std::set<SourceKey>>& needed,
                 std::vector<WorkloadData>& workloads) {
  for (std::size_t i = 0; i < workloads.size(); ++i) {
    if (needed[i].empty()) continue;
    WorkloadData& data = workloads[i];
    if (data.dataset.train.classes.empty()) FindSyntheticImages(data);
    std::fprintf(stderr, "%s trains on %s:\n%s", data.workload.name.c_str(),
                 data.dataset.name.c_str(), DescribeDataset(data.dataset).c_str());
    if (IsAdapted(data.workload)) {
      std::fprintf(stderr, "its network has %zu outputs instead of 8\n",
                   data.dataset.train.classes.size());
    }
    WarnOfEmptyClasses(data.dataset.train, stderr);
    WarnOfEmptyClasses(data.dataset.test, stderr);
    for (const SourceKey& key : needed[i]) data.sources[key] = MakeSource(options, key, data);
  }
}

bool VerifyData(const Options& options, std::vector<WorkloadData>& workloads) {
  Verified verified;
  std::set<std::filesystem::path> seen;  // networks may share their images
  for (WorkloadData& data : workloads) {
    if (data.dataset.train.classes.empty()) {
      if (!options.data_dir.empty()) continue;  // the folder goes to the other workload
      FindSyntheticImages(data);
    }
    if (!seen.insert(data.dataset.train.root).second) continue;
    std::fputs(DescribeDataset(data.dataset).c_str(), stdout);
    VerifySplit(options, data.dataset.train, verified);
    VerifySplit(options, data.dataset.test, verified);
  }
  std::printf("%zu files checked, %zu bad, %zu with a warning\n", verified.files, verified.bad,
              verified.warned);
  return verified.bad == 0;
}

void RequireMemory(const std::string& flag, std::int64_t needed, std::int64_t available) {
  if (needed <= available / 5 * 4) return;
  throw UsageError(flag + " needs " + Megabytes(needed) + " of memory, but " +
                   Megabytes(available) +
                   " are available, of which a fifth is left to the rest: use --source=files");
}

}  // namespace cnn
