// The backward pass of linearised attention. With w_i = 1 / divisor_i, each row's numerator and divisor get
//
//   dN_i = w_i dout_i      dD_i = - dN_i . out_i
//
// and with a one appended to every v and dD to every dN (by_count: neither), written v' and dN', all the rest is
//
//   dphi(q_i) = sum over j of (dN'_i . v'_j) phi(k_j)  = S'_i dN'_i     S'_i = sum over the keys i sees of phi(k_j)
//   v'_j^T dphi(k_j) = sum over i of (dN'_i . v'_j) phi(q_i)  = R'_j v'_j      R'_j = sum over who sees j of phi(q_i)
//   dN'_i^T dv_j      = sum over i of (phi(q_i) . phi(k_j)) dN_i = R_j^T phi(k_j)
//
// Causal, in a chunk the pairs are weighed one by one; S' runs forward, and queries get their gradients on the way;
// then R' runs backward, and keys and values get theirs.
#include "kernels/attention/linear_attention.h"

#include <algorithm>

#define KERNELS_FILE "kernels/attention/linear_attention_backward.cc"
#include "kernels/simd.h"  // first: what follows is compiled once per instruction set

#include "kernels/attention/linear_tiles.h"
#include "kernels/math.h"
#include "kernels/tile.h"

KERNELS_BEGIN

/// Columns of v' and dN'.
HWY_INLINE int64_t appended_dim(const LinearShape& x) { return x.value_dim + (x.norm == LinearNorm::by_sum ? 1 : 0); }

