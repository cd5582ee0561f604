#include "model/attention/adaptive_span.h"

#include <algorithm>
#include <cmath>

#include "autograd/operations/arrange.h"
#include "autograd/operations/elementwise.h"
#include "autograd/operations/reduce.h"
#include "base/portable_math.h"

namespace attune {

// --- m(x) ------------------------------------------------------------------------------------------------------------

namespace {

/// f(row, column, R + z - x) for all pairs of a tile on the ramp: z < x < R + z, x the distance to either side.
template <class F>
void each_on_ramp(const ScoreTile& t, double ramp, double z, F f) {
  const auto first = static_cast<int64_t>(std::floor(z)) + 1, last = static_cast<int64_t>(std::ceil(ramp + z)) - 1;
  for (int64_t r = 0; r < t.rows; ++r) {
    const int64_t own = t.distance() + r;  // the column of distance 0
    for (int64_t c = std::max<int64_t>(0, own - last); c <= std::min(t.cols - 1, own - first); ++c)
      f(r, c, ramp + z - static_cast<double>(own - c));
    for (int64_t c = std::max<int64_t>(0, own + first); c <= std::min(t.cols - 1, own + last); ++c)
      f(r, c, ramp + z - static_cast<double>(c - own));
  }
}

}  // namespace

/// What lies beyond the ramp the mask hides.
void SpanScores::scores(const ScoreTile& t, const HookTables& w, float* s) const {
  each_on_ramp(t, ramp_, longest_ * static_cast<double>(*w.values[0].as<float>()), [&](int64_t r, int64_t c, double m) {
    s[r * t.stride + c] += static_cast<float>(portable::log(m / ramp_));
  });
}

/// d ln m / dz = 1 / (R + z - x) on the ramp, 0 elsewhere.
void SpanScores::scores_backward(const ScoreTile& t, const HookTables& w, const float* ds, float*, int64_t) const {
  if (!w.gradients[0]) return;
  double sum = 0;
  each_on_ramp(t, ramp_, longest_ * static_cast<double>(*w.values[0].as<float>()),
               [&](int64_t r, int64_t c, double m) { sum += static_cast<double>(ds[r * t.stride + c]) / m; });
  *w.gradients[0].as<float>() += static_cast<float>(longest_ * sum);
}

/// log((z + (R - x)) / R) on the ramp, log(1) elsewhere: what is on it is fixed by the z there is.
Var SpanScores::scores_reference(Ctx& ctx, const Var& q, const ReferencePlace& place) const {
  const Shape shape{place.queries, place.keys};
  const Var rest = ctx.make(shape, q.dtype(), {}), on = ctx.make(shape, q.dtype(), {}),
            off = ctx.make(shape, q.dtype(), {});
  ctx.run([&] {
    by_type(q.dtype(), [&](auto type) {
      using T = decltype(type);
      const double z = longest_ * static_cast<double>(*place.tables[0].value().template as<T>());
      for (int64_t i = 0; i < place.queries; ++i)
        for (int64_t j = 0; j < place.keys; ++j) {
          const double x = static_cast<double>(std::abs(place.distance(i, j)));
          const bool ramp = x > z && x < ramp_ + z;
          rest.value().row<T>(i)[j] = static_cast<T>((ramp_ - x) / ramp_);
          on.value().row<T>(i)[j] = ramp ? 1 : 0;
          off.value().row<T>(i)[j] = ramp ? 0 : 1;
        }
    });
  });
  const Var m = add(ctx, rest, scale(ctx, place.tables[0], longest_ / ramp_));
  return log(ctx, add(ctx, multiply(ctx, m, on), off));
}

// --- The mechanism ---------------------------------------------------------------------------------------------------

AdaptiveSpanAttention::AdaptiveSpanAttention(const Options& o, const AttentionSetup& s, const Blueprint& place)
    : setup_(s),
      longest_(o.longest),
      ramp_(o.ramp),
      penalty_(o.penalty),
      span_(place.table("span", s.heads, 1, Init::constant(o.start))),
      scores_(static_cast<double>(o.ramp), static_cast<double>(o.longest)) {}

int64_t AdaptiveSpanAttention::reach(double share) const {
  const double end = static_cast<double>(ramp_) + static_cast<double>(longest_) * std::clamp(share, 0.0, 1.0);
  return static_cast<int64_t>(std::ceil(end)) - 1;
}

Mask AdaptiveSpanAttention::mask(const Pass& pass, int64_t head) const {
  double share = 1;
  const Var span = pass[span_];
  pass.ctx.run([&] {
    by_type(span.dtype(), [&](auto type) { share = static_cast<double>(*span.value().row<decltype(type)>(head)); });
  });
  const int64_t far = reach(share);
  return setup_.causal ? Mask{.causal = true, .before = far} : Mask{.before = far, .after = far};
}

Projected AdaptiveSpanAttention::head_of(const Pass& pass, const Projected& p, int64_t head) const {
  const int64_t shared = head / (setup_.heads / setup_.heads_kv);
  Projected one = p;
  one.q_column += head * setup_.dim;
  one.k_column += shared * setup_.dim;
  one.v_column += shared * setup_.dim;
  one.hook = &scores_;
  one.query_places = one.key_places = {};  // a span is counted in rows
  one.tables = {slice_rows(pass.ctx, pass[span_], head, 1)};
  return one;
}

AttentionSetup AdaptiveSpanAttention::one_head() const {
  AttentionSetup s = setup_;
  s.heads = s.heads_kv = 1;
  return s;
}

Var AdaptiveSpanAttention::mix(const Pass& pass, const Projected& p) const {
  if (pass.loss_terms)
    pass.add_loss(scale(pass.ctx, sum(pass.ctx, pass[span_]),
                        penalty_ * static_cast<double>(longest_) / static_cast<double>(setup_.heads)));
  std::vector<Var> heads;
  for (int64_t h = 0; h < setup_.heads; ++h) {
    AttentionSetup one = one_head();
    one.site = attune::mix(setup_.site, static_cast<uint64_t>(h));
    heads.push_back(attention(pass.ctx, dot_attention(pass, one, head_of(pass, p, h), mask(pass, h))));
  }
  return concatenate_columns(pass.ctx, heads);
}

std::unique_ptr<AttentionState> AdaptiveSpanAttention::state(int64_t rows) const {
  return std::make_unique<KeyCache>(rows, 2 * setup_.width_kv(), reach(1) + 1);
}

Var AdaptiveSpanAttention::step(const Pass& pass, const Projected& p, AttentionState& state) const {
  auto& cache = static_cast<KeyCache&>(state);
  cache.append(p, setup_.width_kv());
  std::vector<Var> heads;
  for (int64_t h = 0; h < setup_.heads; ++h)
    heads.push_back(step_dot(pass, one_head(), head_of(pass, p, h),
                             {cache, mask(pass, h).before + 1, 1, h / (setup_.heads / setup_.heads_kv)}));
  return concatenate_columns(pass.ctx, heads);
}

bool AdaptiveSpanAttention::weights(const Pass& pass, const Projected& p, float* out) const {
  const int64_t each = p.queries->length(0) * p.keys->length(0);
  for (int64_t h = 0; h < setup_.heads; ++h)
    dot_weights(pass, one_head(), head_of(pass, p, h), mask(pass, h), out + h * each);
  return true;
}

double AdaptiveSpanAttention::operations(const Parameters& parameters, const Segments& queries,
                                         const Segments& keys) const {
  double total = 0;
  for (int64_t h = 0; h < setup_.heads; ++h) {
    const int64_t far = reach(static_cast<double>(*parameters.value(span_).row<float>(h)));
    const Mask seen = setup_.causal ? Mask{.causal = true, .before = far} : Mask{.before = far, .after = far};
    total += dot_operations(one_head(), seen, queries, keys);
  }
  return total;
}

void AdaptiveSpanAttention::after_update(Parameters& parameters, const Gradients&) const {
  if (parameters.is_frozen(span_)) return;
  const Tensor span = parameters.value(span_);
  for (int64_t h = 0; h < setup_.heads; ++h) *span.row<float>(h) = std::clamp(*span.row<float>(h), 0.0f, 1.0f);
}

}  // namespace attune
