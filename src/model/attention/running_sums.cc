#include "model/attention/running_sums.h"

#include <algorithm>

#include "base/error.h"

namespace attune {

Aligned<float> RunningSums::take() {
  if (unused_.empty()) return Aligned<float>(floats_);
  Aligned<float> last = std::move(unused_.back());
  unused_.pop_back();
  return last;
}

void RunningSums::set(std::vector<Aligned<float>> memory) {
  memory_ = std::move(memory);
  rows_.clear();
  for (Aligned<float>& m : memory_) rows_.push_back(m.data());
}

void RunningSums::begin(int64_t rows) {
  if (steps_++ == 0) {
    std::vector<Aligned<float>> memory;
    for (int64_t i = 0; i < rows; ++i) memory.emplace_back(floats_);
    set(std::move(memory));
  }
  check(rows == std::ssize(memory_), "decode", "{} rows follow {}", rows, memory_.size());
}

/// The last child of a parent takes its memory over; the others before it get copies.
void RunningSums::reorder(std::span<const int32_t> parents) {
  if (steps_ == 0) return;
  std::vector<int32_t> children(memory_.size(), 0);
  for (const int32_t p : parents) ++children[static_cast<size_t>(p)];
  for (size_t i = 0; i < memory_.size(); ++i)
    if (children[i] == 0) unused_.push_back(std::move(memory_[i]));
  std::vector<Aligned<float>> next;
  for (const int32_t p : parents) {
    Aligned<float>& from = memory_[static_cast<size_t>(p)];
    if (--children[static_cast<size_t>(p)] == 0) {
      next.push_back(std::move(from));
    } else {
      next.push_back(take());
      std::copy_n(from.data(), floats_, next.back().data());
    }
  }
  set(std::move(next));
}

}  // namespace attune