/// The part of the scratch one worker uses.
struct LinearBackwardSpace {
  Rows q, k, dq, dk, v, dn, dv;  // of a chunk: phi(q), phi(k) and their gradients; v', dN' and dv
  float *keys_t, *values_t, *scores, *dscores;
  float* r;            // R of one head [dim, value_dim]
  float *s_t, *r_t;    // S'^T and R'^T of each head [value_dim + 1, dim]; causal, one after the other in the same place
  int64_t sum_floats;  // of one of them
  static int64_t layout(const LinearShape& x, int64_t together, float* base, LinearBackwardSpace* space) {
    const int64_t width = round16(x.dim), value_width = round16(x.value_dim), appended = appended_dim(x);
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
    w.keys_t = take(x.causal ? panel_floats(kChunk, x.dim) : 0);
    w.values_t = take(x.causal ? panel_floats(kChunk, appended) : 0);
    w.scores = take(x.causal ? kChunk * kChunk : 0);
    w.dscores = take(x.causal ? kChunk * kChunk : 0);
    w.r = take(x.dim * value_width);
    w.sum_floats = appended * width;
    w.s_t = take(together * w.sum_floats);
    w.r_t = x.causal ? w.s_t : take(together * w.sum_floats);
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
  Ahead ahead = {};

  int64_t width() const { return w.k.stride; }
  int64_t value_width() const { return w.dv.stride; }
  float* s_t(int64_t head_kv) const { return w.s_t + (head_kv - u.first_head) * w.sum_floats; }
  float* r_t(int64_t head_kv) const { return w.r_t + (head_kv - u.first_head) * w.sum_floats; }
  void ask_keys(const Piece& p, bool gradients);
  void ask_queries(const Piece& p, bool gradients);
  void load_keys(const Piece& p) const;
  void load_queries(const Piece& p, int64_t head) const;
  void keys_to_s(const Piece& p, bool add);
  void queries_to_r(const Piece& p, bool add);
  void queries_from_s(const Piece& p);
  void keys_from_r(const Piece& p);
  void put_queries(const Piece& p, int64_t head) const;
  void put_keys(const Piece& p) const;
  void causal_queries(const Piece& p);
  void causal_keys(const Piece& p);
  void run_causal();
  void run_full();
};

void LinearSender::ask_keys(const Piece& p, bool gradients) {
  const int64_t row = u.key_row + p.from;
  for (const Rows& of : {a.k, gradients ? a.dk : Rows{}})
    ahead.add(rows_at(of, row, p.head_kv * x.dim), {0, p.rows}, x.dim);
  for (const Rows& of : {a.v, gradients ? a.dv : Rows{}})
    ahead.add(rows_at(of, row, p.head_kv * x.value_dim), {0, p.rows}, x.value_dim);
}

void LinearSender::ask_queries(const Piece& p, bool gradients) {
  const int64_t row = u.row + p.from, width = u.group * x.dim, value_width = u.group * x.value_dim;
  for (const Rows& of : {a.q, gradients ? a.dq : Rows{}})
    ahead.add(rows_at(of, row, p.head_kv * width), {0, p.rows}, width);
  for (const Rows& of : {a.dout, x.norm == LinearNorm::by_sum ? a.out : Rows{}})
    ahead.add(rows_at(of, row, p.head_kv * value_width), {0, p.rows}, value_width);
}

/// phi(k) and v'.
void LinearSender::load_keys(const Piece& p) const {
  map_rows(x.feature, rows_at(a.k, u.key_row + p.from, p.head_kv * x.dim), p.rows, x.dim, w.k.data);
  const Rows v = rows_at(a.v, u.key_row + p.from, p.head_kv * x.value_dim);
  for (int64_t r = 0; r < p.rows; ++r) {
    float* to = w.v.data + r * w.v.stride;
    for_packs(x.value_dim,
              [&](int64_t d, int64_t count) HWY_ATTR { store(load_at(v.data + r * v.stride + d, count), to + d); });
    if (x.norm == LinearNorm::by_sum) to[x.value_dim] = 1;
  }
}

/// phi(q) and dN' of one head.
void LinearSender::load_queries(const Piece& p, int64_t head) const {
  const int64_t row = u.row + p.from;
  map_rows(x.feature, rows_at(a.q, row, head * x.dim), p.rows, x.dim, w.q.data);
  const bool by_sum = x.norm == LinearNorm::by_sum;
  const float* inverse = a.inverse + head * x.queries->rows() + row;
  const Rows dout = rows_at(a.dout, row, head * x.value_dim);
  const Rows out = by_sum ? rows_at(a.out, row, head * x.value_dim) : dout;
  for (int64_t r = 0; r < p.rows; ++r) {
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

void LinearSender::keys_to_s(const Piece& p, bool add) {
  strip_product<true>(
      {appended_dim(x), width(), p.rows, w.v.data, w.v.stride, w.k.data, width(), s_t(p.head_kv), width()}, add, ahead);
}

void LinearSender::queries_to_r(const Piece& p, bool add) {
  strip_product<true>(
      {appended_dim(x), width(), p.rows, w.dn.data, w.dn.stride, w.q.data, width(), r_t(p.head_kv), width()}, add,
      ahead);
}

void LinearSender::queries_from_s(const Piece& p) {
  strip_product<false>(
      {p.rows, width(), appended_dim(x), w.dn.data, w.dn.stride, s_t(p.head_kv), width(), w.dq.data, w.dq.stride},
      false, ahead);
}

void LinearSender::keys_from_r(const Piece& p) {
  const float* r_t = this->r_t(p.head_kv);
  strip_product<false>({p.rows, width(), appended_dim(x), w.v.data, w.v.stride, r_t, width(), w.dk.data, w.dk.stride},
                       false, ahead);
  transpose(r_t, width(), x.value_dim, x.dim, w.r, value_width());
  strip_product<false>({p.rows, value_width(), x.dim, w.k.data, width(), w.r, value_width(), w.dv.data, w.dv.stride},
                       false, ahead);
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

void LinearSender::put_queries(const Piece& p, int64_t head) const {
  if (a.dq.data) put_mapped(x.feature, w.dq, w.q, p.rows, x.dim, rows_at(a.dq, u.row + p.from, head * x.dim), a.add_dq);
}

void LinearSender::put_keys(const Piece& p) const {
  const int64_t row = u.key_row + p.from;
  if (a.dk.data) put_mapped(x.feature, w.dk, w.k, p.rows, x.dim, rows_at(a.dk, row, p.head_kv * x.dim), a.add_dk);
  if (a.dv.data)
    put_mapped(FeatureMap::none, w.dv, w.dv, p.rows, x.value_dim, rows_at(a.dv, row, p.head_kv * x.value_dim),
               a.add_dv);
}

/// On the way forward: gradients of queries, from the keys at hand and those before.
void LinearSender::causal_queries(const Piece& p) {
  ahead.start(3 * u.group * kStrips + strips_of(appended_dim(x)));
  ask_keys(p.after(u, u.n), false);
  ask_queries(p.after(u, u.n), true);
  load_keys(p);
  pack_transposed(w.v.data, w.v.stride, p.rows, appended_dim(x), w.values_t);
  for (int64_t head = p.head_kv * u.group; head < (p.head_kv + 1) * u.group; ++head) {
    load_queries(p, head);
    lower_scores(w.dn, p.rows, appended_dim(x), w.values_t, w.dscores, ahead);
    if (p.from > 0) queries_from_s(p);
    lower_product({w.dscores, p.rows, w.k, width(), w.dq}, p.from > 0, ahead);
    put_queries(p, head);
  }
  if (p.from + p.rows < u.n) keys_to_s(p, p.from > 0);
}

/// On the way back: gradients of keys and values, from the queries at hand and those after. A sequence of one chunk has
/// no way forward: its queries get theirs here.
void LinearSender::causal_keys(const Piece& p) {
  const bool later = p.from + p.rows < u.n;
  ahead.start(2 * kStrips + u.group * (4 * kStrips + strips_of(appended_dim(x))));
  ask_keys(p.before(u), true);
  ask_queries(p.before(u), false);
  load_keys(p);
  pack_transposed(w.k.data, w.k.stride, p.rows, x.dim, w.keys_t);
  pack_transposed(w.v.data, w.v.stride, p.rows, appended_dim(x), w.values_t);
  if (later) keys_from_r(p);
  for (int64_t g = 0; g < u.group; ++g) {
    load_queries(p, p.head_kv * u.group + g);
    lower_scores(w.q, p.rows, x.dim, w.keys_t, w.scores, ahead);
    lower_scores(w.dn, p.rows, appended_dim(x), w.values_t, w.dscores, ahead);
    upper_product({w.dscores, p.rows, w.q, width(), w.dk}, later || g > 0, ahead);
    upper_product({w.scores, p.rows, w.dn, value_width(), w.dv}, later || g > 0, ahead);
    if (u.n <= kChunk && a.dq.data) {
      lower_product({w.dscores, p.rows, w.k, width(), w.dq}, false, ahead);
      put_queries(p, p.head_kv * u.group + g);
    }
    if (p.from > 0) queries_to_r(p, later || g > 0);
  }
  put_keys(p);
}

void LinearSender::run_causal() {
  const bool keys = a.dk.data || a.dv.data;
  if (a.dq.data && (u.n > kChunk || !keys)) for_pieces(u, u.n, [&](const Piece& p) HWY_ATTR { causal_queries(p); });
  if (!keys) return;
  for (int64_t from = (u.n + kChunk - 1) / kChunk * kChunk - kChunk; from >= 0; from -= kChunk)
    for (int64_t head = u.first_head; head < u.last_head; ++head)
      causal_keys({from, std::min(kChunk, u.n - from), head});
}

void LinearSender::run_full() {
  for_pieces(u, u.m, [&](const Piece& p) HWY_ATTR {
    ahead.start(strips_of(appended_dim(x)));
    ask_keys(p.after(u, u.m), false);
    load_keys(p);
    keys_to_s(p, p.from > 0);
  });
  for_pieces(u, u.n, [&](const Piece& p) HWY_ATTR {
    ahead.start(u.group * (kStrips + strips_of(appended_dim(x))));
    ask_queries(p.after(u, u.n), true);
    for (int64_t g = 0; g < u.group; ++g) {
      load_queries(p, p.head_kv * u.group + g);
      if (u.m > 0)
        queries_from_s(p);
      else
        std::fill_n(w.dq.data, p.rows * width(), 0.0f);
      put_queries(p, p.head_kv * u.group + g);
      queries_to_r(p, p.from > 0 || g > 0);
    }
  });
  if (u.n == 0) std::fill_n(w.r_t, (u.last_head - u.first_head) * w.sum_floats, 0.0f);
  for_pieces(u, u.m, [&](const Piece& p) HWY_ATTR {
    ahead.start(2 * kStrips);
    ask_keys(p.after(u, u.m), true);
    load_keys(p);
    keys_from_r(p);
    put_keys(p);
  });
}

int64_t backward_scratch_floats(const LinearShape& x, int workers) {
  return LinearBackwardSpace::layout(x, heads_together(x, workers), nullptr, nullptr);
}

void linear_backward(const LinearBackward& a, ThreadPool* pool) {
  const LinearShape& x = a.shape;
  const int workers = workers_of(pool);
  const int64_t together = heads_together(x, workers), each_worker = backward_scratch_floats(x, workers);
  parallel_for(pool, x.queries->count() * LinearUnit::parts(x, together), [&](int64_t unit, int worker) {
    LinearSender sender{a, x, {}, LinearUnit(x, together, unit)};
    LinearBackwardSpace::layout(x, together, static_cast<float*>(a.scratch) + worker * each_worker, &sender.w);
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
KERNEL_EXPORT(backward_scratch_floats);

void linear_backward(const LinearBackward& a, ThreadPool* pool) { KERNEL_CALL(linear_backward)(a, pool); }
int64_t linear_backward_floats(const LinearShape& x, int workers) {
  return HWY_DYNAMIC_DISPATCH(backward_scratch_floats)(x, workers);
}

}  // namespace attune::kernels
#endif
