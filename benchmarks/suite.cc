#include "benchmarks/suite.h"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <numeric>
#include <regex>

#include "benchmarks/context.h"
#include "dataset/decode.h"
#include "dataset/synthetic.h"
#include "fixtures/fixture.h"

namespace cnn {
namespace {

// Epochs of an Epoch case: enough to see the loss fall.
constexpr std::int64_t kEpochs = 3;

// What a family makes its cases from: one workload, all options.
struct Source {
  const Options& options;
  const Workload& workload;
};

std::vector<std::int64_t> Batches(const Source& source) {
  if (!source.options.batches.empty()) return source.options.batches;
  return {source.workload.batch};
}

std::int64_t Steps(const Source& source) {
  return source.options.steps == kPublishedSteps ? source.workload.steps : source.options.steps;
}

// 0, 1, half and all of `cores`, or what the command line says.
std::vector<int> Workers(const Source& source, int cores) {
  if (!source.options.workers.empty()) return source.options.workers;
  std::vector<int> workers = {0, 1, cores / 2, cores};
  workers.erase(
      std::remove_if(workers.begin(), workers.end(), [cores](int w) { return w > cores; }),
      workers.end());
  std::sort(workers.begin(), workers.end());
  workers.erase(std::unique(workers.begin(), workers.end()), workers.end());
  return workers;
}

std::vector<std::string> Augments(const Workload& workload) {
  if (workload.has_plain_variant) return {"plain", "full"};
  return {"full"};
}

// One budget of cores: what the workers of a case leave is LibTorch's.
int Threads(const Source& source, int workers) {
  return source.options.threads.value_or(std::max(1, AvailableCores() - workers));
}

std::vector<SuiteCase> LayerCases(const Source& source) {
  std::vector<SuiteCase> cases;
  for (const Layer& layer : source.workload.network.layers) {
    for (const Device& device : source.options.devices) {
      for (const char* pass : {"forward", "backward"}) {
        for (const std::int64_t batch : Batches(source)) {
          SuiteCase entry;
          entry.id.subject = source.workload.name + "/" + layer.name;
          entry.id.device = device;
          entry.id.pass = pass;
          entry.id.batch = batch;
          entry.threads = Threads(source, 0);
          entry.make = MakeLayerFixture;
          entry.unit = benchmark::kMicrosecond;
          cases.push_back(entry);
        }
      }
    }
  }
  return cases;
}

std::vector<SuiteCase> ModelCases(const Source& source) {
  std::vector<SuiteCase> cases;
  for (const Device& device : source.options.devices) {
    for (const char* pass : {"forward", "train"}) {
      for (const std::int64_t batch : Batches(source)) {
        SuiteCase entry;
        entry.id.subject = source.workload.name;
        entry.id.device = device;
        entry.id.pass = pass;
        entry.id.batch = batch;
        entry.threads = Threads(source, 0);
        entry.make = MakeModelFixture;
        cases.push_back(entry);
      }
    }
  }
  return cases;
}

std::vector<SuiteCase> AugmentCases(const Source& source) {
  std::vector<SuiteCase> cases;
  const auto add = [&](const std::string& subject, const char* augment, AugmentStage stage) {
    SuiteCase entry;
    entry.id.subject = source.workload.name + "_" + subject;
    entry.make = [augment, stage](const Case& selected, const CaseConfig& config) {
      return MakeAugmentFixture(selected, config, augment, stage);
    };
    entry.reads_images = true;
    cases.push_back(entry);
  };
  add("decode", "plain", AugmentStage::kDecode);
  add("resize", "plain", AugmentStage::kResize);
  add("affine", "full", AugmentStage::kAffine);
  add("flip", "plain", AugmentStage::kFlip);
  add("to_tensor", "plain", AugmentStage::kToTensor);
  add("plain", "plain", AugmentStage::kChain);
  add("full", "full", AugmentStage::kChain);
  return cases;
}

std::vector<SuiteCase> PipelineCases(const Source& source) {
  std::vector<SuiteCase> cases;
  for (const std::string& augment : Augments(source.workload)) {
    for (const std::int64_t batch : Batches(source)) {
      for (const int workers : Workers(source, AvailableCores())) {
        SuiteCase entry;
        entry.id.subject = source.workload.name;
        entry.id.augment = augment;
        entry.id.batch = batch;
        entry.id.workers = workers;
        entry.id.steps = Steps(source);
        entry.make = MakePipelineFixture;
        entry.reads_images = true;
        cases.push_back(entry);
      }
    }
  }
  return cases;
}

std::vector<SuiteCase> EpochCases(const Source& source) {
  std::vector<SuiteCase> cases;
  for (const std::string& augment : Augments(source.workload)) {
    for (const Device& device : source.options.devices) {
      for (const std::int64_t batch : Batches(source)) {
        for (const int workers : Workers(source, std::max(1, AvailableCores() - 1))) {
          SuiteCase entry;
          entry.id.subject = source.workload.name;
          entry.id.augment = augment;
          entry.id.device = device;
          entry.id.batch = batch;
          entry.id.workers = workers;
          entry.id.steps = Steps(source);
          entry.threads = Threads(source, workers);
          entry.make = MakeEpochFixture;
          entry.reads_images = true;
          entry.iterations = kEpochs;
          cases.push_back(entry);
        }
      }
    }
  }
  return cases;
}

struct Family {
  const char* name;
  const char* what;
  std::vector<SuiteCase> (*cases)(const Source&);
};

constexpr Family kFamilies[] = {
    {"Layer", "one layer of a network, forward or backward", LayerCases},
    {"Model", "a whole network on a resident batch: inference, or a training step", ModelCases},
    {"Augment", "one stage of the input pipeline, or all of it, on one thread", AugmentCases},
    {"Pipeline", "batches from image files by worker threads, no network", PipelineCases},
    {"Epoch", "training epochs from image files, and where the time went", EpochCases},
};

// Levenshtein's edit distance, letters compared without case.
std::size_t EditDistance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const bool same = std::tolower(static_cast<unsigned char>(a[i])) ==
                        std::tolower(static_cast<unsigned char>(b[j]));
      const std::size_t cost = std::min({row[j] + 1, row[j + 1] + 1, diagonal + (same ? 0 : 1)});
      diagonal = row[j + 1];
      row[j + 1] = cost;
    }
  }
  return row.back();
}

