#include "base/thread_pool.h"

#include <algorithm>

#include "base/denormals.h"
#include "base/limits.h"

namespace attune {

struct ThreadPool::Job {
  int64_t blocks;
  FunctionRef<void(int64_t, int)> body;
  std::atomic<int64_t> next{0};
  std::mutex mutex;
  std::exception_ptr error;
};

namespace {
thread_local bool inside_block = false;
}

ThreadPool::ThreadPool(int threads) {
  if (threads <= 0) threads = available_cores();
  try {
    for (int w = 1; w < threads; ++w) workers_.emplace_back([this, w] { work(w); });
  } catch (...) {  // no memory for another stack: those that are there must end first
    {
      std::lock_guard lock(mutex_);
      stop_ = true;
    }
    wake_.notify_all();
    for (auto& w : workers_) w.join();
    throw;
  }
}

ThreadPool::~ThreadPool() {
  {
    std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  for (auto& w : workers_) w.join();
}

void ThreadPool::take_blocks(Job& job, int worker) {
  inside_block = true;
  for (;;) {
    const int64_t block = job.next.fetch_add(1, std::memory_order_relaxed);
    if (block >= job.blocks) break;
    try {
      job.body(block, worker);
    } catch (...) {
      std::lock_guard lock(job.mutex);
      if (!job.error) job.error = std::current_exception();
      job.next.store(job.blocks, std::memory_order_relaxed);
    }
  }
  inside_block = false;
}

void ThreadPool::work(int worker) {
  FlushDenormals flush;
  uint64_t seen = 0;
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, [&] { return stop_ || generation_ != seen; });
    if (stop_) return;
    seen = generation_;
    if (!job_) continue;  // finished before this worker woke
    Job& job = *job_;
    ++busy_;
    lock.unlock();
    take_blocks(job, worker);
    lock.lock();
    if (--busy_ == 0) done_.notify_one();
  }
}

void ThreadPool::run(int64_t blocks, FunctionRef<void(int64_t, int)> body) {
  if (blocks <= 0) return;
  if (workers_.empty() || blocks == 1 || inside_block) {
    for (int64_t b = 0; b < blocks; ++b) body(b, 0);
    return;
  }
  std::lock_guard one_at_a_time(call_);
  FlushDenormals flush;
  Job job{blocks, body, {}, {}, {}};
  {
    std::lock_guard lock(mutex_);
    job_ = &job;
    ++generation_;
  }
  wake_.notify_all();
  take_blocks(job, 0);
  {
    std::unique_lock lock(mutex_);
    job_ = nullptr;  // a worker that wakes from here on finds nothing
    done_.wait(lock, [&] { return busy_ == 0; });
  }
  if (job.error) std::rethrow_exception(job.error);
}

void parallel_for(ThreadPool* pool, int64_t blocks, FunctionRef<void(int64_t, int)> body) {
  if (pool) return pool->run(blocks, body);
  for (int64_t b = 0; b < blocks; ++b) body(b, 0);
}

}  // namespace attune
