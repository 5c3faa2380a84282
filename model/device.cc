#include "model/device.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/Version.h>
#include <dlfcn.h>
#include <malloc.h>
#include <torch/cuda.h>
#include <torch/version.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <stdexcept>
#include <thread>
#include <utility>

#ifdef CNN_WITH_CUDA
#include <ATen/cuda/CUDAContext.h>
#include <ATen/cuda/CUDAEvent.h>
#include <ATen/detail/CUDAHooksInterface.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAGuard.h>
#include <cuda_runtime_api.h>
#endif

namespace cnn {
namespace {

// The value after "key:" or "key\t" of a /proc file, without surrounding blanks; empty when absent.
std::string ProcValue(const char* file, const std::string& key) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    if (line.compare(0, key.size(), key) != 0) continue;
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    const std::size_t first = line.find_first_not_of(" \t", colon + 1);
    return first == std::string::npos ? "" : line.substr(first);
  }
  return "";
}

std::string Gibibytes(double bytes) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f GiB", bytes / (1 << 30));
  return text;
}

// The text of at::show_config() between `before` and the next blank, comma or line end.
std::string FromShowConfig(const std::string& before) {
  const std::string config = at::show_config();
  const std::size_t at = config.find(before);
  if (at == std::string::npos) return "";
  const std::size_t first = at + before.size();
  return config.substr(first, config.find_first_of(" ,\n", first) - first);
}

// Path of the first mapped library whose name contains one of the BLAS names.
std::string MappedBlas() {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    const std::size_t slash = line.find('/');
    if (slash == std::string::npos) continue;
    for (const char* name : {"openblas", "libmkl", "libblis", "libblas", "libatlas"}) {
      if (line.find(name, slash) != std::string::npos) return line.substr(slash);
    }
  }
  return "";
}

std::string DescribeBlas() {
  // Linked into LibTorch itself in the official builds: "...Math Kernel Library Version 2024.2-..."
  const std::string mkl = at::get_mkl_version();
  const std::size_t version_at = mkl.find("Version ");
  if (version_at != std::string::npos) {
    return "MKL " + mkl.substr(version_at + 8, mkl.find(' ', version_at + 8) - version_at - 8);
  }
  std::string text = MappedBlas();
  // OpenBLAS tells its version, threading model and the kernels it chose.
  using TextFunction = const char* (*)();
  const auto config = reinterpret_cast<TextFunction>(dlsym(RTLD_DEFAULT, "openblas_get_config"));
  const auto core = reinterpret_cast<TextFunction>(dlsym(RTLD_DEFAULT, "openblas_get_corename"));
  if (config != nullptr && core != nullptr) {
    std::string version = config();
    version = version.substr(0, version.find(' ', version.find(' ') + 1));
    const bool openmp = std::string(config()).find("USE_OPENMP") != std::string::npos;
    text = version + (openmp ? " (OpenMP), " : " (pthreads), ") + core() + " kernels";
  }
  return text.empty() ? "unknown" : text;
}

#ifdef CNN_WITH_CUDA
c10::DeviceIndex CudaIndex(const Device& device) {
  return static_cast<c10::DeviceIndex>(device.index);
}

// 13020 -> "13.2", CUDA's way to write a version as one number.
std::string CudaVersion(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}
#endif

}  // namespace

std::string Device::Name() const {
  if (!IsCuda()) return "cpu";
  return index == 0 ? "cuda" : "cuda:" + std::to_string(index);
}

Device ParseDevice(std::string_view text) {
  if (text == "cpu") return {};
  if (text == "cuda") return {Device::Kind::kCuda, 0};
  constexpr std::string_view prefix = "cuda:";
  if (text.substr(0, prefix.size()) == prefix) {
    const std::string_view digits = text.substr(prefix.size());
    int index = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), index);
    // c10 keeps a device's index in 8 bits.
    if (error == std::errc{} && end == digits.data() + digits.size() && !digits.empty() &&
        digits[0] != '-' && index < 128) {
      return {Device::Kind::kCuda, index};
    }
  }
  throw std::invalid_argument("unknown device '" + std::string(text) +
                              "': use cpu, cuda or cuda:N");
}

