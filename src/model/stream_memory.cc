#include "model/stream_memory.h"

#include <algorithm>

namespace attune {

void StreamMemory::begin(int64_t streams, bool first) {
  streams_ = first ? streams : std::max(streams, streams_);
  for (size_t i = 0; i < slots_.size(); ++i) {
    if (first) kept_[i].counts.clear();
    kept_[i].counts.resize(static_cast<size_t>(streams_), 0);
    kept_[i].rows.resize(static_cast<size_t>(streams_ * slots_[i].rows * slots_[i].width));
  }
}

void StreamMemory::pretend_full(int64_t streams) {
  for (size_t i = 0; i < slots_.size(); ++i)
    kept_[i].counts.assign(static_cast<size_t>(streams), static_cast<int32_t>(slots_[i].rows));
}

void StreamMemory::recall(int slot, int32_t stream, const Tensor& to) const {
  const MemorySlot& s = slots_[static_cast<size_t>(slot)];
  const float* from = kept(slot).rows.data() + stream * s.rows * s.width;
  by_type(to.dtype, [&](auto t) {
    for (int64_t i = 0; i < count(slot, stream); ++i, from += s.width)
      std::copy_n(from, s.width, to.row<decltype(t)>(i));
  });
}

void StreamMemory::remember(int slot, int32_t stream, const Tensor& rows) {
  const MemorySlot& s = slots_[static_cast<size_t>(slot)];
  Kept& kept = kept_[static_cast<size_t>(slot)];
  int32_t& count = kept.counts[static_cast<size_t>(stream)];
  float* all = kept.rows.data() + stream * s.rows * s.width;
  const int64_t more = std::min(rows.rows(), s.rows), stay = std::min<int64_t>(count, s.rows - more);
  std::copy(all + (count - stay) * s.width, all + count * s.width, all);
  by_type(rows.dtype, [&](auto t) {
    for (int64_t i = 0; i < more; ++i)
      std::transform(rows.row<decltype(t)>(rows.rows() - more + i),
                     rows.row<decltype(t)>(rows.rows() - more + i) + s.width, all + (stay + i) * s.width,
                     [](auto x) { return static_cast<float>(x); });
  });
  count = static_cast<int32_t>(stay + more);
}

int64_t StreamMemory::bytes(int64_t streams) const {
  int64_t sum = 0;
  for (const MemorySlot& s : slots_) sum += streams * s.rows * s.width * static_cast<int64_t>(sizeof(float));
  return sum;
}

}  // namespace attune
