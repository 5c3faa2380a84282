// One tree with every odd file that broke somebody's training run: of a table of what Pillow and
// OpenCV do with odd files, and of public bug reports against several frameworks. Each is made
// here, byte by byte where no library would write it, and must end as the table says: good, good
// with a warning, or an error that names the file and the reason.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "dataset/decode.h"
#include "dataset/image_folder.h"
#include "dataset/testing.h"
#include "dataset/testing_images.h"
#include "dataset/verify.h"

namespace cnn {
namespace {

namespace fs = std::filesystem;

// The photograph of most rows, [24, 32].
const Bytes& Photo() {
  static const Bytes jpeg = EncodeJpeg(NoiseImage(24, 32), Sampling::k444);
  return jpeg;
}

Bytes BeforeTheEnd(const Bytes& jpeg, const Bytes& junk) {
  return InsertAt(jpeg, jpeg.size() - 2, junk);
}

// A code that starts no symbol, in the middle of the scan.
Bytes DamagedScan() {
  Bytes jpeg = Photo();
  const std::size_t middle = (FindMarker(jpeg, 0xDA) + jpeg.size()) / 2;
  for (std::size_t i = 0; i < 40; i += 2) {
    jpeg[middle + i] = 0xFF;
    jpeg[middle + i + 1] = 0x00;
  }
  return jpeg;
}

Bytes WithJfifVersionZero() {
  Bytes jpeg = Photo();
  const std::size_t version = FindMarker(jpeg, 0xE0) + 9;  // after the length and "JFIF\0"
  jpeg[version] = jpeg[version + 1] = 0;
  return jpeg;
}

Bytes WithoutApp0() { return WithoutSegment(Photo(), 0xE0); }

Bytes WithFlippedByte(Bytes bytes, std::size_t at) {
  bytes[at] ^= 0xFF;
  return bytes;
}

enum class End { kGood, kWarned, kBad };

struct OddFile {
  const char* name;
  const char* source;  // the table's row, the reports' numbers
  Bytes bytes;
  End end;
  const char* message;  // in the warning or the error
  int height = 24;      // of a usable one
};

const char* const kMisnamedPng = "a PNG image with the ending of a JPEG";

const std::vector<OddFile>& OddFiles() {
  static const std::vector<OddFile> files = {
      // JPEG that is not whole.
      {"half.jpg", "cut in half; 2, 3, 4", Cut(Photo(), Photo().size() / 2), End::kBad,
       "truncated JPEG"},
      {"half_progressive.jpg", "cut in half; 2, 3, 4",
       Cut(EncodeJpeg(NoiseImage(24, 32), Sampling::k420, true), 1000), End::kBad,
       "truncated JPEG"},
      {"no_end.jpg", "EOI missing", Cut(Photo(), Photo().size() - 2), End::kBad, "truncated JPEG"},
      {"header.jpg", "header only (100 B)", Cut(Photo(), 100), End::kBad, "truncated JPEG"},
      {"tables.jpg", "header only", Cut(Photo(), FindMarker(Photo(), 0xDA)) + Bytes{0xFF, 0xD9},
       End::kBad, "damaged JPEG"},
      {"before.jpg", "byte before SOI", Bytes{0} + Photo(), End::kBad, "00 ff d8 ff"},
      // Not images.
      {"empty.jpg", "0 bytes; 12", {}, End::kBad, "is empty (0 bytes)"},
      {"page.jpg", "HTML/text .jpg", Text("<!DOCTYPE html><html>404</html>"), End::kBad,
       "known format (it starts with the bytes 3c 21"},
      {"nul.jpg", "10", Bytes(5000, 0), End::kBad, "known format (it starts with the bytes 00 00"},
      // JPEG that looks odd and is none the worse.
      {"junk_before_end.jpg", "junk before EOI; 1", BeforeTheEnd(Photo(), Bytes(53, 0x55)),
       End::kWarned, "extraneous bytes before marker 0xd9"},
      {"junk_after_end.jpg", "after EOI; 6", Photo() + Bytes(3000, 0), End::kGood, ""},
      {"damaged.jpg", "corrupted entropy data", DamagedScan(), End::kWarned, "Corrupt JPEG data"},
      {"progressive.jpg", "progressive", EncodeJpeg(NoiseImage(24, 32), Sampling::k420, true),
       End::kGood, ""},
      {"profile.jpg", "ICC", WithSegment(Photo(), 0xE2, Text("ICC_PROFILE") + Bytes(200, 1)),
       End::kGood, ""},
      {"adobe_rgb.jpg", "Adobe RGB", WithSegment(WithoutApp0(), 0xEE, AdobeSegment(0)), End::kGood,
       ""},
      {"jfif_0.jpg", "1", WithJfifVersionZero(), End::kWarned, "JFIF revision number 0.00"},
      {"exif_only.jpg", "8", WithSegment(WithoutApp0(), 0xE1, Text("Exif") + Bytes(30, 0)),
       End::kGood, ""},
      {"no_app.jpg", "8", WithoutApp0(), End::kGood, ""},
      {"grey.jpg", "greyscale", EncodeJpeg(NoiseImage(24, 32), Sampling::kGrey), End::kGood, ""},
      {"cmyk.jpg", "CMYK; 16, 18", PlainCmyk(), End::kGood, ""},
      {"ycck.jpg", "CMYK; 16, 18", CmykJpeg(), End::kGood, ""},
      {"cmyk_no_adobe.jpg", "CMYK without APP14; 16, 18", WithoutSegment(CmykJpeg(), 0xEE),
       End::kGood, ""},
      {"turned.jpg", "EXIF 6; 14, 15", WithSegment(Photo(), 0xE1, RotatedExif()), End::kGood, ""},
      // Content of another format than the ending's.
      {"png.jpg", "PNG bytes; 7, 11", Encode(".png", NoiseImage(24, 32)), End::kWarned,
       kMisnamedPng},
      {"bmp.jpg", "BMP bytes; 11", Encode(".bmp", NoiseImage(24, 32)), End::kWarned, "a BMP image"},
      {"webp.jpg", "WebP bytes", Encode(".webp", NoiseImage(24, 32)), End::kWarned, "a WebP image"},
      {"rgba.jpg", "11", Encode(".png", cv::Mat(24, 32, CV_8UC4, cv::Scalar(9, 8, 7, 6))),
       End::kWarned, kMisnamedPng},
      {"gif.jpg", "GIF bytes; 7", Text("GIF89a") + Bytes(40, 1), End::kBad, "is a GIF image"},
      // Other formats.
      {"grey16.png", "16-bit grey PNG; 19", Encode(".png", SixteenBitRamp()), End::kGood, "", 1},
      {"rgb16.png", "16-bit RGB PNG",
       Encode(".png", cv::Mat(24, 32, CV_16UC3, cv::Scalar::all(999))), End::kGood, ""},
      {"rgba.png", "11", Encode(".png", cv::Mat(24, 32, CV_8UC4, cv::Scalar(9, 8, 7, 6))),
       End::kGood, ""},
      {"profile.png", "21",
       WithChunk(Encode(".png", NoiseImage(24, 32)), "iCCP", Text("ICC") + Bytes(60, 0)),
       End::kGood, ""},
      {"half.png", "2", Cut(Encode(".png", NoiseImage(24, 32)), 1000), End::kBad, "truncated PNG"},
      {"flipped.png", "2", WithFlippedByte(Encode(".png", NoiseImage(24, 32)), 900), End::kBad,
       "damaged PNG image: the checksum"},
      {"half.bmp", "2", Cut(Encode(".bmp", NoiseImage(24, 32)), 1000), End::kBad, "truncated BMP"},
      {"half.ppm", "2", Cut(Encode(".ppm", NoiseImage(24, 32)), 1000), End::kBad, "truncated PNM"},
      {"half.tif", "2", Cut(GreyTiff(GreyImage(24, 32), false), 500), End::kBad, "truncated TIFF"},
      {"half_webp.jpg", "2", Cut(Encode(".webp", NoiseImage(24, 32)), 1000), End::kBad,
       "truncated WebP"},
      {"float.tiff", "float32 TIFF", Encode(".tiff", cv::Mat(24, 32, CV_32FC1, cv::Scalar(0.5))),
       End::kBad, "unsupported TIFF"},
      {"10000.png", "10000 x 10000; 29", PngHeader(10000, 10000), End::kBad,
       "has 10000 x 10000 pixels, more than --max_pixels=89478485"},
      {"40000.png", "40000 x 40000; 29", PngHeader(40000, 40000), End::kBad,
       "has 40000 x 40000 pixels, more than --max_pixels=89478485"},
      // Names.
      {"with space.jpg", "name with space", Photo(), End::kGood, ""},
      {"gr\xC3\xBC\xC3\x9F"
       "e.jpg",
       "umlaut", Photo(), End::kGood, ""},
      {"\xE7\xA9\xBA.jpg", "CJK; 30", Photo(), End::kGood, ""},
      {"a.JPG", "22", Photo(), End::kGood, ""},
      {"b.Jpeg", "22", Photo(), End::kGood, ""},
      {"c_jpg", "no dot (1.5)", Photo(), End::kGood, ""},
  };
  return files;
}

// What is no file with bytes, by name, with its error.
const std::map<std::string, std::string>& OddEntries() {
  static const std::map<std::string, std::string> entries = {
      {"pipe.jpg", "is not a regular file"},
      {"dangling.jpg", "No such file"},
      {"sparse.jpg", "no image is read that has more than"},
  };
  return entries;
}

class HostileTree : public ::testing::Test {
 protected:
  HostileTree() : root_(dir_.path() / "train") {
    for (const OddFile& file : OddFiles()) WriteBytes(Path(file.name), file.bytes);
    EXPECT_EQ(mkfifo(Path("pipe.jpg").c_str(), 0600), 0);
    fs::create_symlink("nowhere", Path("dangling.jpg"));
    WriteText(Path("sparse.jpg"), "x");
    fs::resize_file(Path("sparse.jpg"), std::uintmax_t{1} << 31);
    // Report 24 and section 1.5: what is not looked at.
    fs::create_directory_symlink(".", Path("loop"));
    for (const char* name : {".hidden.jpg", "._mac.jpg", "x.webp", "x.gif", "x.jfif", "x.jpg.bak",
                             "Thumbs.db", ".DS_Store", ".ipynb_checkpoints/a.jpg"}) {
      WriteText(Path(name), "x");
    }
    WriteText(root_ / ".ipynb_checkpoints" / "a.jpg", "x");
    WriteText(root_ / ".DS_Store", "x");  // 25
    WriteText(root_ / "loose.jpg", "x");
    fs::create_directories(root_ / "empty");
    // A folder named like an image is a folder.
    WriteBytes(Path("dir.jpg") / "inner.jpg", Photo());
  }

