#include "model/attention/key_cache.h"

#include <algorithm>
#include <bit>

#include "base/error.h"

namespace attune {

namespace {
constexpr int64_t kPageSteps = 64, kLargestPage = int64_t{1} << 14;  // in rows

bool same_order(std::span<const int32_t> parents, int64_t rows) {
  if (std::ssize(parents) != rows) return false;
  for (size_t i = 0; i < parents.size(); ++i)
    if (parents[i] != static_cast<int32_t>(i)) return false;
  return true;
}
}  // namespace

KeyCache::KeyCache(int64_t rows, int64_t width)
    : width_(width),
      page_bits_(std::countr_zero(
          std::bit_ceil(static_cast<uint64_t>(std::clamp(rows * kPageSteps, kPageSteps, kLargestPage))))) {}

void KeyCache::reorder(std::span<const int32_t> parents) {
  if (steps_ == 0 || same_order(parents, rows_)) return;
  before_.swap(ancestors_);
  ancestors_.resize(parents.size() * static_cast<size_t>(steps_));
  int32_t* to = ancestors_.data();
  for (int64_t t = 0; t < steps_; ++t) {
    const int32_t* from = before_.data() + t * rows_;
    for (const int32_t p : parents) *to++ = from[p];
  }
  rows_ = std::ssize(parents);
}

void KeyCache::append(int64_t rows) {
  check(steps_ == 0 || rows == rows_, "decode", "{} rows follow {}", rows, rows_);
  rows_ = rows;
  ++steps_;
  for (int64_t i = 0; i < rows; ++i) ancestors_.push_back(static_cast<int32_t>(used_++));
  while ((std::ssize(pages_) << page_bits_) < used_) {
    pages_.push_back(Aligned<float>::unset(width_ << page_bits_));
    addresses_.push_back(pages_.back().data());
  }
}

float* KeyCache::row(int64_t hypothesis) {
  const int64_t i = used_ - rows_ + hypothesis;
  return pages_[static_cast<size_t>(i >> page_bits_)].data() + (i & ((int64_t{1} << page_bits_) - 1)) * width_;
}

}  // namespace attune
