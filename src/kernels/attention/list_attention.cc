#include "kernels/attention/list_attention.h"

#include <algorithm>

#define KERNELS_FILE "kernels/attention/list_attention.cc"
#include "kernels/simd.h"  // first: what follows is compiled once per instruction set

#include "kernels/attention/attention_tiles.h"
#include "kernels/dropout.h"

KERNELS_BEGIN

inline constexpr int64_t kListRows = 32;  // that a thread takes at once

HWY_INLINE float list_dot(const float* a, const float* b, int64_t dim) {
  auto total = zero<float>();
  for_packs(dim, [&](int64_t d, int64_t count)
                     HWY_ATTR { total = fma(load_at(a + d, count), load_at(b + d, count), total); });
  return sum(total);
}

HWY_INLINE Dropout list_dropout(const ListShape& x, int64_t head) {
  Dropout d = x.dropout;
  d.key = mix(d.key, static_cast<uint64_t>(head));
  return d;
}

/// Sixteen rows at most.
struct SomeRows {
  const float* at[16];
};

#if HWY_TARGET == HWY_SCALAR

HWY_INLINE Pack<float> list_dots(const float* one, const SomeRows& rows, int64_t count, int64_t column, int64_t dim) {
  float sums[16] = {};
  for (int64_t t = 0; t < count; ++t) sums[t] = list_dot(one, rows.at[t] + column, dim);
  return load(sums);
}

#else

/// The first two steps of `sum`: sixteen lanes become four.
HWY_INLINE void to_quad(const Pack<float>& v, float* to) {
  const hn::Half<F> half;
  if constexpr (kRegs == 1) {
    const hn::Half<hn::Half<F> > f4;
    const auto a = hn::Add(hn::LowerHalf(half, v.r[0]), hn::UpperHalf(half, v.r[0]));
    hn::StoreU(hn::Add(hn::LowerHalf(f4, a), hn::UpperHalf(f4, a)), f4, to);
  } else if constexpr (kRegs == 2) {
    const auto a = hn::Add(v.r[0], v.r[kRegs - 1]);
    hn::StoreU(hn::Add(hn::LowerHalf(half, a), hn::UpperHalf(half, a)), half, to);
  } else {
    hn::StoreU(hn::Add(hn::Add(v.r[0], v.r[2 % kRegs]), hn::Add(v.r[1 % kRegs], v.r[3 % kRegs])), F(), to);
  }
}

/// The products of one row with some columns of others, in their lanes: each the bits of list_dot. Four go at a time.
HWY_INLINE Pack<float> list_dots(const float* one, const SomeRows& rows, int64_t count, int64_t column, int64_t dim) {
  HWY_ALIGN float quads[4][4][4];  // of the t-th row in [t % 4][t / 4], so that four registers blend into one
  for (int64_t t = 0; t < count; t += 4) {
    const float *r0 = rows.at[t] + column, *r1 = rows.at[t + 1] + column, *r2 = rows.at[t + 2] + column,
                *r3 = rows.at[t + 3] + column;
    auto a = zero<float>(), b = a, c = a, e = a;
    for_packs(dim, [&](int64_t d, int64_t n) HWY_ATTR {
      const auto x = load_at(one + d, n);
      a = fma(x, load_at(r0 + d, n), a);
      b = fma(x, load_at(r1 + d, n), b);
      c = fma(x, load_at(r2 + d, n), c);
      e = fma(x, load_at(r3 + d, n), e);
    });
    to_quad(a, quads[0][t / 4]);
    to_quad(b, quads[1][t / 4]);
    to_quad(c, quads[2][t / 4]);
    to_quad(e, quads[3][t / 4]);
  }
  return each([&](int i) HWY_ATTR {
    const F f;
    const auto whole = [&](int j) HWY_ATTR {
      auto v = hn::LoadU(f, &quads[j][0][0] + i * kLanes);
      v = hn::Add(v, hn::Shuffle1032(v));
      return hn::Add(v, hn::Shuffle2301(v));
    };
    const auto lane = hn::And(hn::Iota(U(), 0), hn::Set(U(), 2));
    const auto upper = hn::MaskFromVec(hn::BitCast(f, hn::VecFromMask(U(), hn::Ne(lane, hn::Zero(U())))));
    return hn::IfThenElse(upper, hn::OddEven(whole(3), whole(2)), hn::OddEven(whole(1), whole(0)));
  });
}