  fs::path Path(const std::string& name) const { return root_ / "odd" / name; }

  const TempDir dir_;
  const fs::path root_;
};

TEST_F(HostileTree, IsScannedForImagesOnly) {
  const ImageFolder folder = ScanImageFolder(root_);
  EXPECT_EQ(folder.classes, (std::vector<std::string>{"empty", "odd"}));
  std::set<std::string> expected = {Path("dir.jpg/inner.jpg").string()};
  for (const OddFile& file : OddFiles()) expected.insert(Path(file.name).string());
  for (const auto& entry : OddEntries()) expected.insert(Path(entry.first).string());
  std::set<std::string> found;
  for (const ImageFile& image : folder.images) {
    found.insert(image.path);
    EXPECT_EQ(image.label, 1);
  }
  EXPECT_EQ(found, expected);
  EXPECT_EQ(found.size(), folder.images.size()) << "an image was listed twice";
}

// Report 27.
TEST_F(HostileTree, WithoutImagesIsAnError) {
  const std::string error = ErrorOf([&] { ScanImageFolder(root_ / "empty"); });
  EXPECT_TRUE(Contains(error, (root_ / "empty").string())) << error;
}

TEST_F(HostileTree, EachFileEndsAsItShould) {
  Decoder decoder;
  Bytes bytes;
  ::testing::internal::CaptureStderr();
  for (const OddFile& file : OddFiles()) {
    SCOPED_TRACE(std::string(file.name) + " (" + file.source + ")");
    const std::string path = Path(file.name).string();
    std::string error;
    try {
      ReadImageFile(path, bytes);
      const cv::Mat& rgb = decoder.Decode(bytes, path);
      EXPECT_EQ(rgb.type(), CV_8UC3);
      EXPECT_EQ(rgb.rows, file.height);
    } catch (const ImageError& caught) {
      error = caught.what();
    }
    EXPECT_EQ(!error.empty(), file.end == End::kBad) << error;
    if (file.end == End::kBad) {
      EXPECT_TRUE(Contains(error, "'" + path + "'")) << error;
      EXPECT_TRUE(Contains(error, file.message)) << error;
    }
  }
  for (const auto& [name, message] : OddEntries()) {
    const std::string path = Path(name).string();
    const std::string error = ErrorOf([&] { ReadImageFile(path, bytes); });
    EXPECT_TRUE(Contains(error, message) && Contains(error, path)) << error;
  }
  // Reports 1 and 21: no library floods the log.
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
}

TEST_F(HostileTree, VerifyingFindsExactlyTheOddOnes) {
  const ImageFolder folder = ScanImageFolder(root_);
  const std::vector<ImageFinding> findings = VerifyImages(folder, kDefaultMaxPixels, 2);
  std::map<std::string, ImageFinding> by_path;
  for (const ImageFinding& finding : findings) by_path[finding.path] = finding;
  EXPECT_EQ(by_path.size(), findings.size());
  const auto expect_finding = [&](const std::string& name, bool is_bad, const std::string& text) {
    const std::string path = Path(name).string();
    const ImageFinding& finding = by_path[path];
    EXPECT_EQ(finding.is_bad, is_bad) << name;
    EXPECT_TRUE(Contains(finding.message, text)) << name << ": " << finding.message;
    const std::size_t at = finding.message.find(path);
    EXPECT_NE(at, std::string::npos) << finding.message;
    EXPECT_EQ(finding.message.find(path, at + 1), std::string::npos) << finding.message;
    by_path.erase(path);
  };
  for (const OddFile& file : OddFiles()) {
    if (file.end != End::kGood) expect_finding(file.name, file.end == End::kBad, file.message);
  }
  for (const auto& [name, message] : OddEntries()) expect_finding(name, true, message);
  for (const auto& unexpected : by_path) ADD_FAILURE() << unexpected.second.message;
}

cv::Mat DecodeOdd(const std::string& name) {
  for (const OddFile& file : OddFiles()) {
    if (file.name == name) return Decoder().Decode(file.bytes, name).clone();
  }
  throw std::runtime_error("no such odd file: " + name);
}

// Junk, profiles, EXIF data (14, 15: no pixel is turned) and names do nothing to the pixels.
TEST(HostileFiles, HaveThePhotographsPixels) {
  const cv::Mat photo = Decoder().Decode(Photo(), "photo").clone();
  for (const char* name : {"junk_before_end.jpg", "junk_after_end.jpg", "profile.jpg", "jfif_0.jpg",
                           "exif_only.jpg", "no_app.jpg", "turned.jpg", "c_jpg"}) {
    EXPECT_TRUE(Same(DecodeOdd(name), photo)) << name;
  }
  EXPECT_FALSE(Same(DecodeOdd("adobe_rgb.jpg"), photo)) << "stored as RGB, not as YCbCr";
  const cv::Mat damaged = DecodeOdd("damaged.jpg");
  EXPECT_FALSE(Same(damaged, photo));
  EXPECT_TRUE(Same(damaged.rowRange(0, 8), photo.rowRange(0, 8)));
}

TEST(HostileFiles, KeepTheirPixelsInAnotherContainer) {
  cv::Mat rgb;
  cv::cvtColor(NoiseImage(24, 32), rgb, cv::COLOR_BGR2RGB);
  for (const char* name : {"png.jpg", "bmp.jpg", "profile.png"}) {
    EXPECT_TRUE(Same(DecodeOdd(name), rgb)) << name;
  }
  EXPECT_EQ(DecodeOdd("rgba.png").at<cv::Vec3b>(0, 0), cv::Vec3b(7, 8, 9));
  EXPECT_EQ(DecodeOdd("rgb16.png").at<cv::Vec3b>(0, 0), cv::Vec3b::all(999 >> 8));
}

// Report 19: a 16-bit image must not become white.
TEST(HostileFiles, KeepTheLevelsOfSixteenBits) {
  const cv::Mat ramp = DecodeOdd("grey16.png");
  const std::set<int> levels(ramp.data, ramp.data + 3 * ramp.total());
  EXPECT_GE(levels.size(), 200U);
}

}  // namespace
}  // namespace cnn