std::string WhyUnavailable(const Device& device) {
  if (!device.IsCuda()) return "";
#ifdef CNN_WITH_CUDA
  int driver = 0;
  if (cudaDriverGetVersion(&driver) != cudaSuccess || driver == 0) {
    return "no NVIDIA driver is installed";
  }
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error != cudaSuccess) return std::string("CUDA: ") + cudaGetErrorString(error);
  if (device.index >= count) {
    return "this machine has " + std::to_string(count) + " CUDA device" + (count == 1 ? "" : "s");
  }
  return torch::cuda::is_available() ? "" : "LibTorch sees no CUDA device";
#else
  return "this LibTorch (" TORCH_VERSION ") is built without CUDA";
#endif
}

std::vector<Device> AvailableDevices() {
  std::vector<Device> devices = {{}};
  const int gpus = static_cast<int>(torch::cuda::device_count());
  for (int index = 0; index < gpus; ++index) {
    const Device device{Device::Kind::kCuda, index};
    if (WhyUnavailable(device).empty()) devices.push_back(device);
  }
  return devices;
}

void Synchronize(const Device& device) {
  if (device.IsCuda()) torch::cuda::synchronize(device.index);
}

std::string Describe(const Device& device) {
#ifdef CNN_WITH_CUDA
  if (device.IsCuda()) {
    const cudaDeviceProp* properties = at::cuda::getDeviceProperties(CudaIndex(device));
    return std::string(properties->name) + ", " +
           Gibibytes(static_cast<double>(properties->totalGlobalMem)) + ", compute capability " +
           std::to_string(properties->major) + "." + std::to_string(properties->minor);
  }
#endif
  if (device.IsCuda()) return WhyUnavailable(device);
  std::string model = ProcValue("/proc/cpuinfo", "model name");
  if (model.empty()) model = "CPU of unknown model";
  const double memory =
      static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  return model + ", " + std::to_string(std::thread::hardware_concurrency()) + " logical cores, " +
         Gibibytes(memory);
}

std::size_t PeakMemoryBytes(const Device& device) {
#ifdef CNN_WITH_CUDA
  if (device.IsCuda()) {
    const auto stats = c10::cuda::CUDACachingAllocator::getDeviceStats(CudaIndex(device));
    return static_cast<std::size_t>(stats.allocated_bytes[0].peak);  // [0]: over all pools
  }
#endif
  if (device.IsCuda()) return 0;
  const std::string kibibytes = ProcValue("/proc/self/status", "VmHWM");
  std::size_t value = 0;
  std::from_chars(kibibytes.data(), kibibytes.data() + kibibytes.size(), value);
  return value * 1024;
}

bool ResetPeakMemory(const Device& device) {
#ifdef CNN_WITH_CUDA
  if (device.IsCuda()) {
    // LibTorch starts a GPU with its first tensor there; before that there is no peak to reset.
    at::empty({1}, at::TensorOptions().device(at::kCUDA, CudaIndex(device)));
    c10::cuda::CUDACachingAllocator::resetPeakStats(CudaIndex(device));
    return true;
  }
#endif
  if (device.IsCuda()) return false;
  // jemalloc's way to name all arenas is 4096 (MALLCTL_ARENAS_ALL).
  using Mallctl = int (*)(const char*, void*, std::size_t*, void*, std::size_t);
  const auto mallctl = reinterpret_cast<Mallctl>(dlsym(RTLD_DEFAULT, "mallctl"));
  if (mallctl != nullptr) mallctl("arena.4096.purge", nullptr, nullptr, nullptr, 0);
  malloc_trim(0);
  // Linux: 5 sets the resident high-water mark to the present size.
  std::ofstream reset("/proc/self/clear_refs");
  reset << "5" << std::flush;
  return reset.good();
}

void UseExactFloat32() {
  at::globalContext().setAllowTF32CuBLAS(false);
  at::globalContext().setAllowTF32CuDNN(false);
}

void UseDeterministicCuDnn(bool deterministic) {
  at::globalContext().setDeterministicCuDNN(deterministic);
}

void SetIntraOpThreads(int threads) {
  // Builds of OpenCV with OpenMP let the number of threads follow the load average.
  using SetDynamic = void (*)(int);
  const auto set_dynamic = reinterpret_cast<SetDynamic>(dlsym(RTLD_DEFAULT, "omp_set_dynamic"));
  if (set_dynamic != nullptr) set_dynamic(0);
  at::set_num_threads(threads);
  // A BLAS with a thread pool of its own does not listen to LibTorch.
  using SetThreads = void (*)(int);
  const auto set = reinterpret_cast<SetThreads>(dlsym(RTLD_DEFAULT, "openblas_set_num_threads"));
  if (set != nullptr) set(threads);
}

