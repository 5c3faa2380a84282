// Where a network runs: parsing, availability, synchronising, describing, peak memory, and clocks
// that tell the truth about asynchronous work. No Torch header here: callers stay cheap to compile.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace cnn {

struct Device {
  enum class Kind { kCpu, kCuda };
  Kind kind = Kind::kCpu;
  int index = 0;

  bool IsCuda() const { return kind == Kind::kCuda; }
  /// "cpu", "cuda" for the first GPU, "cuda:1" for the second.
  std::string Name() const;
  bool operator==(const Device& other) const { return kind == other.kind && index == other.index; }
};

/// "cpu", "cuda" (the first GPU) or "cuda:N". Throws std::invalid_argument for anything else.
Device ParseDevice(std::string_view text);

/// Empty when the device can be used; else why not, in words for the user.
std::string WhyUnavailable(const Device& device);

/// cpu and every GPU that can be used.
std::vector<Device> AvailableDevices();

/// Returns when all work queued on the device is done.
void Synchronize(const Device& device);

/// "NVIDIA H200, 140 GiB, compute capability 9.0" or the CPU's name, cores and memory.
std::string Describe(const Device& device);

/// Peak bytes since ResetPeakMemory: on a GPU allocated by LibTorch, on the CPU resident in the
/// process.
std::size_t PeakMemoryBytes(const Device& device);
/// Also gives the memory that the process keeps but does not use back to the system, so that the
/// next peak is that of what follows. False where the system does not allow it: the peak is then
/// that of the whole process.
bool ResetPeakMemory(const Device& device);

/// Makes float32 arithmetic exact float32 on every device: without TensorFloat-32, which LibTorch
/// allows for some operations of a GPU and not for others, depending on its version.
void UseExactFloat32();

/// Makes cuDNN choose algorithms that give the same bits each time, or whatever is fastest. Nothing
/// to the CPU, which always does.
void UseDeterministicCuDnn(bool deterministic);

/// Number of threads LibTorch uses inside an operation. Call before the first operation where
/// possible.
void SetIntraOpThreads(int threads);
int IntraOpThreads();

/// What is linked: name and version of each library that decides a number, e.g. {"libtorch",
/// "2.1.0"}. Keys: libtorch, onednn, blas, cpu_capability, cuda, cudnn.
std::vector<std::pair<std::string, std::string>> LibraryVersions();

/// Page-locked host memory: a copy from it to a GPU does not stop the host.
std::shared_ptr<float> AllocatePinned(std::size_t floats);

/// Splits the time of a loop into named sections: `Mark(s)` ends section `s` and begins the next.
/// On the CPU by the steady clock; on a GPU by events in the stream, so that nothing has to be
/// synchronised until `Seconds` is read.
class SectionClock {
 public:
  SectionClock(const Device& device, std::size_t sections);
  ~SectionClock();
  SectionClock(const SectionClock&) = delete;
  SectionClock& operator=(const SectionClock&) = delete;

  /// When a section was at work: from the Begin or Mark before it to its Mark.
  struct Interval {
    std::size_t section = 0;
    std::chrono::steady_clock::time_point begin;
    std::chrono::steady_clock::time_point end;
  };

  /// Forgets all sections and intervals.
  void Reset();
  void Begin();
  void Mark(std::size_t section);
  /// Waits for the work before the last Mark of `section` (no-op on the CPU).
  void Await(std::size_t section);
  /// Seconds per section since Reset; synchronises.
  std::vector<double> Seconds();

  /// From now on (or no longer) intervals are kept for TakeIntervals; those so far are forgotten.
  /// They take memory until they are taken. Waits for a GPU.
  void KeepIntervals(bool keep);
  /// The intervals since the last call, in the order of their Marks; synchronises. Those of a GPU
  /// are its own times laid on the host's clock: moments that both know, after all work was waited
  /// for, were taken when keeping began and are taken now. That is good to some ten microseconds,
  /// and much better than that for intervals among each other.
  std::vector<Interval> TakeIntervals();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace cnn