// The families whose names are nearest to the filter's first word.
std::string NearestFamilies(const std::string& filter) {
  const std::size_t begin = std::min(filter.find_first_not_of("-^("), filter.size());
  const std::string word = filter.substr(begin, filter.find_first_of("/.*$|)", begin) - begin);
  std::vector<std::pair<std::size_t, std::string>> ranked;
  for (const Family& family : kFamilies) {
    ranked.emplace_back(EditDistance(word, family.name), family.name);
  }
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  return ranked[0].second + " or " + ranked[1].second;
}

}  // namespace

std::vector<WorkloadData> SelectWorkloads(const Options& options) {
  std::vector<WorkloadData> selected;
  for (const Workload& workload : PublishedWorkloads()) {
    const auto& names = options.networks;
    if (names.empty() || std::find(names.begin(), names.end(), workload.name) != names.end()) {
      selected.push_back({workload, {}});
    }
  }
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
  const Workload fitting = WorkloadFor(static_cast<std::int64_t>(classes));
  for (WorkloadData& data : selected) {
    if (data.workload.name != fitting.name) continue;
    data = {fitting, dataset};
    return selected;
  }
  throw UsageError("--data_dir: " + std::to_string(classes) + " classes fit " + fitting.name +
                   ", which --networks leaves out");
}

std::vector<Device> SelectDevices(const Options& options) {
  if (options.devices.empty()) return AvailableDevices();
  for (const Device& device : options.devices) {
    const std::string why = WhyUnavailable(device);
    if (!why.empty()) {
      throw UsageError("--devices: " + device.Name() + " cannot be used: " + why +
                       ". --list_devices says what there is");
    }
  }
  return options.devices;
}

std::vector<SuiteCase> MakeCases(const Options& options,
                                 const std::vector<WorkloadData>& workloads) {
  std::vector<SuiteCase> cases;
  for (const Family& family : kFamilies) {
    for (std::size_t i = 0; i < workloads.size(); ++i) {
      for (SuiteCase& entry : family.cases({options, workloads[i].workload})) {
        entry.id.family = family.name;
        entry.workload = i;
        cases.push_back(std::move(entry));
      }
    }
  }
  return cases;
}

std::vector<SuiteCase> Filter(std::vector<SuiteCase> cases, const std::string& filter) {
  std::string expression = filter.empty() || filter == "all" ? "." : filter;
  const bool negated = expression[0] == '-';
  if (negated) expression.erase(0, 1);
  std::regex regex;
  try {
    regex.assign(expression, std::regex::extended);
  } catch (const std::regex_error& error) {
    throw UsageError("--benchmark_filter: '" + filter +
                     "' is no regular expression: " + error.what());
  }
  const auto is_unwanted = [&](const SuiteCase& entry) {
    return std::regex_search(entry.id.Name(), regex) == negated;
  };
  cases.erase(std::remove_if(cases.begin(), cases.end(), is_unwanted), cases.end());
  if (cases.empty()) {
    throw UsageError("--benchmark_filter=" + filter +
                     " matches no benchmark that the other flags leave. Did you mean " +
                     NearestFamilies(filter) +
                     "? --benchmark_list_tests prints all names. Families:\n" + DescribeFamilies());
  }
  return cases;
}

