#include "model/attention/linear.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/portable_math.h"
#include "model/attention/running_sums.h"

namespace attune {

Var LinearizedAttention::mix(const Pass& pass, const Projected& p) const {
  LinearAttention a{p.q, p.k, p.v, p.q_column, p.k_column, p.v_column, p.queries, p.keys};
  a.heads = setup_.heads;
  a.heads_kv = setup_.heads_kv;
  a.dim = setup_.dim;
  a.causal = setup_.causal;
  return linear_attention(pass.ctx, a);
}

kernels::LinearShape LinearizedAttention::shape() const {
  kernels::LinearShape s;
  s.heads = setup_.heads;
  s.heads_kv = setup_.heads_kv;
  s.dim = s.value_dim = setup_.dim;
  s.causal = setup_.causal;
  return s;
}

std::unique_ptr<AttentionState> LinearizedAttention::state(int64_t) const {
  return std::make_unique<RunningSums>(kernels::linear_state_floats(shape()));
}

Var LinearizedAttention::step(const Pass& pass, const Projected& p, AttentionState& state) const {
  auto& sums = static_cast<RunningSums&>(state);
  const int64_t rows = p.q.rows();
  sums.begin(rows);
  const Var y = pass.ctx.make(Shape{rows, setup_.width()}, DType::f32, {});
  const Scratch scratch(pass.ctx.arena, kernels::linear_step_scratch(shape(), workers_of(pass.ctx.pool)));
  const auto rows_of = [](const Var& x, int64_t column) {
    return kernels::Rows{x.value().as<float>() + column, x.value().stride};
  };
  kernels::LinearStep a;
  a.shape = shape();
  a.rows = rows;
  a.q = rows_of(p.q, p.q_column);
  a.k = rows_of(p.k, p.k_column);
  a.v = rows_of(p.v, p.v_column);
  a.out = rows_of(y, 0);
  a.states = sums.rows();
  a.scratch = scratch.as<void>();
  kernels::linear_step(a, pass.ctx.pool);
  return y;
}

/// The weights of one query for all keys of a segment.
void LinearizedAttention::weights_of_row(const float* query, const Projected& p, int64_t segment, int64_t head,
                                         float* out) const {
  const auto phi = [](float x) { return x > 0 ? x + 1 : static_cast<float>(portable::exp(x)); };
  const int64_t column = p.k_column + head / (setup_.heads / setup_.heads_kv) * setup_.dim, m = p.keys->length(segment);
  float total = 0;
  for (int64_t j = 0; j < m; ++j) {
    const float* key = p.k.value().row<float>(p.keys->begin(segment) + j) + column;
    float sum = 0;
    for (int64_t d = 0; d < setup_.dim; ++d) sum += phi(query[d]) * phi(key[d]);
    total += out[j] = sum;
  }
  for (int64_t j = 0; j < m; ++j) out[j] /= total;
}

Var LinearizedAttention::read(const Pass& pass, const Projected& p, std::span<const int32_t> memory_of,
                              AttentionState*) const {
  const int64_t rows = p.q.rows(), dim = setup_.dim;
  check(std::ssize(memory_of) == rows, "attention", "{} rows read {} memories", rows, memory_of.size());
  const Var y = pass.ctx.make(Shape{rows, setup_.width()}, DType::f32, {});
  const int workers = workers_of(pass.ctx.pool);
  const Scratch scratch(pass.ctx.arena, workers * p.keys->longest * static_cast<int64_t>(sizeof(float)));
  parallel_for(pass.ctx.pool, rows, [&](int64_t i, int worker) {
    const int32_t s = memory_of[static_cast<size_t>(i)];
    float* weights = scratch.as<float>() + worker * p.keys->longest;
    for (int64_t h = 0; h < setup_.heads; ++h) {
      weights_of_row(p.q.value().row<float>(i) + p.q_column + h * dim, p, s, h, weights);
      float* out = y.value().row<float>(i) + h * dim;
      std::fill_n(out, dim, 0.0f);
      for (int64_t j = 0; j < p.keys->length(s); ++j) {
        const float* value =
            p.v.value().row<float>(p.keys->begin(s) + j) + p.v_column + h / (setup_.heads / setup_.heads_kv) * dim;
        for (int64_t d = 0; d < dim; ++d) out[d] += weights[j] * value[d];
      }
    }
  });
  return y;
}

bool LinearizedAttention::weights(const Pass&, const Projected& p, float* out) const {
  const int64_t n = p.queries->length(0), m = p.keys->length(0);
  for (int64_t h = 0; h < setup_.heads; ++h)
    for (int64_t i = 0; i < n; ++i, out += m) {
      weights_of_row(p.q.value().row<float>(i) + p.q_column + h * setup_.dim, p, 0, h, out);
      if (!setup_.causal) continue;
      float seen = 0;
      for (int64_t j = 0; j <= i; ++j) seen += out[j];
      for (int64_t j = 0; j < m; ++j) out[j] = j <= i ? out[j] / seen : 0;
    }
  return true;
}

/// Each key is added to the sums, each query reads them.
double LinearizedAttention::operations(const Parameters&, const Segments& queries, const Segments& keys) const {
  const auto each = 2 * static_cast<double>(setup_.dim) * static_cast<double>(setup_.dim + 1);
  return each *
         (static_cast<double>(queries.rows() * setup_.heads) + static_cast<double>(keys.rows() * setup_.heads_kv));
}

}  // namespace attune
