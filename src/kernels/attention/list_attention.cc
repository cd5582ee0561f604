#include "kernels/attention/list_attention.h"

#include <algorithm>

#define KERNELS_FILE "kernels/attention/list_attention.cc"
#include "kernels/simd.h"  // first: what follows is compiled once per instruction set

#include "kernels/attention/attention_tiles.h"
#include "kernels/dropout.h"

KERNELS_BEGIN

inline constexpr int64_t kListRows = 64;  // that a thread takes at once

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

/// to += by * from
HWY_INLINE void list_add(float* to, const float* from, float by, int64_t dim) {
  const auto times = splat(by);
  for_packs(dim, [&](int64_t d, int64_t count) HWY_ATTR {
    store_at(fma(load_at(from + d, count), times, load_at(to + d, count)), to + d, count);
  });
}

/// One row and head: the weights into s, and the result.
void list_row_forward(const ListForward& a, int64_t row, int64_t head, float* s) {
  const ListShape& x = a.shape;
  const int64_t dim = x.dim, column = head / (x.heads / x.heads_kv) * dim;
  const auto first = static_cast<int64_t>(x.lists->start[static_cast<size_t>(row)]);
  const int64_t count = x.lists->start[static_cast<size_t>(row) + 1] - first, padded = round16(count);
  float* out = a.out.data + row * a.out.stride + head * dim;
  float* log_sum = a.log_sum + row * x.heads + head;
  if (count == 0) {
    std::fill_n(out, dim, 0.0f);
    *log_sum = 0;
    return;
  }
  const int32_t* keys = x.lists->keys.data() + first;
  const float* q = a.q.data + row * a.q.stride + head * dim;
  for (int64_t t = 0; t < count; ++t) s[t] = list_dot(q, a.k.data + keys[t] * a.k.stride + column, dim);
  std::fill(s + count, s + padded, -INFINITY);
  const float factor = x.scale * kLog2E, most = std::max(kLowest, max_of_row(s, padded));
  const float total = sum(exponentials(s, padded, most, factor));
  float lanes[16];
  store(fma(splat(most), splat(factor), log2(splat(total))), lanes);
  *log_sum = lanes[0];
  if (x.dropout.on()) {
    const DropoutRow keep(list_dropout(x, head), row);
    for (int64_t c = 0; c < padded; c += 16) store(keep.apply(load(s + c), c), s + c);
  }
  const auto by = splat(1 / total);
  for_packs(dim, [&](int64_t d, int64_t n) HWY_ATTR {
    auto mixed = zero<float>();
    for (int64_t t = 0; t < count; ++t)
      mixed = fma(load_at(a.v.data + keys[t] * a.v.stride + column + d, n), splat(s[t]), mixed);
    store_at(mixed * by, out + d, n);
  });
}

void list_attention_forward(const ListForward& a, ThreadPool* pool) {
  const ListShape& x = a.shape;
  const int64_t rows = x.lists->rows(), each_worker = round16(x.lists->longest) + 16;
  parallel_for(pool, (rows + kListRows - 1) / kListRows, [&](int64_t block, int worker) {
    float* s = static_cast<float*>(a.scratch) + worker * each_worker;
    const int64_t last = std::min(rows, (block + 1) * kListRows);
    for (int64_t row = block * kListRows; row < last; ++row)
      for (int64_t head = 0; head < x.heads; ++head) list_row_forward(a, row, head, s);
  });
}

/// Sixteen pairs of one head at most: their weights after dropout, and the gradients of their scores.
struct ListPairs {
  int64_t count;
  const float *q[16], *k[16], *v[16], *dout[16];
  float log_sum[16], mean[16],
      kept[16];  // mean: of the row's dout times its result; kept: 0 or what dropout makes of 1
  float weight[16], dscore[16];
};

HWY_INLINE void list_gradients(ListPairs& p, const ListShape& x) {
  float s[16], dp[16];
  for (int64_t t = 0; t < p.count; ++t) {
    s[t] = list_dot(p.q[t], p.k[t], x.dim);
    dp[t] = list_dot(p.dout[t], p.v[t], x.dim);
  }
  for (int64_t t = p.count; t < 16; ++t) s[t] = dp[t] = p.log_sum[t] = p.mean[t] = p.kept[t] = 0;
  const auto weight = exp2_weights(fma(load(s), splat(x.scale * kLog2E), zero<float>() - load(p.log_sum)));
  const auto kept = load(p.kept);
  store(weight * kept, p.weight);
  store(weight * (load(dp) * kept - load(p.mean)) * splat(x.scale), p.dscore);
}

