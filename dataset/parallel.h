// One loop over independent items by a few threads, for work that is done once: writing the
// synthetic images, checking or decoding a data set. The loader has threads of its own.
#pragma once

#include <functional>

namespace cnn {

/// Calls `work(i, thread)` once for each i in [0, count), in any order, on up to `threads` threads,
/// the caller's among them; `thread` is from [0, threads), so that a caller can keep memory for
/// each. `progress(done, count)` is called now and then from the calling thread, and at the end.
/// The first exception of `work` is rethrown when the other threads have finished their present
/// item; what was not begun by then is left out. Throws std::invalid_argument when `threads` is
/// below 1.
void ParallelFor(int count, int threads, const std::function<void(int i, int thread)>& work,
                 const std::function<void(int done, int count)>& progress = {});

}  // namespace cnn
