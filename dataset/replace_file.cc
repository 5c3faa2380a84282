#include "dataset/replace_file.h"

#include <unistd.h>

#include <filesystem>
#include <stdexcept>
#include <system_error>

namespace cnn {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPartial = ".partial.";
constexpr int kMaxLinks = 40;  // Linux's own bound

// The file itself where `path` is a link to it.
fs::path PlaceOf(const std::string& path) {
  fs::path place = path;
  std::error_code error;
  for (int links = 0; links < kMaxLinks && fs::is_symlink(place, error); ++links) {
    const fs::path target = fs::read_symlink(place, error);
    place = target.is_absolute() ? target : place.parent_path() / target;
  }
  return place;
}

}  // namespace

void ReplaceFile(const std::string& path,
                 const std::function<void(const std::string& file)>& write) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (fs::is_directory(status)) throw std::runtime_error("it is a folder");
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    write(path);
    return;
  }
  const fs::path place = PlaceOf(path);
  const std::string file = place.string() + kPartial + std::to_string(getpid());
  try {
    write(file);
    fs::rename(file, place, error);
    if (error) throw std::runtime_error(error.message());
  } catch (...) {
    fs::remove(file, error);
    throw;
  }
}

void RemoveLeftovers(const std::string& path) {
  const fs::path place = PlaceOf(path);
  const std::string begin = place.filename().string() + kPartial;
  std::error_code error;
  const fs::path folder = place.has_parent_path() ? place.parent_path() : fs::path(".");
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    if (entry.path().filename().string().rfind(begin, 0) == 0) fs::remove(entry.path(), error);
  }
}

}  // namespace cnn