#endif

/// to += the sum of some columns of the rows by their weights, in their order.
HWY_INLINE void list_add(float* to, const SomeRows& rows, const float* weights, int64_t count, int64_t column,
                         int64_t dim) {
  int64_t d = 0;
  for (; d + 64 <= dim; d += 64) {
    auto a = load(to + d), b = load(to + d + 16), c = load(to + d + 32), e = load(to + d + 48);
    for (int64_t t = 0; t < count; ++t) {
      const float* row = rows.at[t] + column + d;
      const auto w = splat(weights[t]);
      a = fma(load(row), w, a);
      b = fma(load(row + 16), w, b);
      c = fma(load(row + 32), w, c);
      e = fma(load(row + 48), w, e);
    }
    store(a, to + d);
    store(b, to + d + 16);
    store(c, to + d + 32);
    store(e, to + d + 48);
  }
  for_packs(dim - d, [&](int64_t from, int64_t n) HWY_ATTR {
    auto a = load_at(to + d + from, n);
    for (int64_t t = 0; t < count; ++t) a = fma(load_at(rows.at[t] + column + d + from, n), splat(weights[t]), a);
    store_at(a, to + d + from, n);
  });
}

/// Keys and values as one list of rows: those of a second source come behind the first.
struct ListedRows {
  const Rows &first, &second;
  int64_t split;
  HWY_INLINE const float* at(int64_t key) const {
    return key < split ? first.data + key * first.stride : second.data + (key - split) * second.stride;
  }
};

/// Asks for a head's columns of a row, which will be read soon.
HWY_INLINE void list_ask(const float* p, int64_t dim) {
  for (int64_t d = 0; d < dim; d += 16) __builtin_prefetch(p + d);
}

/// Rows that some pairs name; the last one twice or more, up to a multiple of four.
HWY_INLINE void list_take(const ListedRows& from, const int32_t* keys, int64_t count, SomeRows& rows) {
  for (int64_t t = 0; t < count; ++t) rows.at[t] = from.at(keys[t]);
  for (int64_t t = count; t % 4 != 0; ++t) rows.at[t] = rows.at[count - 1];
}

/// Asks for the keys and values of a row's list, but for those that the row before it reads, too (it is looked for
/// where it was, and one further: lists of neighbours are alike, or shifted). Of a long list, the first.
template <class Source>
HWY_INLINE void list_ask_keys(const Source& a, int64_t row) {
  const ListShape& x = a.shape;
  const int32_t* start = x.lists->start.data() + row;
  const int32_t *keys = x.lists->keys.data() + start[0], *before = x.lists->keys.data() + start[-1];
  const int64_t count = std::min(16, start[1] - start[0]), others = start[0] - start[-1];
  for (int64_t t = 0; t < count; ++t) {
    if ((t < others && keys[t] == before[t]) || (t + 1 < others && keys[t] == before[t + 1])) continue;
    list_ask(ListedRows{a.k, a.k2, x.split}.at(keys[t]), x.heads_kv * x.dim);
    list_ask(ListedRows{a.v, a.v2, x.split}.at(keys[t]), x.heads_kv * x.dim);
  }
}

