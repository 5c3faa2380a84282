#include "dataset/image_source.h"

#include <filesystem>
#include <stdexcept>
#include <system_error>

#include "dataset/parallel.h"

namespace cnn {

std::int64_t MemoryNeeded(const ImageFolder& folder, SourceKind kind, int side) {
  if (kind == SourceKind::kFiles) return 0;
  if (kind == SourceKind::kDecoded) {
    return static_cast<std::int64_t>(folder.images.size()) * 3 * side * side;
  }
  std::int64_t bytes = 0;
  for (const ImageFile& image : folder.images) {
    std::error_code error;  // a file that has no size is not kept either
    const std::uintmax_t size = std::filesystem::file_size(image.path, error);
    if (!error) bytes += static_cast<std::int64_t>(size);
  }
  return bytes;
}

ImageSource::ImageSource(const ImageFolder& folder, SourceKind kind, int side,
                         std::int64_t max_pixels, int threads,
                         const std::function<void(int, int)>& progress)
    : folder_(&folder), kind_(kind), side_(side), max_pixels_(max_pixels) {
  // The upper bound keeps sizes far from overflow.
  if (side < 1 || side > 1 << 14) {
    throw std::invalid_argument("image source: side must be from 1 to 16384");
  }
  if (kind == SourceKind::kFiles) return;
  const std::size_t images = folder.images.size();
  errors_.resize(images);
  if (kind == SourceKind::kBytes) encoded_.resize(images);
  if (kind == SourceKind::kDecoded) pixels_.resize(images * ImageBytes());
  std::vector<ImageScratch> scratches;
  for (int i = 0; i < threads; ++i) scratches.emplace_back(max_pixels);
  const auto keep = [&](std::size_t i, ImageScratch& scratch) {
    const std::string& path = folder.images[i].path;
    if (kind == SourceKind::kBytes) {
      ReadImageFile(path, encoded_[i]);
      return;
    }
    ReadImageFile(path, scratch.bytes);
    const cv::Mat image = Resized(scratch.decoder.Decode(scratch.bytes, path), scratch);
    image.copyTo(cv::Mat(side_, side_, CV_8UC3, pixels_.data() + i * ImageBytes()));
  };
  ParallelFor(
      static_cast<int>(images), threads,
      [&](int i, int thread) {
        const auto index = static_cast<std::size_t>(i);
        try {
          keep(index, scratches[static_cast<std::size_t>(thread)]);
        } catch (const ImageError& error) {
          errors_[index] = error.what();
        }
      },
      progress);
}

cv::Mat ImageSource::Get(std::size_t index, ImageScratch& scratch) const {
  if (kind_ != SourceKind::kFiles && !errors_[index].empty()) throw ImageError(errors_[index]);
  if (kind_ == SourceKind::kDecoded) {
    // A view; nobody writes through it.
    return {side_, side_, CV_8UC3,
            const_cast<std::uint8_t*>(pixels_.data()) + index * ImageBytes()};
  }
  const std::string& path = folder_->images[index].path;
  if (kind_ == SourceKind::kFiles) ReadImageFile(path, scratch.bytes);
  const auto& bytes = kind_ == SourceKind::kFiles ? scratch.bytes : encoded_[index];
  return Resized(scratch.decoder.Decode(bytes, path), scratch);
}

cv::Mat ImageSource::Resized(const cv::Mat& decoded, ImageScratch& scratch) const {
  if (decoded.rows == side_ && decoded.cols == side_) return decoded;
  ResizeNearest(decoded, side_, side_, scratch.resized);
  return scratch.resized;
}

std::size_t ImageSource::ImageBytes() const {
  return 3 * static_cast<std::size_t>(side_) * static_cast<std::size_t>(side_);
}

}  // namespace cnn
