#include "data/prefetch.h"

#include <algorithm>

#include "base/error.h"

namespace attune {

Prefetch::Prefetch(std::function<void(Batch&)> fill, int depth) : fill_(std::move(fill)) {
  check(depth >= 1, "prefetch", "depth {} is less than 1", depth);
  ring_.resize(static_cast<size_t>(depth) + 1);
  thread_ = std::thread([this] { work(); });
}

Prefetch::~Prefetch() {
  {
    std::lock_guard lock(mutex_);
    stop_ = true;
  }
  used_.notify_one();
  thread_.join();
}

void Prefetch::work() {
  const auto slots = static_cast<int64_t>(ring_.size());
  for (int64_t i = 0;; ++i) {
    {
      std::unique_lock lock(mutex_);
      // The batch handed out last, used_count_ - 1, is still being read: its slot is not free.
      used_.wait(lock, [&] { return stop_ || i < std::max<int64_t>(used_count_ - 1, 0) + slots; });
      if (stop_) return;
    }
    std::exception_ptr trouble;
    try {
      fill_(ring_[static_cast<size_t>(i % slots)]);
    } catch (...) { trouble = std::current_exception(); }
    {
      std::lock_guard lock(mutex_);
      if (trouble)
        trouble_ = trouble;
      else
        ++made_count_;
    }
    made_.notify_one();
    if (trouble) return;
  }
}

const Batch& Prefetch::next() {
  std::unique_lock lock(mutex_);
  made_.wait(lock, [&] { return made_count_ > used_count_ || trouble_; });
  if (made_count_ == used_count_) std::rethrow_exception(trouble_);
  const Batch& batch = ring_[static_cast<size_t>(used_count_++ % static_cast<int64_t>(ring_.size()))];
  lock.unlock();
  used_.notify_one();
  return batch;
}

}  // namespace attune