int IntraOpThreads() { return at::get_num_threads(); }

std::vector<std::pair<std::string, std::string>> LibraryVersions() {
  const auto or_none = [](std::string text) { return text.empty() ? "none" : text; };
  std::vector<std::pair<std::string, std::string>> versions = {
      {"libtorch", TORCH_VERSION},
      {"onednn", or_none(FromShowConfig("MKL-DNN v"))},
      {"blas", DescribeBlas()},
      {"cpu_capability", or_none(FromShowConfig("CPU capability usage: "))},
  };
#ifdef CNN_WITH_CUDA
  int runtime = 0;
  int driver = 0;
  cudaRuntimeGetVersion(&runtime);
  cudaDriverGetVersion(&driver);
  versions.emplace_back("cuda", "runtime " + CudaVersion(runtime) + ", driver " +
                                    (driver == 0 ? "none" : CudaVersion(driver)));
  // 90100 is 9.1.0 since version 9; 8902 was 8.9.2.
  const long cudnn = at::detail::getCUDAHooks().versionCuDNN();
  const long major = cudnn >= 90000 ? cudnn / 10000 : cudnn / 1000;
  const long rest = cudnn - major * (cudnn >= 90000 ? 10000 : 1000);
  versions.emplace_back("cudnn", std::to_string(major) + "." + std::to_string(rest / 100) + "." +
                                     std::to_string(rest % 100));
#else
  versions.emplace_back("cuda", "none");
  versions.emplace_back("cudnn", "none");
#endif
  return versions;
}

std::shared_ptr<float> AllocatePinned(std::size_t floats) {
  const at::Tensor memory = at::zeros({static_cast<std::int64_t>(floats)},
                                      at::TensorOptions().dtype(at::kFloat).pinned_memory(true));
  return {memory.data_ptr<float>(), [memory](float*) {}};
}

struct SectionClock::Impl {
  using Clock = std::chrono::steady_clock;

  Device device;
  std::vector<double> seconds;
  Clock::time_point last;
  bool keeps = false;
  std::vector<Interval> intervals;  // of the CPU
#ifdef CNN_WITH_CUDA
  // The events of a step wait in `marks` until somebody wants the seconds, or until there are so
  // many.
  static constexpr std::size_t kMaxMarks = 4096;
  struct Mark {
    std::size_t section = 0;  // seconds.size(): a Begin
    at::cuda::CUDAEvent event{cudaEventDefault};
  };
  std::vector<Mark> marks;  // the first `used` of them are recorded; all are used again
  std::size_t used = 0;

  void Record(std::size_t section) {
    if (used == marks.size()) marks.emplace_back();
    marks[used].section = section;
    marks[used].event.record(at::cuda::getCurrentCUDAStream(CudaIndex(device)));
    ++used;
  }

  void Collect() {
    if (used == 0) return;
    marks[used - 1].event.synchronize();
    for (std::size_t i = 1; i < used; ++i) {
      if (marks[i].section == seconds.size()) continue;
      const double passed = MilliSeconds(marks[i - 1].event, marks[i].event);
      seconds[marks[i].section] += passed * 1e-3;
      if (!keeps) continue;
      const double begin = reference_at + MilliSeconds(reference, marks[i - 1].event);
      const double end = reference_at + MilliSeconds(reference, marks[i].event);
      gpu_intervals.push_back({marks[i].section, begin, end});
    }
    if (keeps) {
      // Elapsed times are floats: the longer they are, the coarser. So they stay short.
      reference_at += MilliSeconds(reference, marks[used - 1].event);
      std::swap(reference, marks[used - 1].event);
    }
    used = 0;
  }

  // Intervals in milliseconds of the GPU since `anchor`, which was reached at host time
  // `anchor_time`. `reference` is the event that elapsed times are counted from; it lies at
  // `reference_at`.
  struct GpuInterval {
    std::size_t section = 0;
    double begin = 0;
    double end = 0;
  };
  std::vector<GpuInterval> gpu_intervals;
  Clock::time_point anchor_time;
  at::cuda::CUDAEvent reference{cudaEventDefault};
  double reference_at = 0;