/// One row, all heads: sixteen keys at a time, of which each head takes its columns. `weights`: [heads, padded].
void list_row_forward(const ListForward& a, int64_t row, float* weights, float* mixed) {
  const ListShape& x = a.shape;
  const int64_t dim = x.dim, group = x.heads / x.heads_kv;
  const auto first = static_cast<int64_t>(x.lists->start[static_cast<size_t>(row)]);
  const int64_t count = x.lists->start[static_cast<size_t>(row) + 1] - first, padded = round16(count);
  const int32_t* keys = x.lists->keys.data() + first;
  const float *q = a.q.data + row * a.q.stride, factor = x.scale * kLog2E;
  SomeRows rows;
  for (int64_t t = 0; t < count; t += 16) {
    const int64_t some = std::min<int64_t>(16, count - t);
    list_take({a.k, a.k2, x.split}, keys + t, some, rows);
    for (int64_t h = 0; h < x.heads; ++h) {
      const auto s = list_dots(q + h * dim, rows, some, h / group * dim, dim);
      store(first_n(s, some, splat(-INFINITY)), weights + h * padded + t);
    }
  }
  for (int64_t h = 0; h < x.heads; ++h) {
    float* s = weights + h * padded;
    const float most = count == 0 ? 0 : std::max(kLowest, max_of_row(s, padded));
    const float total = count == 0 ? 1 : sum(exponentials(s, padded, most, factor));
    float lanes[16];
    store(fma(splat(most), splat(factor), log2(splat(total))), lanes);
    a.log_sum[row * x.heads + h] = lanes[0];
    const auto by = splat(1 / total);
    const DropoutRow keep(list_dropout(x, h), row);
    for (int64_t c = 0; c < padded; c += 16) {
      const auto w = load(s + c) * by;
      store(x.dropout.on() ? keep.apply(w, c) : w, s + c);
    }
  }
  std::fill_n(mixed, x.heads * dim, 0.0f);
  for (int64_t t = 0; t < count; t += 16) {
    const int64_t some = std::min<int64_t>(16, count - t);
    list_take({a.v, a.v2, x.split}, keys + t, some, rows);
    for (int64_t h = 0; h < x.heads; ++h)
      list_add(mixed + h * dim, rows, weights + h * padded + t, some, h / group * dim, dim);
  }
  std::copy_n(mixed, x.heads * dim, a.out.data + row * a.out.stride);
}

void list_attention_forward(const ListForward& a, ThreadPool* pool) {
  const ListShape& x = a.shape;
  const int64_t rows = x.lists->rows(), width = round16(x.heads * x.dim);
  const int64_t each_worker = width + x.heads * round16(x.lists->longest);
  parallel_for(pool, (rows + kListRows - 1) / kListRows, [&](int64_t block, int worker) {
    float* mixed = static_cast<float*>(a.scratch) + worker * each_worker;
    const int64_t last = std::min(rows, (block + 1) * kListRows);
    for (int64_t row = block * kListRows; row < last; ++row) {
      if (row + 1 < last) {
        list_ask(a.q.data + (row + 1) * a.q.stride, x.heads * x.dim);
        list_ask_keys(a, row + 1);
      }
      list_row_forward(a, row, mixed + width, mixed);
    }
  });
}

/// Sixteen pairs of one head at most, of one query or of one key.
struct ListPairs {
  int64_t count = 0;
  float log_sum[16] = {}, mean[16] = {}, kept[16] = {};  // mean: of the row's dout times its result; kept: of dropout
  float weight[16], dscore[16];                          // the weights after dropout, the gradients of the scores
};

/// `own` is the row of the query or key and `own_out` what goes with it: its result's gradient, or value. The others
/// likewise: keys and values of a query, queries and gradients of results of a key.
HWY_INLINE void list_gradients(ListPairs& p, const float* own, const float* own_out, const SomeRows& other,
                               const SomeRows& other_out, int64_t column, int64_t dim, float scale) {
  const auto s = first_n(list_dots(own, other, p.count, column, dim), p.count, zero<float>());
  const auto dp = first_n(list_dots(own_out, other_out, p.count, column, dim), p.count, zero<float>());
  const auto weight = exp2_weights(fma(s, splat(scale * kLog2E), zero<float>() - load(p.log_sum)));
  const auto kept = load(p.kept);
  store(weight * kept, p.weight);
  store(weight * (dp * kept - load(p.mean)) * splat(scale), p.dscore);
}

