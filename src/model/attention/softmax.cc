#include "model/attention/softmax.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "model/attention/key_cache.h"

namespace attune {

Var SoftmaxAttention::mix(Ctx& ctx, const Projected& p) const {
  Attention a{p.q, p.k, p.v, p.q_column, p.k_column, p.v_column, p.queries, p.keys};
  a.heads = setup_.heads;
  a.heads_kv = setup_.heads_kv;
  a.dim = setup_.dim;
  if (setup_.causal) a.mask = Mask::past();
  a.dropout = ctx.dropout(setup_.dropout, setup_.site);
  return attention(ctx, a);
}

std::unique_ptr<AttentionState> SoftmaxAttention::state(int64_t rows, int64_t) const {
  return std::make_unique<KeyCache>(rows, 2 * setup_.heads_kv * setup_.dim);
}

Var SoftmaxAttention::attend(Ctx& ctx, const Projected& p, kernels::AttentionStep a) const {
  check(p.q.dtype() == DType::f32, "attention", "steps are taken in f32, not in {}", name_of(p.q.dtype()));
  Var y = ctx.make(Shape{p.q.rows(), setup_.heads * setup_.dim}, DType::f32, {});
  const Scratch scratch(ctx.arena, kernels::attention_step_scratch(a.longest, workers_of(ctx.pool)));
  a.rows = p.q.rows();
  a.heads = setup_.heads;
  a.heads_kv = setup_.heads_kv;
  a.dim = setup_.dim;
  a.scale = 1 / std::sqrt(static_cast<float>(setup_.dim));
  a.q = {p.q.value().as<float>() + p.q_column, p.q.value().stride};
  a.out = {y.value().as<float>(), y.value().stride};
  a.scratch = scratch.as<void>();
  ctx.run([&] { kernels::attention_step(a, ctx.pool); });
  return y;
}

Var SoftmaxAttention::step(Ctx& ctx, const Projected& p, AttentionState& state) const {
  auto& cache = static_cast<KeyCache&>(state);
  const int64_t rows = p.q.rows(), width = setup_.heads_kv * setup_.dim;
  cache.append(rows);
  ctx.run([&] {
    for (int64_t i = 0; i < rows; ++i) {
      std::copy_n(p.k.value().row<float>(i) + p.k_column, width, cache.row(i));
      std::copy_n(p.v.value().row<float>(i) + p.v_column, width, cache.row(i) + width);
    }
  });
  kernels::AttentionStep a;
  a.keys = cache.paged(0);
  a.values = cache.paged(width);
  a.ids = cache.ancestors();
  a.longest = cache.steps();
  return attend(ctx, p, a);
}

Var SoftmaxAttention::read(Ctx& ctx, const Projected& p, std::span<const int32_t> memory_of) const {
  const int64_t rows = p.q.rows();
  check(std::ssize(memory_of) == rows, "attention", "{} rows read {} memories", rows, memory_of.size());
  const Scratch scratch(ctx.arena, 2 * rows * static_cast<int64_t>(sizeof(int32_t)));
  int32_t *first = scratch.as<int32_t>(), *count = first + rows;
  ctx.run([&] {
    for (int64_t i = 0; i < rows; ++i) {
      const int32_t m = memory_of[static_cast<size_t>(i)];
      first[i] = static_cast<int32_t>(p.keys->begin(m));
      count[i] = static_cast<int32_t>(p.keys->length(m));
    }
  });
  const float *k = p.k.value().as<float>(), *v = p.v.value().as<float>();
  kernels::AttentionStep a;
  a.keys.pages = &k;
  a.keys.stride = p.k.value().stride;
  a.keys.column = p.k_column;
  a.values.pages = &v;
  a.values.stride = p.v.value().stride;
  a.values.column = p.v_column;
  a.first = first;
  a.count = count;
  a.longest = p.keys->longest;
  return attend(ctx, p, a);
}

void SoftmaxAttention::weights(const Projected& p, float* out) const {
  kernels::AttentionShape shape{p.queries, p.keys, setup_.heads, setup_.heads_kv, setup_.dim};
  shape.scale = 1 / std::sqrt(static_cast<float>(setup_.dim));
  if (setup_.causal) shape.mask = Mask::past();
  const Tensor &q = p.q.value(), &k = p.k.value();
  const int64_t head = p.queries->length(0) * p.keys->length(0);
  for (int64_t h = 0; h < setup_.heads; ++h)
    kernels::attention_weights(shape, {q.as<float>() + p.q_column, q.stride}, {k.as<float>() + p.k_column, k.stride}, 0,
                               h, out + h * head);
}

}  // namespace attune
