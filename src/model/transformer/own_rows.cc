#include "model/transformer/own_rows.h"

#include "autograd/operations/arrange.h"
#include "base/error.h"
#include "model/attention/rehearsed.h"

namespace attune {

namespace {

constexpr int64_t kShort = 64;

/// Whether two have the same rows for every length, as far as some lengths tell.
bool alike(const OwnRows* a, const OwnRows* b) {
  if (!a || !b) return a == b;
  for (int64_t n = 1; n < (1 << 20); n += 1 + n / 3)
    if (a->of(n) != b->of(n)) return false;
  return a->kinds() == b->kinds();
}

/// Rows of x, by ids that the backward pass finds as they were.
Var rows_of(Ctx& ctx, const Var& x, std::vector<int32_t> ids) {
  const auto kept = keep(ctx, std::move(ids));
  return gather_rows(ctx, x, ctx.input(Tensor(kept->data(), Shape{std::ssize(*kept)})));
}

}  // namespace

std::unique_ptr<StackOwnRows> StackOwnRows::of(const std::vector<Block>& blocks, const Blueprint& stack,
                                               int64_t d_model) {
  const OwnRows* first = blocks.empty() ? nullptr : blocks[0].self->own_rows();
  for (const Block& b : blocks)
    if (!alike(first, b.self->own_rows()))
      fail(ErrorKind::recipe,
           "model.attention: every layer of a stack needs the same rows of its own\n  fix: one mechanism with one "
           "number of such rows (etc, bp, bigbird with external = true) for all layers");
  return first ? std::unique_ptr<StackOwnRows>(new StackOwnRows(*first, stack, d_model)) : nullptr;
}

StackOwnRows::StackOwnRows(const OwnRows& rows, const Blueprint& stack, int64_t d_model)
    : rows_(rows), begin_(stack.table("own_rows", rows.kinds(), d_model, Init::normal(1))), most_below_(1) {
  const auto share = [&](int64_t n) { return static_cast<double>(rows.of(n)) / static_cast<double>(n); };
  for (int64_t n = 2; n <= kShort; ++n)
    if (share(n) > share(most_below_)) most_below_ = n;
}

Segments StackOwnRows::with(const Segments& s) const {
  std::vector<int32_t> lengths;
  for (int64_t i = 0; i < s.count(); ++i)
    lengths.push_back(static_cast<int32_t>(s.length(i) + (s.length(i) > 0 ? rows_.of(s.length(i)) : 0)));
  Segments all = Segments::of_lengths(lengths);
  if (s.longest > 0) all.longest = std::max(all.longest, static_cast<int32_t>(s.longest + rows_.of(s.longest)));
  return all;
}

/// For a rehearsal: as many sequences as have most rows of their own, and the longest as well, by which scratch goes.
std::shared_ptr<const Segments> StackOwnRows::rehearsed_most(Ctx& ctx, const Segments& at_hand) const {
  if (!ctx.arena.rehearsing()) return nullptr;
  Segments many = *rehearsed_segments(ctx, at_hand, most_below_);
  many.add(at_hand.longest);
  return keep(ctx, std::move(many));
}

Encoded StackOwnRows::with(const Pass& pass, const Encoded& given) const {
  Ctx& ctx = pass.ctx;
  const auto rehearsed = rehearsed_most(ctx, given.rows->segments);
  const Segments& sequences = rehearsed ? *rehearsed : given.rows->segments;
  Rows all;
  all.segments = with(sequences);
  // There are at most so many for each: those of different shards stay different for dropout.
  all.first_row = 4 * given.rows->first_row;
  all.axes = given.rows->axes;
  std::vector<int32_t> ids;  // of learned vectors, and of the rows behind them
  for (int64_t s = 0; s < sequences.count(); ++s) {
    const int64_t n = sequences.length(s), own = all.segments.length(s) - n;
    for (int64_t i = 0; i < own; ++i) ids.push_back(static_cast<int32_t>(rows_.kind(n, i)));
    for (int64_t i = 0; i < n; ++i) ids.push_back(static_cast<int32_t>(rows_.kinds() + sequences.begin(s) + i));
    if (all.axes == 0) continue;
    std::vector<int32_t>& to = all.places.own();
    to.insert(to.end(), static_cast<size_t>((rehearsed ? own + n : own) * all.axes), 0);
    if (rehearsed) continue;
    const int32_t* places = given.rows->places.data() + all.axes * sequences.begin(s);
    to.insert(to.end(), places, places + n * all.axes);
  }
  const auto kept = keep(ctx, std::move(all));
  const Var begin = pass[begin_];
  return {rows_of(ctx, concatenate_rows(ctx, {begin, given.x}), std::move(ids)), kept.get(), kept};
}

Var StackOwnRows::without(const Pass& pass, const Var& x, const Segments& all, int64_t words) const {
  std::vector<int32_t> ids;
  for (int64_t s = 0; s < all.count(); ++s)
    for (int64_t i = all.begin(s) + own_among(rows_, all.length(s)); i < all.begin(s + 1); ++i)
      ids.push_back(static_cast<int32_t>(i));
  if (pass.ctx.arena.rehearsing()) ids.resize(static_cast<size_t>(words));
  return rows_of(pass.ctx, x, std::move(ids));
}

void StackOwnRows::without(AttentionTap& tap) const {
  const int64_t own = own_among(rows_, tap.queries), n = tap.queries - own;
  if (tap.weights.empty() || tap.queries != tap.keys || own == 0) return;
  std::vector<float> fewer;
  for (int64_t h = 0; h < tap.heads; ++h)
    for (int64_t i = own; i < tap.queries; ++i) {
      const auto row = tap.weights.begin() + (h * tap.queries + i) * tap.keys;
      fewer.insert(fewer.end(), row + own, row + tap.keys);
    }
  tap.weights = std::move(fewer);
  tap.queries = tap.keys = n;
}

}  // namespace attune
