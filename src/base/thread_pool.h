// A small thread pool. Work is a counted set of blocks; whichever thread is free takes the next one, so results
// may depend on the block index only, never on the thread: that is what keeps bits equal for any thread count.
#pragma once
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "base/function_ref.h"

namespace attune {

class ThreadPool {
 public:
  /// `threads` counts the calling thread too; 0 means one per core this process may use.
  explicit ThreadPool(int threads = 0);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int threads() const { return static_cast<int>(workers_.size()) + 1; }

  /// Runs body(block, worker) for every block in [0, blocks), the caller taking part as worker 0, and returns when all
  /// are done. The first exception is rethrown here. A call from inside a block runs in place, as worker 0 of its own.
  void run(int64_t blocks, FunctionRef<void(int64_t block, int worker)> body);

 private:
  struct Job;
  void work(int worker);
  void take_blocks(Job& job, int worker);

  std::vector<std::thread> workers_;
  std::mutex call_;   // one run at a time
  std::mutex mutex_;  // guards what follows
  std::condition_variable wake_, done_;
  Job* job_ = nullptr;
  uint64_t generation_ = 0;
  int busy_ = 0;
  bool stop_ = false;
};

/// The same on a pool that may be absent: without one, blocks run in order on the calling thread.
void parallel_for(ThreadPool* pool, int64_t blocks, FunctionRef<void(int64_t block, int worker)> body);

/// How many workers `parallel_for` may use: sizes per-worker scratch.
inline int workers_of(const ThreadPool* pool) { return pool ? pool->threads() : 1; }

}  // namespace attune
