// What several tests of this folder share: a scratch folder, files of given bytes, random
// images.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <opencv2/core/mat.hpp>
#include <opencv2/imgcodecs.hpp>
#include <sstream>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include "dataset/augment.h"
#include "dataset/random.h"

namespace cnn {

/// The published experiments' augmentations.
inline Augmentation EightKindsAugmentation() {
  Augmentation augmentation;
  augmentation.rotation_range = 20;
  augmentation.shear_range = 0.2;
  augmentation.zoom_range = 0.2;
  augmentation.horizontal_flip = true;
  return augmentation;
}

inline Augmentation DogsVsCatsAugmentation() {
  Augmentation augmentation = EightKindsAugmentation();
  augmentation.rotation_range = 40;
  augmentation.height_shift_range = augmentation.width_shift_range = 0.2;
  return augmentation;
}

/// A new empty folder, removed with all it holds.
class TempDir {
 public:
  TempDir() {
    std::string pattern = (std::filesystem::temp_directory_path() / "cnn_test_XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("mkdtemp " + pattern);
    path_ = pattern;
  }
  ~TempDir() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// Writes a file, with the folders above it.
inline void WriteBytes(const std::filesystem::path& path, const std::vector<std::uint8_t>& bytes) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (!file) throw std::runtime_error("cannot write " + path.string());
}

inline void WriteText(const std::filesystem::path& path, const std::string& text) {
  WriteBytes(path, {text.begin(), text.end()});
}

/// A whole file as bytes. Throws std::runtime_error if it cannot be read.
inline std::string ReadText(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file.is_open() || file.bad()) throw std::runtime_error("cannot read " + path.string());
  return text.str();
}

/// [rows, cols] of 3 x 8 bit, uniform integers in [low, high).
inline cv::Mat RandomImage(int rows, int cols, int low, int high, KeyedRandom random) {
  cv::Mat image(rows, cols, CV_8UC3);
  const auto span = static_cast<std::uint64_t>(high - low);
  for (std::size_t i = 0; i < 3 * image.total(); ++i) {
    image.data[i] = static_cast<std::uint8_t>(low + static_cast<int>(random.Below(span)));
  }
  return image;
}

/// The message of the std::runtime_error that `action` throws; fails the test if it throws none.
template <typename Action>
std::string ErrorOf(Action action) {
  try {
    action();
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  ADD_FAILURE() << "no std::runtime_error was thrown";
  return "";
}

inline bool Contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// `count` JPEG files of random pixels from [low, low + 100), all different.
inline void WriteImages(const std::filesystem::path& folder, int count, int low) {
  std::filesystem::create_directories(folder);
  for (int i = 0; i < count; ++i) {
    const KeyedRandom random({static_cast<std::uint64_t>(low), static_cast<std::uint64_t>(i)});
    cv::imwrite((folder / (std::to_string(i) + ".jpg")).string(),
                RandomImage(160, 170, low, low + 100, random));
  }
}

}  // namespace cnn
