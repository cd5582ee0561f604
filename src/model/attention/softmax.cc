#include "model/attention/softmax.h"

#include <cmath>

#include "base/error.h"

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

std::unique_ptr<AttentionState> SoftmaxAttention::state(int64_t, int64_t) const { return nullptr; }
Var SoftmaxAttention::step(Ctx&, const Projected&, AttentionState&) const {
  fail(ErrorKind::internal, "softmax attention has no steps yet");
}
Var SoftmaxAttention::read(Ctx&, const Projected&, std::span<const int32_t>) const {
  fail(ErrorKind::internal, "softmax attention has no steps yet");
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