HWY_INLINE float list_kept(const Dropout& dropout, int64_t row, int64_t slot) {
  return !dropout.on() ? 1 : dropped(dropout, row, static_cast<uint32_t>(slot)) ? 0 : dropout_scale(dropout.rate);
}

/// Of one row, all heads; its `means` are written, too.
void list_query_backward(const ListBackward& a, int64_t row, float* means, float* dq) {
  const ListShape& x = a.shape;
  const int64_t dim = x.dim, group = x.heads / x.heads_kv;
  const float *q = a.q.data + row * a.q.stride, *dout = a.dout.data + row * a.dout.stride;
  for (int64_t h = 0; h < x.heads; ++h)
    means[h] = list_dot(dout + h * dim, a.out.data + row * a.out.stride + h * dim, dim);
  if (!a.dq.data) return;
  const auto first = static_cast<int64_t>(x.lists->start[static_cast<size_t>(row)]);
  const int64_t count = x.lists->start[static_cast<size_t>(row) + 1] - first;
  std::fill_n(dq, x.heads * dim, 0.0f);
  SomeRows k, v;
  ListPairs p;
  for (int64_t t = 0; t < count; t += 16) {
    p.count = std::min<int64_t>(16, count - t);
    list_take({a.k, a.k2, x.split}, x.lists->keys.data() + first + t, p.count, k);
    list_take({a.v, a.v2, x.split}, x.lists->keys.data() + first + t, p.count, v);
    for (int64_t h = 0; h < x.heads; ++h) {
      const Dropout dropout = list_dropout(x, h);
      std::fill_n(p.log_sum, 16, a.log_sum[row * x.heads + h]);
      std::fill_n(p.mean, 16, means[h]);
      for (int64_t e = 0; e < p.count; ++e) p.kept[e] = list_kept(dropout, row, t + e);
      const int64_t column = h / group * dim;
      list_gradients(p, q + h * dim, dout + h * dim, k, v, column, dim, x.scale);
      list_add(dq + h * dim, k, p.dscore, p.count, column, dim);
    }
  }
  float* out = a.dq.data + row * a.dq.stride;
  for_packs(x.heads * dim, [&](int64_t d, int64_t n) HWY_ATTR { put_at(load_at(dq + d, n), out + d, n, a.add_dq); });
}

/// What a key's readers give it, in all heads.
void list_key_backward(const ListBackward& a, const float* means, int64_t key, float* dk, float* dv) {
  const ListShape& x = a.shape;
  const KeyLists& lists = *x.lists;
  const int64_t dim = x.dim, group = x.heads / x.heads_kv;
  const float *k = ListedRows{a.k, a.k2, x.split}.at(key), *v = ListedRows{a.v, a.v2, x.split}.at(key);
  const int32_t* readers = lists.read_by.data() + lists.read_start[static_cast<size_t>(key)];
  const int64_t count = lists.read_start[static_cast<size_t>(key) + 1] - lists.read_start[static_cast<size_t>(key)];
  std::fill_n(dk, x.heads_kv * dim, 0.0f);
  std::fill_n(dv, x.heads_kv * dim, 0.0f);
  int64_t row[16];
  SomeRows q, dout;
  ListPairs p;
  for (int64_t i = 0; i < count; i += 16) {
    p.count = std::min<int64_t>(16, count - i);
    for (int64_t t = 0; t < round16(p.count); ++t) {
      row[t] = lists.query[static_cast<size_t>(readers[i + std::min(t, p.count - 1)])];
      q.at[t] = a.q.data + row[t] * a.q.stride;
      dout.at[t] = a.dout.data + row[t] * a.dout.stride;
    }
    for (int64_t h = 0; h < x.heads; ++h) {
      const Dropout dropout = list_dropout(x, h);
      for (int64_t t = 0; t < p.count; ++t) {
        p.log_sum[t] = a.log_sum[row[t] * x.heads + h];
        p.mean[t] = means[row[t] * x.heads + h];
        p.kept[t] = list_kept(dropout, row[t], readers[i + t] - lists.start[static_cast<size_t>(row[t])]);
      }
      const int64_t column = h / group * dim;
      list_gradients(p, k + column, v + column, q, dout, h * dim, dim, x.scale);
      list_add(dk + column, q, p.dscore, p.count, h * dim, dim);
      list_add(dv + column, dout, p.weight, p.count, h * dim, dim);
    }
  }
}

