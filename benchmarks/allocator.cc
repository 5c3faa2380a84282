#include "benchmarks/allocator.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

#ifdef CNN_JEMALLOC
#include <jemalloc/jemalloc.h>

// jemalloc looks for this symbol when it starts; the environment's MALLOC_CONF goes on top of it.
extern "C" {
extern const char* malloc_conf;
const char* malloc_conf = "dirty_decay_ms:-1,muzzy_decay_ms:-1,thp:always";
}
#endif

namespace cnn {
namespace {

constexpr const char* kRestarted = "CNN_BENCHMARKS_RESTARTED";

// Path of the library whose malloc is called.
std::string MallocLibrary() {
  Dl_info info{};
  if (dladdr(dlsym(RTLD_DEFAULT, "malloc"), &info) == 0 || info.dli_fname == nullptr) return "";
  return info.dli_fname;
}

bool IsJemalloc() { return MallocLibrary().find("jemalloc") != std::string::npos; }

}  // namespace

bool KeepsFreedMemory() {
#ifdef CNN_JEMALLOC
  ssize_t decay = 0;
  std::size_t size = sizeof decay;
  return IsJemalloc() && mallctl("opt.dirty_decay_ms", &decay, &size, nullptr, 0) == 0 &&
         decay == -1;
#else
  return false;
#endif
}

std::string DescribeAllocator() {
#ifdef CNN_JEMALLOC
  if (IsJemalloc()) {
    const char* version = "";
    std::size_t size = sizeof(const char*);  // mallctl hands out the pointer
    mallctl("version", &version, &size, nullptr, 0);
    std::string text = "jemalloc " + std::string(version);
    text = text.substr(0, text.find('-')) + " (" + malloc_conf;
    if (const char* more = std::getenv("MALLOC_CONF")) text += std::string(",") + more;
    return text + ")";
  }
#endif
  return MallocLibrary();
}

void UseAllocator(const std::optional<std::string>& choice, char* const* argv) {
  if (choice == "keep" && !IsJemalloc()) {
    throw std::runtime_error("--allocator=keep: malloc is that of " + MallocLibrary() +
                             ", not jemalloc's; build with -DCNN_JEMALLOC=ON and preload nothing");
  }
  if (choice != "system" || !IsJemalloc()) return;
  if (std::getenv(kRestarted) != nullptr) {
    throw std::runtime_error("--allocator=system: jemalloc is still in front of the C library");
  }
  // Preloaded libraries are searched before the linked ones: operator new of libstdc++ and malloc
  // of the C library are then found before jemalloc's.
  std::string preload = "libstdc++.so.6:libc.so.6";
  if (const char* more = std::getenv("LD_PRELOAD")) preload += std::string(":") + more;
  setenv("LD_PRELOAD", preload.c_str(), 1);
  setenv(kRestarted, "1", 1);
  execv("/proc/self/exe", argv);
  throw std::runtime_error(std::string("--allocator=system: cannot start again: ") +
                           std::strerror(errno));
}

}  // namespace cnn
