#include "model/attention/key_cache.h"

#include <algorithm>
#include <bit>

#include "base/error.h"

namespace attune {

namespace {
constexpr int64_t kPageSteps = 64;
constexpr int64_t kLargestPage = int64_t{2} << 20;  // in bytes: what a huge page of memory has room for

bool same_order(std::span<const int32_t> parents, int64_t rows) {
  if (std::ssize(parents) != rows) return false;
  for (size_t i = 0; i < parents.size(); ++i)
    if (parents[i] != static_cast<int32_t>(i)) return false;
  return true;
}
}  // namespace

KeyCache::KeyCache(int64_t rows, int64_t width, int64_t window, std::function<bool(int64_t)> stays)
    : width_(width), window_(window), stays_(std::move(stays)) {
  const int64_t steps = std::clamp<int64_t>(window / 4, 1, kPageSteps);
  const auto row = width * static_cast<int64_t>(sizeof(float));
  const auto most =
      std::bit_floor(static_cast<uint64_t>(std::max<int64_t>(1, kLargestPage / std::max<int64_t>(1, row))));
  const auto page = std::bit_ceil(static_cast<uint64_t>(std::max<int64_t>(1, rows) * steps));
  page_bits_ = std::countr_zero(std::min(page, most));
  near_.filled = far_.filled = 1 << page_bits_;
}

KeyCache::~KeyCache() {
  for (const Arena::Block b : blocks_) arena_->release(b);
}

void KeyCache::reorder(std::span<const int32_t> parents) {
  if (steps_ == 0 || same_order(parents, rows_)) return;
  const int32_t* from = ancestors();
  const int64_t kept = this->kept();
  before_.resize(parents.size() * static_cast<size_t>(kept));
  int32_t* to = before_.data();
  for (int64_t t = 0; t < kept; ++t, from += rows_)
    for (const int32_t p : parents) *to++ = from[p];
  ancestors_.swap(before_);
  rows_ = std::ssize(parents);
}

int32_t KeyCache::take_row(Page& page, bool stays) {
  if (page.filled == 1 << page_bits_) {
    page.filled = 0;
    if (unused_.empty()) {
      page.number = static_cast<int32_t>(pages_.size());
      if (!arena_) arena_ = (own_ = std::make_unique<Arena>()).get();
      blocks_.push_back(arena_->allocate(page_bytes()));
      pages_.push_back(static_cast<float*>(arena_->block_data(blocks_.back())));
      last_step_.push_back(0);
    } else {
      page.number = unused_.back();
      unused_.pop_back();
    }
  }
  last_step_[static_cast<size_t>(page.number)] = stays ? kEverything : steps_;
  return (page.number << page_bits_) + page.filled++;
}

int64_t KeyCache::index_of(int64_t position) const {
  if (!stays_) return std::max<int64_t>(-1, kept() - (steps_ - position));
  if (position < steps_ - window_ && !stays_(position)) return -1;  // the table may have it still, its page not
  const auto at = std::lower_bound(positions_.begin(), positions_.end(), static_cast<int32_t>(position));
  return at == positions_.end() || *at != position ? -1 : at - positions_.begin();
}

/// Gives back what the window has left behind. The table is shortened now and then, not at every step.
void KeyCache::forget() {
  if (steps_ <= window_) return;
  if (stays_ && std::ssize(positions_) >= 2 * (window_ + far_rows_)) {
    size_t to = 0;
    for (size_t t = 0; t < positions_.size(); ++t) {
      if (positions_[t] < steps_ - window_ && !stays_(positions_[t])) continue;
      const auto row = ancestors_.begin() + static_cast<std::ptrdiff_t>(static_cast<int64_t>(t) * rows_);
      std::copy_n(row, rows_, ancestors_.begin() + static_cast<std::ptrdiff_t>(static_cast<int64_t>(to) * rows_));
      positions_[to++] = positions_[t];
    }
    positions_.resize(to);
    ancestors_.resize(to * static_cast<size_t>(rows_));
  } else if (!stays_ && std::ssize(ancestors_) >= 2 * window_ * rows_) {
    ancestors_.erase(ancestors_.begin(), ancestors_.end() - window_ * rows_);
  }
  for (size_t i = 0; i < pages_.size(); ++i)
    if (last_step_[i] > 0 && last_step_[i] <= steps_ - window_ && static_cast<int32_t>(i) != near_.number) {
      last_step_[i] = 0;  // steps count from 1: it holds nothing
      unused_.push_back(static_cast<int32_t>(i));
    }
}

void KeyCache::share(int64_t count) {
  check(steps_ == 0 && window_ == kEverything, "decode", "shared rows come first, and stay");
  for (int64_t i = 0; i < count; ++i) shared_.push_back(take_row(near_, false));
}

void KeyCache::append(int64_t rows) {
  check(steps_ == 0 || rows == rows_, "decode", "{} rows follow {}", rows, rows_);
  rows_ = rows;
  if (++steps_ == 1)
    for (const int32_t s : shared_) ancestors_.insert(ancestors_.end(), static_cast<size_t>(rows), s);
  forget();
  const bool stays = stays_ && stays_(steps_ - 1);
  for (int64_t i = 0; i < rows; ++i) ancestors_.push_back(take_row(stays ? far_ : near_, stays));
  if (!stays_) return;
  positions_.push_back(static_cast<int32_t>(steps_ - 1));
  far_rows_ += stays ? 1 : 0;
}

void KeyCache::append(const Projected& p, int64_t width_kv) {
  append(p.q.rows());
  for (int64_t i = 0; i < rows_; ++i) {
    std::copy_n(p.k.value().row<float>(i) + p.k_column, width_kv, row(i));
    std::copy_n(p.v.value().row<float>(i) + p.v_column, width_kv, row(i) + width_kv);
  }
}

}  // namespace attune
