#include "autograd/attention/guide.h"

#include <algorithm>
#include <cmath>

#include "autograd/attention/attention_operands.h"
#include "autograd/operations/arrange.h"
#include "autograd/operations/elementwise.h"
#include "autograd/operations/matmul.h"
#include "autograd/operations/reduce.h"
#include "base/portable_math.h"
#include "kernels/matrix/gemm.h"
#include "kernels/rows/elementwise.h"
#include "kernels/rows/reduce.h"

namespace attune {

namespace {

constexpr float kLeastWeight = 1e-20f;  // its logarithm is as bad as a row can get

Attention checked(Attention a, const Guide& g) {
  a.v = a.k;
  a.v_column = a.k_column;
  check_attention("guide_loss", a, a.dim);
  if (a.scale == 0) a.scale = 1 / std::sqrt(static_cast<float>(a.dim));
  check(!a.hook, "guide_loss", "it takes no hook");
  check(g.head < a.heads, "guide_loss", "there is no head {}, only 0 to {}", g.head, a.heads - 1);
  check(g.sigma >= 0, "guide_loss", "sigma is {}, not at least 0", g.sigma);
  return a;
}

void check_links(const Attention& a, const Guide& g) {
  if (g.sigma > 0) return;
  check(std::ssize(g.links.start) == a.q.rows() + 1, "guide_loss", "links of {} rows, queries have {}",
        std::ssize(g.links.start) - 1, a.q.rows());
  for (int64_t s = 0; s < a.queries->count(); ++s)
    for (int64_t i = g.links.start[static_cast<size_t>(a.queries->begin(s))];
         i < g.links.start[static_cast<size_t>(a.queries->begin(s + 1))]; ++i) {
      const int32_t key = g.links.to[static_cast<size_t>(i)];
      check(key >= 0 && key < a.keys->length(s), "guide_loss", "sequence {} is linked to key {}, it has {}", s, key,
            a.keys->length(s));
    }
}

/// How far query i of I is from the diagonal at key j of J: what exp is taken of.
double nearness(const Guide& g, double i_share, double j_share) {
  return -(i_share - j_share) * (i_share - j_share) / (2 * g.sigma * g.sigma);
}

/// One pair of sentences.
class Pair {
 public:
  Pair(const Attention& a, const Guide& g, int64_t segment)
      : a_(a), g_(g), segment_(segment), n_(a.queries->length(segment)), m_(a.keys->length(segment)) {}

  bool empty() const { return n_ == 0 || m_ == 0; }
  Tensor matrix(float* at) const { return Tensor(at, Shape{n_, m_}); }
  int64_t heads() const { return g_.head < 0 ? a_.heads : 1; }
  int64_t head(int64_t i) const { return g_.head < 0 ? i : g_.head; }
  /// The guided head, or the mean of all; `other` is room for one more matrix.
  void mean(float* to, float* other) const {
    for (int64_t h = 0; h < heads(); ++h) {
      weights(head(h), h == 0 ? to : other);
      for (int64_t i = 0; h > 0 && i < n_ * m_; ++i) to[i] += other[i];
    }
    const float share = 1 / static_cast<float>(heads());
    for (int64_t i = 0; i < n_ * m_; ++i) to[i] *= share;
  }
  /// The sum over rows, from the mean.
  double loss(const float* mean, float* row) const {
    double sum = 0;
    for (int64_t i = 0; i < n_; ++i) {
      const float* w = mean + i * m_;
      if (g_.sigma > 0) {
        penalties(i, row);
        for (int64_t j = 0; j < m_; ++j) sum += static_cast<double>(w[j]) * static_cast<double>(row[j]);
        continue;
      }
      const auto links = g_.links.of(a_.queries->begin(segment_) + i);
      for (const int32_t j : links)
        sum -= portable::log(static_cast<double>(std::max(w[j], kLeastWeight))) / static_cast<double>(links.size());
    }
    return sum;
  }
  /// What the mean gets, in its place.
  void slopes(float* mean, float by) const {
    for (int64_t i = 0; i < n_; ++i) {
      float* w = mean + i * m_;
      if (g_.sigma > 0) {
        penalties(i, w);
        for (int64_t j = 0; j < m_; ++j) w[j] *= by;
        continue;
      }
      const auto links = g_.links.of(a_.queries->begin(segment_) + i);
      const float each = links.empty() ? 0 : -by / static_cast<float>(links.size());
      for (int64_t j = 0, l = 0; j < m_; ++j) {
        const bool linked = l < std::ssize(links) && links[static_cast<size_t>(l)] == j;
        w[j] = linked ? each / std::max(w[j], kLeastWeight) : 0;
        l += linked;
      }
    }
  }
  void weights(int64_t head, float* to) const {
    kernels::Gemm s{.m = n_, .n = m_, .k = a_.dim};
    s.a = query(head);
    s.a_stride = a_.q.value().stride;
    s.b = key(head);
    s.b_stride = a_.k.value().stride;
    s.b_transposed = true;
    s.c = to;
    s.c_stride = m_;
    kernels::gemm(s);
    for (int64_t i = 0; i < n_ * m_; ++i) to[i] *= a_.scale;
    kernels::softmax(matrix(to), false, matrix(to), nullptr);
  }
  /// Adds to the gradients of a head's queries and keys what its weights get.
  void backward(int64_t head, float* weights, const float* slopes, const Part& dq, const Part& dk) const {
    kernels::softmax_backward({matrix(weights), matrix(const_cast<float*>(slopes)), matrix(weights), false, false},
                              nullptr);
    for (int64_t i = 0; i < n_ * m_; ++i) weights[i] *= a_.scale;
    const int64_t i = g_.head < 0 ? head : 0, shared = g_.head < 0 ? head_kv(head) : 0;
    if (dq.rows.data) {
      kernels::Gemm g{.m = n_, .n = a_.dim, .k = m_, .a = weights, .a_stride = m_};
      g.b = key(head);
      g.b_stride = a_.k.value().stride;
      g.c = dq.rows.data + a_.queries->begin(segment_) * dq.rows.stride + i * a_.dim;
      g.c_stride = dq.rows.stride;
      g.add = true;
      kernels::gemm(g);
    }
    if (dk.rows.data) {
      kernels::Gemm g{.m = m_, .n = a_.dim, .k = n_, .a = weights, .a_stride = m_, .a_transposed = true};
      g.b = query(head);
      g.b_stride = a_.q.value().stride;
      g.c = dk.rows.data + a_.keys->begin(segment_) * dk.rows.stride + shared * a_.dim;
      g.c_stride = dk.rows.stride;
      g.add = true;
      kernels::gemm(g);
    }
  }

