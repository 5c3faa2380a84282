// The embedded default data: two deterministic sets of real JPEG files that look to a pipeline and
// to a network like holiday photographs (200 to 500 pixels a side, 15 to 60 KiB, class-dependent
// shape, texture and colour under noise), so that the suite runs without a download.
//
// Written once, into
// <cache>/cnn_benchmarks/synthetic-v<version>/{eight_kinds,dogs_vs_cats}/{train,test}/
// <class>/NNNN.jpg, where <cache> is $XDG_CACHE_HOME or ~/.cache. Writing is atomic: files go to a
// sibling folder under a file lock, and one rename makes the set visible; whatever an interrupted
// writer left is removed by the next.
#pragma once

#include <filesystem>
#include <functional>

namespace cnn {

/// $XDG_CACHE_HOME/cnn_benchmarks, else ~/.cache/cnn_benchmarks. Throws std::runtime_error when
/// neither XDG_CACHE_HOME (absolute) nor HOME is set.
std::filesystem::path DefaultCacheDir();

/// The folder that holds eight_kinds/ and dogs_vs_cats/, written first if need be by `threads`
/// threads. `progress(done, total)` is called now and then while writing, from the calling thread.
/// Throws std::runtime_error naming the folder and the way out.
std::filesystem::path EnsureSyntheticData(const std::filesystem::path& cache_dir, int threads,
                                          const std::function<void(int, int)>& progress);

namespace detail {

/// EnsureSyntheticData with a `thinning`-th of the images of each class, so that tests are quick.
std::filesystem::path EnsureThinnedSyntheticData(const std::filesystem::path& cache_dir,
                                                 int threads,
                                                 const std::function<void(int, int)>& progress,
                                                 int thinning);

}  // namespace detail

}  // namespace cnn
