#include "dataset/image_folder.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <tuple>
#include <utility>

#include "dataset/file_name.h"

namespace cnn {
namespace {

namespace fs = std::filesystem;

bool IsHidden(const std::string& name) { return name.front() == '.'; }

bool HasImageEnding(std::string_view name) {
  static constexpr std::array<std::string_view, 7> kEndings = {"png", "jpg", "jpeg", "bmp",
                                                               "ppm", "tif", "tiff"};
  return std::any_of(kEndings.begin(), kEndings.end(),
                     [name](std::string_view ending) { return HasEnding(name, ending); });
}

// Its entries; a folder that cannot be read is named.
std::vector<fs::directory_entry> Entries(const fs::path& folder) {
  std::error_code error;
  fs::directory_iterator entries(folder, error);
  if (error) {
    throw std::runtime_error("cannot read the folder '" + folder.string() +
                             "': " + error.message());
  }
  return {fs::begin(entries), fs::end(entries)};
}

std::vector<std::string> SortedClassNames(const fs::path& root) {
  std::vector<std::string> names;
  for (const fs::directory_entry& entry : Entries(root)) {
    std::string name = entry.path().filename().string();
    // is_directory follows a link: a class may be a link to a folder elsewhere.
    std::error_code broken_link;
    if (!IsHidden(name) && entry.is_directory(broken_link)) names.push_back(std::move(name));
  }
  std::sort(names.begin(), names.end());
  return names;
}

struct FoundFile {
  std::string folder;
  std::string name;
};

void ListImages(const fs::path& folder, std::vector<FoundFile>& found,
                std::vector<std::string>& ignored) {
  std::vector<fs::path> subfolders;
  for (const fs::directory_entry& entry : Entries(folder)) {
    std::string name = entry.path().filename().string();
    if (IsHidden(name)) continue;
    std::error_code broken_link;
    if (entry.is_directory(broken_link)) {
      // Links to folders are not followed below a class: they may loop.
      if (entry.is_symlink()) {
        ignored.push_back(entry.path().string());
      } else {
        subfolders.push_back(entry.path());
      }
    } else if (HasImageEnding(name)) {
      found.push_back({folder.string(), std::move(name)});
    } else {
      ignored.push_back(entry.path().string());
    }
  }
  for (const fs::path& subfolder : subfolders) ListImages(subfolder, found, ignored);
}

// As Keras sorts os.walk's result: folders by their whole path ("a", "a-b", "a/c": '-' comes before
// '/'), then the names within each folder.
std::vector<std::string> SortedImages(const fs::path& class_folder,
                                      std::vector<std::string>& ignored) {
  std::vector<FoundFile> found;
  ListImages(class_folder, found, ignored);
  std::sort(found.begin(), found.end(), [](const FoundFile& a, const FoundFile& b) {
    return std::tie(a.folder, a.name) < std::tie(b.folder, b.name);
  });
  std::vector<std::string> paths;
  paths.reserve(found.size());
  for (const FoundFile& file : found) paths.push_back((fs::path(file.folder) / file.name).string());
  return paths;
}

std::vector<std::string> Missing(const std::vector<std::string>& from,
                                 const std::vector<std::string>& other) {
  std::vector<std::string> names;
  std::set_difference(other.begin(), other.end(), from.begin(), from.end(),
                      std::back_inserter(names));
  return names;
}

std::string Quoted(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "'" : ", '") + name + "'";
  return text;
}

std::string DescribeSplit(const ImageFolder& folder) {
  return "Found " + std::to_string(folder.images.size()) + " images belonging to " +
         std::to_string(folder.classes.size()) + " classes in " + folder.root.string() + "\n";
}

}  // namespace

ImageFolder ScanImageFolder(const fs::path& root) {
  std::error_code error;
  if (!fs::is_directory(root, error)) {
    throw std::runtime_error(
        "'" + root.string() +
        "' is not a folder; it should hold one sub-folder of images per class");
  }
  ImageFolder folder;
  folder.root = root;
  folder.classes = SortedClassNames(root);
  for (std::size_t label = 0; label < folder.classes.size(); ++label) {
    for (std::string& path : SortedImages(root / folder.classes[label], folder.ignored)) {
      folder.images.push_back({std::move(path), static_cast<int>(label)});
    }
  }
  std::sort(folder.ignored.begin(), folder.ignored.end());
  if (folder.images.empty()) {
    throw std::runtime_error("no image in the " + std::to_string(folder.classes.size()) +
                             " class folders of '" + root.string() +
                             "'; it should hold one sub-folder of images (jpg, jpeg, png, bmp, "
                             "ppm, tif, tiff) per class");
  }
  return folder;
}

Dataset ScanDataset(const fs::path& dir, const std::string& name) {
  for (const char* split : {"train", "test"}) {
    std::error_code error;
    if (!fs::is_directory(dir / split, error)) {
      throw std::runtime_error("'" + dir.string() + "' has no folder '" + split +
                               "'; a data set is DIR/train/<class>/<images> and "
                               "DIR/test/<class>/<images>");
    }
  }
  Dataset dataset{name, ScanImageFolder(dir / "train"), ScanImageFolder(dir / "test")};
  const std::vector<std::string> missing = Missing(dataset.test.classes, dataset.train.classes);
  const std::vector<std::string> extra = Missing(dataset.train.classes, dataset.test.classes);
  if (!missing.empty() || !extra.empty()) {
    std::string message =
        "train and test of '" + dir.string() + "' must have the same class folders:";
    if (!missing.empty()) message += " test lacks " + Quoted(missing);
    if (!missing.empty() && !extra.empty()) message += ";";
    if (!extra.empty()) message += " train lacks " + Quoted(extra);
    throw std::runtime_error(message);
  }
  return dataset;
}

std::vector<std::string> EmptyClasses(const ImageFolder& folder) {
  std::vector<bool> has_image(folder.classes.size());
  for (const ImageFile& image : folder.images) {
    has_image[static_cast<std::size_t>(image.label)] = true;
  }
  std::vector<std::string> empty;
  for (std::size_t label = 0; label < has_image.size(); ++label) {
    if (!has_image[label]) empty.push_back(folder.classes[label]);
  }
  return empty;
}

std::string DescribeDataset(const Dataset& dataset) {
  return DescribeSplit(dataset.train) + DescribeSplit(dataset.test);
}

}  // namespace cnn
