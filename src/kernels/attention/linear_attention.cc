#include "kernels/attention/linear_attention.h"

#include <algorithm>

#define KERNELS_FILE "kernels/attention/linear_attention.cc"
#include "kernels/simd.h"  // first: what follows is compiled once per instruction set

#include "kernels/attention/linear_tiles.h"
#include "kernels/math.h"
#include "kernels/tile.h"

KERNELS_BEGIN

/// The part of the scratch one worker uses: a chunk's rows, mapped and side by side, and the sums of each head.
struct LinearForwardSpace {
  float *q, *k, *keys_t, *v, *scores, *out, *inverse;
  float* sums;         // S [dim, value columns], then z [dim]
  int64_t sum_floats;  // of one head
  static int64_t layout(const LinearShape& x, int64_t together, float* base, LinearForwardSpace* space) {
    const int64_t width = round16(x.dim), value_width = round16(x.value_dim);
    Take take{base};
    LinearForwardSpace w{};
    w.q = take(kChunk * width);
    w.k = take(kChunk * width);
    w.v = take(kChunk * value_width);
    w.out = take(kChunk * value_width);
    w.inverse = take(kChunk);
    w.keys_t = take(x.causal ? panel_floats(kChunk, x.dim) : 0);
    w.scores = take(x.causal ? kChunk * kChunk : 0);
    w.sum_floats = x.dim * value_width + width;
    w.sums = take(together * w.sum_floats);
    if (space) *space = w;
    return take.at - base;
  }
};

/// One unit's work.
struct LinearReader {
  const LinearForward& a;
  const LinearShape& x;
  LinearForwardSpace w;
  LinearUnit u;
  Ahead ahead = {};

  int64_t width() const { return round16(x.dim); }
  int64_t value_width() const { return round16(x.value_dim); }
  float* s_of(int64_t head_kv) const { return w.sums + (head_kv - u.first_head) * w.sum_floats; }
  float* z_of(int64_t head_kv) const { return s_of(head_kv) + x.dim * value_width(); }
  void ask_keys(const Piece& p);
  void ask_queries(const Piece& p);
  void load_keys(const Piece& p);
  void sum_keys(const Piece& p);
  void invert(const Piece& p, bool past);
  void answer(const Piece& p, int64_t head);
  void save_state(int64_t head_kv) const;
  void run();
};

void LinearReader::ask_keys(const Piece& p) {
  const int64_t row = u.key_row + p.from;
  ahead.add(rows_at(a.k, row, p.head_kv * x.dim), {0, p.rows}, x.dim);
  ahead.add(rows_at(a.v, row, p.head_kv * x.value_dim), {0, p.rows}, x.value_dim);
}

void LinearReader::ask_queries(const Piece& p) {
  const int64_t row = u.row + p.from, width = u.group * x.dim, value_width = u.group * x.value_dim;
  ahead.add(rows_at(a.q, row, p.head_kv * width), {0, p.rows}, width);
  ahead.add(rows_at(a.out, row, p.head_kv * value_width), {0, p.rows}, value_width);
}

void LinearReader::load_keys(const Piece& p) {
  map_rows(x.feature, rows_at(a.k, u.key_row + p.from, p.head_kv * x.dim), p.rows, x.dim, w.k);
  const Rows v = rows_at(a.v, u.key_row + p.from, p.head_kv * x.value_dim);
  copy_dense(v.data, v.stride, p.rows, x.value_dim, w.v);
  if (x.causal) pack_transposed(w.k, width(), p.rows, x.dim, w.keys_t);
}

/// The keys at hand go into their head's sums.
void LinearReader::sum_keys(const Piece& p) {
  static constexpr float kOne = 1;
  float *s = s_of(p.head_kv), *z = z_of(p.head_kv);
  strip_product<true>({x.dim, value_width(), p.rows, w.k, width(), w.v, value_width(), s, value_width()}, p.from > 0,
                      ahead);
  block_product<true>({1, width(), p.rows, &kOne, 0, w.k, width(), z, width()}, p.from > 0);
}

/// What each row is multiplied by, from the query and, causal, its scores. `past`: there is something in the sums.
void LinearReader::invert(const Piece& p, bool past) {
  const float* z = z_of(p.head_kv);
  for (int64_t r = 0; r < p.rows; ++r) {
    if (x.norm == LinearNorm::by_count) {
      const int64_t seen = x.causal ? p.from + r + 1 : u.m;
      w.inverse[r] = seen > 0 ? 1.0f / static_cast<float>(seen) : 0.0f;
      continue;
    }
    auto total = zero<float>();
    if (x.causal)
      for (int64_t c = 0; c <= r; c += 16) total = total + load(w.scores + r * kChunk + c);
    if (past)
      for (int64_t d = 0; d < x.dim; d += 16) total = fma(load(w.q + r * width() + d), load(z + d), total);
    w.inverse[r] = 1.0f / (sum(total) + x.epsilon);
  }
}

