#include "tensor/arena.h"

#include <sys/mman.h>

#include <algorithm>
#include <numeric>

#include "base/error.h"

namespace attune {

namespace {
constexpr int64_t kChunk = int64_t{1} << 22;  // the least taken from the system at once
int64_t round_up(int64_t n, int64_t to) { return (n + to - 1) / to * to; }
// Rehearsed blocks get an address that is never mapped: touching one is a fault, not a silent bug.
char* const kNowhere = reinterpret_cast<char*>(uintptr_t{1} << 46);
}  // namespace

Arena::~Arena() {
  for (const Chunk& c : chunks_) munmap(c.address, static_cast<size_t>(c.bytes));
}

char* Arena::map(int64_t bytes) {
  bytes = round_up(bytes, kChunk);
  void* p = mmap(nullptr, static_cast<size_t>(bytes), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED)
    fail(ErrorKind::memory,
         "no memory for {} MB more (holding {} MB)\n  fix: lower train.batch_tokens or raise the limit", bytes >> 20,
         reserved_ >> 20);
  madvise(p, static_cast<size_t>(bytes), MADV_HUGEPAGE);
  chunks_.push_back({static_cast<char*>(p), bytes});
  reserved_ += bytes;
  return static_cast<char*>(p);
}

Arena::Live Arena::take_free(int64_t bytes) {
  // The best fit of the oldest chunk that has one. Chunks are never joined and newer ones are never preferred, so where
  // a block goes does not depend on the chunks that came after it: that is why a repeated step maps nothing.
  size_t best = free_.size();
  for (size_t i = 0; i < free_.size(); ++i) {
    if (best < free_.size() && free_[i].chunk != free_[best].chunk) break;
    if (free_[i].bytes >= bytes && (best == free_.size() || free_[i].bytes < free_[best].bytes)) best = i;
  }
  if (best == free_.size()) {
    char* fresh = map(bytes);
    give_free({static_cast<int32_t>(chunks_.size() - 1), fresh, chunks_.back().bytes});
    return take_free(bytes);
  }
  Free& piece = free_[best];
  const Live live{piece.address, bytes, -1, piece.chunk};
  piece.address += bytes;
  piece.bytes -= bytes;
  if (piece.bytes == 0) free_.erase(free_.begin() + static_cast<std::ptrdiff_t>(best));
  return live;
}

void Arena::give_free(const Free& piece) {
  const auto after = std::lower_bound(free_.begin(), free_.end(), piece, [](const Free& a, const Free& b) {
    return a.chunk != b.chunk ? a.chunk < b.chunk : a.address < b.address;
  });
  const auto joins = [](const Free& a, const Free& b) {
    return a.chunk == b.chunk && a.address + a.bytes == b.address;
  };
  const bool joins_before = after != free_.begin() && joins(*(after - 1), piece);
  const bool joins_after = after != free_.end() && joins(piece, *after);
  if (joins_before && joins_after) {
    (after - 1)->bytes += piece.bytes + after->bytes;
    free_.erase(after);
  } else if (joins_before) {
    (after - 1)->bytes += piece.bytes;
  } else if (joins_after) {
    after->address = piece.address;
    after->bytes += piece.bytes;
  } else {
    free_.insert(after, piece);
  }
}

Arena::Block Arena::new_live(const Live& live) {
  in_use_ += live.bytes;
  peak_ = std::max(peak_, in_use_);
  ++blocks_out_;
  if (unused_.empty()) {
    live_.push_back(live);
    return static_cast<Block>(live_.size() - 1);
  }
  const Block b = unused_.back();
  unused_.pop_back();
  live_[static_cast<size_t>(b)] = live;
  return b;
}

/// Whether a block that lives is there: one that the rehearsal had seen given back by now. Blocks are a few hundred.
bool Arena::is_taken(const char* from, int64_t bytes) const {
  return std::any_of(live_.begin(), live_.end(), [&](const Live& l) {
    return l.address && l.address < from + bytes && from < l.address + l.bytes;
  });
}

Arena::Block Arena::allocate(int64_t bytes) {
  check(bytes >= 0, "arena", "a block of {} bytes", bytes);
  bytes = std::max(round_up(bytes, kAlign), kAlign);
  if (mode_ == Mode::rehearsing) {
    lifetimes_.push_back({bytes, clock_++, -1});
    return new_live({kNowhere, bytes, static_cast<int32_t>(lifetimes_.size() - 1), -1});
  }
  if (mode_ == Mode::planned) {
    const auto i = static_cast<size_t>(request_++);
    if (i < plan_.size.size() && bytes <= plan_.size[i])
      if (char* at = planned_base_ + plan_.offset[i]; !is_taken(at, bytes))
        return new_live({at, bytes, static_cast<int32_t>(i), -1});
    ++overflows_;
  }
  return new_live(take_free(bytes));
}

void Arena::release(Block block) {
  Live& live = live_[static_cast<size_t>(block)];
  in_use_ -= live.bytes;
  --blocks_out_;
  if (mode_ == Mode::rehearsing)
    lifetimes_[static_cast<size_t>(live.request)].to = clock_++;
  else if (live.request < 0)
    give_free({live.chunk, live.address, live.bytes});
  live = {};
  unused_.push_back(block);
}

void Arena::begin_step() {
  if (blocks_out_ != 0) fail(ErrorKind::internal, "[arena] {} blocks still in use at the start of a step", blocks_out_);
  request_ = 0;
}

void Arena::start_rehearsal() {
  begin_step();
  mode_ = Mode::rehearsing;
  lifetimes_.clear();
  clock_ = 0;
}

Plan Arena::finish_rehearsal() {
  if (blocks_out_ != 0) fail(ErrorKind::internal, "[arena] {} blocks still in use after a rehearsal", blocks_out_);
  mode_ = plan_.size.empty() ? Mode::growing : Mode::planned;
  peak_ = in_use_ = 0;
  return pack(lifetimes_);
}

Plan Arena::pack(const std::vector<Lifetime>& lifetimes) {
  // Largest first, each at the lowest offset free for its whole life among what overlaps it in time.
  const size_t n = lifetimes.size();
  Plan plan;
  plan.offset.assign(n, 0);
  plan.size.resize(n);
  for (size_t i = 0; i < n; ++i) plan.size[i] = lifetimes[i].bytes;
  std::vector<size_t> order(n);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return plan.size[a] > plan.size[b]; });
  std::vector<size_t> placed, near;
  for (size_t i : order) {
    near.clear();
    for (size_t j : placed)
      if (lifetimes[j].from < lifetimes[i].to && lifetimes[i].from < lifetimes[j].to) near.push_back(j);
    std::sort(near.begin(), near.end(), [&](size_t a, size_t b) { return plan.offset[a] < plan.offset[b]; });
    int64_t at = 0;
    for (size_t j : near) {
      if (plan.offset[j] >= at + plan.size[i]) break;
      at = std::max(at, plan.offset[j] + plan.size[j]);
    }
    plan.offset[i] = at;
    plan.peak = std::max(plan.peak, at + plan.size[i]);
    placed.push_back(i);
  }
  return plan;
}

void Arena::adopt(Plan plan) {
  begin_step();
  for (const Chunk& c : chunks_) munmap(c.address, static_cast<size_t>(c.bytes));
  chunks_.clear();
  free_.clear();
  reserved_ = 0;
  mode_ = Mode::growing;  // should there be no memory for the plan, the arena still works
  plan_ = {};
  planned_base_ = map(std::max<int64_t>(plan.peak, 1));
  plan_ = std::move(plan);
  mode_ = Mode::planned;
  peak_ = in_use_ = overflows_ = 0;
}

}  // namespace attune
