#include "autograd/attention/linear_attention.h"

#include "autograd/attention/attention_op.h"
#include "autograd/op_checks.h"

namespace attune {
namespace {

struct LinearAttentionCase {
  std::vector<int32_t> queries, keys;
  int64_t heads, heads_kv, dim, value_dim;
  bool causal = false;
  FeatureMap feature = FeatureMap::elu_plus_one;
  LinearNorm norm = LinearNorm::by_sum;
};

/// q, k and v as three inputs, or as columns of one.
CheckedOp op_of(const LinearAttentionCase& c, bool reference = false, bool joined = false) {
  return attention_op<LinearAttention>(c, joined, [=](Ctx& ctx, LinearAttention a, const std::vector<Var>&) {
    a.value_dim = c.value_dim;
    a.causal = c.causal;
    a.feature = c.feature;
    a.norm = c.norm;
    return reference ? linear_attention_reference(ctx, a) : linear_attention(ctx, a);
  });
}

/// Rows that come mapped are positive, as maps make them.
std::vector<CheckInput> inputs_of(const LinearAttentionCase& c) {
  const int64_t n = Segments::of_lengths(c.queries).rows(), m = Segments::of_lengths(c.keys).rows();
  std::vector<CheckInput> in{random_input({n, c.heads * c.dim}, 1), random_input({m, c.heads_kv * c.dim}, 2),
                             random_input({m, c.heads_kv * c.value_dim}, 3)};
  if (c.feature == FeatureMap::none)
    for (size_t i : {0u, 1u})
      for (double& x : in[i].values) x = std::abs(x) + 0.1;
  return in;
}

const std::vector<int32_t> kLinearAttentionLengths{7, 0, 1, 47, 48, 49, 130};  // a chunk is 48 rows

std::vector<LinearAttentionCase> linear_attention_cases() {
  std::vector<LinearAttentionCase> all;
  for (const FeatureMap feature : {FeatureMap::none, FeatureMap::elu_plus_one})
    for (const LinearNorm norm : {LinearNorm::by_sum, LinearNorm::by_count})
      for (const bool causal : {false, true}) {
        // a single column divided by_sum does not depend on the query: no gradient to compare
        for (const int64_t dim : {norm == LinearNorm::by_sum ? 2 : 1, 7, 16, 33, 64})
          all.push_back({kLinearAttentionLengths, kLinearAttentionLengths, 2, 2, dim, dim, causal, feature, norm});
        // heads that share keys, values of another width
        all.push_back({{150, 20, 300}, {150, 20, 300}, 4, 2, 16, 24, causal, feature, norm});
        all.push_back({{129, 127}, {129, 127}, 3, 1, 24, 15, causal, feature, norm});
      }
  // cross-attention, other lengths than the queries', some without keys or without queries
  for (const LinearNorm norm : {LinearNorm::by_sum, LinearNorm::by_count})
    all.push_back({{5, 3, 0, 50, 1, 200}, {9, 0, 4, 20, 130, 65}, 2, 1, 16, 20, false, FeatureMap::elu_plus_one, norm});
  return all;
}

std::string name_of(const LinearAttentionCase& c) {
  return fmt::format("dim {}/{} heads {}/{} causal {} feature {} norm {}", c.dim, c.value_dim, c.heads, c.heads_kv,
                     c.causal, static_cast<int>(c.feature), static_cast<int>(c.norm));
}

/// Divided by_sum, a query that sees a single key gives just its value: the gradient is 0 but for what rounding leaves,
/// in the plain f32 form as well.
double gradient_tolerance(const LinearAttentionCase& c) { return c.norm == LinearNorm::by_sum ? 1e-3 : 1e-5; }

TEST(LinearAttention, NearItsReference) {
  for (const LinearAttentionCase& c : linear_attention_cases()) {
    const auto in = inputs_of(c);
    const CheckRun fast = run_checked(op_of(c), in, DType::f32), exact = run_checked(op_of(c, true), in, DType::f64);
    EXPECT_LT(row_error(fast, exact, {}), 1e-5) << "value, " << name_of(c);
    EXPECT_LT(row_error(fast, exact, in), gradient_tolerance(c)) << "gradients, " << name_of(c);
  }
}

TEST(LinearAttention, GradientsArePreciseWhereSeveralKeysAreSeen) {
  for (const FeatureMap feature : {FeatureMap::none, FeatureMap::elu_plus_one}) {
    const LinearAttentionCase c{{5, 70, 200}, {5, 70, 200}, 2, 1, 16, 24, false, feature};
    EXPECT_LT(precision_error(op_of(c), op_of(c, true), inputs_of(c)), 1e-5) << name_of(c);
  }
}

TEST(LinearAttention, ReferenceHasRightGradients) {
  for (const FeatureMap feature : {FeatureMap::none, FeatureMap::elu_plus_one})
    for (const LinearNorm norm : {LinearNorm::by_sum, LinearNorm::by_count}) {
      const LinearAttentionCase causal{{4, 0, 1, 3}, {4, 0, 1, 3}, 2, 1, 3, 2, true, feature, norm};
      const LinearAttentionCase cross{{2, 3, 1}, {5, 1, 0}, 2, 2, 2, 3, false, feature, norm};
      EXPECT_LT(gradient_error(op_of(causal, true), inputs_of(causal)), 1e-6) << name_of(causal);
      EXPECT_LT(gradient_error(op_of(cross, true), inputs_of(cross)), 1e-6) << name_of(cross);
    }
}

/// Equations 16 to 20 of the paper, as they stand there: s_i = s_{i-1} + phi(x_i W_K)(x_i W_V)^T,
/// z_i = z_{i-1} + phi(x_i W_K), y_i = phi(x_i W_Q)^T s_i / phi(x_i W_Q)^T z_i, with phi(x) = elu(x) + 1 (equation 7).
TEST(LinearAttention, IsTheRecurrenceOfThePaper) {
  constexpr int64_t n = 150, d = 5, dv = 3;
  const LinearAttentionCase c{{n}, {n}, 1, 1, d, dv, true};
  const auto in = inputs_of(c);
  const auto phi = [](double x) { return x > 0 ? x + 1 : std::exp(x); };
  const CheckRun fast = run_checked(op_of(c), in, DType::f32), slow = run_checked(op_of(c, true), in, DType::f64);
  double s[d][dv] = {}, z[d] = {};
  for (int64_t i = 0; i < n; ++i) {
    const double *q = in[0].values.data() + i * d, *k = in[1].values.data() + i * d, *v = in[2].values.data() + i * dv;
    double below = 1e-6, above[dv] = {};
    for (int64_t a = 0; a < d; ++a) {
      z[a] += phi(k[a]);
      below += phi(q[a]) * z[a];
      for (int64_t b = 0; b < dv; ++b) {
        s[a][b] += phi(k[a]) * v[b];
        above[b] += phi(q[a]) * s[a][b];
      }
    }
    for (int64_t b = 0; b < dv; ++b) {
      ASSERT_NEAR(fast.value[static_cast<size_t>(i * dv + b)], above[b] / below, 1e-5);
      ASSERT_NEAR(slow.value[static_cast<size_t>(i * dv + b)], above[b] / below, 1e-9);
    }
  }
}

TEST(LinearAttention, FixedBits) {
  for (const LinearAttentionCase& c :
       {LinearAttentionCase{{150, 20, 0, 1, 300, 40, 64}, {150, 20, 0, 1, 300, 40, 64}, 4, 2, 32, 40, true},
        LinearAttentionCase{{150, 20, 0, 1, 300, 40, 40}, {150, 20, 3, 1, 300, 40, 0}, 2, 2, 24, 24, false},
        LinearAttentionCase{{200, 65}, {200, 65}, 2, 2, 16, 16, true, FeatureMap::none, LinearNorm::by_count}}) {
    const auto in = inputs_of(c);
    expect_fixed_bits(op_of(c), in);
    expect_precise(op_of(c), op_of(c, true), in, name_of(c), gradient_tolerance(c));
  }
}

TEST(LinearAttention, AColumnRangeOfOneMatrixIsAsGoodAsThree) {
  const LinearAttentionCase c{{70, 5, 200}, {70, 5, 200}, 2, 2, 16, 16, true};
  auto in = inputs_of(c);
  const CheckRun apart = run_checked(op_of(c), in, DType::f32);
  CheckInput joined{{in[0].shape[0], 3 * 32}, {}, true};
  for (int64_t r = 0; r < in[0].shape[0]; ++r)
    for (size_t part = 0; part < 3; ++part)
      for (int64_t j = 0; j < 32; ++j) joined.values.push_back(in[part].values[static_cast<size_t>(r * 32 + j)]);
  const CheckRun together = run_checked(op_of(c, false, true), {joined}, DType::f32);
  EXPECT_TRUE(same_bits(apart.value, together.value));
  for (int64_t r = 0; r < in[0].shape[0]; ++r)
    for (size_t part = 0; part < 3; ++part)
      for (int64_t j = 0; j < 32; ++j)
        ASSERT_EQ(apart.grads[part][static_cast<size_t>(r * 32 + j)],
                  together.grads[0][static_cast<size_t>(r * 96) + part * 32 + static_cast<size_t>(j)]);
}

/// Forward and backward of sequences one by one, with the batch's own gradient, give the batch's bits.
TEST(LinearAttention, ASequenceDoesNotDependOnBatchMates) {
  constexpr int64_t width = 2 * 16;
  const std::vector<int32_t> lengths{40, 200, 1, 64};
  const Segments segments = Segments::of_lengths(lengths);
  std::vector<std::vector<float>> in;
  for (uint64_t i = 0; i < 4; ++i) {  // the last is the gradient of the result
    const auto x = random_input({segments.rows(), width}, i + 1);
    in.emplace_back(x.values.begin(), x.values.end());
  }
  const auto run = [&](const Segments& s, int64_t row, bool causal) {
    Arena arena;
    Ctx ctx(arena);
    Tape tape;
    ctx.tape = &tape;
    const Shape shape{s.rows(), width};
    LinearAttention a;
    Var* const vars[] = {&a.q, &a.k, &a.v};
    for (size_t i = 0; i < 3; ++i) *vars[i] = ctx.input(Tensor(in[i].data() + row * width, shape), true);
    a.queries = a.keys = &s;
    a.heads = 2;
    a.dim = 16;
    a.causal = causal;
    const Var y = linear_attention(ctx, a);
    const Tensor seed(in[3].data() + row * width, shape);
    std::vector<std::vector<float>> all;
    all.emplace_back(y.value().as<float>(), y.value().as<float>() + s.rows() * width);
    tape.backward(ctx, y, &seed);
    for (const Var* v : vars) all.emplace_back(v->grad().as<float>(), v->grad().as<float>() + s.rows() * width);
    return all;
  };
  for (const bool causal : {false, true}) {
    const auto batch = run(segments, 0, causal);
    for (int64_t s = 0; s < segments.count(); ++s) {
      const auto alone = run(Segments::single(segments.length(s)), segments.begin(s), causal);
      for (size_t i = 0; i < alone.size(); ++i)
        EXPECT_TRUE(same_bits(alone[i], std::vector<float>(batch[i].begin() + segments.begin(s) * width,
                                                           batch[i].begin() + segments.start[s + 1] * width)))
            << i << ", sequence " << s << ", causal " << causal;
    }
  }
}

TEST(LinearAttention, TheFutureDoesNotChangeThePast) {
  const LinearAttentionCase c{{200}, {200}, 1, 1, 16, 16, true};
  for (const int64_t now : {1, 63, 64, 100, 150}) {
    auto in = inputs_of(c);
    const CheckRun before = run_checked(op_of(c), in, DType::f32);
    for (auto i = static_cast<size_t>(now * 16); i < 200 * 16; ++i)
      in[0].values[i] = in[1].values[i] = in[2].values[i] = 1e6;
    const CheckRun after = run_checked(op_of(c), in, DType::f32);
    EXPECT_EQ(std::memcmp(before.value.data(), after.value.data(), static_cast<size_t>(now) * 16 * sizeof(double)), 0)
        << now;
  }
}

TEST(LinearAttention, ViewsAndPlan) {
  for (const LinearAttentionCase& c :
       {LinearAttentionCase{{30, 4, 150}, {30, 4, 150}, 2, 1, 16, 16, true},
        LinearAttentionCase{{30, 4}, {30, 4}, 2, 1, 12, 20},
        LinearAttentionCase{{30, 4}, {90, 0}, 2, 1, 12, 8, false, FeatureMap::none, LinearNorm::by_count}})
    expect_views_and_plan(op_of(c), inputs_of(c));
}

/// phi goes from 1e-38 to 1e3: divisors as small as that do no harm.
TEST(LinearAttention, LargeNumbersStayFinite) {
  for (const bool causal : {false, true}) {
    const LinearAttentionCase c{{150, 10}, {150, 10}, 1, 1, 16, 16, causal};
    auto in = inputs_of(c);
    for (double& v : in[0].values) v *= 1000;
    for (double& v : in[1].values) v *= 1000;
    const CheckRun run = run_checked(op_of(c), in, DType::f32);
    for (double v : run.value) ASSERT_TRUE(std::isfinite(v));
    for (const auto& g : run.grads)
      for (double v : g) ASSERT_TRUE(std::isfinite(v));
  }
}

TEST(LinearAttention, NotANumberShows) {
  const LinearAttentionCase c{{70}, {70}, 1, 1, 16, 16, true};
  auto in = inputs_of(c);
  in[1].values[66 * 16] = NAN;
  for (const std::string& isa : available_isas()) {
    const IsaScope scope(isa);
    const CheckRun run = run_checked(op_of(c), in, DType::f32);
    EXPECT_TRUE(std::isnan(run.value[67 * 16])) << isa;
    EXPECT_FALSE(std::isnan(run.value[63 * 16])) << isa;
  }
}

TEST(LinearAttention, ScratchDoesNotGrow) {
  const auto bytes = [](int32_t length, bool causal, bool backward) {
    const Segments s = Segments::single(length);
    return kernels::linear_scratch({&s, &s, 8, 8, 64, 64, causal}, 1, backward);
  };
  for (const bool causal : {false, true})
    for (const bool backward : {false, true}) {
      EXPECT_EQ(bytes(65536, causal, backward), bytes(64, causal, backward));
      EXPECT_LT(bytes(65536, causal, backward), 1 << 20);
    }
}

TEST(LinearAttention, SaysWhatDoesNotFit) {
  Bench t;
  const Segments s7 = Segments::single(7), s8 = Segments::single(8), both = Segments::of_lengths({3, 4}),
                 other = Segments::of_lengths({4, 3});
  const auto say = [&](Shape k, Shape v, const Segments& sq, const Segments& sk, int64_t heads) {
    LinearAttention a{t.make({7, 8}), t.make(k), t.make(v)};
    a.queries = &sq;
    a.keys = &sk;
    a.heads = heads;
    a.heads_kv = 2;
    a.dim = 4;
    a.causal = true;
    return error_of([&] { linear_attention(t.ctx, a); });
  };
  EXPECT_EQ(say({7, 8}, {8, 8}, s7, s7, 2), "[linear_attention] keys have 7 rows, values have 8");
  EXPECT_EQ(say({7, 8}, {7, 8}, s8, s7, 2), "[linear_attention] segments have 8 rows, queries have 7");
  EXPECT_EQ(say({7, 8}, {7, 8}, s7, s7, 3), "[linear_attention] 3 heads can't share 2 key-value heads");
  EXPECT_EQ(say({7, 8}, {7, 6}, s7, s7, 2),
            "[linear_attention] values of 2 heads of 4 need columns 0 to 8, rows have 6");
  EXPECT_EQ(say({7, 8}, {7, 8}, both, other, 2), "[linear_attention] causal, but sequence 0 has 3 queries and 4 keys");
}

}  // namespace
}  // namespace attune
