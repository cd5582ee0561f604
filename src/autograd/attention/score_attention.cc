#include "autograd/attention/score_attention.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <type_traits>
#include <vector>

#include "autograd/attention/attention_operands.h"
#include "autograd/attention/attention_reference.h"
#include "autograd/operations/arrange.h"
#include "autograd/operations/elementwise.h"
#include "autograd/operations/matmul.h"
#include "autograd/operations/reduce.h"
#include "autograd/operations/select.h"

namespace attune {

namespace {

constexpr const char* kScoreAttentionOp = "score_attention";

void check_parameter(const ScoreAttention& a, const char* what, const Var& p) {
  check_same_type(kScoreAttentionOp, a.q, p);
  check(p.shape().size() == a.heads * a.dim, kScoreAttentionOp, "{} has {} elements, {} heads of {} need {}", what,
        p.shape().size(), a.heads, a.dim, a.heads * a.dim);
  check(p.value().contiguous(), kScoreAttentionOp, "the elements of {} do not lie side by side", what);
}

/// Checks everything and fills in what was left to the default.
ScoreAttention checked(ScoreAttention a) {
  const bool additive = a.score == ScoreKind::additive;
  check_attention(kScoreAttentionOp, a, a.dim);
  if (a.scale == 0) a.scale = additive ? 1 : 1 / std::sqrt(static_cast<float>(a.dim));
  check(a.scale > 0, kScoreAttentionOp, "the scale is {}, not above 0", a.scale);
  check(!a.hook, kScoreAttentionOp, "there is no hook here");
  check(a.normaliser.kind != NormaliserKind::top_k || a.normaliser.k > 0, kScoreAttentionOp,
        "the {} largest scores of a row", a.normaliser.k);
  check(additive || (!a.vector && !a.bias), kScoreAttentionOp, "only additive scores have a vector and a bias");
  check(!additive || a.vector, kScoreAttentionOp, "additive scores need a vector");
  if (a.vector) check_parameter(a, "the vector", a.vector);
  if (a.bias) check_parameter(a, "the bias", a.bias);
  return a;
}

kernels::ScoreShape shape_of(const ScoreAttention& a) {
  kernels::ScoreShape x;
  x.attention = {a.queries, a.keys, a.heads, a.heads_kv, a.dim, a.scale, a.mask, a.dropout, nullptr};
  x.rule = {a.score, a.normaliser, nullptr, nullptr};
  if (a.vector) x.rule.vector = a.vector.value().as<float>();
  if (a.bias) x.rule.bias = a.bias.value().as<float>();
  return x;
}

void backward(Ctx& ctx, const ScoreAttention& a, const Sink& y) {
  const QkvGradients d = place_qkv(ctx, a, a.dim);
  const Grad vector = ctx.grad(a.vector), bias = ctx.grad(a.bias);
  const Tensor dy = ctx.grad_of(y);
  const kernels::ScoreShape shape = shape_of(a);
  Scratch scratch(ctx.arena, kernels::score_attention_scratch(shape, workers_of(ctx.pool), true));
  ctx.run([&] {
    kernels::ScoreBackward b;
    b.shape = shape;
    give_qkv(a, b);
    b.dout = rows_of(dy, 0);
    d.give(b);
    b.dvector = vector.tensor.as<float>();
    b.add_dvector = vector.add;
    b.dbias = bias.tensor.as<float>();
    b.add_dbias = bias.add;
    b.scratch = scratch.as<void>();
    kernels::score_attention_backward(b, ctx.pool);
  });
}

}  // namespace

Var score_attention(Ctx& ctx, const ScoreAttention& given) {
  const ScoreAttention a = checked(given);
  if (a.q.dtype() == DType::f64) return score_attention_reference(ctx, a);
  const kernels::ScoreShape shape = shape_of(a);
  Var y = ctx.make(Shape{a.q.rows(), a.heads * a.dim}, DType::f32, {&a.q, &a.k, &a.v, &a.vector, &a.bias});
  {
    Scratch scratch(ctx.arena, kernels::score_attention_scratch(shape, workers_of(ctx.pool), false));
    ctx.run([&] {
      kernels::score_attention_forward({shape, rows_of(a.q.value(), a.q_column), rows_of(a.k.value(), a.k_column),
                                        rows_of(a.v.value(), a.v_column), rows_of(y.value(), 0), scratch.as<void>()},
                                       ctx.pool);
    });
  }
  if (y.needs_grad()) ctx.tape->push(y, [a, y = y.sink()](Ctx& ctx) { backward(ctx, a, y); });
  return y;
}

namespace {

/// A row of numbers that the graph takes as given: fill(row, numbers).
template <class Fill>
Var constant_rows(Ctx& ctx, const Shape& shape, DType type, Fill fill) {
  const Var c = ctx.make(shape, type, {});
  ctx.run([&] {
    by_type(type, [&](auto t) {
      for (int64_t i = 0; i < shape[0]; ++i) fill(i, c.value().row<decltype(t)>(i));
    });
  });
  return c;
}

/// sum over d of v_d tanh(q_id + k_jd + b_d) for every pair: [n, m].
Var additive_scores(Ctx& ctx, const ScoreAttention& a, const Var& q, const Var& k, int64_t head) {
  const int64_t n = q.rows(), m = k.rows();
  const auto of_head = [&](const Var& p) {
    return slice_rows(ctx, ctx.reshape(p, Shape{a.heads, a.dim}), head, 1);  // [1, dim]
  };
  const Var rows = ctx.make(Shape{n * m}, DType::i32, {}), keys = ctx.make(Shape{n * m}, DType::i32, {});
  ctx.run([&] {
    for (int64_t i = 0; i < n * m; ++i) {
      rows.value().as<int32_t>()[i] = static_cast<int32_t>(i / m);
      keys.value().as<int32_t>()[i] = static_cast<int32_t>(i % m);
    }
  });
  Var x = add(ctx, gather_rows(ctx, q, rows), gather_rows(ctx, k, keys));  // [n m, dim]
  if (a.bias) x = add(ctx, x, of_head(a.bias));
  return ctx.reshape(matmul(ctx, tanh(ctx, x), of_head(a.vector), {.right = true}), Shape{n, m});
}

/// q_i . k_j, or -|q_i - k_j|^2: [n, m].
Var product_scores(Ctx& ctx, const ScoreAttention& a, const Var& q, const Var& k) {
  const Var dots = matmul(ctx, q, k, {.right = true});
  if (a.score == ScoreKind::dot) return dots;
  const Var squares_q = row_sum(ctx, multiply(ctx, q, q)), squares_k = row_sum(ctx, multiply(ctx, k, k));
  const Var twice = subtract(ctx, scale(ctx, dots, 2), squares_q);
  return subtract(ctx, twice, transpose(ctx, squares_k));
}

/// The softmax of what `mask` leaves, or of the k largest of it.
Var soften(Ctx& ctx, const ScoreAttention& a, const Var& scores, const Var& mask) {
  const Var seen = add(ctx, scores, mask);
  if (a.normaliser.kind == NormaliserKind::softmax) return softmax(ctx, seen);
  const int64_t k = std::min(a.normaliser.k, seen.cols());
  const Var ids = top_k(ctx, seen, k).ids;
  return softmax(ctx, add(ctx, seen, constant_rows(ctx, seen.shape(), seen.dtype(), [&](int64_t i, auto* row) {
                            std::fill_n(row, seen.cols(), -INFINITY);
                            for (int64_t j = 0; j < k; ++j) row[ids.value().row<int32_t>(i)[j]] = 0;
                          })));
}

/// 1 where the projection of a row on the simplex is not 0 (Martins and Astudillo 2016, algorithm 1): with z sorted,
/// largest first, these are the first k, k the largest for which 1 + k z_k exceeds the sum of the first k.
template <class T>
void support(const T* z, const T* mask, int64_t m, T* out) {
  std::vector<int64_t> order;
  for (int64_t j = 0; j < m; ++j)
    if (mask[j] == 0) order.push_back(j);
  std::stable_sort(order.begin(), order.end(), [&](int64_t i, int64_t j) { return z[i] > z[j]; });
  size_t size = 0;
  T total = 0;
  for (size_t k = 1; k <= order.size(); ++k) {
    total += z[order[k - 1]];
    if (1 + static_cast<T>(k) * z[order[k - 1]] > total) size = k;
  }
  std::fill_n(out, m, T{0});
  for (size_t k = 0; k < size; ++k) out[order[k]] = 1;
}

/// z - tau on the support, tau = (the sum of z there - 1) / its size.
Var sparsemax(Ctx& ctx, const Var& z, const Var& mask) {
  const int64_t m = z.cols();
  const Var inside = constant_rows(ctx, z.shape(), z.dtype(), [&](int64_t i, auto* row) {
    using T = std::remove_pointer_t<decltype(row)>;
    support(z.value().row<T>(i), mask.value().row<T>(i), m, row);
  });
  const Var share = constant_rows(ctx, Shape{z.rows(), 1}, z.dtype(), [&](int64_t i, auto* row) {
    using T = std::remove_pointer_t<decltype(row)>;
    const T* in = inside.value().row<T>(i);
    *row = 1 / std::max(T{1}, std::accumulate(in, in + m, T{0}));
  });
  const Var tau = multiply(ctx, add_constant(ctx, row_sum(ctx, multiply(ctx, z, inside)), -1), share);
  return multiply(ctx, subtract(ctx, z, tau), inside);
}

/// 1 where entmax 1.5 of a row is not 0 (Peters, Niculae and Martins 2019, algorithm 2): with x = z / 2 sorted, largest
/// first, the first k, k the largest for which tau of the first k is at most x_k.
template <class T>
void entmax_support(const T* z, const T* mask, int64_t m, T* out) {
  std::vector<int64_t> order;
  for (int64_t j = 0; j < m; ++j)
    if (mask[j] == 0) order.push_back(j);
  std::stable_sort(order.begin(), order.end(), [&](int64_t i, int64_t j) { return z[i] > z[j]; });
  size_t size = 0;
  T total = 0, squares = 0;
  for (size_t k = 1; k <= order.size(); ++k) {
    const T x = (z[order[k - 1]] - z[order[0]]) / 2, n = static_cast<T>(k);
    total += x;
    squares += x * x;
    const T mean = total / n, rest = 1 - (squares - n * mean * mean);
    if (rest >= 0 && mean - std::sqrt(rest / n) <= x) size = k;
  }
  std::fill_n(out, m, T{0});
  for (size_t k = 0; k < size; ++k) out[order[k]] = 1;
}

/// (x - tau)^2 on the support, x = z / 2, tau = mean - sqrt((1 - sum of (x - mean)^2) / size).
Var entmax15(Ctx& ctx, const Var& z, const Var& mask) {
  const int64_t m = z.cols();
  const Var inside = constant_rows(ctx, z.shape(), z.dtype(), [&](int64_t i, auto* row) {
    using T = std::remove_pointer_t<decltype(row)>;
    entmax_support(z.value().row<T>(i), mask.value().row<T>(i), m, row);
  });
  const Var share = constant_rows(ctx, Shape{z.rows(), 1}, z.dtype(), [&](int64_t i, auto* row) {
    using T = std::remove_pointer_t<decltype(row)>;
    const T* in = inside.value().row<T>(i);
    *row = 1 / std::max(T{1}, std::accumulate(in, in + m, T{0}));
  });
  const Var x = scale(ctx, z, 0.5), mean = multiply(ctx, row_sum(ctx, multiply(ctx, x, inside)), share);
  const Var away = multiply(ctx, subtract(ctx, x, mean), inside), spread = row_sum(ctx, multiply(ctx, away, away));
  const Var root = sqrt(ctx, multiply(ctx, add_constant(ctx, scale(ctx, spread, -1), 1), share));
  const Var beyond = multiply(ctx, add(ctx, subtract(ctx, x, mean), root), inside);
  return multiply(ctx, beyond, beyond);
}

}  // namespace

Var score_attention_reference(Ctx& ctx, const ScoreAttention& given) {
  const ScoreAttention a = checked(given);
  return reference::head_by_head(ctx, a, a.dim, [&](const reference::OneHead& one) {
    const Var mask = reference::mask_scores(ctx, a, one.segment);
    const Var raw = a.score == ScoreKind::additive ? additive_scores(ctx, a, one.q, one.k, one.head)
                                                   : product_scores(ctx, a, one.q, one.k);
    const Var scores = scale(ctx, raw, static_cast<double>(a.scale));
    Var weights = a.normaliser.kind == NormaliserKind::sparsemax  ? sparsemax(ctx, scores, mask)
                  : a.normaliser.kind == NormaliserKind::entmax15 ? entmax15(ctx, scores, mask)
                                                                  : soften(ctx, a, scores, mask);
    if (a.dropout.on()) weights = multiply(ctx, weights, reference::dropout_factors(ctx, a, one.segment, one.head));
    return matmul(ctx, weights, one.v);
  });
}

}  // namespace attune
