#include "inference/pattern_picture.h"

#include <algorithm>

#include "base/error.h"
#include "base/random.h"
#include "model/attention/mechanism.h"
#include "model/attention/multi_head.h"

namespace attune {

namespace {

constexpr int64_t kWidth = 8, kHeads = 2;

/// [heads, length, length], or nothing where the mechanism has no such weights.
std::vector<float> weights_of(const Choice& mechanism, bool causal, int64_t length) {
  Parameters parameters;
  Blueprint::Shared shared{parameters};
  const AttentionSetup setup{.heads = kHeads, .heads_kv = kHeads, .dim = kWidth / kHeads, .causal = causal};
  const std::string name = causal ? "decoder.0.self" : "encoder.0.self";
  const Blueprint place(shared, name);
  const SelfAttention layer(place, setup, make_attention(mechanism, setup, place, "attention"), nullptr);
  parameters.allocate();
  initialize(parameters, shared.inits, 1);
  parameters.repack();

  std::vector<float> x(static_cast<size_t>(length * kWidth));
  const Random random(7);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(random.at(i) >> 40) / (1 << 23) - 1;
  Arena arena;
  Ctx ctx(arena);
  AttentionTap tap{name};
  Pass pass{ctx, parameters};
  pass.tap = &tap;
  Carried carried;
  const Segments one = Segments::single(length);
  layer(pass, ctx.input(Tensor(x.data(), Shape{length, kWidth})), one, carried);
  return tap.weights;
}

}  // namespace

PatternPicture picture_of(const Choice& mechanism, bool causal, int64_t length) {
  const std::vector<float> weights = weights_of(mechanism, causal, length);
  const auto pairs = static_cast<size_t>(length * length);
  if (weights.size() < pairs)
    fail(ErrorKind::usage,
         "{} has no pattern to draw{}: what was read is kept as sums\n  fix: a mechanism with weights, such as bigbird",
         mechanism.kind, causal ? " in a decoder" : "");
  PatternPicture p{mechanism.text(), causal, length, std::vector<bool>(pairs), 0};
  for (size_t i = 0; i < weights.size(); ++i)
    if (weights[i] != 0) p.sees[i % pairs] = true;
  const auto seen = static_cast<double>(std::count(p.sees.begin(), p.sees.end(), true));
  const auto n = static_cast<double>(length);
  p.density = seen / (causal ? n * (n + 1) / 2 : n * n);
  return p;
}

}  // namespace attune
