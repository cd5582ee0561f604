// The backward pass of linearised attention. With w_i = 1 / divisor_i, each row's numerator and divisor get
//
//   dN_i = w_i dout_i      dD_i = - dN_i . out_i
//
// and with a one appended to every v and dD to every dN (by_count: neither), written v' and dN', all the rest is
//
//   dphi(q_i) = sum over j of (dN'_i . v'_j) phi(k_j)  = S'_i dN'_i        S'_i = sum over the keys i sees of phi(k_j)
//   v'_j^T dphi(k_j) = sum over i of (dN'_i . v'_j) phi(q_i)  = R'_j v'_j         R'_j = sum over who sees j of
//   phi(q_i) dN'_i^T dv_j      = sum over i of (phi(q_i) . phi(k_j)) dN_i = R_j^T phi(k_j)
//
// Causal, S' runs forward and R' backward; in a chunk the pairs are weighed one by one. S' at the start of every chunk
// is made first, then one walk from the end does everything.
#include "kernels/linear_attention.h"

#include <algorithm>

#define KERNELS_FILE "kernels/linear_attention_backward.cc"
#include "kernels/simd.h"  // first: what follows is compiled once per instruction set

#include "kernels/linear_tiles.h"
#include "kernels/math.h"
#include "kernels/tile.h"

KERNELS_BEGIN

/// Columns of v' and dN'.
HWY_INLINE int64_t appended_dim(const LinearShape& x) { return x.value_dim + (x.norm == LinearNorm::by_sum ? 1 : 0); }

/// The part of the scratch one worker uses.
struct LinearBackwardSpace {
  Rows q, k, dq, dk, v, dn, dv;  // of a chunk: phi(q), phi(k) and their gradients; v', dN' and dv
  float *keys_t, *values_t, *scores, *dscores;
  float *r_t, *r;    // R'^T [value_dim + 1, dim], R [dim, value_dim]
  float* s_t;        // S'^T [value_dim + 1, dim]: one, or causal one for each chunk but the first
  int64_t s_floats;  // of one of them
  static int64_t layout(const LinearShape& x, float* base, LinearBackwardSpace* space) {
    const int64_t width = round16(x.dim), value_width = round16(x.value_dim), appended = appended_dim(x);
    const int64_t chunks = (x.keys->longest + kChunk - 1) / kChunk;
    Take take{base};
    const auto rows = [&](int64_t columns) { return Rows{take(kChunk * columns), columns}; };
    LinearBackwardSpace w{};
    w.q = rows(width);
    w.k = rows(width);
    w.dq = rows(width);
    w.dk = rows(width);
    w.v = rows(round16(appended));
    w.dn = rows(round16(appended));
    w.dv = rows(value_width);
    w.r_t = take(appended * width);
    w.r = take(x.dim * value_width);
    w.keys_t = take(x.causal ? kChunk * x.dim : 0);
    w.values_t = take(x.causal ? kChunk * appended : 0);
    w.scores = take(x.causal ? kChunk * kChunk : 0);
    w.dscores = take(x.causal ? kChunk * kChunk : 0);
    w.s_floats = appended * width;
    w.s_t = take((x.causal ? std::max<int64_t>(chunks - 1, 0) : 1) * w.s_floats);
    if (space) *space = w;
    return take.at - base;
  }
};

/// One unit's work.
struct LinearSender {
  const LinearBackward& a;
  const LinearShape& x;
  LinearBackwardSpace w;
  LinearUnit u;

  int64_t width() const { return w.k.stride; }
  int64_t value_width() const { return w.dv.stride; }
  /// S'^T at the start of a chunk, which is not the first.
  float* sums_before(int64_t chunk) const { return w.s_t + (chunk - 1) * w.s_floats; }
  void load_keys(int64_t key, int64_t rows) const;
  void load_queries(int64_t query, int64_t rows, int64_t head) const;
  void add_keys_to(float* s_t, int64_t rows, bool add) const;
  void add_queries_to_r(int64_t rows, bool add) const;
  void turn_r() const;
  void keys_from_r(int64_t rows) const;
  void put_queries(int64_t query, int64_t rows, int64_t head) const;
  void put_keys(int64_t key, int64_t rows) const;
  void run_causal() const;
  void run_full() const;
};

