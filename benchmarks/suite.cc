#include "benchmarks/suite.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <regex>

#include "benchmarks/machine.h"
#include "dataset/text.h"
#include "fixtures/fixture.h"
#include "model/workload_file.h"

namespace cnn {
namespace {

// Epochs of an Epoch case: enough to see the loss fall.
constexpr std::int64_t kEpochs = 3;

// What a family makes its cases from: one workload, all options.
struct Inputs {
  const Options& options;
  const Workload& workload;
};

std::vector<std::int64_t> Batches(const Inputs& inputs) {
  if (!inputs.options.batches.empty()) return inputs.options.batches;
  return {inputs.workload.batch};
}

std::int64_t Steps(const Inputs& inputs, std::int64_t otherwise) {
  const std::int64_t steps = inputs.options.steps.value_or(otherwise);
  return steps == kPublished ? inputs.workload.steps : steps;
}

std::int64_t TrainEpochs(const Inputs& inputs, const std::string& augment) {
  const std::int64_t epochs = inputs.options.epochs.value_or(kDefaultTrainEpochs);
  if (epochs != kPublished) return epochs;
  const std::int64_t plain = inputs.workload.plain_epochs;
  return augment == "plain" && plain > 0 ? plain : inputs.workload.epochs;
}

// 0, 1, half and all of `cores`, or what the command line says.
std::vector<int> Workers(const Inputs& inputs, int cores) {
  if (!inputs.options.workers.empty()) return inputs.options.workers;
  std::vector<int> workers = {0, 1, cores / 2, cores};
  workers.erase(
      std::remove_if(workers.begin(), workers.end(), [cores](int w) { return w > cores; }),
      workers.end());
  std::sort(workers.begin(), workers.end());
  workers.erase(std::unique(workers.begin(), workers.end()), workers.end());
  return workers;
}

// A training runs once, with the workers that suit its device. A GPU leaves the cores to them. On a
// CPU, where loading a batch takes one core 20 ms and training on it two cores 250 ms
// (results/training/synthetic.json), a worker pays from about eight cores on, a second far later.
std::vector<int> TrainWorkers(const Inputs& inputs, const Device& device) {
  if (!inputs.options.workers.empty()) return inputs.options.workers;
  const int cores = AvailableCores();
  if (device.IsCuda()) return {std::max(1, cores - 1)};
  return {cores < 8 ? 0 : std::max(1, cores / 16)};
}

std::vector<SourceKind> Sources(const Inputs& inputs) {
  if (!inputs.options.sources.empty()) return inputs.options.sources;
  return {SourceKind::kFiles};
}

// What cases with a loader share. The source stands in the name only where the command line asks
// for something else than the default.
SuiteCase LoaderCase(const Inputs& inputs, const std::string& augment, SourceKind source,
                     std::int64_t batch, int workers, std::int64_t steps) {
  SuiteCase entry;
  entry.id.subject = inputs.workload.name;
  entry.id.augment = augment;
  entry.source = source;
  if (Sources(inputs) != std::vector<SourceKind>{SourceKind::kFiles}) {
    entry.id.source = SourceName(source);
  }
  entry.id.batch = batch;
  entry.id.workers = workers;
  entry.id.steps = steps;
  return entry;
}

std::vector<std::string> Augments(const Workload& workload) {
  if (!workload.augmentation.IsRandom()) return {"plain"};
  if (workload.has_plain_variant) return {"plain", "full"};
  return {"full"};
}

// One budget of cores: what the workers of a case leave is LibTorch's.
int Threads(const Inputs& inputs, int workers) {
  return inputs.options.threads.value_or(std::max(1, AvailableCores() - workers));
}

std::vector<const char*> Passes(const TracedLayer& layer) {
  if (layer.HasBackward()) return {"forward", "backward"};
  return {"forward"};
}

std::vector<SuiteCase> LayerCases(const Inputs& inputs) {
  std::vector<SuiteCase> cases;
  for (const TracedLayer& traced : Trace(inputs.workload.network)) {
    const Layer& layer = traced.layer;
    for (const Device& device : inputs.options.devices) {
      for (const char* pass : Passes(traced)) {
        for (const std::int64_t batch : Batches(inputs)) {
          SuiteCase entry;
          entry.id.subject = inputs.workload.name + "/" + layer.name;
          entry.id.device = device;
          entry.id.pass = pass;
          entry.id.batch = batch;
          entry.threads = Threads(inputs, 0);
          entry.make = MakeLayerFixture;
          entry.unit = benchmark::kMicrosecond;
          cases.push_back(entry);
        }
      }
    }
  }
  return cases;
}

std::vector<SuiteCase> ModelCases(const Inputs& inputs) {
  std::vector<SuiteCase> cases;
  for (const Device& device : inputs.options.devices) {
    for (const char* pass : {"forward", "train"}) {
      for (const std::int64_t batch : Batches(inputs)) {
        SuiteCase entry;
        entry.id.subject = inputs.workload.name;
        entry.id.device = device;
        entry.id.pass = pass;
        entry.id.batch = batch;
        entry.threads = Threads(inputs, 0);
        entry.make = MakeModelFixture;
        cases.push_back(entry);
      }
    }
  }
  return cases;
}

std::vector<SuiteCase> AugmentCases(const Inputs& inputs) {
  std::vector<SuiteCase> cases;
  const auto add = [&](const std::string& subject, const std::string& augment, AugmentStage stage) {
    if (augment == "full" && !inputs.workload.augmentation.IsRandom()) return;
    SuiteCase entry;
    entry.id.subject = inputs.workload.name + "_" + subject;
    entry.make = [augment, stage](const Case& selected, const CaseConfig& config) {
      return MakeAugmentFixture(selected, config, augment, stage);
    };
    entry.source = SourceKind::kFiles;
    cases.push_back(entry);
  };
  add("decode", "plain", AugmentStage::kDecode);
  add("resize", "plain", AugmentStage::kResize);
  add("affine", "full", AugmentStage::kAffine);
  add("affine_opencv", "full", AugmentStage::kAffineOpenCv);
  add("flip", "plain", AugmentStage::kFlip);
  add("to_tensor", "plain", AugmentStage::kToTensor);
  add("plain", "plain", AugmentStage::kChain);
  add("full", "full", AugmentStage::kChain);
  return cases;
}

std::vector<SuiteCase> PipelineCases(const Inputs& inputs) {
  std::vector<SuiteCase> cases;
  for (const std::string& augment : Augments(inputs.workload)) {
    for (const SourceKind source : Sources(inputs)) {
      for (const std::int64_t batch : Batches(inputs)) {
        for (const int workers : Workers(inputs, AvailableCores())) {
          SuiteCase entry =
              LoaderCase(inputs, augment, source, batch, workers, Steps(inputs, kDefaultSteps));
          entry.make = MakePipelineFixture;
          cases.push_back(entry);
        }
      }
    }
  }
  return cases;
}

// What Epoch and Train share; `workers` names those of a device.
std::vector<SuiteCase> TrainingCases(
    const Inputs& inputs, std::int64_t steps,
    const std::function<std::vector<int>(const Device& device)>& workers) {
  std::vector<SuiteCase> cases;
  for (const std::string& augment : Augments(inputs.workload)) {
    for (const SourceKind source : Sources(inputs)) {
      for (const Device& device : inputs.options.devices) {
        for (const std::int64_t batch : Batches(inputs)) {
          for (const int count : workers(device)) {
            SuiteCase entry = LoaderCase(inputs, augment, source, batch, count, steps);
            entry.id.device = device;
            entry.threads = Threads(inputs, count);
            cases.push_back(entry);
          }
        }
      }
    }
  }
  return cases;
}

std::vector<SuiteCase> EpochCases(const Inputs& inputs) {
  std::vector<SuiteCase> cases = TrainingCases(
      inputs, Steps(inputs, kDefaultSteps),
      [&](const Device&) { return Workers(inputs, std::max(1, AvailableCores() - 1)); });
  for (SuiteCase& entry : cases) {
    entry.make = MakeEpochFixture;
    entry.iterations = kEpochs;
  }
  return cases;
}

std::vector<SuiteCase> TrainCases(const Inputs& inputs) {
  std::vector<SuiteCase> cases =
      TrainingCases(inputs, Steps(inputs, kDefaultTrainSteps),
                    [&](const Device& device) { return TrainWorkers(inputs, device); });
  for (SuiteCase& entry : cases) {
    entry.make = MakeTrainFixture;
    entry.unit = benchmark::kSecond;
    entry.epochs = TrainEpochs(inputs, entry.id.augment);
  }
  return cases;
}

struct Family {
  const char* name;
  const char* what;
  std::vector<SuiteCase> (*cases)(const Inputs&);
};

constexpr Family kFamilies[] = {
    {"Layer", "one layer of a network, forward or backward", LayerCases},
    {"Model", "a whole network on a resident batch: inference, or a training step", ModelCases},
    {"Augment", "one stage of the input pipeline, or all of it, on one thread", AugmentCases},
    {"Pipeline", "batches from image files by worker threads, no network", PipelineCases},
    {"Epoch", "training epochs from image files, and where the time went", EpochCases},
    {"Train", "a whole experiment: every epoch with loss, accuracy and validation", TrainCases},
};

std::filesystem::path SameForTheSameFile(const std::string& path) {
  std::error_code error;
  const std::filesystem::path same =
      std::filesystem::weakly_canonical(std::filesystem::absolute(path), error);
  return error ? std::filesystem::path(path) : same;
}

// Terminals that cannot overwrite a line, or whose output is kept: CI systems set CI, and some give
// their jobs a terminal.
bool IsLog() {
  const char* terminal = std::getenv("TERM");
  return std::getenv("CI") != nullptr || (terminal != nullptr && std::string(terminal) == "dumb");
}

std::string NameOfEpoch(const SuiteCase& entry, std::int64_t epoch) {
  Case id = entry.id;
  id.epoch = epoch;
  return id.Name();
}

// An epoch as Google Benchmark would report it. `family` and `repetition` count from 0.
benchmark::BenchmarkReporter::Run RunOf(const EpochRow& epoch, int family, int repetition,
                                        int repetitions, benchmark::TimeUnit unit) {
  benchmark::BenchmarkReporter::Run run;
  run.run_name.function_name = epoch.name;
  run.family_index = family;
  run.per_family_instance_index = 0;
  run.run_type = benchmark::BenchmarkReporter::Run::RT_Iteration;
  run.report_label = epoch.label;
  run.iterations = 1;
  run.threads = 1;
  run.repetition_index = repetition;
  run.repetitions = repetitions;
  run.time_unit = unit;
  for (const auto& [name, value] : epoch.counters) {
    if (name == "real_time") {
      run.real_accumulated_time = value;
    } else if (name == "cpu_time") {
      run.cpu_accumulated_time = value;
    } else {
      run.counters[name] = value;
    }
  }
  return run;
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
        entry.id.handicap = options.handicap;
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
    if (std::regex_search(entry.id.Name(), regex)) return negated;
    // An expression that speaks of no epoch means none; there may be very many.
    if (negated) return false;
    if (expression.find("epoch") == std::string::npos) return true;
    for (std::int64_t epoch = 1; epoch <= entry.epochs; ++epoch) {
      if (std::regex_search(NameOfEpoch(entry, epoch), regex)) return false;
    }
    return true;
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

std::vector<std::set<SourceKey>> SourcesNeeded(const std::vector<SuiteCase>& cases,
                                               std::size_t workloads) {
  std::vector<std::set<SourceKey>> needed(workloads);
  for (const SuiteCase& entry : cases) {
    if (!entry.source) continue;
    needed[entry.workload].insert({Split::kTrain, *entry.source});
    if (entry.epochs > 0) needed[entry.workload].insert({Split::kTest, *entry.source});
  }
  return needed;
}

void CheckTrainings(const std::vector<SuiteCase>& cases, const Options& options,
                    const GoogleFlags& flags) {
  std::vector<SuiteCase> trainings;
  for (const SuiteCase& entry : cases) {
    if (entry.epochs > 0) trainings.push_back(entry);
  }
  if (!trainings.empty() && flags.warms_up) {
    throw UsageError(
        "--benchmark_min_warmup_time: Train would run whole trainings to warm up; it "
        "does so by itself, as all cases do");
  }
  for (const auto& [flag, path] :
       {std::pair<std::string, std::string>{"--checkpoint", options.checkpoint},
        {"--trace", options.trace}}) {
    if (path.empty()) continue;
    const std::string one = flag + ": one file is for one training, ";
    if (flags.repetitions > 1) throw UsageError(one + "not for repetitions of it");
    if (trainings.empty()) throw UsageError(one + "but no Train case is selected");
    if (trainings.size() > 1) {
      throw UsageError(one + "but " + std::to_string(trainings.size()) +
                       " are selected; choose one with --benchmark_filter:\n" +
                       JoinNames(trainings));
    }
  }
  const std::pair<const char*, std::string> files[] = {{"--benchmark_out", flags.out},
                                                       {"--network", options.network_file},
                                                       {"--checkpoint", options.checkpoint},
                                                       {"--trace", options.trace}};
  std::map<std::filesystem::path, const char*> flag_of;
  for (const auto& [flag, path] : files) {
    if (path.empty()) continue;
    const auto [other, is_new] = flag_of.emplace(SameForTheSameFile(path), flag);
    if (!is_new) {
      throw UsageError(std::string(flag) + ": '" + path + "' is the file of " + other->second +
                       " already");
    }
  }
}

Progress ProgressFor(const Options& options) {
  if (options.progress == ShowProgress::kOff) return Progress::kOff;
  if (isatty(STDERR_FILENO) == 1 && !IsLog()) return Progress::kTerminal;
  return options.progress == ShowProgress::kOn ? Progress::kLines : Progress::kOff;
}

bool ShowsEpochs(const Options& options, const GoogleFlags& flags) {
  return !flags.own_table || ProgressFor(options) != Progress::kTerminal ||
         isatty(STDOUT_FILENO) != 1;
}

void Register(const std::vector<SuiteCase>& cases, const Options& options, const GoogleFlags& flags,
              const std::vector<WorkloadData>& workloads,
              const std::function<void(const benchmark::BenchmarkReporter::Run&)>& on_epoch,
              int& failures) {
  const bool is_terminal = isatty(STDERR_FILENO) == 1;
  // Cases that read the same files meet the same bad ones: each is named once.
  const auto named = std::make_shared<std::set<std::string>>();
  const auto name_once = [named, is_terminal](const std::string& message) {
    if (!named->insert(message).second) return;
    std::fprintf(stderr, "%sbad image: %s\n", is_terminal ? "\r\033[K" : "",
                 Printable(message).c_str());
  };
  int family = 0;
  for (const SuiteCase& entry : cases) {
    const WorkloadData& data = workloads[entry.workload];
    CaseConfig config;
    config.workload = data.workload;
    config.seed = options.seed;
    config.threads = entry.threads;
    if (entry.source) config.images = data.sources.at({Split::kTrain, *entry.source}).get();
    config.stream = options.stream;
    config.profile = options.profile;
    config.bad_images = options.bad_images;
    config.on_bad_image = name_once;
    config.progress = ProgressFor(options);
    std::int64_t iterations = entry.iterations;
    const benchmark::TimeUnit unit =
        flags.own_time_units ? entry.unit : benchmark::GetDefaultTimeUnit();
    const auto repetition = std::make_shared<int>(-1);
    if (entry.epochs > 0) {
      config.validation_images = data.sources.at({Split::kTest, *entry.source}).get();
      config.train.epochs = entry.epochs;
      config.train.target_accuracy = options.target_accuracy;
      config.train.checkpoint = options.checkpoint;
      config.train.resume = options.resume;
      config.train.trace = options.trace;
      config.train.on_epoch = [=, repetitions = flags.repetitions](const EpochRow& epoch) {
        on_epoch(RunOf(epoch, family, *repetition, repetitions, unit));
      };
      try {
        iterations = entry.epochs - PrepareTraining(entry.id, config);
      } catch (const std::runtime_error& error) {
        throw UsageError(error.what());
      }
    }
    auto* registered = benchmark::RegisterBenchmark(
        entry.id.Name().c_str(), [entry, config, repetition, &failures](benchmark::State& state) {
          ++*repetition;
          const std::unique_ptr<Fixture> fixture = entry.make(entry.id, config);
          fixture->SetHandicap(entry.id.handicap);
          fixture->Run(state);
          failures += fixture->failed() ? 1 : 0;
        });
    registered->UseRealTime()->MeasureProcessCPUTime();
    if (flags.own_time_units) registered->Unit(entry.unit);
    if (iterations > 0) registered->Iterations(iterations);
    ++family;
  }
}

std::string JoinNames(const std::vector<SuiteCase>& cases) {
  std::string text;
  for (const SuiteCase& entry : cases) text += entry.id.Name() + "\n";
  return text;
}

std::size_t WidestName(const std::vector<SuiteCase>& cases, const GoogleFlags& flags,
                       bool shows_epochs) {
  std::size_t widest = 0;
  for (const SuiteCase& entry : cases) {
    const bool has_epochs = shows_epochs && entry.epochs > 0;
    const std::string name = has_epochs ? NameOfEpoch(entry, entry.epochs) : entry.id.Name();
    widest = std::max(widest, name.size());
  }
  return flags.repetitions > 1 ? widest + std::string("_median").size() : widest;
}

std::string DescribeNetworks(const Options& options) {
  const std::vector<Workload> workloads = ChosenWorkloads(options);
  if (options.print_networks == NetworkListing::kJson) return WorkloadsJson(workloads);
  std::string text;
  for (const Workload& workload : workloads) {
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
