#include "api/reverser.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "autograd/embed.h"
#include "autograd/linear.h"
#include "autograd/matmul.h"
#include "autograd/output_loss.h"
#include "autograd/residual_norm.h"

namespace attune {

Reverser::Reverser(const Size& size, uint64_t seed) : size_(size) {
  const int64_t d = size.d_model, ff = size.d_ff;
  embedding_ = parameters_.add("embedding", {size.symbols, d}, true);
  for (int64_t l = 0; l < size.layers; ++l) {
    const auto add = [&, at = "encoder." + std::to_string(l) + "."](const char* name, const Shape& shape) {
      return parameters_.add(at + name, shape, shape.rank() == 2);
    };
    layers_.push_back({add("self.qkv.weight", {3 * d, d}), add("self.qkv.bias", {3 * d}),
                       add("self.out.weight", {d, d}), add("self.out.bias", {d}), add("self.norm.gamma", {d}),
                       add("self.norm.beta", {d}), add("feed.up.weight", {ff, d}), add("feed.up.bias", {ff}),
                       add("feed.down.weight", {d, ff}), add("feed.down.bias", {d}), add("feed.norm.gamma", {d}),
                       add("feed.norm.beta", {d})});
  }
  parameters_.allocate();
  Random random(seed);
  for (int i = 0; i < parameters_.count(); ++i) {
    const Tensor t = parameters_.value(i);
    if (t.shape.rank() == 1) {
      std::fill_n(t.as<float>(), t.size(), parameters_.name(i).ends_with("gamma") ? 1.0f : 0.0f);
      continue;
    }
    // Glorot and Bengio 2010; the embedding is multiplied by sqrt(d) when it is read
    const double reach = i == embedding_ ? 1 / std::sqrt(static_cast<double>(d))
                                         : std::sqrt(6.0 / static_cast<double>(t.shape[0] + t.shape[1]));
    for (int64_t j = 0; j < t.size(); ++j) t.as<float>()[j] = static_cast<float>(random.uniform(-reach, reach));
  }
  sinusoids_.resize(static_cast<size_t>(size.longest * d));
  fill_sinusoidal(Tensor(sinusoids_.data(), Shape{size.longest, d}));
}

ReverserBatch Reverser::batch(int64_t count, uint64_t seed, bool whole) const {
  Random random(seed);
  ReverserBatch b;
  std::vector<int32_t> lengths;
  const auto longest = static_cast<uint64_t>(size_.longest);
  for (int64_t i = 0; i < count; ++i) {
    const uint64_t length = whole ? longest : longest / 4 + random.below(longest - longest / 4 + 1);
    lengths.push_back(static_cast<int32_t>(length));
    const size_t begin = b.ids.size();
    for (uint64_t j = 0; j < length; ++j)
      b.ids.push_back(static_cast<int32_t>(random.below(static_cast<uint64_t>(size_.symbols))));
    b.targets.insert(b.targets.end(), b.ids.rbegin(), b.ids.rend() - static_cast<std::ptrdiff_t>(begin));
  }
  b.segments = Segments::of_lengths(lengths);
  return b;
}

Attention Reverser::attention_of(const Var& qkv, const ReverserBatch& batch) const {
  Attention a{qkv, qkv, qkv};
  a.k_column = size_.d_model;
  a.v_column = 2 * size_.d_model;
  a.queries = a.keys = &batch.segments;
  a.heads = size_.heads;
  a.dim = size_.d_model / size_.heads;
  return a;
}

Var Reverser::encode(Ctx& ctx, const ReverserBatch& batch, Gradients* to, int64_t layers) const {
  const auto p = [&](int i) { return parameters_.var(ctx, i, to); };
  const auto rows = static_cast<int64_t>(batch.ids.size());
  Embedding e;
  e.table = p(embedding_);
  e.ids = Tensor(batch.ids.data(), Shape{rows});
  e.scale = std::sqrt(static_cast<float>(size_.d_model));
  e.positions = ctx.input(Tensor(sinusoids_.data(), Shape{size_.longest, size_.d_model}));
  e.where = {&batch.segments, {}};
  Var x = embed(ctx, e);  // [n, d_model]
  for (int64_t l = 0; l < layers; ++l) {
    const Layer& w = layers_[static_cast<size_t>(l)];
    const Var qkv = linear(ctx, x, p(w.qkv), p(w.qkv_bias));  // [n, 3 d_model]
    const Var mixed = linear(ctx, attention(ctx, attention_of(qkv, batch)), p(w.out), p(w.out_bias));
    x = residual_norm(ctx, x, mixed, {p(w.gamma1), p(w.beta1)}).y;
    const Var up = linear(ctx, x, p(w.up), p(w.up_bias), Activation::relu);  // [n, d_ff]
    x = residual_norm(ctx, x, linear(ctx, up, p(w.down), p(w.down_bias)), {p(w.gamma2), p(w.beta2)}).y;
  }
  return x;
}

Var Reverser::loss(Ctx& ctx, const ReverserBatch& batch, Gradients* to, float* log_probs) const {
  const auto rows = static_cast<int64_t>(batch.targets.size());
  OutputLoss o{encode(ctx, batch, to, size_.layers), parameters_.var(ctx, embedding_, to)};
  o.targets = Tensor(batch.targets.data(), Shape{rows});
  o.scale = 1.0f / static_cast<float>(std::max<int64_t>(rows, 1));
  if (log_probs) o.log_probs = Tensor(log_probs, Shape{rows});
  return output_loss(ctx, o);
}

std::vector<int32_t> Reverser::answer(Ctx& ctx, const ReverserBatch& batch) const {
  const Var scores = matmul(ctx, encode(ctx, batch, nullptr, size_.layers), parameters_.var(ctx, embedding_, nullptr),
                            {.right = true});  // [n, symbols]
  std::vector<int32_t> best;
  for (int64_t i = 0; i < scores.rows(); ++i) {
    const float* row = scores.value().row<float>(i);
    best.push_back(static_cast<int32_t>(std::max_element(row, row + scores.cols()) - row));
  }
  return best;
}

std::vector<float> Reverser::weights(Ctx& ctx, const ReverserBatch& row, int64_t layer, int64_t head) const {
  const Layer& w = layers_[static_cast<size_t>(layer)];
  const Var qkv = linear(ctx, encode(ctx, row, nullptr, layer), parameters_.var(ctx, w.qkv, nullptr),
                         parameters_.var(ctx, w.qkv_bias, nullptr));
  const int64_t n = row.segments.length(0), dim = size_.d_model / size_.heads;
  std::vector<float> out(static_cast<size_t>(n * n));
  kernels::AttentionShape shape{&row.segments, &row.segments, size_.heads, size_.heads, dim};
  shape.scale = 1 / std::sqrt(static_cast<float>(dim));
  float* q = qkv.value().as<float>();
  kernels::attention_weights(shape, {q, qkv.cols()}, {q + size_.d_model, qkv.cols()}, 0, head, out.data());
  return out;
}

}  // namespace attune
