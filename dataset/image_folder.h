// Class-per-folder image trees, read as Keras's flow_from_directory reads them: classes are the
// sub-folders in byte order of their names, a class's images all image files below it, folder by
// folder and file by file in byte order. Nothing is opened; only names are looked at. Unlike
// Keras's, names that begin with a dot are not looked at either: .ipynb_checkpoints is no class,
// and
// ._photo.jpg, which macOS leaves behind, no image.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace cnn {

struct ImageFile {
  std::string path;
  int label = 0;  // index into ImageFolder::classes
};

struct ImageFolder {
  std::filesystem::path root;
  std::vector<std::string> classes;
  std::vector<ImageFile> images;
  // Paths in class folders that are no image's by name, or links to folders.
  std::vector<std::string> ignored;
};

/// Scans one split. Image files end in jpg, jpeg, png, bmp, ppm, tif or tiff, in any case. Throws
/// std::runtime_error when `root` is no folder or holds no image.
ImageFolder ScanImageFolder(const std::filesystem::path& root);

/// DIR/train and DIR/test.
struct Dataset {
  std::string name;  // "synthetic" or the folder's own name
  ImageFolder train;
  ImageFolder test;
};

/// Scans both splits. Throws std::runtime_error when one is missing or their class lists differ,
/// naming the difference.
Dataset ScanDataset(const std::filesystem::path& dir, const std::string& name);

/// Classes that no image of `folder` belongs to.
std::vector<std::string> EmptyClasses(const ImageFolder& folder);

/// "Found 196 images belonging to 2 classes in DIR/train": one line per split, each with
/// its newline, in Keras's words.
std::string DescribeDataset(const Dataset& dataset);

}  // namespace cnn