 private:
  int64_t head_kv(int64_t head) const { return head / (a_.heads / a_.heads_kv); }
  const float* query(int64_t head) const {
    const Tensor& q = a_.q.value();
    return q.as<float>() + a_.queries->begin(segment_) * q.stride + a_.q_column + head * a_.dim;
  }
  const float* key(int64_t head) const {
    const Tensor& k = a_.k.value();
    return k.as<float>() + a_.keys->begin(segment_) * k.stride + a_.k_column + head_kv(head) * a_.dim;
  }
  /// 1 - exp(-(i/I - j/J)^2 / (2 sigma^2)) of query i.
  void penalties(int64_t i, float* row) const {
    const double at = static_cast<double>(i) / static_cast<double>(n_);
    for (int64_t j = 0; j < m_; ++j)
      row[j] = static_cast<float>(nearness(g_, at, static_cast<double>(j) / static_cast<double>(m_)));
    const Tensor t(row, Shape{1, m_});
    kernels::unary(kernels::Unary::exp, 0, t, t, nullptr);
    for (int64_t j = 0; j < m_; ++j) row[j] = 1 - row[j];
  }

  const Attention& a_;
  const Guide& g_;
  int64_t segment_, n_, m_;
};

int64_t matrix_bytes(const Attention& a) {
  return int64_t{a.queries->longest} * a.keys->longest * static_cast<int64_t>(sizeof(float));
}

/// Everybody may add to it.
void clear_unless_added(Part& p, int64_t rows, int64_t width) {
  for (int64_t r = 0; p.rows.data && !p.add && r < rows; ++r) std::fill_n(p.rows.data + r * p.rows.stride, width, 0.0f);
  p.add = true;
}

void flow_back(Ctx& ctx, const Attention& a, const Guide& g, const Sink& y) {
  const int64_t heads = g.head < 0 ? a.heads : 1, heads_kv = g.head < 0 ? a.heads_kv : 1;
  const int64_t first = std::max<int64_t>(g.head, 0), first_kv = first / (a.heads / a.heads_kv);
  Part dq, dk;
  PartOf parts[]{{&a.q.sink(), a.q_column + first * a.dim, heads * a.dim, &dq},
                 {&a.k.sink(), a.k_column + first_kv * a.dim, heads_kv * a.dim, &dk}};
  place_parts(ctx, parts);
  const Scratch mean(ctx.arena, matrix_bytes(a)), one(ctx.arena, matrix_bytes(a));
  ctx.run([&] {
    clear_unless_added(dq, a.q.rows(), heads * a.dim);
    clear_unless_added(dk, a.k.rows(), heads_kv * a.dim);
    const double by = g.scale * static_cast<double>(*ctx.grad_of(y).as<float>()) / static_cast<double>(heads);
    for (int64_t s = 0; s < a.queries->count(); ++s) {
      const Pair pair(a, g, s);
      if (pair.empty()) continue;
      if (g.sigma == 0) pair.mean(mean.as<float>(), one.as<float>());
      pair.slopes(mean.as<float>(), static_cast<float>(by));
      for (int64_t h = 0; h < heads; ++h) {
        pair.weights(pair.head(h), one.as<float>());
        pair.backward(pair.head(h), one.as<float>(), mean.as<float>(), dq, dk);
      }
    }
  });
}

}  // namespace

Var guide_loss(Ctx& ctx, const Attention& given, const Guide& g) {
  const Attention a = checked(given, g);
  if (a.q.dtype() == DType::f64) return guide_loss_reference(ctx, a, g);
  Var y = ctx.make(Shape{1}, DType::f32, {&a.q, &a.k});
  {
    const Scratch mean(ctx.arena, matrix_bytes(a)), one(ctx.arena, matrix_bytes(a));
    ctx.run([&] {
      check_links(a, g);
      double sum = 0;
      for (int64_t s = 0; s < a.queries->count(); ++s) {
        const Pair pair(a, g, s);
        if (pair.empty()) continue;
        pair.mean(mean.as<float>(), one.as<float>());
        sum += pair.loss(mean.as<float>(), one.as<float>());
      }
      *y.value().as<float>() = static_cast<float>(sum * g.scale);
    });
  }
  if (y.needs_grad()) ctx.tape->push(y, [a, g, y = y.sink()](Ctx& ctx) { flow_back(ctx, a, g, y); });
  return y;
}

namespace {

/// What the weights, or their logarithms, of one pair are multiplied by.
Var factors(Ctx& ctx, const Attention& a, const Guide& g, int64_t segment) {
  const int64_t n = a.queries->length(segment), m = a.keys->length(segment);
  const Var f = ctx.make(Shape{n, m}, a.q.dtype(), {});
  ctx.run([&] {
    by_type(a.q.dtype(), [&](auto type) {
      using T = decltype(type);
      for (int64_t i = 0; i < n; ++i) {
        T* row = f.value().row<T>(i);
        for (int64_t j = 0; j < m; ++j)
          row[j] = g.sigma > 0
                       ? static_cast<T>(1 - portable::exp(nearness(g, static_cast<double>(i) / static_cast<double>(n),
                                                                   static_cast<double>(j) / static_cast<double>(m))))
                       : T{0};
        if (g.sigma > 0) continue;
        const auto links = g.links.of(a.queries->begin(segment) + i);
        for (const int32_t j : links) row[j] = T{-1} / static_cast<T>(links.size());
      }
    });
  });
  return f;
}

}  // namespace

Var guide_loss_reference(Ctx& ctx, const Attention& given, const Guide& g) {
  const Attention a = checked(given, g);
  ctx.run([&] { check_links(a, g); });
  Var sum_of_all;
  for (int64_t s = 0; s < a.queries->count(); ++s) {
    if (a.queries->length(s) == 0 || a.keys->length(s) == 0) continue;
    const Var q = slice_rows(ctx, a.q, a.queries->begin(s), a.queries->length(s));
    const Var k = slice_rows(ctx, a.k, a.keys->begin(s), a.keys->length(s));
    Var mean;
    for (int64_t h = 0; h < a.heads; ++h) {
      if (g.head >= 0 && h != g.head) continue;
      const Var scores =
          matmul(ctx, slice_columns(ctx, q, a.q_column + h * a.dim, a.dim),
                 slice_columns(ctx, k, a.k_column + h / (a.heads / a.heads_kv) * a.dim, a.dim), {.right = true});
      const Var weights = softmax(ctx, scale(ctx, scores, static_cast<double>(a.scale)));
      mean = mean ? add(ctx, mean, weights) : weights;
    }
    if (g.head < 0) mean = scale(ctx, mean, 1 / static_cast<double>(a.heads));
    if (g.sigma == 0) mean = log(ctx, mean);
    const Var term = sum(ctx, multiply(ctx, mean, factors(ctx, a, g, s)));
    sum_of_all = sum_of_all ? add(ctx, sum_of_all, term) : term;
  }
  if (!sum_of_all) sum_of_all = scale(ctx, sum(ctx, a.q), 0);  // nothing to look at
  return scale(ctx, sum_of_all, g.scale);
}

}  // namespace attune
