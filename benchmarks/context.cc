#include "benchmarks/context.h"

#include <benchmark/benchmark.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <opencv2/core/utility.hpp>
#include <opencv2/core/version.hpp>
#include <set>

#include "benchmarks/allocator.h"
#include "benchmarks/machine.h"
#include "benchmarks/version.h"
#include "dataset/jpeg.h"
#include "dataset/text.h"
#include "model/workload_file.h"

namespace cnn {
namespace {

// Raised when a key of the context or a counter changes its meaning.
constexpr const char* kSchemaVersion = "1";

// Variables of the environment that change what libraries do, "name=value" joined by blanks.
std::string DecidingEnvironment() {
  std::set<std::string> found;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    for (const char* prefix : {"OMP_", "GOMP_", "KMP_", "OPENBLAS_", "MKL_", "DNNL_", "ONEDNN_",
                               "ATEN_", "MALLOC_", "GLIBC_TUNABLES=", "LD_PRELOAD=",
                               "CUDA_VISIBLE_DEVICES=", "CUBLAS_", "NVIDIA_TF32_OVERRIDE="}) {
      if (std::strncmp(*entry, prefix, std::strlen(prefix)) == 0) found.insert(*entry);
    }
  }
  std::string text;
  for (const std::string& entry : found) text += (text.empty() ? "" : " ") + entry;
  return text.empty() ? "none" : text;
}

std::string DescribeThreads(const Options& options) {
  if (options.threads) return std::to_string(*options.threads);
  return std::to_string(AvailableCores()) + " less the workers of a case, at least 1";
}

std::string OpenCvVersion() {
  return std::string(CV_VERSION) + ", " + std::to_string(cv::getNumThreads()) + " thread" +
         (cv::getNumThreads() == 1 ? "" : "s");
}

}  // namespace

ContextEntries CollectContext(const Options& options, const std::vector<SuiteCase>& cases,
                              const std::vector<WorkloadData>& workloads) {
  ContextEntries entries = {
      {"suite_schema_version", kSchemaVersion},
      {"suite_version", kProjectVersion},
      {"git_commit", kGitCommit},
      {"git_dirty", kGitDirty ? "true" : "false"},
      {"compiler", CNN_COMPILER},
      {"cxx_flags", CNN_CXX_FLAGS},
      {"build_type", CNN_BUILD_TYPE},
  };
  for (const auto& library : LibraryVersions()) entries.push_back(library);
  entries.emplace_back("libjpeg", JpegLibraryVersion());
  entries.emplace_back("opencv", CV_VERSION);
  entries.emplace_back("opencv_threads", std::to_string(cv::getNumThreads()));
  entries.emplace_back("allocator", DescribeAllocator());
  entries.emplace_back("device_cpu", Describe({}));
  std::set<std::string> described = {"cpu"};
  for (const SuiteCase& entry : cases) {
    const auto& device = entry.id.device;
    if (!device || !described.insert(device->Name()).second) continue;
    entries.emplace_back("device_" + device->Name(), Describe(*device));
  }
  utsname kernel{};
  uname(&kernel);
  entries.emplace_back("kernel", std::string(kernel.sysname) + " " + kernel.release);
  entries.emplace_back("cores", std::to_string(AvailableCores()));
  entries.emplace_back("affinity", Affinity());
  entries.emplace_back("governor", Governor());
  entries.emplace_back("transparent_hugepages", TransparentHugepages());
  entries.emplace_back("compute_threads", DescribeThreads(options));
  entries.emplace_back("environment", DecidingEnvironment());
  entries.emplace_back("seed", std::to_string(options.seed));
  entries.emplace_back("random_stream", StreamName(options.stream));
  entries.emplace_back("keras_profile", ProfileName(options.profile));
  entries.emplace_back("bad_images_policy", BadImagesName(options.bad_images));
  entries.emplace_back("max_pixels", std::to_string(options.max_pixels));
  entries.emplace_back("precision", "float32");
  if (options.handicap > 0) entries.emplace_back("handicap", ShareText(options.handicap));
  if (!options.network_file.empty()) {
    entries.emplace_back("networks_file", options.network_file);
    std::set<std::size_t> used;
    for (const SuiteCase& entry : cases) used.insert(entry.workload);
    for (const std::size_t i : used) {
      const Workload& workload = workloads[i].workload;
      entries.emplace_back("network_" + workload.name, WorkloadLine(workload));
    }
  }
  for (const WorkloadData& data : workloads) {
    const Dataset& set = data.dataset;
    if (set.train.classes.empty()) continue;
    entries.emplace_back("dataset_" + data.workload.name,
                         set.name + ", " + std::to_string(set.train.images.size()) + " train and " +
                             std::to_string(set.test.images.size()) + " test images, " +
                             std::to_string(set.train.classes.size()) + " classes");
  }
  return entries;
}

