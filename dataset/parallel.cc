#include "dataset/parallel.h"

#include <atomic>
#include <exception>
#include <mutex>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <vector>

namespace cnn {

void ParallelFor(int count, int threads, const std::function<void(int, int)>& work,
                 const std::function<void(int, int)>& progress) {
  if (threads < 1) throw std::invalid_argument("threads must be at least 1");
  std::atomic<int> next{0}, done{0};
  std::mutex mutex;
  std::exception_ptr error;  // guarded by mutex
  const auto run = [&](int thread) {
    try {
      for (int i = next++; i < count; i = next++) {
        work(i, thread);
        ++done;
        if (thread == 0 && progress) progress(done, count);
      }
    } catch (...) {
      next = count;
      const std::lock_guard<std::mutex> lock(mutex);
      if (!error) error = std::current_exception();
    }
  };
  std::vector<std::thread> helpers;
  try {
    for (int i = 1; i < threads && i < count; ++i) helpers.emplace_back(run, i);
  } catch (const std::system_error&) {
    // Fewer threads than asked for do the same work.
  }
  run(0);
  for (std::thread& helper : helpers) helper.join();
  if (error) std::rethrow_exception(error);
  if (progress) progress(count, count);
}

}  // namespace cnn
