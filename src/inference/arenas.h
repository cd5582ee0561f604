// Working memory for calls that come from several threads at once: each gets an arena of its own, warmed by those
// before it.
#pragma once
#include <memory>
#include <mutex>
#include <vector>

#include "tensor/arena.h"

namespace attune {

class Arenas {
 public:
  /// f(arena) with an arena that nobody else uses.
  template <class F>
  void with(F f) {
    std::unique_ptr<Arena> arena;
    {
      const std::lock_guard lock(mutex_);
      if (!spare_.empty()) {
        arena = std::move(spare_.back());
        spare_.pop_back();
      }
    }
    if (!arena) arena = std::make_unique<Arena>();
    f(*arena);
    const std::lock_guard lock(mutex_);
    spare_.push_back(std::move(arena));
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<Arena>> spare_;
};

}  // namespace attune
