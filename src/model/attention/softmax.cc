#include "model/attention/softmax.h"

#include "base/error.h"

namespace attune {

SoftmaxAttention::SoftmaxAttention(const Options& o, const AttentionSetup& setup, const Blueprint& place)
    : setup_(setup),
      mask_(setup.causal ? Mask::past() : Mask::none()),
      score_(make_score(o.score, setup, place)),
      normalizer_(make_normalizer(o.normalizer, o.k)),
      shared_(o.shared) {
  if (o.shared && setup.cross)
    fail(ErrorKind::recipe,
         "queries and keys are of two sequences from decoder to encoder, with a matrix each\n"
         "  fix: leave out shared");
  if (o.shared && setup.heads_kv != setup.heads)
    fail(ErrorKind::recipe, "shared = true makes {} heads of keys, and heads_kv = {}\n  fix: leave out heads_kv",
         setup.heads, setup.heads_kv);
  if (setup.relative == Relative::scores && !fused())
    fail(ErrorKind::recipe,
         "score = \"{}\" with normalizer = \"{}\" can't take the position scheme \"{}\"\n"
         "  fix: a softmax of dot products, or a scheme that is added to the embeddings (sinusoidal, learned)",
         o.score, o.normalizer, setup.position);
}

Projected SoftmaxAttention::scored(const Pass& pass, const Projected& p) const {
  const Score::Heads q = score_->queries(pass, {p.q, p.q_column}), k = score_->keys(pass, {p.k, p.k_column});
  Projected to = p;
  to.q = q.x;
  to.q_column = q.column;
  to.k = k.x;
  to.k_column = k.column;
  return to;
}

Var SoftmaxAttention::mix(const Pass& pass, const Projected& given) const {
  const Projected p = scored(pass, given);
  Attention a = dot_attention(pass, setup_, p, mask_of(pass));
  a.scale = score_->scale();
  if (fused()) return attention(pass.ctx, a);
  ScoreAttention s;
  static_cast<Attention&>(s) = a;
  s.score = score_->rule();
  s.normaliser = normalizer_;
  s.vector = score_->vector(pass);
  s.bias = score_->bias(pass);
  return score_attention(pass.ctx, s);
}

StepRule SoftmaxAttention::rule(const Pass& pass) const {
  StepRule r;
  r.scale = score_->scale();
  r.fused = fused();
  r.score = score_->rule();
  r.normaliser = normalizer_;
  r.vector = score_->vector(pass);
  r.bias = score_->bias(pass);
  return r;
}

std::unique_ptr<AttentionState> SoftmaxAttention::state(int64_t rows) const {
  return std::make_unique<KeyCache>(rows, 2 * setup_.width_kv());
}

Var SoftmaxAttention::step(const Pass& pass, const Projected& given, AttentionState& state) const {
  auto& cache = static_cast<KeyCache&>(state);
  const Projected p = scored(pass, given);
  cache.append(p, setup_.width_kv());
  return step_dot(pass, setup_, p, {cache}, rule(pass));
}

void SoftmaxAttention::prefill(const Pass& pass, const Projected& given, AttentionState& state) const {
  auto& cache = static_cast<KeyCache&>(state);
  const Projected p = scored(pass, given);
  for (int64_t i = 0; i < p.k.rows(); ++i) {
    Projected one = p;
    one.q = pass.ctx.input(p.q.value().row_range(i, 1));
    one.k = pass.ctx.input(p.k.value().row_range(i, 1));
    one.v = pass.ctx.input(p.v.value().row_range(i, 1));
    cache.append(one, setup_.width_kv());
  }
}

Var SoftmaxAttention::read(const Pass& pass, const Projected& p, std::span<const int32_t> memory_of,
                           AttentionState*) const {
  return read_dot(pass, setup_, scored(pass, p), memory_of, rule(pass));
}

bool SoftmaxAttention::weights(const Pass& pass, const Projected& p, float* out) const {
  dot_weights(pass, setup_, scored(pass, p), mask_of(pass), out, rule(pass));
  return true;
}

Var SoftmaxAttention::guide(const Pass& pass, const Projected& p, const Guide& guide) const {
  if (!can_be_guided()) return {};
  Attention a = dot_attention(pass, setup_, scored(pass, p), mask_);
  a.scale = score_->scale();
  return guide_loss(pass.ctx, a, guide);
}

double SoftmaxAttention::operations(const Parameters&, const Segments& queries, const Segments& keys) const {
  return dot_operations(setup_, mask_, queries, keys);
}

}  // namespace attune
