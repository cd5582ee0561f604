#include "autograd/attention/score_attention.h"

#include "autograd/attention/attention_op.h"
#include "autograd/op_checks.h"

namespace attune {
namespace {

struct ScoreAttentionCase {
  std::vector<int32_t> queries, keys;
  int64_t heads, heads_kv, dim;
  Mask mask = {};
  float dropout = 0;
  ScoreKind score = ScoreKind::dot;
  Normaliser normaliser = {};
  bool biased = true;  // additive alone
};

constexpr Normaliser kSoftmax{}, kTopK{NormaliserKind::top_k, 3}, kSparsemax{NormaliserKind::sparsemax},
    kEntmax{NormaliserKind::entmax15};

/// Inputs are q, k, v and, for additive scores, the vector and the bias.
CheckedOp op_of(const ScoreAttentionCase& c, bool reference = false) {
  return attention_op<ScoreAttention>(c, false, [=](Ctx& ctx, ScoreAttention a, const std::vector<Var>& in) {
    a.mask = c.mask;
    a.dropout = {c.dropout, 42, 1000};
    a.score = c.score;
    a.normaliser = c.normaliser;
    if (in.size() > 3) a.vector = in[3];
    if (in.size() > 4) a.bias = in[4];
    return reference ? score_attention_reference(ctx, a) : score_attention(ctx, a);
  });
}

std::vector<CheckInput> inputs_of(const ScoreAttentionCase& c) {
  const int64_t n = Segments::of_lengths(c.queries).rows(), m = Segments::of_lengths(c.keys).rows();
  std::vector<CheckInput> in{random_input({n, c.heads * c.dim}, 1), random_input({m, c.heads_kv * c.dim}, 2),
                             random_input({m, c.heads_kv * c.dim}, 3)};
  if (c.score == ScoreKind::additive) in.push_back(random_input({c.heads * c.dim}, 4, 0.4));
  if (c.score == ScoreKind::additive && c.biased) in.push_back(random_input({c.heads * c.dim}, 5, 0.5));
  return in;
}

std::string text_of(const ScoreAttentionCase& c) {
  return fmt::format("score {} normaliser {} dim {} heads {}/{} causal {} before {} after {} prefix {} dropout {}",
                     static_cast<int>(c.score), static_cast<int>(c.normaliser.kind), c.dim, c.heads, c.heads_kv,
                     c.mask.causal, c.mask.before, c.mask.after, c.mask.prefix != nullptr, c.dropout);
}

/// f(case) for every score and normaliser in place of the case's own.
template <class F>
void for_all_rules(ScoreAttentionCase c, F f) {
  for (ScoreKind score : {ScoreKind::dot, ScoreKind::additive, ScoreKind::l2})
    for (const Normaliser& normaliser : {kSoftmax, kTopK, kSparsemax, kEntmax}) {
      c.score = score;
      c.normaliser = normaliser;
      f(c);
    }
}

const std::vector<int32_t> kScoreAttentionLengths{7, 0, 1, 33, 50};
const std::vector<int32_t> kScoreAttentionPrefix{3, 0, 1, 25, 0};

std::vector<ScoreAttentionCase> score_attention_cases() {
  std::vector<ScoreAttentionCase> all;
  for (const Mask& mask : {Mask::none(), Mask::past(), Mask::band(8, true), Mask::band(9, false),
                           Mask::past_with_prefix(kScoreAttentionPrefix.data())})
    for (float dropout : {0.0f, 0.2f})
      all.push_back({kScoreAttentionLengths, kScoreAttentionLengths, 2, 2, 7, mask, dropout});
  for (int64_t dim : {1, 16, 33, 64})
    all.push_back({kScoreAttentionLengths, kScoreAttentionLengths, 2, 2, dim, Mask::past(), 0.1f});
  // cross-attention, other lengths than the queries', some without keys; remembered keys in front; shared heads
  all.push_back({{5, 3, 0, 50, 1}, {9, 0, 4, 20, 130}, 2, 2, 16, {}, 0.3f});
  all.push_back({{5, 60, 1}, {9, 90, 4}, 2, 2, 16, Mask::past(), 0.1f});
  all.push_back({{70, 20}, {70, 20}, 4, 2, 16, Mask::past(), 0.1f});
  all.push_back({{70, 20}, {70, 20}, 3, 1, 24, {}, 0});
  return all;
}

TEST(ScoreAttention, NearItsReference) {
  for (const ScoreAttentionCase& shape : score_attention_cases())
    for_all_rules(shape, [](const ScoreAttentionCase& c) {
      EXPECT_LT(precision_error(op_of(c), op_of(c, true), inputs_of(c)), 1e-4) << text_of(c);
    });
}

TEST(ScoreAttention, LongSequencesNearTheReference) {
  // several strips of rows, whole and banded; and so many keys that a strip has few rows
  for (const ScoreAttentionCase& shape : {ScoreAttentionCase{{300}, {300}, 1, 1, 8, Mask::past(), 0.1f},
                                          ScoreAttentionCase{{300}, {300}, 1, 1, 8, Mask::band(130, true), 0.1f},
                                          ScoreAttentionCase{{26}, {3000}, 1, 1, 8}})
    for_all_rules(shape, [](const ScoreAttentionCase& c) {
      // of thousands of keys some have next to no weight under a sparse one, and their gradients little precision
      const bool sparse =
          c.normaliser.kind == NormaliserKind::sparsemax || c.normaliser.kind == NormaliserKind::entmax15;
      const double tolerance = c.keys[0] > 1000 && sparse ? 1e-3 : 1e-4;
      EXPECT_LT(precision_error(op_of(c), op_of(c, true), inputs_of(c)), tolerance) << text_of(c);
    });
}

TEST(ScoreAttention, ReferenceHasRightGradients) {
  for_all_rules({{4, 0, 1, 6}, {4, 0, 1, 6}, 2, 1, 3, Mask::past(), 0.3f}, [](const ScoreAttentionCase& c) {
    EXPECT_LT(gradient_error(op_of(c, true), inputs_of(c)), 1e-6) << text_of(c);
  });
  for_all_rules({{2, 3}, {8, 1}, 2, 2, 2, Mask::band(3, false)}, [](ScoreAttentionCase c) {
    c.biased = false;
    EXPECT_LT(gradient_error(op_of(c, true), inputs_of(c)), 1e-6) << text_of(c);
  });
}

TEST(ScoreAttention, ReferenceIsTheFormula) {
  // one head, two keys of two columns, by hand
  Bench t;
  const Segments one = Segments::single(1), two = Segments::single(2);
  ScoreAttention a;
  a.q = t.floats({1, 2}, {1, 2});
  a.k = t.floats({2, 2}, {0.5, 1, -1, 0});
  a.v = t.floats({2, 2}, {10, 20, 30, 40});
  a.queries = &one;
  a.keys = &two;
  a.dim = 2;
  const auto check = [&](double w) {
    for (const Var& y : {score_attention(t.ctx, a), score_attention_reference(t.ctx, a)}) {
      EXPECT_NEAR(y.value().as<float>()[0], 10 * w + 30 * (1 - w), 1e-5);
      EXPECT_NEAR(y.value().as<float>()[1], 20 * w + 40 * (1 - w), 1e-5);
    }
  };
  const auto softmax_of = [](double s0, double s1) { return 1 / (1 + std::exp(s1 - s0)); };
  check(softmax_of(2.5 / std::sqrt(2.0), -1 / std::sqrt(2.0)));
  a.score = ScoreKind::l2;  // distances: 0.25 + 1 and 4 + 4
  check(softmax_of(-1.25 / std::sqrt(2.0), -8 / std::sqrt(2.0)));
  a.score = ScoreKind::additive;
  a.vector = t.floats({2}, {0.3f, -0.7f});
  a.bias = t.floats({2}, {0.1f, -2.5f});
  check(softmax_of(0.3 * std::tanh(1.6) - 0.7 * std::tanh(0.5), 0.3 * std::tanh(0.1) - 0.7 * std::tanh(-0.5)));
  a.normaliser = kSparsemax;  // p0 - p1 = s0 - s1 where both have weight
  check(0.5 + 0.5 * (0.3 * (std::tanh(1.6) - std::tanh(0.1)) - 0.7 * (std::tanh(0.5) - std::tanh(-0.5))));
  a.normaliser = {NormaliserKind::top_k, 1};
  check(0);
}

TEST(ScoreAttention, DotAndSoftmaxAreAttention) {
  // the fused operation, dropout with the same keys included
  const ScoreAttentionCase c{{150, 20, 1, 200}, {150, 20, 1, 200}, 4, 2, 32, Mask::past(), 0.25f};
  auto s = std::make_shared<Segments>(Segments::of_lengths(c.queries));
  const CheckedOp fused = [=](Ctx& ctx, const std::vector<Var>& in) {
    Attention a{in[0], in[1], in[2]};
    a.queries = a.keys = s.get();
    a.heads = c.heads;
    a.heads_kv = c.heads_kv;
    a.dim = c.dim;
    a.mask = c.mask;
    a.dropout = {c.dropout, 42, 1000};
    return attention(ctx, a);
  };
  const auto in = inputs_of(c);
  EXPECT_LT(row_error(run_checked(op_of(c), in, DType::f32), run_checked(fused, in, DType::f32), in), 1e-4);
}

TEST(ScoreAttention, DropoutDropsItsShareAndKeepsTheMean) {
  // equal scores and values of 1: a result is the sum of 1/400 of what is kept
  Bench t;
  const Segments s = Segments::single(400);
  for (const Normaliser& normaliser : {kSoftmax, Normaliser{NormaliserKind::top_k, 400}, kSparsemax}) {
    ScoreAttention a;
    a.q = t.floats({400, 1}, std::vector<float>(400, 0.0f));
    a.k = a.q;
    a.v = t.floats({400, 1}, std::vector<float>(400, 1.0f));
    a.queries = a.keys = &s;
    a.dim = 1;
    a.normaliser = normaliser;
    a.dropout = {0.3f, 7};
    const Var y = score_attention(t.ctx, a);
    double mean = 0, squares = 0;
    for (int64_t i = 0; i < 400; ++i) {
      const double v = static_cast<double>(y.value().as<float>()[i]);
      mean += v / 400;
      squares += v * v / 400;
    }
    EXPECT_NEAR(mean, 1, 0.01);
    EXPECT_NEAR(squares - mean * mean, 0.3 / 0.7 / 400, 3e-4);  // of a mean of 400 draws
  }
}

TEST(ScoreAttention, FixedBits) {
  for_all_rules({{70, 20, 0, 1, 40}, {70, 20, 3, 1, 0}, 4, 2, 24, Mask::past(), 0.1f}, [](const ScoreAttentionCase& c) {
    const auto in = inputs_of(c);
    SCOPED_TRACE(text_of(c));
    expect_fixed_bits(op_of(c), in);
    expect_precise(op_of(c), op_of(c, true), in);
  });
}

TEST(ScoreAttention, ASequenceDoesNotDependOnBatchMates) {
  const std::vector<int32_t> lengths{40, 7, 170, 1};
  for_all_rules({lengths, lengths, 2, 2, 32, Mask::past()}, [&](const ScoreAttentionCase& all) {
    const auto in = inputs_of(all);
    const CheckRun batch = run_checked(op_of(all), in, DType::f32);
    int64_t row = 0;
    for (int32_t length : lengths) {
      const auto part = [&](const std::vector<double>& x) {
        return std::vector<double>(x.begin() + row * 64, x.begin() + (row + length) * 64);
      };
      std::vector<CheckInput> own = in;
      for (size_t i = 0; i < 3; ++i) own[i] = {{length, 64}, part(in[i].values)};
      ScoreAttentionCase alone = all;
      alone.queries = alone.keys = {length};
      EXPECT_TRUE(same_bits(run_checked(op_of(alone), own, DType::f32).value, part(batch.value))) << text_of(all);
      row += length;
    }
  });
}

TEST(ScoreAttention, TheFutureDoesNotChangeThePast) {
  for_all_rules({{100}, {100}, 1, 1, 16, Mask::past()}, [](const ScoreAttentionCase& c) {
    auto in = inputs_of(c);
    const CheckRun before = run_checked(op_of(c), in, DType::f32);
    for (size_t i = 70 * 16; i < 100 * 16; ++i) in[1].values[i] = in[2].values[i] = 1e6;
    const CheckRun after = run_checked(op_of(c), in, DType::f32);
    EXPECT_EQ(std::memcmp(before.value.data(), after.value.data(), 70 * 16 * sizeof(double)), 0) << text_of(c);
  });
}

TEST(ScoreAttention, ViewsAndPlan) {
  for_all_rules({{30, 4, 60}, {30, 4, 60}, 2, 1, 12, Mask::past(), 0.1f}, [](const ScoreAttentionCase& c) {
    SCOPED_TRACE(text_of(c));
    expect_views_and_plan(op_of(c), inputs_of(c));
  });
}

TEST(ScoreAttention, QueriesKeysAndValuesMayBeColumnsOfOneMatrix) {
  // the keys are the queries too, and some columns nobody uses
  const auto op = [](bool reference) -> CheckedOp {
    auto s = std::make_shared<Segments>(Segments::of_lengths({5, 60}));
    return [=](Ctx& ctx, const std::vector<Var>& in) {
      ScoreAttention a;
      a.q = a.k = a.v = in[0];
      a.q_column = a.k_column = 3;
      a.v_column = 35;
      a.queries = a.keys = s.get();
      a.heads = 2;
      a.dim = 16;
      a.score = ScoreKind::l2;
      return reference ? score_attention_reference(ctx, a) : score_attention(ctx, a);
    };
  };
  EXPECT_LT(precision_error(op(false), op(true), {random_input({65, 70}, 1)}), 1e-4);
}

TEST(ScoreAttention, LargeScoresStayFinite) {
  for_all_rules({{100, 10}, {100, 10}, 1, 1, 16}, [](const ScoreAttentionCase& c) {
    auto in = inputs_of(c);
    for (double& v : in[0].values) v *= 1000;
    const CheckRun run = run_checked(op_of(c), in, DType::f32);
    for (double v : run.value) ASSERT_TRUE(std::isfinite(v)) << text_of(c);
    for (const auto& g : run.grads)
      for (double v : g) ASSERT_TRUE(std::isfinite(v)) << text_of(c);
  });
}

TEST(ScoreAttention, SaysWhatDoesNotFit) {
  Bench t;
  const Segments s = Segments::single(7);
  ScoreAttention a;
  a.q = a.k = a.v = t.make({7, 8});
  a.queries = a.keys = &s;
  a.heads = 2;
  a.dim = 4;
  const auto say = [&] { return error_of([&] { score_attention(t.ctx, a); }); };
  a.vector = t.make({8});
  EXPECT_EQ(say(), "[score_attention] only additive scores have a vector and a bias");
  a.score = ScoreKind::additive;
  a.vector = t.make({4});
  EXPECT_EQ(say(), "[score_attention] the vector has 4 elements, 2 heads of 4 need 8");
  a.vector = {};
  EXPECT_EQ(say(), "[score_attention] additive scores need a vector");
  a.score = ScoreKind::dot;
  a.normaliser = {NormaliserKind::top_k, 0};
  EXPECT_EQ(say(), "[score_attention] the 0 largest scores of a row");
  a.heads = 3;
  EXPECT_EQ(say(), "[score_attention] queries of 3 heads of 4 need columns 0 to 12, rows have 8");
}

}  // namespace
}  // namespace attune
