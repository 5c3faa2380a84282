#include "dataset/image_folder.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "dataset/testing.h"

namespace cnn {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> RelativePaths(const ImageFolder& folder) {
  std::vector<std::string> paths;
  for (const ImageFile& image : folder.images) {
    paths.push_back(fs::path(image.path).lexically_relative(folder.root).string());
  }
  return paths;
}

using Names = std::vector<std::string>;

TEST(ScanImageFolder, ClassesAndFilesComeInByteOrder) {
  const TempDir dir;
  for (const char* name :
       {"b/2.jpg", "b/10.jpg", "b/a2.jpg", "b/A10.jpg", "b/a.jpg", "B/1.jpg", "\xC3\xA4/1.jpg"}) {
    WriteText(dir.path() / name, "x");
  }
  const ImageFolder folder = ScanImageFolder(dir.path());
  EXPECT_EQ(folder.classes, (Names{"B", "b", "\xC3\xA4"}));
  EXPECT_EQ(RelativePaths(folder), (Names{"B/1.jpg", "b/10.jpg", "b/2.jpg", "b/A10.jpg", "b/a.jpg",
                                          "b/a2.jpg", "\xC3\xA4/1.jpg"}));
  EXPECT_EQ(folder.root, dir.path());
}

TEST(ScanImageFolder, LabelsAreClassIndices) {
  const TempDir dir;
  for (const char* name : {"c/1.jpg", "a/1.jpg", "b/1.jpg", "a/2.jpg"}) {
    WriteText(dir.path() / name, "x");
  }
  const ImageFolder folder = ScanImageFolder(dir.path());
  std::vector<int> labels;
  for (const ImageFile& image : folder.images) labels.push_back(image.label);
  EXPECT_EQ(labels, (std::vector<int>{0, 0, 1, 2}));
}

TEST(ScanImageFolder, TakesKerasEndingsInAnyCase) {
  const TempDir dir;
  for (const char* name :
       {"a.jpg", "b.JPG", "c.Jpeg", "d.png", "e.BMP", "f.ppm", "g.tif", "h.TIFF", "i_jpg"}) {
    WriteText(dir.path() / "k" / name, "x");
  }
  for (const char* name : {"a.webp", "b.gif", "c.jfif", "d.jpg.bak", "Thumbs.db", "e.txt", "jp"}) {
    WriteText(dir.path() / "k" / name, "x");
  }
  EXPECT_EQ(RelativePaths(ScanImageFolder(dir.path())),
            (Names{"k/a.jpg", "k/b.JPG", "k/c.Jpeg", "k/d.png", "k/e.BMP", "k/f.ppm", "k/g.tif",
                   "k/h.TIFF", "k/i_jpg"}));
  const Names ignored = ScanImageFolder(dir.path()).ignored;
  ASSERT_EQ(ignored.size(), 7U);
  EXPECT_EQ(ignored[0], (dir.path() / "k" / "Thumbs.db").string());
}

TEST(ScanImageFolder, IgnoresHiddenNamesAndLooseFiles) {
  const TempDir dir;
  for (const char* name : {"k/a.jpg", "k/._a.jpg", "k/.hidden/b.jpg", ".ipynb_checkpoints/c.jpg",
                           "loose.jpg", ".DS_Store"}) {
    WriteText(dir.path() / name, "x");
  }
  const ImageFolder folder = ScanImageFolder(dir.path());
  EXPECT_EQ(folder.classes, (Names{"k"}));
  EXPECT_EQ(RelativePaths(folder), (Names{"k/a.jpg"}));
}

TEST(ScanImageFolder, RecursesFolderByFolder) {
  const TempDir dir;
  for (const char* name :
       {"k/z.jpg", "k/a/2.jpg", "k/a/sub/1.jpg", "k/a-b/1.jpg", "k/dir.jpg/1.jpg"}) {
    WriteText(dir.path() / name, "x");
  }
  const ImageFolder folder = ScanImageFolder(dir.path());
  EXPECT_EQ(RelativePaths(folder),
            (Names{"k/z.jpg", "k/a/2.jpg", "k/a-b/1.jpg", "k/a/sub/1.jpg", "k/dir.jpg/1.jpg"}));
  for (const ImageFile& image : folder.images) EXPECT_EQ(image.label, 0);
}

TEST(ScanImageFolder, FollowsLinksToClassesButNotWithinThem) {
  const TempDir dir, elsewhere;
  WriteText(elsewhere.path() / "1.jpg", "x");
  WriteText(dir.path() / "a" / "1.jpg", "x");
  fs::create_directory_symlink(elsewhere.path(), dir.path() / "b");
  fs::create_directory_symlink(".", dir.path() / "a" / "loop");
  fs::create_symlink(elsewhere.path() / "1.jpg", dir.path() / "a" / "link.jpg");
  const ImageFolder folder = ScanImageFolder(dir.path());
  EXPECT_EQ(folder.classes, (Names{"a", "b"}));
  EXPECT_EQ(RelativePaths(folder), (Names{"a/1.jpg", "a/link.jpg", "b/1.jpg"}));
}

TEST(ScanImageFolder, KeepsAClassWithoutImages) {
  const TempDir dir;
  fs::create_directories(dir.path() / "a");
  WriteText(dir.path() / "b" / "1.jpg", "x");
  const ImageFolder folder = ScanImageFolder(dir.path());
  EXPECT_EQ(folder.classes, (Names{"a", "b"}));
  ASSERT_EQ(folder.images.size(), 1U);
  EXPECT_EQ(folder.images[0].label, 1);
  EXPECT_EQ(EmptyClasses(folder), (Names{"a"}));
}

TEST(ScanImageFolder, NamesTheFolderThatIsNoneOrHoldsNoImage) {
  const TempDir dir;
  const std::string missing = (dir.path() / "nowhere").string();
  EXPECT_TRUE(Contains(ErrorOf([&] { ScanImageFolder(missing); }), missing));
  WriteText(dir.path() / "file", "x");
  EXPECT_TRUE(Contains(ErrorOf([&] { ScanImageFolder(dir.path() / "file"); }), "not a folder"));
  fs::create_directories(dir.path() / "root" / "class");
  const std::string error = ErrorOf([&] { ScanImageFolder(dir.path() / "root"); });
  EXPECT_TRUE(Contains(error, "no image")) << error;
  EXPECT_TRUE(Contains(error, (dir.path() / "root").string())) << error;
}

TEST(ScanDataset, ReadsBothSplits) {
  const TempDir dir;
  for (const char* name : {"train/cat/1.jpg", "train/cat/2.jpg", "train/dog/1.jpg",
                           "test/cat/1.jpg", "test/dog/1.jpg"}) {
    WriteText(dir.path() / name, "x");
  }
  const Dataset dataset = ScanDataset(dir.path(), "pets");
  EXPECT_EQ(dataset.name, "pets");
  EXPECT_EQ(dataset.train.images.size(), 3U);
  EXPECT_EQ(dataset.test.images.size(), 2U);
  EXPECT_EQ(DescribeDataset(dataset), "Found 3 images belonging to 2 classes in " +
                                          (dir.path() / "train").string() +
                                          "\nFound 2 images belonging to 2 classes in " +
                                          (dir.path() / "test").string() + "\n");
}

TEST(ScanDataset, NamesTheMissingSplit) {
  const TempDir dir;
  WriteText(dir.path() / "train" / "cat" / "1.jpg", "x");
  const std::string error = ErrorOf([&] { ScanDataset(dir.path(), "pets"); });
  EXPECT_TRUE(Contains(error, "'test'")) << error;
  EXPECT_TRUE(Contains(error, dir.path().string())) << error;
}

TEST(ScanDataset, NamesTheClassesThatDiffer) {
  const TempDir dir;
  for (const char* name : {"train/cat/1.jpg", "train/dog/1.jpg", "train/owl/1.jpg",
                           "test/cat/1.jpg", "test/dogs/1.jpg"}) {
    WriteText(dir.path() / name, "x");
  }
  const std::string error = ErrorOf([&] { ScanDataset(dir.path(), "pets"); });
  EXPECT_TRUE(Contains(error, "test lacks 'dog', 'owl'")) << error;
  EXPECT_TRUE(Contains(error, "train lacks 'dogs'")) << error;
}

}  // namespace
}  // namespace cnn
