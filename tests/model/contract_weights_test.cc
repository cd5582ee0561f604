// What every attention mechanism tells people about what it attended to: weights that, times the values, are what it
// mixed. See contract_test.cc for the rest.
#include <gtest/gtest.h>

#include "model/attention/multi_head.h"
#include "model/contract.h"
#include "model/position/scheme.h"

namespace attune {
namespace {

class WeightsContract : public Contract {};

/// A sublayer of its own whose values are its rows as they come in, or nothing, and whose result is not projected:
/// the difference of the two is what was mixed, whatever a mechanism or scheme adds of its own.
struct BareSublayer {
  Parameters parameters;
  Blueprint::Shared shared{parameters};
  AttentionSetup setup;
  std::unique_ptr<PositionScheme> scheme;
  std::unique_ptr<SelfAttention> layer;
  AttentionTap tap{.place = "encoder.0.self"};

  BareSublayer(const Choice& attention, const Choice& position, bool causal, int64_t heads_kv) {
    setup.heads = 4;
    setup.heads_kv = heads_kv;
    setup.dim = 4;
    setup.causal = causal;
    for (const PositionKind& k : position_kinds())
      if (position.kind == k.name) setup.relative = k.relative;
    setup.position = position.kind;
    const Blueprint place(shared, "encoder.0.self");
    scheme = make_position(position, {setup.width(), 100}, place, "model.position");
    auto mechanism = make_attention(attention, setup, place, "model.attention");
    layer = std::make_unique<SelfAttention>(place, setup, std::move(mechanism), scheme->layer(place, setup));
    parameters.allocate();
    initialize(parameters, shared.inits, 5);
    std::mt19937 random(3);
    for (int64_t i = 0; i < parameters.trained(); ++i)
      parameters.data()[i] += std::normal_distribution<float>(0, 0.3f)(random);
    const auto part = [&](const std::string& name, float diagonal) {
      set("encoder.0.self." + name + ".weight", diagonal);
      set("encoder.0.self." + name + ".bias", 0);
    };
    part("output", 1);
    part("pack.value", 1);  // luna's, which are packed before they are read
  }
  void set(const std::string& name, float diagonal) {
    for (const NamedParameter& p : parameters.named())
      for (int64_t i = 0; p.name == name && i < p.shape.size(); ++i)
        parameters.data()[p.offset + i] = i % (setup.width() + 1) == 0 ? diagonal : 0;
  }
  std::vector<float> mixed(std::vector<float>& x, float values) {
    set("encoder.0.self.value.weight", values);
    set("encoder.0.self.value.bias", 0);
    parameters.repack();
    const Segments one = Segments::single(std::ssize(x) / setup.width());
    Arena arena;
    Ctx ctx(arena);
    Pass pass{ctx, parameters, nullptr, &tap};
    Carried carried;
    return numbers((*layer)(pass, ctx.input(Tensor(x.data(), Shape{one.rows(), setup.width()})), one, carried));
  }
  /// Of each row and head, the rows it sees by their weights.
  void expect_weights() {
    const int64_t w = setup.width(), n = 37, group = setup.heads / setup.heads_kv;
    std::vector<float> x(static_cast<size_t>(n * w));
    std::mt19937 random(9);
    for (float& v : x) v = std::normal_distribution<float>(0, 1.5f)(random);
    const std::vector<float> nothing = mixed(x, 0), all = mixed(x, 1);
    if (tap.weights.empty()) return;  // it has none
    ASSERT_EQ(std::ssize(tap.weights), setup.heads * n * n);
    for (int64_t h = 0; h < setup.heads; ++h)
      for (int64_t i = 0; i < n; ++i)
        for (int64_t d = 0; d < setup.dim; ++d) {
          double want = 0;
          for (int64_t j = 0; j < n; ++j)
            want += static_cast<double>(tap.weights[static_cast<size_t>((h * n + i) * n + j)]) *
                    static_cast<double>(x[static_cast<size_t>(j * w + h / group * setup.dim + d)]);
          const auto at = static_cast<size_t>(i * w + h * setup.dim + d);
          ASSERT_NEAR(all[at] - nothing[at], want, 1e-4) << "head " << h << ", row " << i;
        }
  }
};

TEST_P(WeightsContract, WeightsTimesValuesIsWhatWasMixed) {
  const AttentionKind& kind = kind_of(GetParam());
  // First rows have values of their own, and rows read through a relay: longformer_test.cc, star_test.cc.
  if (kind.name == std::string("longformer") || kind.name == std::string("star")) return;
  const bool shares = kind.name != std::string("routing") && kind.name != std::string("luna") &&
                      !GetParam().attention.options.contains("shared");
  for (const bool causal : {false, true})
    for (const int64_t heads_kv : {4, 2}) {
      if ((causal && !kind.causal) || (heads_kv < 4 && !shares)) continue;
      SCOPED_TRACE(std::string(causal ? "causal" : "both sides") + (heads_kv < 4 ? ", heads share keys" : ""));
      BareSublayer(GetParam().attention, GetParam().position, causal, heads_kv).expect_weights();
    }
}

TEST(Weights, TimesValuesIsWhatWasMixedForEveryScore) {
  for (const std::string score : {"dot", "scaled-dot", "general", "additive", "normed-additive", "cosine", "l2"})
    for (const std::string normalizer : {"softmax", "top-k", "sparsemax", "entmax15"}) {
      SCOPED_TRACE(score + " " + normalizer);
      const Choice attention{"softmax", {{"score", score}, {"normalizer", normalizer}, {"k", int64_t{3}}}};
      for (const bool causal : {false, true}) BareSublayer(attention, {"sinusoidal"}, causal, 4).expect_weights();
    }
}

/// Where keys are another sequence's: all rows at once, one by one, and by the weights.
TEST(Weights, TimesValuesIsWhatWasReadOfAnotherSequence) {
  for (const AttentionKind& kind : attention_kinds()) {
    if (!kind.cross) continue;
    for (const int64_t heads_kv : {4, 2}) {
      SCOPED_TRACE(kind.name);
      Parameters parameters;
      Blueprint::Shared shared{parameters};
      AttentionSetup setup;
      setup.heads = 4;
      setup.heads_kv = heads_kv;
      setup.dim = 4;
      setup.cross = true;
      const auto mechanism =
          make_attention({kind.name}, setup, Blueprint(shared, "decoder.0.cross"), "model.attention");
      parameters.allocate();
      initialize(parameters, shared.inits, 5);
      const Segments queries = Segments::single(5), keys = Segments::single(11);
      const int64_t w = setup.width(), kv = setup.width_kv();
      std::vector<float> q(static_cast<size_t>(5 * w)), k(static_cast<size_t>(11 * 2 * kv)), weights(4 * 5 * 11);
      std::mt19937 random(1);
      for (auto* x : {&q, &k})
        for (float& v : *x) v = std::normal_distribution<float>(0, 1.5f)(random);
      Arena arena;
      Ctx ctx(arena);
      Pass pass{ctx, parameters};
      const Var x = ctx.input(Tensor(q.data(), Shape{5, w})), m = ctx.input(Tensor(k.data(), Shape{11, 2 * kv}));
      const Projected p{x, m, m, 0, 0, kv, &queries, &keys};
      const auto mixed = numbers(mechanism->mix(pass, p));
      const auto read = numbers(mechanism->read(pass, p, std::vector<int32_t>(5, 0), nullptr));
      ASSERT_TRUE(mechanism->weights(pass, p, weights.data()));
      for (int64_t i = 0; i < 5; ++i)
        for (int64_t c = 0; c < w; ++c) {
          const int64_t h = c / 4, of = kv + h / (4 / heads_kv) * 4 + c % 4;
          double want = 0;
          for (int64_t j = 0; j < 11; ++j)
            want += static_cast<double>(weights[static_cast<size_t>((h * 5 + i) * 11 + j)]) *
                    static_cast<double>(k[static_cast<size_t>(j * 2 * kv + of)]);
          ASSERT_NEAR(mixed[static_cast<size_t>(i * w + c)], want, 1e-4) << i << " " << c;
          ASSERT_NEAR(read[static_cast<size_t>(i * w + c)], want, 1e-4) << i << " " << c;
        }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, WeightsContract, testing::ValuesIn(all_pairs()), name_of_pair);

}  // namespace
}  // namespace attune
