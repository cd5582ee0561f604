#include "bench/layer.h"

#include <algorithm>

#include "base/clock.h"
#include "bench/timing.h"
#include "model/attention/key_cache.h"

namespace attune {

namespace {

/// The sequences with the rows that a mechanism has of its own.
Segments with_own_rows(const AttentionMechanism& mechanism, const Segments& segments) {
  const OwnRows* own = mechanism.own_rows();
  Segments all;
  for (int64_t s = 0; s < segments.count(); ++s) all.add(segments.length(s) + (own ? own->of(segments.length(s)) : 0));
  return all;
}

std::unique_ptr<AttentionMechanism> make_alone(const Choice& choice, const AttentionSetup& setup,
                                               Parameters& parameters) {
  Blueprint::Shared shared{parameters};
  auto mechanism = make_attention(choice, setup, Blueprint(shared, "layer"), "attention");
  parameters.allocate();
  initialize(parameters, shared.inits, 1);
  return mechanism;
}

}  // namespace

BenchLayer::BenchLayer(const Choice& choice, const AttentionSetup& setup, const Segments& segments, ThreadPool& pool)
    : ctx_(arena_),
      mechanism_(make_alone(choice, setup, parameters_)),
      gradients_(std::make_unique<Gradients>(parameters_)),
      segments_(with_own_rows(*mechanism_, segments)),
      width_(setup.width()),
      q_(random_floats(segments_.rows() * width_, 1)),
      k_(random_floats(segments_.rows() * width_, 2)),
      v_(random_floats(segments_.rows() * width_, 3)),
      dout_(random_floats(segments_.rows() * width_, 4)) {
  ctx_.tape = &tape_;
  ctx_.pool = &pool;
  ctx_.training = true;
}

Var BenchLayer::mix() {
  tape_.clear();
  gradients_->start();
  const auto input = [&](const Aligned<float>& x) {
    return ctx_.input(Tensor(x.data(), Shape{segments_.rows(), width_}), true);
  };
  const Pass pass{ctx_, parameters_, gradients_.get()};
  return mechanism_->mix(pass,
                         {.q = input(q_), .k = input(k_), .v = input(v_), .queries = &segments_, .keys = &segments_});
}

void BenchLayer::forward() {
  mix();
  ++ctx_.step;
}

void BenchLayer::forward_and_backward() {
  const Var y = mix();
  const Tensor dy(dout_.data(), y.shape());
  tape_.backward(ctx_, y, &dy);
  ++ctx_.step;
}

int64_t BenchLayer::bytes() const { return arena_.peak() + 4 * (4 * q_.size() + parameters_.size()); }

DecodeTime time_decoding(const Choice& choice, const AttentionSetup& setup, int64_t length, ThreadPool& pool) {
  constexpr int kRounds = 21, kSteps = 16;
  Arena arena;
  Ctx ctx(arena);
  ctx.pool = &pool;
  Parameters parameters;
  const auto mechanism = make_alone(choice, setup, parameters);
  const Pass pass{ctx, parameters};
  const auto numbers = random_floats(3 * setup.width(), 1);
  const Var row = ctx.input(Tensor(numbers.data(), Shape{1, 3 * setup.width()}));
  const Projected p{.q = row, .k = row, .v = row, .k_column = setup.width(), .v_column = 2 * setup.width()};
  const auto state = mechanism->state(1);
  auto* cache = dynamic_cast<KeyCache*>(state.get());
  for (int64_t i = 0; i < length; ++i) {
    if (cache)
      cache->append(p, setup.width_kv());  // what a step begins with; to read everything each time would take long
    else
      mechanism->step(pass, p, *state);
  }
  DecodeTime best{.us_per_token = 1e30};
  for (int round = 0; round < kRounds; ++round) {
    const Stopwatch watch;
    for (int i = 0; i < kSteps; ++i) mechanism->step(pass, p, *state);
    best.us_per_token = std::min(best.us_per_token, 1e6 * watch.seconds() / kSteps);
  }
  best.state_bytes = state->bytes();
  return best;
}

}  // namespace attune
