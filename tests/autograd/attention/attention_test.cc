#include "autograd/attention/attention.h"

#include <array>

#include "autograd/attention/attention_op.h"
#include "autograd/op_checks.h"

namespace attune {
namespace {

struct AttentionCase {
  std::vector<int32_t> queries, keys;
  int64_t heads, heads_kv, dim;
  Mask mask = {};
  float dropout = 0;
};

/// q, k and v as three inputs, or as columns of one (self-attention with as many heads of each).
CheckedOp op_of(const AttentionCase& c, bool reference = false, bool joined = false) {
  return attention_op<Attention>(c, joined, [=](Ctx& ctx, Attention a, const std::vector<Var>&) {
    a.mask = c.mask;
    a.dropout = {c.dropout, 42, 1000};
    return reference ? attention_reference(ctx, a) : attention(ctx, a);
  });
}

std::vector<CheckInput> inputs_of(const AttentionCase& c) {
  const int64_t n = Segments::of_lengths(c.queries).rows(), m = Segments::of_lengths(c.keys).rows();
  return {random_input({n, c.heads * c.dim}, 1), random_input({m, c.heads_kv * c.dim}, 2),
          random_input({m, c.heads_kv * c.dim}, 3)};
}

const std::vector<int32_t> kAttentionLengths{7, 0, 1, 63, 65, 20};
const std::vector<int32_t> kAttentionPrefix{3, 0, 1, 40, 0, 25};

std::vector<AttentionCase> attention_cases() {
  std::vector<AttentionCase> all;
  for (const Mask& mask : {Mask::none(), Mask::past(), Mask::band(8, true), Mask::band(9, false), Mask::band(2, true),
                           Mask::past_with_prefix(kAttentionPrefix.data())})
    for (float dropout : {0.0f, 0.2f})
      for (int64_t dim : {1, 7, 16, 33, 64})
        all.push_back({kAttentionLengths, kAttentionLengths, 2, 2, dim, mask, dropout});
  // cross-attention, other lengths than the queries', some without keys
  for (float dropout : {0.0f, 0.3f}) all.push_back({{5, 3, 0, 50, 1}, {9, 0, 4, 20, 130}, 2, 2, 16, {}, dropout});
  // remembered keys in front: the ends are aligned
  all.push_back({{5, 60, 1}, {9, 200, 4}, 2, 2, 16, Mask::past(), 0.1f});
  // shared key-value heads, several key tiles
  all.push_back({{150, 20, 300}, {150, 20, 300}, 4, 2, 16, Mask::past(), 0.1f});
  all.push_back({{150, 20, 300}, {150, 20, 300}, 3, 1, 24, {}, 0});
  all.push_back({{400}, {400}, 1, 1, 8, Mask::band(130, true), 0.1f});
  all.push_back({{400}, {400}, 1, 1, 8, Mask::band(130, false), 0});
  return all;
}

TEST(Attention, NearItsReference) {
  for (const AttentionCase& c : attention_cases()) {
    const std::string where =
        fmt::format("dim {} heads {}/{} causal {} before {} after {} prefix {} dropout {}", c.dim, c.heads, c.heads_kv,
                    c.mask.causal, c.mask.before, c.mask.after, c.mask.prefix != nullptr, c.dropout);
    EXPECT_LT(precision_error(op_of(c), op_of(c, true), inputs_of(c)), 1e-4) << where;
  }
}

TEST(Attention, ReferenceHasRightGradients) {
  EXPECT_LT(gradient_error(op_of({{4, 0, 1, 3}, {4, 0, 1, 3}, 2, 1, 3, Mask::past(), 0.3f}, true),
                           inputs_of({{4, 0, 1, 3}, {4, 0, 1, 3}, 2, 1, 3})),
            1e-6);
  EXPECT_LT(gradient_error(op_of({{2, 3}, {5, 1}, 2, 2, 2, Mask::band(3, false)}, true),
                           inputs_of({{2, 3}, {5, 1}, 2, 2, 2})),
            1e-6);
}

TEST(Attention, ReferenceIsTheFormula) {
  // softmax(q k^T / sqrt(d)) v by hand, one head, two keys
  Bench t;
  const Segments one = Segments::single(1), two = Segments::single(2);
  Attention a{t.floats({1, 2}, {1, 2}), t.floats({2, 2}, {0.5, 1, -1, 0}), t.floats({2, 2}, {10, 20, 30, 40})};
  a.queries = &one;
  a.keys = &two;
  a.dim = 2;
  const double s0 = 2.5 / std::sqrt(2.0), s1 = -1 / std::sqrt(2.0), w = std::exp(s0) / (std::exp(s0) + std::exp(s1));
  for (const Var& y : {attention(t.ctx, a), attention_reference(t.ctx, a)}) {
    EXPECT_NEAR(y.value().as<float>()[0], 10 * w + 30 * (1 - w), 1e-5);
    EXPECT_NEAR(y.value().as<float>()[1], 20 * w + 40 * (1 - w), 1e-5);
  }
}

TEST(Attention, FixedBits) {
  for (const AttentionCase& c :
       {AttentionCase{{150, 20, 0, 1, 300, 40, 40}, {150, 20, 0, 1, 300, 40, 40}, 4, 2, 32, Mask::past(), 0.1f},
        AttentionCase{{150, 20, 0, 1, 300, 40, 40}, {150, 20, 3, 1, 300, 40, 0}, 2, 2, 24, {}, 0}}) {
    const auto in = inputs_of(c);
    expect_fixed_bits(op_of(c), in);
    expect_precise(op_of(c), op_of(c, true), in);
  }
}

TEST(Attention, AColumnRangeOfOneMatrixIsAsGoodAsThree) {
  const AttentionCase c{{70, 5, 200}, {70, 5, 200}, 2, 2, 16, Mask::past(), 0.1f};
  auto in = inputs_of(c);
  const CheckRun apart = run_checked(op_of(c), in, DType::f32);
  CheckInput joined{{in[0].shape[0], 3 * 32}, {}, true};
  for (int64_t r = 0; r < in[0].shape[0]; ++r)
    for (int part = 0; part < 3; ++part)
      for (int64_t j = 0; j < 32; ++j)
        joined.values.push_back(in[static_cast<size_t>(part)].values[static_cast<size_t>(r * 32 + j)]);
  const CheckRun together = run_checked(op_of(c, false, true), {joined}, DType::f32);
  EXPECT_TRUE(same_bits(apart.value, together.value));
  for (int64_t r = 0; r < in[0].shape[0]; ++r)
    for (int part = 0; part < 3; ++part)
      for (int64_t j = 0; j < 32; ++j)
        ASSERT_EQ(apart.grads[static_cast<size_t>(part)][static_cast<size_t>(r * 32 + j)],
                  together.grads[0][static_cast<size_t>(r * 96 + part * 32 + j)]);
}

TEST(Attention, SharedQueriesAndKeys) {
  // q and k the same columns (Reformer): their gradients add up
  const auto op = [](bool reference) -> CheckedOp {
    auto s = std::make_shared<Segments>(Segments::of_lengths({5, 60, 140}));
    return [=](Ctx& ctx, const std::vector<Var>& in) {
      Attention a{in[0], in[0], in[1]};
      a.queries = a.keys = s.get();
      a.heads = 2;
      a.dim = 16;
      return reference ? attention_reference(ctx, a) : attention(ctx, a);
    };
  };
  EXPECT_LT(precision_error(op(false), op(true), {random_input({205, 40}, 1), random_input({205, 32}, 2)}), 1e-4);
}

TEST(Attention, ASequenceDoesNotDependOnBatchMates) {
  const std::vector<int32_t> lengths{40, 7, 300, 129, 1};
  const AttentionCase all{lengths, lengths, 2, 2, 32, Mask::past(), 0};
  const auto in = inputs_of(all);
  const CheckRun batch = run_checked(op_of(all), in, DType::f32);
  int64_t row = 0;
  for (int32_t length : lengths) {
    std::vector<CheckInput> part;
    for (const auto& x : in)
      part.push_back(
          {{length, 64}, std::vector<double>(x.values.begin() + row * 64, x.values.begin() + (row + length) * 64)});
    const CheckRun alone = run_checked(op_of({{length}, {length}, 2, 2, 32, Mask::past(), 0}), part, DType::f32);
    EXPECT_TRUE(same_bits(
        alone.value, std::vector<double>(batch.value.begin() + row * 64, batch.value.begin() + (row + length) * 64)));
    row += length;
  }
}

TEST(Attention, TheFutureDoesNotChangeThePast) {
  const AttentionCase c{{200}, {200}, 1, 1, 16, Mask::past(), 0};
  auto in = inputs_of(c);
  const CheckRun before = run_checked(op_of(c), in, DType::f32);
  for (size_t i = 150 * 16; i < 200 * 16; ++i) in[1].values[i] = in[2].values[i] = 1e6;
  const CheckRun after = run_checked(op_of(c), in, DType::f32);
  EXPECT_EQ(std::memcmp(before.value.data(), after.value.data(), 150 * 16 * sizeof(double)), 0);
}

TEST(Attention, ViewsAndPlan) {
  expect_views_and_plan(op_of({{30, 4, 150}, {30, 4, 150}, 2, 1, 16, Mask::past(), 0.1f}),
                        inputs_of({{30, 4, 150}, {30, 4, 150}, 2, 1, 16}));
  expect_views_and_plan(op_of({{30, 4}, {30, 4}, 2, 1, 12}), inputs_of({{30, 4}, {30, 4}, 2, 1, 12}));
}

TEST(Attention, LargeScoresStayFinite) {
  const AttentionCase c{{150, 10}, {150, 10}, 1, 1, 16};
  auto in = inputs_of(c);
  for (double& v : in[0].values) v *= 1000;
  const CheckRun run = run_checked(op_of(c), in, DType::f32);  // scores near 1e4: only finiteness can be asked
  for (double v : run.value) ASSERT_TRUE(std::isfinite(v));
  for (const auto& g : run.grads)
    for (double v : g) ASSERT_TRUE(std::isfinite(v));
}

TEST(Attention, ScratchIsLinear) {
  const auto bytes = [](int32_t length, bool backward) {
    const Segments s = Segments::single(length);
    return kernels::attention_scratch({&s, &s, 8, 8, 64}, 1, backward);
  };
  for (bool backward : {false, true}) EXPECT_LT(bytes(65536, backward), 20 * bytes(4096, backward));
  EXPECT_LT(bytes(65536, true), 120 << 20);
}

/// Adds bias[i - j] to the scores and r[i - j] to the values, clipped: as Shaw et al. 2018 do on the value side.
class ToyHook : public RelativeScores {
 public:
  static constexpr int64_t kReach = 3;
  static int64_t at(const ScoreTile& t, int64_t i, int64_t j) {
    return std::clamp<int64_t>(t.query + i - t.key - j, -kReach, kReach) + kReach;
  }
  template <class F>
  static void each(const ScoreTile& t, F f) {
    for (int64_t i = 0; i < t.rows; ++i)
      for (int64_t j = 0; j < t.cols; ++j) f(i, j, at(t, i, j));
  }
  void scores(const ScoreTile& t, const HookTables& x, float* s) const override {
    each(t, [&](int64_t i, int64_t j, int64_t b) { s[i * t.stride + j] += *x.values[0].row<float>(b); });
  }
  void scores_backward(const ScoreTile& t, const HookTables& x, const float* ds, float*, int64_t) const override {
    each(t, [&](int64_t i, int64_t j, int64_t b) { *x.gradients[0].row<float>(b) += ds[i * t.stride + j]; });
  }
  void values(const ScoreTile& t, const HookTables& x, const float* w, float* out, int64_t stride) const override {
    each(t, [&](int64_t i, int64_t j, int64_t b) {
      for (int64_t d = 0; d < t.dim; ++d) out[i * stride + d] += w[i * t.stride + j] * x.values[1].row<float>(b)[d];
    });
  }
  void values_backward(const ScoreTile& t, const HookTables& x, const float* dout, int64_t stride,
                       float* dw) const override {
    each(t, [&](int64_t i, int64_t j, int64_t b) {
      for (int64_t d = 0; d < t.dim; ++d) dw[i * t.stride + j] += dout[i * stride + d] * x.values[1].row<float>(b)[d];
    });
  }
  void values_gradient(const ScoreTile& t, const HookTables& x, const float* w, const float* dout,
                       int64_t stride) const override {
    each(t, [&](int64_t i, int64_t j, int64_t b) {
      for (int64_t d = 0; d < t.dim; ++d) x.gradients[1].row<float>(b)[d] += w[i * t.stride + j] * dout[i * stride + d];
    });
  }
  Var scores_reference(Ctx&, const Var&, const ReferencePlace&) const override { return {}; }  // checked by hand
};

/// Value and gradients with the hook against the plain formula in double, one head, one segment.
void check_hook(int64_t n, bool causal) {
  constexpr int64_t d = 16, nb = 2 * ToyHook::kReach + 1;
  const auto make = [](int64_t count, uint64_t seed) {
    const auto x = random_input({count}, seed);
    return std::vector<float>(x.values.begin(), x.values.end());
  };
  std::vector<float> q = make(n * d, 1), k = make(n * d, 2), v = make(n * d, 3), bias = make(nb, 4),
                     r = make(nb * d, 5), seed = make(n * d, 6);
  const ToyHook hook;
  Arena arena;
  Ctx ctx(arena);
  Tape tape;
  ctx.tape = &tape;
  const Segments s = Segments::single(n);
  const Shape shape{n, d};
  Attention a{ctx.input(Tensor(q.data(), shape), true), ctx.input(Tensor(k.data(), shape), true),
              ctx.input(Tensor(v.data(), shape), true)};
  a.queries = a.keys = &s;
  a.dim = d;
  a.hook = &hook;
  a.tables = {ctx.input(Tensor(bias.data(), Shape{nb, 1}), true), ctx.input(Tensor(r.data(), Shape{nb, d}), true)};
  a.mask = causal ? Mask::past() : Mask::none();
  Var y = attention(ctx, a);
  const Tensor start(seed.data(), shape);
  const std::vector<float> out(y.value().as<float>(), y.value().as<float>() + n * d);
  tape.backward(ctx, y, &start);

  const auto at = [](const std::vector<float>& x, int64_t i, int64_t j) {
    return static_cast<double>(x[static_cast<size_t>(i * d + j)]);
  };
  std::vector<double> dq(q.size()), dk(q.size()), dv(q.size()), xbias(nb), xr(r.size());
  for (int64_t i = 0; i < n; ++i) {
    const int64_t m = causal ? i + 1 : n;
    std::vector<double> w(static_cast<size_t>(m)), dw(w.size());
    double total = 0, dot = 0;
    const auto bucket = [&](int64_t j) {
      return std::clamp<int64_t>(i - j, -ToyHook::kReach, ToyHook::kReach) + ToyHook::kReach;
    };
    for (int64_t j = 0; j < m; ++j) {
      double sc = bias[static_cast<size_t>(bucket(j))];
      for (int64_t c = 0; c < d; ++c) sc += at(q, i, c) * at(k, j, c) / 4;
      total += w[static_cast<size_t>(j)] = std::exp(sc);
    }
    for (int64_t j = 0; j < m; ++j) w[static_cast<size_t>(j)] /= total;
    for (int64_t c = 0; c < d; ++c) {
      double o = 0;
      for (int64_t j = 0; j < m; ++j) o += w[static_cast<size_t>(j)] * (at(v, j, c) + at(r, bucket(j), c));
      ASSERT_NEAR(out[static_cast<size_t>(i * d + c)], o, 1e-4);
    }
    for (int64_t j = 0; j < m; ++j) {
      double g = 0;
      for (int64_t c = 0; c < d; ++c) {
        g += at(seed, i, c) * (at(v, j, c) + at(r, bucket(j), c));
        dv[static_cast<size_t>(j * d + c)] += w[static_cast<size_t>(j)] * at(seed, i, c);
        xr[static_cast<size_t>(bucket(j) * d + c)] += w[static_cast<size_t>(j)] * at(seed, i, c);
      }
      dw[static_cast<size_t>(j)] = g;
      dot += g * w[static_cast<size_t>(j)];
    }
    for (int64_t j = 0; j < m; ++j) {
      const double ds = w[static_cast<size_t>(j)] * (dw[static_cast<size_t>(j)] - dot);
      xbias[static_cast<size_t>(bucket(j))] += ds;
      for (int64_t c = 0; c < d; ++c) {
        dq[static_cast<size_t>(i * d + c)] += ds * at(k, j, c) / 4;
        dk[static_cast<size_t>(j * d + c)] += ds * at(q, i, c) / 4;
      }
    }
  }
  for (size_t i = 0; i < dq.size(); ++i) {
    ASSERT_NEAR(a.q.grad().as<float>()[i], dq[i], 2e-4);
    ASSERT_NEAR(a.k.grad().as<float>()[i], dk[i], 2e-4);
    ASSERT_NEAR(a.v.grad().as<float>()[i], dv[i], 2e-4);
  }
  for (size_t i = 0; i < xbias.size(); ++i) EXPECT_NEAR(a.tables[0].grad().as<float>()[i], xbias[i], 1e-3);
  for (size_t i = 0; i < xr.size(); ++i) EXPECT_NEAR(a.tables[1].grad().as<float>()[i], xr[i], 1e-3);
}

TEST(Attention, HookSeesEveryTile) {
  for (int64_t n : {1, 7, 40, 63, 150, 300})
    for (bool causal : {false, true}) check_hook(n, causal);
}

TEST(Attention, WeightsForPeople) {
  const Segments s = Segments::of_lengths({2, 5});
  const auto x = random_input({7, 8}, 1);
  std::vector<float> q(x.values.begin(), x.values.end());
  kernels::AttentionShape shape{&s, &s, 2, 2, 4, 0.5f, Mask::past()};
  std::vector<float> w(25);
  kernels::attention_weights(shape, {q.data(), 8}, {q.data(), 8}, 1, 1, w.data());
  for (size_t i = 0; i < 5; ++i) {
    float total = 0;
    for (size_t j = 0; j < 5; ++j) {
      total += w[i * 5 + j];
      if (j > i) { EXPECT_EQ(w[i * 5 + j], 0); }
    }
    EXPECT_NEAR(total, 1, 1e-6);
  }
}

TEST(Attention, SaysWhatDoesNotFit) {
  Bench t;
  const Segments s7 = Segments::single(7), s8 = Segments::single(8);
  const auto say = [&](Shape q, Shape k, Shape v, const Segments& sq, const Segments& sk, int64_t heads, int64_t kv) {
    Attention a{t.make(q), t.make(k), t.make(v)};
    a.queries = &sq;
    a.keys = &sk;
    a.heads = heads;
    a.heads_kv = kv;
    a.dim = 4;
    return error_of([&] { attention(t.ctx, a); });
  };
  EXPECT_EQ(say({7, 8}, {7, 8}, {8, 8}, s7, s7, 2, 2), "[attention] keys have 7 rows, values have 8");
  EXPECT_EQ(say({7, 8}, {7, 8}, {7, 8}, s8, s7, 2, 2), "[attention] segments have 8 rows, queries have 7");
  EXPECT_EQ(say({7, 8}, {7, 8}, {7, 8}, s7, s8, 2, 2), "[attention] segments have 8 rows, keys have 7");
  EXPECT_EQ(say({7, 8}, {7, 8}, {7, 8}, s7, s7, 3, 2), "[attention] 3 heads can't share 2 key-value heads");
  EXPECT_EQ(say({7, 8}, {7, 8}, {7, 8}, s7, s7, 3, 3),
            "[attention] queries of 3 heads of 4 need columns 0 to 12, rows have 8");
}

}  // namespace
}  // namespace attune
