// Keys and values of what was said so far, for mechanisms that read them at every step. A row is written once and never
// moves; a table says which rows each hypothesis descends from, and only that small table is rearranged when hypotheses
// part or end. With a window it is a ring: what lies further back is forgotten and its memory used again, but for rows
// that are said to stay, which have pages of their own.
#pragma once
#include <functional>
#include <limits>
#include <memory>
#include <vector>

#include "kernels/attention/attention_step.h"
#include "model/attention/mechanism.h"

namespace attune {

class KeyCache : public AttentionState {
 public:
  static constexpr int64_t kEverything = std::numeric_limits<int64_t>::max();

  /// `width` floats a row; `rows` is how many a step appends, about. Memory is taken in pages of about 64 steps, or a
  /// quarter of the window where that is less, and of 2 MB at most.
  /// `stays`: which positions outlast the window; kept rows are then asked for by position, see index_of().
  KeyCache(int64_t rows, int64_t width, int64_t window = kEverything, std::function<bool(int64_t)> stays = {});
  ~KeyCache() override;
  KeyCache(const KeyCache&) = delete;
  KeyCache& operator=(const KeyCache&) = delete;

  /// Where pages come from; without it, from an arena of its own.
  void use(Arena& arena) override { arena_ = &arena; }
  void reorder(std::span<const int32_t> parents) override;
  /// Begins a step: room for a row per hypothesis, which is then filled through row(). As many as the last reorder
  /// left, or any number at first.
  void append(int64_t rows);
  float* row(int64_t hypothesis) { return at(ancestors_[ancestors_.size() - static_cast<size_t>(rows_ - hypothesis)]); }

  /// Rows that every hypothesis reads before its own, for ever: as many as this, to be filled through shared_row().
  /// Before the first step, and not with a window.
  void share(int64_t count);
  float* shared_row(int64_t i) { return at(shared_[static_cast<size_t>(i)]); }

  /// Appends a step and fills it with columns of keys and of values, side by side.
  void append(const Projected& p, int64_t width_kv);

  /// Steps done, and how many rows a hypothesis has here: the shared ones and those of the last steps.
  int64_t steps() const { return steps_; }
  int64_t kept() const { return stays_ ? std::ssize(positions_) : std::ssize(shared_) + std::min(steps_, window_); }
  /// Which of the kept rows the one at a position is; -1: it is forgotten.
  int64_t index_of(int64_t position) const;
  int64_t rows() const { return rows_; }
  int64_t width() const { return width_; }
  /// [kept, rows]: where the keys of each hypothesis are, oldest first.
  const int32_t* ancestors() const { return ancestors_.data() + std::ssize(ancestors_) - kept() * rows_; }
  kernels::PagedRows paged(int64_t column) const { return {pages_.data(), page_bits_, width_, column}; }
  /// Of all pages.
  int64_t bytes() const override { return std::ssize(pages_) * page_bytes(); }
  /// The positions that a step reads, for who writes them down: its memory lasts.
  std::vector<int32_t> chosen;

 private:
  float* at(int32_t id) {
    return pages_[static_cast<size_t>(id >> page_bits_)] + (id & ((1 << page_bits_) - 1)) * width_;
  }
  int64_t page_bytes() const { return (width_ << page_bits_) * static_cast<int64_t>(sizeof(float)); }
  struct Page {
    int32_t number = -1, filled = 0;  // where the next row goes
  };
  int32_t take_row(Page& page, bool stays);
  void forget();

  int64_t width_, window_;
  std::function<bool(int64_t)> stays_;
  int page_bits_;
  std::unique_ptr<Arena> own_;  // where nobody named another
  Arena* arena_ = nullptr;
  std::vector<float*> pages_;
  std::vector<Arena::Block> blocks_;  // of the pages
  std::vector<int64_t> last_step_;    // of each page: the last that wrote to it, or kEverything: it stays
  std::vector<int32_t> unused_;       // pages
  Page near_, far_;                   // of rows that the window forgets, and of those that stay
  std::vector<int32_t> positions_;    // of the kept rows, where some stay; ...
  int64_t far_rows_ = 0;              // ... so many do
  std::vector<int32_t> shared_;
  std::vector<int32_t> ancestors_, before_;  // [steps since kept, rows]; before_: kept for its memory
  int64_t rows_ = 0, steps_ = 0;
};

}  // namespace attune
