// Prepares the next batches on a thread of its own, while the current one is trained on. The sequence is the same as
// without it.
#pragma once
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "data/batches.h"

namespace attune {

class Prefetch {
 public:
  /// `fill` makes the next batch and is called from the thread alone; up to `depth` wait at a time. To go elsewhere,
  /// destroy it, seek, and make a new one at the `next` of the last batch that was used.
  explicit Prefetch(std::function<void(Batch&)> fill, int depth = 2);
  explicit Prefetch(Batches& batches, int depth = 2) : Prefetch([&batches](Batch& b) { batches.next(b); }, depth) {}
  /// Waits for the batch that is being made, no longer.
  ~Prefetch();
  Prefetch(const Prefetch&) = delete;
  Prefetch& operator=(const Prefetch&) = delete;

  /// The next batch, valid until the next call. What `fill` threw comes out here, after the batches before it.
  const Batch& next();

 private:
  void work();

  std::function<void(Batch&)> fill_;
  std::vector<Batch> ring_;  // the one in use, and those that wait
  std::mutex mutex_;         // guards what follows
  std::condition_variable made_, used_;
  int64_t made_count_ = 0, used_count_ = 0;
  std::exception_ptr trouble_;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace attune