namespace {

// Brings the files into the page cache, as far as a quarter of the memory goes: the first case that
// reads them is then timed like the later ones. What cannot be read is the affair of the case that
// needs it.
void ReadOnce(const ImageFolder& folder) {
  const double memory =
      static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  double read = 0;
  std::vector<std::uint8_t> bytes;
  for (const ImageFile& image : folder.images) {
    if (read > memory / 4) return;
    try {
      ReadFile(image.path, bytes);
      read += static_cast<double>(bytes.size());
    } catch (const std::runtime_error&) {
      continue;
    }
  }
}

}  // namespace

void PrepareData(const std::vector<SuiteCase>& cases, std::vector<WorkloadData>& workloads) {
  const bool is_terminal = isatty(STDERR_FILENO) == 1;
  const auto progress = [&](int done, int total) {
    static bool announced = false;
    if (!announced) {
      std::fprintf(stderr, "writing the synthetic data set, once: %d images\n", total);
    }
    announced = true;
    if (!is_terminal) return;
    std::fprintf(stderr, "\r\033[K%d of %d%s", done, total, done == total ? "\n" : "");
  };
  for (std::size_t i = 0; i < workloads.size(); ++i) {
    const bool is_needed = std::any_of(cases.begin(), cases.end(), [&](const SuiteCase& entry) {
      return entry.reads_images && entry.workload == i;
    });
    if (!is_needed) continue;
    WorkloadData& data = workloads[i];
    if (data.dataset.train.classes.empty()) {
      const std::filesystem::path root =
          EnsureSyntheticData(DefaultCacheDir(), AvailableCores(), progress);
      data.dataset = ScanDataset(root / data.workload.name, root.filename().string());
    }
    std::fprintf(stderr, "%s trains on %s:\n%s", data.workload.name.c_str(),
                 data.dataset.name.c_str(), DescribeDataset(data.dataset).c_str());
    if (data.workload.network.layers.back().outputs > 1 && data.dataset.train.classes.size() != 8) {
      std::fprintf(stderr, "its network has %zu outputs instead of 8\n",
                   data.dataset.train.classes.size());
    }
    ReadOnce(data.dataset.train);
  }
}

void Register(const std::vector<SuiteCase>& cases, const Options& options, bool own_time_units,
              const std::vector<WorkloadData>& workloads, int& failures) {
  const bool show_progress = isatty(STDERR_FILENO) == 1;
  for (const SuiteCase& entry : cases) {
    const WorkloadData& data = workloads[entry.workload];
    const CaseConfig config{data.workload, options.seed, entry.threads, &data.dataset,
                            show_progress};
    auto* registered = benchmark::RegisterBenchmark(
        entry.id.Name().c_str(), [entry, config, &failures](benchmark::State& state) {
          const std::unique_ptr<Fixture> fixture = entry.make(entry.id, config);
          fixture->Run(state);
          failures += fixture->failed() ? 1 : 0;
        });
    registered->UseRealTime()->MeasureProcessCPUTime();
    if (own_time_units) registered->Unit(entry.unit);
    if (entry.iterations > 0) registered->Iterations(entry.iterations);
  }
}

std::string JoinNames(const std::vector<SuiteCase>& cases) {
  std::string text;
  for (const SuiteCase& entry : cases) text += entry.id.Name() + "\n";
  return text;
}

std::size_t WidestName(const std::vector<SuiteCase>& cases, const GoogleFlags& flags) {
  std::size_t widest = 0;
  for (const SuiteCase& entry : cases) widest = std::max(widest, entry.id.Name().size());
  return flags.repetitions > 1 ? widest + std::string("_median").size() : widest;
}

std::string DescribeNetworks() {
  std::string text;
  for (const Workload& workload : PublishedWorkloads()) {
    text += Summary(workload.network, workload.batch) + "\n";
  }
  return text;
}

std::string DescribeFamilies() {
  std::string text;
  for (const Family& family : kFamilies) {
    char line[128];
    std::snprintf(line, sizeof line, "  %-10s %s\n", family.name, family.what);
    text += line;
  }
  return text;
}

}  // namespace cnn