HWY_INLINE void list_keys_backward(const ListBackward& a, const float* means, float* dk, float* dv, int64_t key) {
  const ListShape& x = a.shape;
  const bool second = key >= x.split;
  const ListGradients& sums = second ? a.d2 : a.d;
  if (!sums.k.data && !sums.v.data) return;
  list_key_backward(a, means, key, dk, dv);
  const auto put = [&](const Rows& to_rows, const float* of, bool add) HWY_ATTR {
    if (!to_rows.data) return;
    float* out = to_rows.data + (key - (second ? x.split : 0)) * to_rows.stride;
    for_packs(x.heads_kv * x.dim, [&](int64_t d, int64_t n) HWY_ATTR { put_at(load_at(of + d, n), out + d, n, add); });
  };
  put(sums.k, dk, sums.add_k);
  put(sums.v, dv, sums.add_v);
}

void list_attention_backward(const ListBackward& a, ThreadPool* pool) {
  const ListShape& x = a.shape;
  const int64_t rows = x.lists->rows(), keys = x.lists->key_rows(), width = round16(x.heads * x.dim);
  float* means = static_cast<float*>(a.scratch);
  float* own = means + round16(rows * x.heads);
  parallel_for(pool, (rows + kListRows - 1) / kListRows, [&](int64_t block, int worker) {
    const int64_t last = std::min(rows, (block + 1) * kListRows);
    for (int64_t row = block * kListRows; row < last; ++row) {
      if (row + 1 < last) {
        for (const Rows* r : {&a.q, &a.dout, &a.out}) list_ask(r->data + (row + 1) * r->stride, x.heads * x.dim);
        list_ask_keys(a, row + 1);
      }
      list_query_backward(a, row, means + row * x.heads, own + worker * 2 * width);
    }
  });
  if (!a.d.k.data && !a.d.v.data && !a.d2.k.data && !a.d2.v.data) return;
  parallel_for(pool, (keys + kListRows - 1) / kListRows, [&](int64_t block, int worker) {
    float* sums = own + worker * 2 * width;
    const int64_t last = std::min(keys, (block + 1) * kListRows);
    for (int64_t key = block * kListRows; key < last; ++key) list_keys_backward(a, means, sums, sums + width, key);
  });
}

KERNELS_END

#if KERNELS_ONCE
namespace attune::kernels {

KERNEL_EXPORT(list_attention_forward);
KERNEL_EXPORT(list_attention_backward);

void list_attention_forward(const ListForward& a, ThreadPool* pool) { KERNEL_CALL(list_attention_forward)(a, pool); }
void list_attention_backward(const ListBackward& a, ThreadPool* pool) { KERNEL_CALL(list_attention_backward)(a, pool); }

int64_t list_attention_scratch(const ListShape& x, int workers, bool backward) {
  const auto up = [](int64_t n) { return (n + 15) / 16 * 16; };
  const int64_t width = up(x.heads * x.dim);
  return 4 * (backward ? up(x.lists->rows() * x.heads) + workers * 2 * width
                       : workers * (width + x.heads * up(x.lists->longest)));
}

}  // namespace attune::kernels
#endif