  static double MilliSeconds(const at::cuda::CUDAEvent& from, const at::cuda::CUDAEvent& to) {
    return static_cast<double>(from.elapsed_time(to));
  }

  // Records `event` with nothing else in the stream. The host's time when it was reached.
  Clock::time_point RecordAnchor(at::cuda::CUDAEvent& event) {
    Synchronize(device);
    event.record(at::cuda::getCurrentCUDAStream(CudaIndex(device)));
    event.synchronize();
    return Clock::now();
  }

  void BeginKeeping() {
    gpu_intervals.clear();
    anchor_time = RecordAnchor(reference);
    reference_at = 0;
  }

  // Two clocks run at different rates, a few ten microseconds a second: stretched so that they meet
  // at both ends.
  std::vector<Interval> TakeGpuIntervals() {
    Collect();
    at::cuda::CUDAEvent now{cudaEventDefault};
    const Clock::time_point now_time = RecordAnchor(now);
    const double gpu_passed = reference_at + MilliSeconds(reference, now);
    const std::chrono::duration<double, std::milli> host_passed = now_time - anchor_time;
    const double rate = gpu_passed > 0 ? host_passed.count() / gpu_passed : 1;
    const auto host_time = [&](double gpu_time) {
      const std::chrono::duration<double, std::milli> passed(gpu_time * rate);
      return anchor_time + std::chrono::duration_cast<Clock::duration>(passed);
    };
    std::vector<Interval> taken;
    taken.reserve(gpu_intervals.size());
    for (const GpuInterval& interval : gpu_intervals) {
      taken.push_back({interval.section, host_time(interval.begin), host_time(interval.end)});
    }
    gpu_intervals.clear();
    anchor_time = now_time;
    std::swap(reference, now);
    reference_at = 0;
    return taken;
  }
#endif
};

SectionClock::SectionClock(const Device& device, std::size_t sections)
    : impl_(std::make_unique<Impl>()) {
  impl_->device = device;
  impl_->seconds.resize(sections);
}

SectionClock::~SectionClock() = default;

void SectionClock::Reset() {
  std::fill(impl_->seconds.begin(), impl_->seconds.end(), 0.0);
  impl_->intervals.clear();
#ifdef CNN_WITH_CUDA
  impl_->used = 0;
  impl_->gpu_intervals.clear();
#endif
}

void SectionClock::Begin() {
#ifdef CNN_WITH_CUDA
  if (impl_->device.IsCuda()) {
    if (impl_->used >= Impl::kMaxMarks) impl_->Collect();
    impl_->Record(impl_->seconds.size());
    return;
  }
#endif
  impl_->last = Impl::Clock::now();
}

void SectionClock::Mark(std::size_t section) {
#ifdef CNN_WITH_CUDA
  if (impl_->device.IsCuda()) {
    impl_->Record(section);
    return;
  }
#endif
  const auto now = Impl::Clock::now();
  impl_->seconds.at(section) += std::chrono::duration<double>(now - impl_->last).count();
  if (impl_->keeps) impl_->intervals.push_back({section, impl_->last, now});
  impl_->last = now;
}

void SectionClock::Await([[maybe_unused]] std::size_t section) {
#ifdef CNN_WITH_CUDA
  for (std::size_t i = impl_->used; i-- > 0;) {
    if (impl_->marks[i].section != section) continue;
    impl_->marks[i].event.synchronize();
    return;
  }
#endif
}

std::vector<double> SectionClock::Seconds() {
#ifdef CNN_WITH_CUDA
  impl_->Collect();
#endif
  return impl_->seconds;
}

void SectionClock::KeepIntervals(bool keep) {
#ifdef CNN_WITH_CUDA
  if (impl_->device.IsCuda()) {
    impl_->Collect();
    if (keep) impl_->BeginKeeping();
  }
#endif
  impl_->intervals.clear();
  impl_->keeps = keep;
}

std::vector<SectionClock::Interval> SectionClock::TakeIntervals() {
#ifdef CNN_WITH_CUDA
  if (impl_->device.IsCuda()) {
    return impl_->keeps ? impl_->TakeGpuIntervals() : std::vector<Interval>();
  }
#endif
  return std::exchange(impl_->intervals, {});
}

}  // namespace cnn
