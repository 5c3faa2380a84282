#include "tools/output_file.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <system_error>

namespace cnn {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void Fail(const std::string& path, const std::string& why) {
  throw OutputError(path + ": cannot be written: " + why);
}

// Removes the file unless it was renamed.
struct Temporary {
  explicit Temporary(const fs::path& place) : path(place) {
    path += ".tmp" + std::to_string(::getpid());
  }
  ~Temporary() {
    std::error_code ignored;
    if (!is_kept) fs::remove(path, ignored);
  }
  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;

  fs::path path;
  bool is_kept = false;
};

void WriteTo(const fs::path& file, const std::string& path,
             const std::function<void(std::ostream&)>& write) {
  errno = 0;
  std::ofstream out(file, std::ios::binary);
  if (!out) Fail(path, std::strerror(errno));
  write(out);
  out.close();
  if (!out) Fail(path, errno == 0 ? "is the disk full?" : std::strerror(errno));
}

}  // namespace

void WriteOutput(const std::string& path, const std::function<void(std::ostream&)>& write) {
  if (path.empty()) {
    write(std::cout);
    std::cout.flush();
    if (!std::cout) throw OutputError("stdout cannot be written: is the disk full?");
    return;
  }
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (fs::is_directory(status)) Fail(path, "it is a folder");
  if (fs::exists(status) && !fs::is_regular_file(status)) return WriteTo(path, path, write);
  fs::path place = path;
  if (fs::exists(status)) place = fs::canonical(path, error);
  if (error && fs::exists(status)) Fail(path, error.message());
  Temporary temporary(place);
  WriteTo(temporary.path, path, write);
  fs::rename(temporary.path, place, error);
  if (error) Fail(path, error.message());
  temporary.is_kept = true;
}

}  // namespace cnn
