#include "model/attention/dot_product.h"

#include <cmath>

#include "base/error.h"

namespace attune {

Attention dot_attention(const Pass& pass, const AttentionSetup& s, const Projected& p, const Mask& mask) {
  Attention a{p.q, p.k, p.v, p.q_column, p.k_column, p.v_column, p.queries, p.keys};
  a.heads = s.heads;
  a.heads_kv = s.heads_kv;
  a.dim = s.dim;
  a.mask = mask;
  a.dropout = pass.ctx.dropout(s.dropout, s.site);
  a.hook = p.hook;
  a.tables = p.tables;
  if (p.hook) {
    a.query_places = p.query_places;
    a.key_places = p.key_places;
  }
  return a;
}

HookTables hook_tables(const Projected& p) {
  HookTables t;
  for (size_t i = 0; i < p.tables.size(); ++i)
    if (p.tables[i]) t.values[i] = p.tables[i].value();
  return t;
}

namespace {

float scale_of(const StepRule& rule, const AttentionSetup& s) {
  return rule.scale != 0 ? rule.scale : 1 / std::sqrt(static_cast<float>(s.dim));
}

kernels::ScoreRule score_rule(const StepRule& rule) {
  const auto numbers = [](const Var& x) { return x ? x.value().as<float>() : nullptr; };
  return {rule.score, rule.normaliser, numbers(rule.vector), numbers(rule.bias)};
}

/// What steps and reads share: `a` says where the keys are.
Var attend(Ctx& ctx, const AttentionSetup& s, const Projected& p, kernels::AttentionStep a, const StepRule& rule) {
  check(p.q.dtype() == DType::f32, "attention", "steps are taken in f32, not in {}", name_of(p.q.dtype()));
  Var y = ctx.make(Shape{p.q.rows(), s.width()}, DType::f32, {});
  const Scratch scratch(ctx.arena, kernels::attention_step_scratch(a.longest, workers_of(ctx.pool), a.hook, s.dim));
  a.rows = p.q.rows();
  a.heads = s.heads;
  a.heads_kv = s.heads_kv;
  a.dim = s.dim;
  a.scale = scale_of(rule, s);
  a.q = {p.q.value().as<float>() + p.q_column, p.q.value().stride};
  a.out = {y.value().as<float>(), y.value().stride};
  a.scratch = scratch.as<void>();
  ctx.run([&] {
    if (rule.fused)
      kernels::attention_step(a, ctx.pool);
    else
      kernels::score_attention_step(a, score_rule(rule), ctx.pool);
  });
  return y;
}

}  // namespace

Var step_dot(const Pass& pass, const AttentionSetup& s, const Projected& p, const CachedKeys& keys,
             const StepRule& rule) {
  const KeyCache& cache = keys.cache;
  check(!p.hook || !p.query_places, "attention", "steps count their places by themselves");
  const int64_t rows = cache.rows(), kept = std::min(cache.kept(), keys.last);
  kernels::AttentionStep a;
  a.keys = cache.paged(keys.head_kv * s.dim);
  a.values = cache.paged(cache.width() / 2 + keys.head_kv * s.dim);
  a.ids = cache.ancestors() + (cache.kept() - kept) * rows;
  a.longest = kept;
  a.hook = p.hook;
  a.tables = hook_tables(p);
  a.positions = cache.steps();
  if (keys.stride == 1 && !keys.chosen) return attend(pass.ctx, s, p, a, rule);

  const int64_t count = keys.chosen ? std::ssize(*keys.chosen) : (kept + keys.stride - 1) / keys.stride;
  const Scratch chosen(pass.ctx.arena, count * (rows + 1) * static_cast<int64_t>(sizeof(int32_t)));
  int32_t *ids = chosen.as<int32_t>(), *places = ids + count * rows;
  for (int64_t j = 0; j < count; ++j) {
    const int64_t place =
        keys.chosen ? (*keys.chosen)[static_cast<size_t>(j)] : a.positions - 1 - (count - 1 - j) * keys.stride;
    const int64_t index = cache.index_of(place);
    check(index >= 0, "attention", "the key at {} is not kept any more, of {}", place, a.positions);
    std::copy_n(cache.ancestors() + index * rows, rows, ids + j * rows);
    places[j] = static_cast<int32_t>(place);
  }
  a.ids = ids;
  a.key_places = places;
  a.longest = count;
  return attend(pass.ctx, s, p, a, rule);
}

Var read_dot(const Pass& pass, const AttentionSetup& s, const Projected& p, std::span<const int32_t> memory_of,
             const StepRule& rule) {
  const int64_t rows = p.q.rows();
  check(std::ssize(memory_of) == rows, "attention", "{} rows read {} memories", rows, memory_of.size());
  const Scratch scratch(pass.ctx.arena, 2 * rows * static_cast<int64_t>(sizeof(int32_t)));
  int32_t *first = scratch.as<int32_t>(), *count = first + rows;
  pass.ctx.run([&] {
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
  return attend(pass.ctx, s, p, a, rule);
}

void dot_weights(const Pass&, const AttentionSetup& s, const Projected& p, const Mask& mask, float* out,
                 const StepRule& rule, const BatchPattern* pattern) {
  kernels::AttentionShape shape{p.queries, p.keys, s.heads, s.heads_kv, s.dim};
  shape.scale = scale_of(rule, s);
  shape.mask = mask;
  shape.pattern = pattern;
  shape.hook = p.hook;
  shape.tables = hook_tables(p);
  shape.query_places = RowPlaces(p.query_places);
  shape.key_places = RowPlaces(p.key_places);
  const kernels::Rows q{p.q.value().as<float>() + p.q_column, p.q.value().stride};
  const kernels::Rows k{p.k.value().as<float>() + p.k_column, p.k.value().stride};
  const int64_t head = p.queries->length(0) * p.keys->length(0);
  for (int64_t h = 0; h < s.heads; ++h)
    if (rule.fused)
      kernels::attention_weights(shape, q, k, 0, h, out + h * head);
    else
      kernels::score_attention_weights({shape, score_rule(rule)}, q, k, 0, h, out + h * head);
}

double dot_operations(const AttentionSetup& s, const Mask& mask, const Segments& queries, const Segments& keys) {
  double pairs = 0;
  if (!s.cross)
    pairs = kernels::pairs_seen(mask, queries);
  else
    for (int64_t i = 0; i < queries.count(); ++i)
      pairs += static_cast<double>(queries.length(i)) * static_cast<double>(keys.length(i));
  return 4 * static_cast<double>(s.width()) * pairs;
}

}  // namespace attune
