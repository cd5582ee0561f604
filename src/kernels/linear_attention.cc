#include "kernels/linear_attention.h"

#include <algorithm>

#define KERNELS_FILE "kernels/linear_attention.cc"
#include "kernels/simd.h"  // first: what follows is compiled once per instruction set

#include "kernels/linear_tiles.h"
#include "kernels/math.h"
#include "kernels/tile.h"

KERNELS_BEGIN

/// The part of the scratch one worker uses: a chunk's rows, mapped and side by side, and the sums of one head.
struct LinearForwardSpace {
  float *q, *k, *keys_t, *v, *scores, *out, *inverse;
  float *s, *z;  // [dim, value columns], [dim]
  static int64_t layout(const LinearShape& x, float* base, LinearForwardSpace* space) {
    const int64_t width = round16(x.dim), value_width = round16(x.value_dim);
    Take take{base};
    LinearForwardSpace w{};
    w.q = take(kChunk * width);
    w.k = take(kChunk * width);
    w.v = take(kChunk * value_width);
    w.out = take(kChunk * value_width);
    w.inverse = take(kChunk);
    w.s = take(x.dim * value_width);
    w.z = take(width);
    w.keys_t = take(x.causal ? kChunk * x.dim : 0);
    w.scores = take(x.causal ? kChunk * kChunk : 0);
    if (space) *space = w;
    return take.at - base;
  }
};

/// One unit's work: the arguments, the scratch, and how many keys are in the sums.
struct LinearReader {
  const LinearForward& a;
  const LinearShape& x;
  LinearForwardSpace w;
  LinearUnit u;
  int64_t summed = 0;

  int64_t width() const { return round16(x.dim); }
  int64_t value_width() const { return round16(x.value_dim); }
  void load_keys(int64_t key, int64_t rows);
  void sum_keys(int64_t rows);
  void invert(int64_t query, int64_t rows);
  void answer(int64_t query, int64_t rows, int64_t head);
  void save_state() const;
  void run();
};

void LinearReader::load_keys(int64_t key, int64_t rows) {
  map_rows(x.feature, rows_at(a.k, u.key_row + key, u.head_kv * x.dim), rows, x.dim, w.k);
  const Rows v = rows_at(a.v, u.key_row + key, u.head_kv * x.value_dim);
  copy_dense(v.data, v.stride, rows, x.value_dim, w.v);
  if (x.causal) pack_transposed(w.k, width(), rows, x.dim, w.keys_t);
}

/// The chunk of keys at hand goes into the sums.
void LinearReader::sum_keys(int64_t rows) {
  static constexpr float kOne = 1;
  block_product<true>({x.dim, value_width(), rows, w.k, width(), w.v, value_width(), w.s, value_width()}, summed > 0);
  block_product<true>({1, width(), rows, &kOne, 0, w.k, width(), w.z, width()}, summed > 0);
  summed += rows;
}

/// What each row is multiplied by, from the query and, causal, its scores.
void LinearReader::invert(int64_t query, int64_t rows) {
  for (int64_t r = 0; r < rows; ++r) {
    if (x.norm == LinearNorm::by_count) {
      const int64_t seen = x.causal ? query + r + 1 : u.m;
      w.inverse[r] = seen > 0 ? 1.0f / static_cast<float>(seen) : 0.0f;
      continue;
    }
    auto total = zero<float>();
    if (x.causal)
      for (int64_t c = 0; c <= r; c += 16) total = total + load(w.scores + r * kChunk + c);
    if (summed > 0)
      for (int64_t d = 0; d < x.dim; d += 16) total = fma(load(w.q + r * width() + d), load(w.z + d), total);
    w.inverse[r] = 1.0f / (sum(total) + x.epsilon);
  }
}

/// A chunk of one head's queries reads the sums and, causal, the chunk of keys at hand.
void LinearReader::answer(int64_t query, int64_t rows, int64_t head) {
  const int64_t row = u.row + query;
  map_rows(x.feature, rows_at(a.q, row, head * x.dim), rows, x.dim, w.q);
  if (x.causal) lower_scores({w.q, width()}, rows, x.dim, w.keys_t, w.scores);
  const Rows out{w.out, value_width()};
  if (summed > 0)
    block_product<false>({rows, value_width(), x.dim, w.q, width(), w.s, value_width(), w.out, value_width()}, false);
  else if (!x.causal)
    std::fill_n(w.out, rows * value_width(), 0.0f);
  if (x.causal) lower_product(w.scores, rows, {w.v, value_width()}, value_width(), out, summed > 0);
  invert(query, rows);
  const Rows to = rows_at(a.out, row, head * x.value_dim);
  for (int64_t r = 0; r < rows; ++r) {
    const auto by = splat(w.inverse[r]);
    for_packs(x.value_dim, [&](int64_t d, int64_t count) HWY_ATTR {
      store_at(load(w.out + r * value_width() + d) * by, to.data + r * to.stride + d, count);
    });
  }
  if (a.inverse) std::copy_n(w.inverse, rows, a.inverse + head * x.queries->rows() + row);
}

void LinearReader::save_state() const {
  float* s = a.states[u.segment] + u.head_kv * x.dim * x.value_dim;
  float* z = a.states[u.segment] + x.heads_kv * x.dim * x.value_dim + u.head_kv * x.dim;
  if (summed == 0) {
    std::fill_n(s, x.dim * x.value_dim, 0.0f);
    std::fill_n(z, x.dim, 0.0f);
    return;
  }
  for (int64_t d = 0; d < x.dim; ++d) std::copy_n(w.s + d * value_width(), x.value_dim, s + d * x.value_dim);
  std::copy_n(w.z, x.dim, z);
}

void LinearReader::run() {
  for (int64_t key = 0; key < u.m && !x.causal; key += kChunk) {
    const int64_t rows = std::min(kChunk, u.m - key);
    load_keys(key, rows);
    sum_keys(rows);
  }
  for (int64_t query = 0; query < u.n; query += kChunk) {
    const int64_t rows = std::min(kChunk, u.n - query);
    if (x.causal) load_keys(query, rows);
    for (int64_t g = 0; g < u.group; ++g) answer(query, rows, u.head_kv * u.group + g);
    if (x.causal && (query + rows < u.n || a.states)) sum_keys(rows);
  }
  if (a.states) save_state();
}

int64_t linear_forward_floats(const LinearShape& x) { return LinearForwardSpace::layout(x, nullptr, nullptr); }

void linear_forward(const LinearForward& a, ThreadPool* pool) {
  const LinearShape& x = a.shape;
  const int64_t each_worker = linear_forward_floats(x);
  parallel_for(pool, x.queries->count() * x.heads_kv, [&](int64_t unit, int worker) {
    LinearReader reader{a, x, {}, LinearUnit(x, unit)};
    LinearForwardSpace::layout(x, static_cast<float*>(a.scratch) + worker * each_worker, &reader.w);
    reader.run();
  });
}

KERNELS_END

#if KERNELS_ONCE
namespace attune::kernels {

int64_t linear_backward_bytes(const LinearShape& shape);

KERNEL_EXPORT(linear_forward);
KERNEL_EXPORT(linear_forward_floats);

void linear_forward(const LinearForward& a, ThreadPool* pool) { KERNEL_CALL(linear_forward)(a, pool); }

int64_t linear_scratch(const LinearShape& shape, int workers, bool backward) {
  if (backward) return workers * linear_backward_bytes(shape);
  return workers * HWY_DYNAMIC_DISPATCH(linear_forward_floats)(shape) * static_cast<int64_t>(sizeof(float));
}

}  // namespace attune::kernels
#endif
