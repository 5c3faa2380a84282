#include "dataset/replace_file.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <stdexcept>

#include "dataset/testing.h"

namespace cnn {
namespace {

namespace fs = std::filesystem;

class ReplaceFileTest : public testing::Test {
 protected:
  std::string PathOf(const std::string& name) const { return (folder_.path() / name).string(); }

  std::size_t FilesThere() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(folder_.path()), fs::directory_iterator()));
  }

  static void Replace(const std::string& path, const std::string& text) {
    ReplaceFile(path, [&](const std::string& file) { WriteText(file, text); });
  }

  TempDir folder_;
};

TEST_F(ReplaceFileTest, TheOldFileIsThereUntilTheNewOneIsDone) {
  Replace(PathOf("a"), "old");
  ReplaceFile(PathOf("a"), [&](const std::string& file) {
    WriteText(file, "new");
    EXPECT_EQ(ReadText(PathOf("a")), "old");
  });
  EXPECT_EQ(ReadText(PathOf("a")), "new");
  EXPECT_EQ(FilesThere(), 1U);
}

TEST_F(ReplaceFileTest, AFailureLeavesTheOldFileAndNothingElse) {
  Replace(PathOf("a"), "old");
  const auto fail = [](const std::string& file) {
    WriteText(file, "half");
    throw std::runtime_error("disk full");
  };
  EXPECT_EQ(ErrorOf([&] { ReplaceFile(PathOf("a"), fail); }), "disk full");
  EXPECT_EQ(ReadText(PathOf("a")), "old");
  EXPECT_EQ(FilesThere(), 1U);
}

TEST_F(ReplaceFileTest, ALinkStaysALink) {
  Replace(PathOf("target"), "old");
  fs::create_symlink("target", PathOf("link"));
  Replace(PathOf("link"), "new");
  EXPECT_TRUE(fs::is_symlink(PathOf("link")));
  EXPECT_EQ(ReadText(PathOf("target")), "new");
  fs::create_symlink("later", PathOf("dangling"));
  Replace(PathOf("dangling"), "new");
  EXPECT_EQ(ReadText(PathOf("later")), "new");
}

TEST_F(ReplaceFileTest, AFolderIsRefusedAndADeviceWrittenInPlace) {
  EXPECT_EQ(ErrorOf([&] { Replace(folder_.path().string(), ""); }), "it is a folder");
  ReplaceFile("/dev/null", [](const std::string& file) { EXPECT_EQ(file, "/dev/null"); });
}

TEST_F(ReplaceFileTest, LeftoversOfAKilledProcessAreRemoved) {
  Replace(PathOf("a"), "whole");
  WriteText(PathOf("a.partial.12345"), "half");
  WriteText(PathOf("b.partial.12345"), "another's");
  RemoveLeftovers(PathOf("a"));
  EXPECT_FALSE(fs::exists(PathOf("a.partial.12345")));
  EXPECT_TRUE(fs::exists(PathOf("b.partial.12345")));
  EXPECT_EQ(ReadText(PathOf("a")), "whole");
}

}  // namespace
}  // namespace cnn