/// The queries of one head read the sums and, causal, the keys at hand.
void LinearReader::answer(const Piece& p, int64_t head) {
  const int64_t row = u.row + p.from;
  const bool past = x.causal ? p.from > 0 : u.m > 0;
  const Rows to = rows_at(a.out, row, head * x.value_dim);
  map_rows(x.feature, rows_at(a.q, row, head * x.dim), p.rows, x.dim, w.q);
  if (x.causal) lower_scores({w.q, width()}, p.rows, x.dim, w.keys_t, w.scores, ahead);
  const Rows out{w.out, value_width()};
  if (past)
    strip_product<false>(
        {p.rows, out.stride, x.dim, w.q, width(), s_of(p.head_kv), value_width(), out.data, out.stride}, false, ahead);
  else if (!x.causal)
    std::fill_n(w.out, p.rows * out.stride, 0.0f);
  if (x.causal) lower_product({w.scores, p.rows, {w.v, value_width()}, value_width(), out}, past, ahead);
  invert(p, past);
  for (int64_t r = 0; r < p.rows; ++r) {
    const auto by = splat(w.inverse[r]);
    for_packs(x.value_dim, [&](int64_t d, int64_t count) HWY_ATTR {
      store_at(load(out.data + r * out.stride + d) * by, to.data + r * to.stride + d, count);
    });
  }
  if (a.inverse) std::copy_n(w.inverse, p.rows, a.inverse + head * x.queries->rows() + row);
}

void LinearReader::save_state(int64_t head_kv) const {
  float* s = a.states[u.segment] + head_kv * x.dim * x.value_dim;
  float* z = a.states[u.segment] + x.heads_kv * x.dim * x.value_dim + head_kv * x.dim;
  if (u.m == 0) {
    std::fill_n(s, x.dim * x.value_dim, 0.0f);
    std::fill_n(z, x.dim, 0.0f);
    return;
  }
  for (int64_t d = 0; d < x.dim; ++d) std::copy_n(s_of(head_kv) + d * value_width(), x.value_dim, s + d * x.value_dim);
  std::copy_n(z_of(head_kv), x.dim, z);
}

void LinearReader::run() {
  if (!x.causal)
    for_pieces(u, u.m, [&](const Piece& p) HWY_ATTR {
      ahead.start(strips_of(x.dim));
      ask_keys(p.after(u, u.m));
      load_keys(p);
      sum_keys(p);
    });
  for_pieces(u, u.n, [&](const Piece& p) HWY_ATTR {
    ahead.start(u.group * (x.causal ? 3 : 1) * kStrips + (x.causal ? strips_of(x.dim) : 0));
    ask_queries(p.after(u, u.n));
    if (x.causal) {
      ask_keys(p.after(u, u.n));
      load_keys(p);
    }
    for (int64_t g = 0; g < u.group; ++g) answer(p, p.head_kv * u.group + g);
    if (x.causal && (p.from + p.rows < u.n || a.states)) sum_keys(p);
  });
  for (int64_t head = u.first_head; a.states && head < u.last_head; ++head) save_state(head);
}

int64_t linear_forward_floats(const LinearShape& x, int workers) {
  return LinearForwardSpace::layout(x, heads_together(x, workers), nullptr, nullptr);
}

void linear_forward(const LinearForward& a, ThreadPool* pool) {
  const LinearShape& x = a.shape;
  const int workers = workers_of(pool);
  const int64_t together = heads_together(x, workers), each_worker = linear_forward_floats(x, workers);
  parallel_for(pool, x.queries->count() * LinearUnit::parts(x, together), [&](int64_t unit, int worker) {
    LinearReader reader{a, x, {}, LinearUnit(x, together, unit)};
    LinearForwardSpace::layout(x, together, static_cast<float*>(a.scratch) + worker * each_worker, &reader.w);
    reader.run();
  });
}

KERNELS_END

#if KERNELS_ONCE
namespace attune::kernels {

int64_t linear_backward_floats(const LinearShape& shape, int workers);

KERNEL_EXPORT(linear_forward);
KERNEL_EXPORT(linear_forward_floats);

void linear_forward(const LinearForward& a, ThreadPool* pool) { KERNEL_CALL(linear_forward)(a, pool); }

int64_t linear_scratch(const LinearShape& shape, int workers, bool backward) {
  const int64_t floats =
      backward ? linear_backward_floats(shape, workers) : HWY_DYNAMIC_DISPATCH(linear_forward_floats)(shape, workers);
  return workers * floats * static_cast<int64_t>(sizeof(float));
}

}  // namespace attune::kernels
#endif
