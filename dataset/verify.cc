#include "dataset/verify.h"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>

#include "dataset/file_name.h"
#include "dataset/image_header.h"
#include "dataset/image_source.h"
#include "dataset/parallel.h"

namespace cnn {
namespace {

// "" when the name's ending promises the format it has, or nothing.
std::string WhyMisnamed(const std::string& path, ImageFormat format) {
  static constexpr std::pair<std::string_view, ImageFormat> kEndings[] = {
      {"jpg", ImageFormat::kJpeg}, {"jpeg", ImageFormat::kJpeg}, {"png", ImageFormat::kPng},
      {"bmp", ImageFormat::kBmp},  {"ppm", ImageFormat::kPnm},   {"tif", ImageFormat::kTiff},
      {"tiff", ImageFormat::kTiff}};
  for (const auto& [ending, promised] : kEndings) {
    if (promised != format && HasEnding(path, ending)) {
      return std::string("it is a ") + FormatName(format) + " image with the ending of a " +
             FormatName(promised);
    }
  }
  return "";
}

// A finding with an empty message when there is nothing to say.
ImageFinding Verify(const std::string& path, ImageScratch& scratch) {
  std::string warning;
  try {
    ReadImageFile(path, scratch.bytes);
    scratch.decoder.Decode(scratch.bytes, path);
    warning = scratch.decoder.warning();
    const std::string misnamed = WhyMisnamed(path, ReadImageHeader(scratch.bytes, path).format);
    if (!warning.empty() && !misnamed.empty()) warning += "; ";
    warning += misnamed;
  } catch (const ImageError& error) {
    return {path, error.what(), true};
  }
  return {path, warning.empty() ? "" : "'" + path + "': " + warning, false};
}

}  // namespace

std::vector<ImageFinding> VerifyImages(const ImageFolder& folder, std::int64_t max_pixels,
                                       int threads,
                                       const std::function<void(int done, int count)>& progress) {
  std::vector<ImageScratch> scratch;
  for (int t = 0; t < threads; ++t) scratch.emplace_back(max_pixels);
  std::vector<ImageFinding> findings(folder.images.size());
  ParallelFor(
      static_cast<int>(folder.images.size()), threads,
      [&](int i, int thread) {
        const auto at = static_cast<std::size_t>(i);
        findings[at] = Verify(folder.images[at].path, scratch[static_cast<std::size_t>(thread)]);
      },
      progress);
  findings.erase(std::remove_if(findings.begin(), findings.end(),
                                [](const ImageFinding& f) { return f.message.empty(); }),
                 findings.end());
  return findings;
}

}  // namespace cnn
