// What was made of the segments met last, for whoever makes much of them: so many bytes of it. Safe to share between
// threads.
#pragma once
#include <list>
#include <memory>
#include <mutex>
#include <vector>

#include "tensor/segments.h"

namespace attune {

/// `T` has bytes().
template <class T>
class SegmentsCache {
 public:
  static constexpr int64_t kBytes = 32 << 20;

  /// make(segments) where it is not there.
  template <class Make>
  std::shared_ptr<const T> of(const Segments& segments, const Make& make) {
    {
      const std::lock_guard lock(mutex_);
      for (auto i = known_.begin(); i != known_.end(); ++i)
        if (i->start == segments.start && i->longest == segments.longest) {
          known_.splice(known_.begin(), known_, i);
          return i->made;
        }
    }
    auto made = std::make_shared<const T>(make(segments));
    const std::lock_guard lock(mutex_);
    known_.push_front({segments.start, segments.longest, made});
    bytes_ += made->bytes();
    while (bytes_ > kBytes && known_.size() > 1) {
      bytes_ -= known_.back().made->bytes();
      known_.pop_back();
    }
    return made;
  }

 private:
  struct Known {
    std::vector<int32_t> start;
    int32_t longest;
    std::shared_ptr<const T> made;
  };
  std::mutex mutex_;
  std::list<Known> known_;  // the one asked for last in front
  int64_t bytes_ = 0;
};

}  // namespace attune