/// phi(k) and v' of a chunk.
void LinearSender::load_keys(int64_t key, int64_t rows) const {
  map_rows(x.feature, rows_at(a.k, u.key_row + key, u.head_kv * x.dim), rows, x.dim, w.k.data);
  const Rows v = rows_at(a.v, u.key_row + key, u.head_kv * x.value_dim);
  for (int64_t r = 0; r < rows; ++r) {
    float* to = w.v.data + r * w.v.stride;
    for_packs(x.value_dim,
              [&](int64_t d, int64_t count) HWY_ATTR { store(load_at(v.data + r * v.stride + d, count), to + d); });
    if (x.norm == LinearNorm::by_sum) to[x.value_dim] = 1;
  }
}

/// phi(q) and dN' of a chunk of one head.
void LinearSender::load_queries(int64_t query, int64_t rows, int64_t head) const {
  const int64_t row = u.row + query;
  map_rows(x.feature, rows_at(a.q, row, head * x.dim), rows, x.dim, w.q.data);
  const bool by_sum = x.norm == LinearNorm::by_sum;
  const float* inverse = a.inverse + head * x.queries->rows() + row;
  const Rows dout = rows_at(a.dout, row, head * x.value_dim);
  const Rows out = by_sum ? rows_at(a.out, row, head * x.value_dim) : dout;
  for (int64_t r = 0; r < rows; ++r) {
    float* to = w.dn.data + r * w.dn.stride;
    const auto by = splat(inverse[r]);
    auto dot = zero<float>();
    for_packs(x.value_dim, [&](int64_t d, int64_t count) HWY_ATTR {
      const auto dn = load_at(dout.data + r * dout.stride + d, count) * by;
      dot = fma(dn, load_at(out.data + r * out.stride + d, count), dot);
      store(dn, to + d);
    });
    if (by_sum) to[x.value_dim] = -sum(dot);
  }
}

void LinearSender::add_keys_to(float* s_t, int64_t rows, bool add) const {
  block_product<true>({appended_dim(x), width(), rows, w.v.data, w.v.stride, w.k.data, width(), s_t, width()}, add);
}

void LinearSender::add_queries_to_r(int64_t rows, bool add) const {
  block_product<true>({appended_dim(x), width(), rows, w.dn.data, w.dn.stride, w.q.data, width(), w.r_t, width()}, add);
}

/// R from R'^T.
void LinearSender::turn_r() const { transpose(w.r_t, width(), x.value_dim, x.dim, w.r, value_width()); }

/// What flows into a chunk's keys and values from R.
void LinearSender::keys_from_r(int64_t rows) const {
  block_product<false>({rows, width(), appended_dim(x), w.v.data, w.v.stride, w.r_t, width(), w.dk.data, w.dk.stride},
                       false);
  block_product<false>({rows, value_width(), x.dim, w.k.data, width(), w.r, value_width(), w.dv.data, w.dv.stride},
                       false);
}

/// Gradients of mapped rows, times the slope of phi, to their place. The slope of elu + 1 is phi up to 1.
void put_mapped(FeatureMap feature, const Rows& from, const Rows& phi, int64_t rows, int64_t dim, const Rows& to,
                bool add) {
  const auto one = splat(1.0f);
  for (int64_t r = 0; r < rows; ++r)
    for_packs(dim, [&](int64_t d, int64_t count) HWY_ATTR {
      auto g = load(from.data + r * from.stride + d);
      if (feature == FeatureMap::elu_plus_one) g = g * min(one, load(phi.data + r * phi.stride + d));
      put_at(g, to.data + r * to.stride + d, count, add);
    });
}

void LinearSender::put_queries(int64_t query, int64_t rows, int64_t head) const {
  if (a.dq.data) put_mapped(x.feature, w.dq, w.q, rows, x.dim, rows_at(a.dq, u.row + query, head * x.dim), a.add_dq);
}

void LinearSender::put_keys(int64_t key, int64_t rows) const {
  const int64_t row = u.key_row + key;
  if (a.dk.data) put_mapped(x.feature, w.dk, w.k, rows, x.dim, rows_at(a.dk, row, u.head_kv * x.dim), a.add_dk);
  if (a.dv.data)
    put_mapped(FeatureMap::none, w.dv, w.dv, rows, x.value_dim, rows_at(a.dv, row, u.head_kv * x.value_dim), a.add_dv);
}

