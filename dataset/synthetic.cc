#include "dataset/synthetic.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include "dataset/parallel.h"
#include "dataset/photograph.h"
#include "dataset/random.h"

namespace cnn {
namespace {

namespace fs = std::filesystem;

// To be raised with every change of a pixel: an old set must never be taken for a new one.
// tools/peers/workloads.py names the set too.
constexpr int kVersion = 1;

struct SetPlan {
  const char* name;
  std::vector<Kind> kinds;
  int train, test;  // images per class
};

std::vector<SetPlan> Plan(int thinning) {
  const auto count = [thinning](int images) { return (images + thinning - 1) / thinning; };
  return {{"eight_kinds",
           {Kind::kBuildings, Kind::kCats, Kind::kDogs, Kind::kForest, Kind::kGlacier,
            Kind::kMountain, Kind::kSea, Kind::kStreet},
           count(100),
           count(20)},
          {"dogs_vs_cats", {Kind::kCats, Kind::kDogs}, count(300), count(60)}};
}

struct ClassFolder {
  fs::path path;  // below the set's root
  Kind kind;
  std::uint64_t set, split;
  int images;
};

std::vector<ClassFolder> ClassFolders(const std::vector<SetPlan>& plan) {
  std::vector<ClassFolder> folders;
  for (std::size_t set = 0; set < plan.size(); ++set) {
    for (const bool is_test : {false, true}) {
      for (const Kind kind : plan[set].kinds) {
        folders.push_back({fs::path(plan[set].name) / (is_test ? "test" : "train") / KindName(kind),
                           kind, set, is_test ? 1U : 0U,
                           is_test ? plan[set].test : plan[set].train});
      }
    }
  }
  return folders;
}

std::string FileName(int index) {
  std::array<char, 16> name;
  std::snprintf(name.data(), name.size(), "%04d.jpg", index);
  return name.data();
}

// Every file there and of a photograph's size, no file too many. Files are not opened: this runs at
// every start.
bool IsComplete(const fs::path& root, const std::vector<ClassFolder>& folders) {
  for (const ClassFolder& folder : folders) {
    std::error_code error;
    std::ptrdiff_t entries = 0;
    for (fs::directory_iterator at(root / folder.path, error), end; !error && at != end;
         at.increment(error)) {
      ++entries;
    }
    if (error || entries != folder.images) return false;
    for (int i = 0; i < folder.images; ++i) {
      const std::uintmax_t size = fs::file_size(root / folder.path / FileName(i), error);
      if (error || size < kMinPhotographBytes || size > kMaxPhotographBytes) return false;
    }
  }
  return true;
}

void WriteFile(const fs::path& path, const std::vector<std::uint8_t>& bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (!file) throw std::runtime_error("cannot write '" + path.string() + "'");
}

struct Job {
  const ClassFolder* folder;
  int index;
};

void WriteImage(const fs::path& root, const Job& job) {
  const ClassFolder& folder = *job.folder;
  const KeyedRandom random({kVersion, folder.set, folder.split,
                            static_cast<std::uint64_t>(folder.kind),
                            static_cast<std::uint64_t>(job.index)});
  WriteFile(root / folder.path / FileName(job.index), Photograph(folder.kind, random));
}

void WriteAll(const fs::path& root, const std::vector<ClassFolder>& folders, int threads,
              const std::function<void(int, int)>& progress) {
  std::vector<Job> jobs;
  for (const ClassFolder& folder : folders) {
    fs::create_directories(root / folder.path);
    for (int i = 0; i < folder.images; ++i) jobs.push_back({&folder, i});
  }
  ParallelFor(
      static_cast<int>(jobs.size()), threads,
      [&](int i, int) { WriteImage(root, jobs[static_cast<std::size_t>(i)]); }, progress);
}

// An exclusive lock between processes, released by the kernel even when its holder is killed. The
// file stays: removing it would let a third process lock a new file while a second waits for the
// old.
class FileLock {
 public:
  explicit FileLock(const fs::path& path)
      : descriptor_(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666)) {
    if (descriptor_ < 0) {
      throw std::system_error(errno, std::generic_category(),
                              "cannot open '" + path.string() + "'");
    }
    while (flock(descriptor_, LOCK_EX) != 0) {
      if (errno == EINTR) continue;
      const int error = errno;
      close(descriptor_);
      throw std::system_error(error, std::generic_category(),
                              "cannot lock '" + path.string() + "'");
    }
  }
  ~FileLock() { close(descriptor_); }
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 private:
  int descriptor_;
};

}  // namespace

fs::path DefaultCacheDir() {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  // The XDG specification has relative paths ignored.
  if (cache != nullptr && fs::path(cache).is_absolute()) return fs::path(cache) / "cnn_benchmarks";
  const char* home = std::getenv("HOME");
  if (home != nullptr && *home != '\0') return fs::path(home) / ".cache" / "cnn_benchmarks";
  throw std::runtime_error(
      "no cache folder for the synthetic images: set XDG_CACHE_HOME to an absolute path, or HOME");
}

fs::path EnsureSyntheticData(const fs::path& cache_dir, int threads,
                             const std::function<void(int, int)>& progress) {
  return detail::EnsureThinnedSyntheticData(cache_dir, threads, progress, 1);
}

fs::path detail::EnsureThinnedSyntheticData(const fs::path& cache_dir, int threads,
                                            const std::function<void(int, int)>& progress,
                                            int thinning) {
  if (threads < 1) throw std::invalid_argument("threads must be at least 1");
  const std::vector<ClassFolder> folders = ClassFolders(Plan(thinning));
  const std::string name = "synthetic-v" + std::to_string(kVersion);
  fs::path root = cache_dir / name;
  if (IsComplete(root, folders)) return root;
  try {
    fs::create_directories(cache_dir);
    const FileLock lock(cache_dir / (name + ".lock"));
    if (IsComplete(root, folders)) return root;  // by the process that held the lock
    const fs::path partial = cache_dir / (name + ".partial");
    fs::remove_all(partial);
    try {
      WriteAll(partial, folders, threads, progress);
    } catch (...) {
      std::error_code ignored;
      fs::remove_all(partial, ignored);
      throw;
    }
    fs::remove_all(root);  // a set that lost files
    fs::rename(partial, root);
  } catch (const std::exception& error) {
    throw std::runtime_error("cannot write the synthetic images (about 60 MB) to '" +
                             cache_dir.string() + "': " + error.what() +
                             "; set XDG_CACHE_HOME to a folder with room that can be written");
  }
  return root;
}

}  // namespace cnn