/// The pair e of a head as the t-th of p.
HWY_INLINE void list_take(const ListBackward& a, const Dropout& dropout, int64_t e, int64_t head, const float* means,
                          ListPairs& p, int64_t t) {
  const ListShape& x = a.shape;
  const KeyLists& lists = *x.lists;
  const int64_t row = lists.query[static_cast<size_t>(e)], key = lists.keys[static_cast<size_t>(e)];
  const int64_t column = head / (x.heads / x.heads_kv) * x.dim;
  p.q[t] = a.q.data + row * a.q.stride + head * x.dim;
  p.dout[t] = a.dout.data + row * a.dout.stride + head * x.dim;
  p.k[t] = a.k.data + key * a.k.stride + column;
  p.v[t] = a.v.data + key * a.v.stride + column;
  p.log_sum[t] = a.log_sum[row * x.heads + head];
  p.mean[t] = means[row * x.heads + head];
  const auto slot = static_cast<uint32_t>(e - lists.start[static_cast<size_t>(row)]);
  p.kept[t] = !dropout.on() ? 1 : dropped(dropout, row, slot) ? 0 : dropout_scale(dropout.rate);
}

void list_queries_backward(const ListBackward& a, float* means, float* dq, int64_t from, int64_t to) {
  const ListShape& x = a.shape;
  ListPairs p;
  for (int64_t row = from; row < to; ++row)
    for (int64_t head = 0; head < x.heads; ++head) {
      means[row * x.heads + head] = list_dot(a.dout.data + row * a.dout.stride + head * x.dim,
                                             a.out.data + row * a.out.stride + head * x.dim, x.dim);
      if (!a.dq.data) continue;
      const Dropout dropout = list_dropout(x, head);
      std::fill_n(dq, x.dim, 0.0f);
      const int64_t end = x.lists->start[static_cast<size_t>(row) + 1];
      for (int64_t e = x.lists->start[static_cast<size_t>(row)]; e < end; e += 16) {
        p.count = std::min<int64_t>(16, end - e);
        for (int64_t t = 0; t < p.count; ++t) list_take(a, dropout, e + t, head, means, p, t);
        list_gradients(p, x);
        for (int64_t t = 0; t < p.count; ++t) list_add(dq, p.k[t], p.dscore[t], x.dim);
      }
      float* out = a.dq.data + row * a.dq.stride + head * x.dim;
      for_packs(x.dim, [&](int64_t d, int64_t n) HWY_ATTR { put_at(load_at(dq + d, n), out + d, n, a.add_dq); });
    }
}

void list_keys_backward(const ListBackward& a, const float* means, float* dk, float* dv, int64_t from, int64_t to) {
  const ListShape& x = a.shape;
  const int64_t group = x.heads / x.heads_kv;
  ListPairs p;
  for (int64_t key = from; key < to; ++key)
    for (int64_t head_kv = 0; head_kv < x.heads_kv; ++head_kv) {
      std::fill_n(dk, x.dim, 0.0f);
      std::fill_n(dv, x.dim, 0.0f);
      const int64_t end = x.lists->read_start[static_cast<size_t>(key) + 1];
      for (int64_t head = head_kv * group; head < (head_kv + 1) * group; ++head) {
        const Dropout dropout = list_dropout(x, head);
        for (int64_t i = x.lists->read_start[static_cast<size_t>(key)]; i < end; i += 16) {
          p.count = std::min<int64_t>(16, end - i);
          for (int64_t t = 0; t < p.count; ++t)
            list_take(a, dropout, x.lists->read_by[static_cast<size_t>(i + t)], head, means, p, t);
          list_gradients(p, x);
          for (int64_t t = 0; t < p.count; ++t) {
            list_add(dk, p.q[t], p.dscore[t], x.dim);
            list_add(dv, p.dout[t], p.weight[t], x.dim);
          }
        }
      }
      const auto put = [&](const Rows& to_rows, const float* sums, bool add) HWY_ATTR {
        if (!to_rows.data) return;
        float* out = to_rows.data + key * to_rows.stride + head_kv * x.dim;
        for_packs(x.dim, [&](int64_t d, int64_t n) HWY_ATTR { put_at(load_at(sums + d, n), out + d, n, add); });
      };
      put(a.dk, dk, a.add_dk);
      put(a.dv, dv, a.add_dv);
    }
}

void list_attention_backward(const ListBackward& a, ThreadPool* pool) {
  const ListShape& x = a.shape;
  const int64_t rows = x.lists->rows(), keys = x.lists->key_rows(), width = round16(x.dim);
  float* means = static_cast<float*>(a.scratch);
  float* own = means + round16(rows * x.heads);
  parallel_for(pool, (rows + kListRows - 1) / kListRows, [&](int64_t block, int worker) {
    list_queries_backward(a, means, own + worker * 2 * width, block * kListRows,
                          std::min(rows, (block + 1) * kListRows));
  });
  if (!a.dk.data && !a.dv.data) return;
  parallel_for(pool, (keys + kListRows - 1) / kListRows, [&](int64_t block, int worker) {
    float* sums = own + worker * 2 * width;
    list_keys_backward(a, means, sums, sums + width, block * kListRows, std::min(keys, (block + 1) * kListRows));
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
  return 4 *
         (backward ? up(x.lists->rows() * x.heads) + workers * 2 * up(x.dim) : workers * (up(x.lists->longest) + 16));
}

}  // namespace attune::kernels
#endif
