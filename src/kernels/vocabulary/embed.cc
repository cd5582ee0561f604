#include "kernels/vocabulary/embed.h"

#include <algorithm>
#include <cmath>

#include "base/portable_math.h"
#include "kernels/row_blocks.h"

#define KERNELS_FILE "kernels/vocabulary/embed.cc"
#include "kernels/simd.h"
// after simd.h, once per instruction set
#include "kernels/dropout.h"

#ifndef ATTUNE_EMBED_ONCE
#define ATTUNE_EMBED_ONCE
namespace attune::kernels {
namespace {

/// What a row of the table is multiplied by: whole words are dropped, the others grow to make up for them.
float word_scale(float scale, const Dropout& words, int64_t row) {
  return !words.on() ? scale : dropped(words, row, 0) ? 0 : scale * dropout_scale(words.rate);
}

void clear(const Tensor& t, ThreadPool* pool) {
  for_row_blocks(pool, t.rows(), t.cols(), [&](int64_t from, int64_t to) {
    for (int64_t r = from; r < to; ++r) std::fill_n(t.row<float>(r), t.cols(), 0.0f);
  });
}

}  // namespace
}  // namespace attune::kernels
#endif

KERNELS_BEGIN

/// Part of a row of a table: what it stands for.
HWY_INLINE Pack<float> word_at(const float* word, float, int64_t count) { return load_at(word, count); }
HWY_INLINE Pack<float> word_at(const int8_t* word, float scale, int64_t) {
  const hn::RebindToSigned<F> i32;
  const hn::Rebind<int8_t, F> i8;
  return each([&](int i) HWY_ATTR {
    return hn::Mul(hn::ConvertTo(F(), hn::PromoteTo(i32, hn::LoadU(i8, word + i * kLanes))), hn::Set(F(), scale));
  });
}

template <class T>
void embed_rows(const Embed& a, const T* table, int64_t stride, int64_t from, int64_t to) {
  const bool on = a.dropout.on();
  PositionWalk walk(a.where, from);
  for (int64_t r = from; r < to; ++r) {
    const auto scale = splat(word_scale(a.scale, a.words, r));
    const T* word = table + a.ids[r] * stride;
    const float own = a.int8.scales ? a.int8.scales[a.ids[r]] : 1.0f;
    const float* position = a.positions ? a.positions.row<float>(walk.next()) : nullptr;
    float* y = a.y.row<float>(r);
    DropoutSweep drop(a.dropout, r);
    for_packs(a.y.cols(), [&](int64_t j, int64_t count) HWY_ATTR {
      auto v = word_at(word + j, own, count);
      v = position ? fma(v, scale, load_at(position + j, count)) : v * scale;
      store_at(on ? drop.apply(v, j) : v, y + j, count);
    });
  }
}

void embed(const Embed& a, ThreadPool* pool) {
  for_row_blocks(pool, a.y.rows(), a.y.cols(), [&](int64_t from, int64_t to) {
    if (a.int8.values)
      embed_rows(a, a.int8.values, a.int8.cols, from, to);
    else
      embed_rows(a, a.table.as<float>(), a.table.stride, from, to);
  });
}

/// Adds rows of dy in ascending order, but only to the rows i of each gradient with i mod `parts` = `part`.
void add_rows(const EmbedBackward& a, int64_t part, int64_t parts) {
  const bool on = a.dropout.on();
  PositionWalk walk(a.where, 0);
  for (int64_t r = 0; r < a.dy.rows(); ++r) {
    const int64_t at = a.dpositions ? walk.next() : 0;
    float* word = a.dtable && a.ids[r] % parts == part ? a.dtable.row<float>(a.ids[r]) : nullptr;
    float* position = a.dpositions && at % parts == part ? a.dpositions.row<float>(at) : nullptr;
    if (!word && !position) continue;
    const auto scale = splat(word_scale(a.scale, a.words, r));
    const float* dy = a.dy.row<float>(r);
    DropoutSweep drop(a.dropout, r);
    for_packs(a.dy.cols(), [&](int64_t j, int64_t count) HWY_ATTR {
      auto g = load_at(dy + j, count);
      if (on) g = drop.apply(g, j);
      if (word) store_at(fma(g, scale, load_at(word + j, count)), word + j, count);
      if (position) store_at(g + load_at(position + j, count), position + j, count);
    });
  }
}

void embed_backward(const EmbedBackward& a, ThreadPool* pool) {
  if (a.dtable && !a.add_table) clear(a.dtable, pool);
  if (a.dpositions && !a.add_positions) clear(a.dpositions, pool);
  // Threads take ids, not rows: whatever their number, each id is one chain over ascending rows, with no sorting.
  if (!worth_a_pool(pool, a.dy.size())) return add_rows(a, 0, 1);
  constexpr int64_t kParts = 8;
  parallel_for(pool, kParts, [&](int64_t part, int) { add_rows(a, part, kParts); });
}

KERNELS_END

#if KERNELS_ONCE
namespace attune {

void fill_sinusoidal(const Tensor& table) {
  const int64_t d = table.cols();
  by_type(table.dtype, [&](auto t) {
    using T = decltype(t);
    for (int64_t j = 0; j < d; ++j) {
      const double wave = portable::pow(10000.0, static_cast<double>(j / 2 * 2) / static_cast<double>(d));
      for (int64_t pos = 0; pos < table.rows(); ++pos) {
        const double angle = static_cast<double>(pos) / wave;
        table.row<T>(pos)[j] = static_cast<T>(j % 2 == 0 ? portable::sin(angle) : portable::cos(angle));
      }
    }
  });
}

namespace kernels {

KERNEL_EXPORT(embed);
KERNEL_EXPORT(embed_backward);

void embed(const Embed& a, ThreadPool* pool) { KERNEL_CALL(embed)(a, pool); }
void embed_backward(const EmbedBackward& a, ThreadPool* pool) { KERNEL_CALL(embed_backward)(a, pool); }

}  // namespace kernels
}  // namespace attune
#endif