void LinearSender::run_causal() const {
  const int64_t chunks = (u.n + kChunk - 1) / kChunk, appended = appended_dim(x);
  for (int64_t c = 0; c + 1 < chunks; ++c) {
    load_keys(c * kChunk, kChunk);
    if (c > 0) std::copy_n(sums_before(c), w.s_floats, sums_before(c + 1));
    add_keys_to(sums_before(c + 1), kChunk, c > 0);
  }
  for (int64_t c = chunks - 1; c >= 0; --c) {
    const int64_t from = c * kChunk, rows = std::min(kChunk, u.n - from);
    const bool later = c + 1 < chunks;
    load_keys(from, rows);
    pack_transposed(w.k.data, w.k.stride, rows, x.dim, w.keys_t);
    pack_transposed(w.v.data, w.v.stride, rows, appended, w.values_t);
    if (later) keys_from_r(rows);
    for (int64_t g = 0; g < u.group; ++g) {
      const int64_t head = u.head_kv * u.group + g;
      load_queries(from, rows, head);
      lower_scores(w.q, rows, x.dim, w.keys_t, w.scores);
      lower_scores(w.dn, rows, appended, w.values_t, w.dscores);
      if (c > 0)
        block_product<false>(
            {rows, width(), appended, w.dn.data, w.dn.stride, sums_before(c), width(), w.dq.data, w.dq.stride}, false);
      lower_product(w.dscores, rows, w.k, width(), w.dq, c > 0);
      put_queries(from, rows, head);
      upper_product(w.dscores, rows, w.q, width(), w.dk, later || g > 0);
      upper_product(w.scores, rows, w.dn, value_width(), w.dv, later || g > 0);
      if (c > 0) add_queries_to_r(rows, later || g > 0);
    }
    if (c > 0) turn_r();
    put_keys(from, rows);
  }
}

void LinearSender::run_full() const {
  for (int64_t key = 0; key < u.m; key += kChunk) {
    const int64_t rows = std::min(kChunk, u.m - key);
    load_keys(key, rows);
    add_keys_to(w.s_t, rows, key > 0);
  }
  for (int64_t query = 0; query < u.n; query += kChunk)
    for (int64_t g = 0; g < u.group; ++g) {
      const int64_t rows = std::min(kChunk, u.n - query), head = u.head_kv * u.group + g;
      load_queries(query, rows, head);
      if (u.m > 0)
        block_product<false>(
            {rows, width(), appended_dim(x), w.dn.data, w.dn.stride, w.s_t, width(), w.dq.data, w.dq.stride}, false);
      else
        std::fill_n(w.dq.data, rows * width(), 0.0f);
      put_queries(query, rows, head);
      add_queries_to_r(rows, query > 0 || g > 0);
    }
  if (u.n == 0) std::fill_n(w.r_t, w.s_floats, 0.0f);
  turn_r();
  for (int64_t key = 0; key < u.m; key += kChunk) {
    const int64_t rows = std::min(kChunk, u.m - key);
    load_keys(key, rows);
    keys_from_r(rows);
    put_keys(key, rows);
  }
}

int64_t linear_backward_floats(const LinearShape& x) { return LinearBackwardSpace::layout(x, nullptr, nullptr); }

void linear_backward(const LinearBackward& a, ThreadPool* pool) {
  const LinearShape& x = a.shape;
  const int64_t each_worker = linear_backward_floats(x);
  parallel_for(pool, x.queries->count() * x.heads_kv, [&](int64_t unit, int worker) {
    LinearSender sender{a, x, {}, LinearUnit(x, unit)};
    LinearBackwardSpace::layout(x, static_cast<float*>(a.scratch) + worker * each_worker, &sender.w);
    if (x.causal)
      sender.run_causal();
    else
      sender.run_full();
  });
}

KERNELS_END

#if KERNELS_ONCE
namespace attune::kernels {

KERNEL_EXPORT(linear_backward);
KERNEL_EXPORT(linear_backward_floats);

void linear_backward(const LinearBackward& a, ThreadPool* pool) { KERNEL_CALL(linear_backward)(a, pool); }
int64_t linear_backward_bytes(const LinearShape& x) {
  return HWY_DYNAMIC_DISPATCH(linear_backward_floats)(x) * static_cast<int64_t>(sizeof(float));
}

}  // namespace attune::kernels
#endif
