#include "benchmarks/machine.h"

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>
#include <limits>
#include <thread>
#include <vector>

namespace cnn {
namespace {

std::string FirstLine(const std::string& path) {
  std::ifstream in(path);
  std::string line;
  std::getline(in, line);
  return line;
}

// Seconds of CPU that the machine has spent on anything, all cores together.
double BusySeconds() {
  std::ifstream stat("/proc/stat");
  std::string cpu;
  double user = 0, nice = 0, system = 0;
  stat >> cpu >> user >> nice >> system;
  return (user + nice + system) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

// The folders of the process's cgroup and of those above it (cgroup v2); each may set limits.
std::vector<std::string> CgroupFolders() {
  const std::string line = FirstLine("/proc/self/cgroup");  // "0::/path"
  std::string path = line.rfind("0::", 0) == 0 ? line.substr(3) : "";
  std::vector<std::string> folders = {"/sys/fs/cgroup"};
  while (path.size() > 1) {
    folders.push_back("/sys/fs/cgroup" + path);
    path.erase(path.rfind('/'));
  }
  return folders;
}

// What the process's own limits (ulimit -v, -d) leave; `used` in pages, from /proc/self/statm.
std::int64_t LimitLeft(decltype(RLIMIT_AS) resource, std::int64_t used) {
  rlimit limit{};
  if (getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) {
    return std::numeric_limits<std::int64_t>::max();
  }
  return std::max<std::int64_t>(
      static_cast<std::int64_t>(limit.rlim_cur) - used * sysconf(_SC_PAGESIZE), 0);
}

// CPU quota of a cgroup folder in cores; infinite without one. "200000 100000": microseconds per
// period.
double CpuQuota(const std::string& folder) {
  double quota = 0;
  double period = 0;
  std::ifstream file(folder + "/cpu.max");
  return file >> quota >> period && period > 0 ? quota / period : HUGE_VAL;
}

// Bytes that a cgroup folder leaves; "max" is no number: no limit. What it uses includes the page
// cache, which is given up when memory is needed.
std::int64_t MemoryLeft(const std::string& folder) {
  std::int64_t limit = 0;
  std::int64_t used = 0;
  if (!(std::ifstream(folder + "/memory.max") >> limit) ||
      !(std::ifstream(folder + "/memory.current") >> used)) {
    return std::numeric_limits<std::int64_t>::max();
  }
  std::ifstream statistics(folder + "/memory.stat");
  std::string key;
  std::int64_t bytes = 0;
  while (statistics >> key >> bytes) {
    if (key == "active_file" || key == "inactive_file") used -= bytes;
  }
  return std::max<std::int64_t>(limit - used, 0);
}

}  // namespace

int AvailableCores() {
  cpu_set_t set;
  double cores = sched_getaffinity(0, sizeof set, &set) == 0
                     ? CPU_COUNT(&set)
                     : static_cast<double>(sysconf(_SC_NPROCESSORS_ONLN));
  for (const std::string& folder : CgroupFolders()) {
    cores = std::min(cores, std::ceil(CpuQuota(folder)));
  }
  return std::max(static_cast<int>(cores), 1);
}

std::int64_t AvailableMemory() {
  std::int64_t available = std::numeric_limits<std::int64_t>::max();
  std::ifstream file("/proc/meminfo");
  std::string key;
  std::int64_t kibibytes = 0;
  std::string unit;
  while (file >> key >> kibibytes && std::getline(file, unit)) {
    if (key == "MemAvailable:") available = kibibytes * 1024;
  }
  for (const std::string& folder : CgroupFolders()) {
    available = std::min(available, MemoryLeft(folder));
  }
  std::ifstream pages("/proc/self/statm");
  std::int64_t size = 0, skipped = 0, data = 0;
  if (pages >> size >> skipped >> skipped >> skipped >> skipped >> data) {
    available = std::min({available, LimitLeft(RLIMIT_AS, size), LimitLeft(RLIMIT_DATA, data)});
  }
  return available;
}

std::string Affinity() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return "unknown";
  std::string text;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &set)) continue;
    int last = cpu;
    while (last + 1 < CPU_SETSIZE && CPU_ISSET(last + 1, &set)) ++last;
    text += (text.empty() ? "" : ",") + std::to_string(cpu);
    if (last > cpu) text += "-" + std::to_string(last);
    cpu = last;
  }
  return text;
}

std::string Governor() {
  const std::string governor = FirstLine("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
  return governor.empty() ? "unknown" : governor;
}

// "always [madvise] never": the one in brackets.
std::string TransparentHugepages() {
  const std::string modes = FirstLine("/sys/kernel/mm/transparent_hugepage/enabled");
  const std::size_t open = modes.find('[');
  if (open == std::string::npos) return "unknown";
  return modes.substr(open + 1, modes.find(']') - open - 1);
}

double CoresBusyElsewhere() {
  constexpr std::chrono::milliseconds kWatch(300);
  const double before = BusySeconds();
  std::this_thread::sleep_for(kWatch);
  return (BusySeconds() - before) / std::chrono::duration<double>(kWatch).count();
}

}  // namespace cnn