std::string DescribeMachine(const Options& options) {
  std::string libraries;
  for (const auto& [name, version] : LibraryVersions()) libraries += name + " " + version + "; ";
  std::string text = "cnn_benchmarks " + std::string(kProjectVersion) + " (" + kGitCommit +
                     (kGitDirty ? ", modified" : "") + "), " + CNN_COMPILER + ", " +
                     CNN_BUILD_TYPE + "\n";
  text +=
      "libraries: " + libraries + "opencv " + OpenCvVersion() + "; " + JpegLibraryVersion() + "\n";
  bool has_gpu = false;
  for (const Device& device : AvailableDevices()) {
    std::string name = device.Name() + ":";
    name.resize(std::max<std::size_t>(name.size() + 1, 11), ' ');
    text += name + Describe(device) + "\n";
    has_gpu = has_gpu || device.IsCuda();
  }
  if (!has_gpu) text += "no GPU:    " + WhyUnavailable({Device::Kind::kCuda, 0}) + "\n";
  text += "threads:   " + std::to_string(AvailableCores()) + " cores; LibTorch " +
          DescribeThreads(options) + "\n";
  text += "allocator: " + DescribeAllocator() + "\n";
  return text;
}

std::vector<std::string> Warnings(const Options& options, const std::vector<SuiteCase>& cases) {
  std::vector<std::string> warnings;
  if (std::strcmp(CNN_BUILD_TYPE, "Release") != 0) {
    warnings.push_back(std::string("this is a ") + CNN_BUILD_TYPE +
                       " build: configure with -DCMAKE_BUILD_TYPE=Release");
  }
  if (!KeepsFreedMemory()) {
    warnings.emplace_back(
        "freed memory goes back to the system, which costs page faults at each step: "
        "use --allocator=keep");
  }
  const std::string governor = Governor();
  if (governor != "unknown" && governor != "performance") {
    warnings.push_back("the CPU frequency governor is " + governor +
                       ": cpupower frequency-set -g performance");
  }
  const double busy = CoresBusyElsewhere();
  if (busy > 0.2) {
    char text[96];
    std::snprintf(text, sizeof text, "%.1f cores are busy with something else", busy);
    warnings.emplace_back(text);
  }
  for (const SuiteCase& entry : cases) {
    if (!entry.id.device) continue;  // no network: the workers are all there is
    const int threads =
        entry.threads + (entry.id.device->IsCuda() ? 0 : entry.id.workers.value_or(0));
    if (threads <= AvailableCores()) continue;
    warnings.push_back("more threads than cores, first in " + entry.id.Name() + ": " +
                       std::to_string(threads) + " on " + std::to_string(AvailableCores()));
    break;
  }
  if (!options.threads && std::getenv("OMP_NUM_THREADS") != nullptr) {
    warnings.emplace_back("OMP_NUM_THREADS has no effect here: use --threads");
  }
  for (const auto& [name, version] : LibraryVersions()) {
    if (name == "blas" && version.find("/blas/") != std::string::npos) {
      warnings.push_back("the reference BLAS is slow: apt-get install libopenblas0-openmp");
    }
  }
  return warnings;
}

void AddContext(const Options& options, const std::vector<SuiteCase>& cases,
                const std::vector<WorkloadData>& workloads) {
  for (const auto& [key, value] : CollectContext(options, cases, workloads)) {
    benchmark::AddCustomContext(key, Printable(value));
  }
}

void PrintPreamble(const Options& options, const std::vector<SuiteCase>& cases) {
  std::fputs(DescribeMachine(options).c_str(), stderr);
  for (const std::string& warning : Warnings(options, cases)) {
    std::fprintf(stderr, "warning: %s\n", warning.c_str());
  }
}

}  // namespace cnn
