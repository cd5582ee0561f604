#include "kernels/attention/score_attention.h"

#include <gtest/gtest.h>

#include <numeric>

#include "checks.h"

namespace attune::kernels {
namespace {

constexpr Normaliser kSoftmax{}, kSparsemax{NormaliserKind::sparsemax}, kEntmax{NormaliserKind::entmax15};
constexpr Normaliser largest(int64_t k) { return {NormaliserKind::top_k, k}; }

/// A row of scores through a normaliser: heads of one column make s_j = 1 k_j.
std::vector<float> normalised(std::vector<float> scores, const Normaliser& by, float scale = 1) {
  const auto m = static_cast<int32_t>(scores.size());
  const Segments query = Segments::single(1), keys = Segments::single(m);
  ScoreShape x;
  x.attention = {&query, &keys, 1, 1, 1, scale};
  x.rule.normaliser = by;
  float one = 1;
  std::vector<float> w(scores.size());
  score_attention_weights(x, {&one, 1}, {scores.data(), 1}, 0, 0, w.data());
  return w;
}

void expect_near(const std::vector<float>& got, const std::vector<double>& want, double tolerance = 1e-6) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i) ASSERT_NEAR(got[i], want[i], tolerance) << "at " << i;
}

std::vector<float> random_numbers(size_t n, uint32_t seed, float scale = 1) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0, scale);
  std::vector<float> x(n);
  for (float& v : x) v = normal(random);
  return x;
}

TEST(Normaliser, SparsemaxByHand) {
  // the sum of max(z - tau, 0) is 1 for tau = -0.1, 1, -0.1 and -1/3
  expect_near(normalised({0.5f, 0.3f, -1}, kSparsemax), {0.6, 0.4, 0});
  expect_near(normalised({2, 0, 0.9f}, kSparsemax), {1, 0, 0});
  expect_near(normalised({0.1f, 0.7f, -0.2f, -0.1f}, kSparsemax), {0.2, 0.8, 0, 0});
  expect_near(normalised({0, 0, 0}, kSparsemax), {1 / 3.0, 1 / 3.0, 1 / 3.0});
  expect_near(normalised({1, 0.6f, -2}, kSparsemax, 0.5f), {0.6, 0.4, 0});
  expect_near(normalised({-7}, kSparsemax), {1});
}

/// Martins and Astudillo 2016, algorithm 1.
std::vector<double> naive_sparsemax(const std::vector<float>& z, double scale) {
  std::vector<double> sorted;
  for (float v : z) sorted.push_back(scale * static_cast<double>(v));
  std::sort(sorted.rbegin(), sorted.rend());
  double total = 0, tau = 0;
  for (size_t k = 1; k <= sorted.size(); ++k) {
    total += sorted[k - 1];
    if (1 + static_cast<double>(k) * sorted[k - 1] > total) tau = (total - 1) / static_cast<double>(k);
  }
  std::vector<double> p;
  for (float v : z) p.push_back(std::max(0.0, scale * static_cast<double>(v) - tau));
  return p;
}

TEST(Normaliser, SparsemaxIsTheSortedFormula) {
  for (size_t n : {1, 2, 15, 16, 17, 100, 1000})
    for (float spread : {0.001f, 0.1f, 1.0f, 30.0f}) {
      const auto z = random_numbers(n, static_cast<uint32_t>(n), spread);
      const auto p = normalised(z, kSparsemax, 0.7f);
      expect_near(p, naive_sparsemax(z, 0.7), 2e-6);
      EXPECT_NEAR(std::accumulate(p.begin(), p.end(), 0.0), 1, 1e-5) << n;
    }
}

TEST(Normaliser, EntmaxByHand) {
  // sum of max(z / 2 - tau, 0)^2 = 1: two equal scores have half each; 2 above another is all that there is
  expect_near(normalised({1, 1}, kEntmax), {0.5, 0.5});
  expect_near(normalised({2, 0}, kEntmax), {1, 0}, 1e-6);
  // z = {1, 0}: tau = 1/4 - sqrt((1 - 1/8) / 2)
  const double tau = 0.25 - std::sqrt(0.4375);
  expect_near(normalised({1, 0}, kEntmax), {(0.5 - tau) * (0.5 - tau), tau * tau});
  expect_near(normalised({-7}, kEntmax), {1});
  for (size_t n : {1, 2, 15, 16, 17, 100, 1000})
    for (float spread : {0.001f, 0.1f, 1.0f, 30.0f}) {
      const auto p = normalised(random_numbers(n, static_cast<uint32_t>(n), spread), kEntmax, 0.7f);
      EXPECT_NEAR(std::accumulate(p.begin(), p.end(), 0.0), 1, 1e-5) << n << " " << spread;
    }
}

std::vector<double> naive_top_k(const std::vector<float>& z, int64_t k, double scale) {
  std::vector<size_t> order(z.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t i, size_t j) { return z[i] > z[j]; });
  order.resize(std::min(order.size(), static_cast<size_t>(k)));
  double total = 0;
  std::vector<double> p(z.size(), 0.0);
  for (size_t i : order) total += p[i] = std::exp(scale * static_cast<double>(z[i] - z[order[0]]));
  for (double& v : p) v /= total;
  return p;
}

TEST(Normaliser, OfEqualScoresTheFirstAreTaken) {
  expect_near(normalised({1, 2, 2, 2, 0, 2}, largest(2)), {0, 0.5, 0.5, 0, 0, 0});
  expect_near(normalised({1, 2, 2, 2, 0, 2}, largest(1)), {0, 1, 0, 0, 0, 0});
  expect_near(normalised({3, 3, 3, 3}, largest(3)), {1 / 3.0, 1 / 3.0, 1 / 3.0, 0});
  expect_near(normalised({0.0f, -0.0f, 0.0f}, largest(2)), {0.5, 0.5, 0});
  const double e = 1 / (1 + std::exp(-1.0));
  expect_near(normalised({1, 2, 1, 1}, largest(2)), {1 - e, e, 0, 0});
}

TEST(Normaliser, TopKIsTheSortedFormula) {
  for (size_t n : {1, 2, 15, 16, 17, 100, 1000})
    for (int64_t k : {1, 2, 5, 17, 200, 1000})
      for (bool ties : {false, true}) {
        auto z = random_numbers(n, static_cast<uint32_t>(n));
        for (float& v : z)
          if (ties) v = std::round(2 * v);
        expect_near(normalised(z, largest(k), 0.7f), naive_top_k(z, k, 0.7), 2e-6);
      }
  // far apart: halving an interval of numbers must end
  std::vector<float> far{1e30f, -1e30f, 1e-30f, -1e-30f, 0, 2e38f, -2e38f, 1, 2e-38f};
  expect_near(normalised(far, largest(4)), naive_top_k(far, 4, 1));
  for (int64_t k = 1; k < 9; ++k) {
    const auto p = normalised(far, largest(k), 1e-37f);
    EXPECT_EQ(std::count_if(p.begin(), p.end(), [](float v) { return v > 0; }), k);
  }
}

TEST(Normaliser, AllAreTheSoftmaxWhereTheyMustBe) {
  const auto z = random_numbers(50, 3);
  EXPECT_TRUE(same_bits(normalised(z, largest(50)), normalised(z, kSoftmax)));
  expect_near(normalised(z, kSoftmax), naive_top_k(z, 50, 1));
}

TEST(Normaliser, ADivergedRowShows) {
  for (const Normaliser& by : {kSoftmax, kSparsemax, largest(2)})
    for (size_t at : {0, 7, 20}) {
      auto z = random_numbers(21, 1);
      z[at] = NAN;
      const auto p = normalised(z, by);
      EXPECT_TRUE(std::any_of(p.begin(), p.end(), [](float v) { return std::isnan(v); })) << at;
    }
}

/// Two sequences, self-attention with shared key-value heads; all rules.
struct ScoreAttentionWorld {
  static constexpr int64_t kHeads = 4, kHeadsKv = 2;
  int64_t dim;
  Segments segments = Segments::of_lengths({21, 40});
  std::vector<float> q, kv, vector, bias;
  explicit ScoreAttentionWorld(int64_t d)
      : dim(d),
        q(random_numbers(static_cast<size_t>(61 * kHeads * d), 1)),
        kv(random_numbers(static_cast<size_t>(61 * 2 * kHeadsKv * d), 2)),
        vector(random_numbers(static_cast<size_t>(kHeads * d), 3)),
        bias(random_numbers(static_cast<size_t>(kHeads * d), 4)) {}

  float scale() const { return 1 / std::sqrt(static_cast<float>(dim)); }
  ScoreShape shape(ScoreKind score, const Normaliser& normaliser) const {
    ScoreShape x;
    x.attention = {&segments, &segments, kHeads, kHeadsKv, dim, scale(), Mask::past()};
    x.rule = {score, normaliser, vector.data(), bias.data()};
    return x;
  }
  Rows queries() const { return {const_cast<float*>(q.data()), kHeads * dim}; }
  Rows keys() const { return {const_cast<float*>(kv.data()), 2 * kHeadsKv * dim}; }
  Rows values() const { return {const_cast<float*>(kv.data()) + kHeadsKv * dim, 2 * kHeadsKv * dim}; }

  std::vector<float> forward(const ScoreShape& x) const {
    std::vector<float> out(q.size()), space(static_cast<size_t>(score_attention_scratch(x, 1, false) / 4));
    score_attention_forward({x, queries(), keys(), values(), {out.data(), kHeads * dim}, space.data()}, nullptr);
    return out;
  }
};

template <class F>
void for_all_rules(F f) {
  for (ScoreKind score : {ScoreKind::dot, ScoreKind::additive, ScoreKind::l2})
    for (const Normaliser& normaliser : {kSoftmax, largest(3), kSparsemax}) {
      SCOPED_TRACE(fmt::format("score {} normaliser {}", static_cast<int>(score), static_cast<int>(normaliser.kind)));
      f(score, normaliser);
    }
}

/// Row i of the causal batch form, its keys 0 .. i by a table and in pages that lie anywhere.
TEST(ScoreAttentionStep, IsARowOfTheBatch) {
  for (int64_t dim : {7, 16, 100}) {
    const ScoreAttentionWorld w(dim);
    const int64_t width = 2 * w.kHeadsKv * dim;
    std::vector<const float*> pages;  // of four rows
    for (int64_t page = 0; page * 4 < 61; ++page) pages.push_back(w.kv.data() + page * 4 * width);
    for_all_rules([&](ScoreKind score, const Normaliser& normaliser) {
      const ScoreShape x = w.shape(score, normaliser);
      const auto want = w.forward(x);
      std::vector<float> out(static_cast<size_t>(w.kHeads * dim)), space(4096);
      for (int32_t row = 0; row < 61; ++row) {
        const int32_t first = row < 21 ? 0 : 21, count = row - first + 1;
        AttentionStep a;
        a.rows = 1;
        a.heads = w.kHeads;
        a.heads_kv = w.kHeadsKv;
        a.dim = dim;
        a.scale = w.scale();
        a.q = {w.queries().data + row * w.kHeads * dim, w.kHeads * dim};
        a.out = {out.data(), w.kHeads * dim};
        a.keys = {pages.data(), 2, width, 0};
        a.values = {pages.data(), 2, width, w.kHeadsKv * dim};
        std::vector<int32_t> ids(static_cast<size_t>(count));
        std::iota(ids.begin(), ids.end(), first);
        a.ids = ids.data();
        a.longest = count;
        a.scratch = space.data();
        score_attention_step(a, x.rule);
        for (size_t d = 0; d < out.size(); ++d)
          ASSERT_NEAR(out[d], want[static_cast<size_t>(row) * out.size() + d], 1e-5) << "row " << row;
        const auto by_ids = out;
        a.ids = nullptr;
        a.first = &first;
        a.count = &count;
        score_attention_step(a, x.rule);
        ASSERT_TRUE(same_bits(out, by_ids));
      }
    });
  }
}

/// With the values of a key 1 in its own column and 0 elsewhere the result is the weights.
TEST(ScoreAttentionWeights, AreWhatTheForwardPassUses) {
  ScoreAttentionWorld w(48);
  for (int64_t row = 0; row < 61; ++row)
    for (int64_t h = 0; h < w.kHeadsKv; ++h)
      for (int64_t d = 0; d < 48; ++d)
        w.kv[static_cast<size_t>(row * 4 * 48 + (2 + h) * 48 + d)] = (row < 21 ? row : row - 21) == d ? 1.0f : 0.0f;
  for_all_rules([&](ScoreKind score, const Normaliser& normaliser) {
    for (const Mask& mask : {Mask::none(), Mask::past(), Mask::band(5, false)}) {
      ScoreShape x = w.shape(score, normaliser);
      x.attention.mask = mask;
      const auto out = w.forward(x);
      for (int64_t segment : {0, 1})
        for (int64_t head = 0; head < w.kHeads; ++head) {
          const int64_t n = w.segments.length(segment), begin = w.segments.begin(segment);
          std::vector<float> weights(static_cast<size_t>(n * n));
          score_attention_weights(x, w.queries(), w.keys(), segment, head, weights.data());
          for (int64_t i = 0; i < n; ++i)
            for (int64_t j = 0; j < n; ++j)
              ASSERT_NEAR(out[static_cast<size_t>(((begin + i) * w.kHeads + head) * 48 + j)],
                          weights[static_cast<size_t>(i * n + j)], 1e-5);
        }
    }
  });
}

TEST(ScoreAttentionKernel, ScratchIsLinear) {
  const auto bytes = [](int32_t length, ScoreKind score, bool backward) {
    const Segments s = Segments::single(length);
    ScoreShape x;
    x.attention = {&s, &s, 8, 8, 64};
    x.rule.score = score;
    return score_attention_scratch(x, 1, backward);
  };
  for (ScoreKind score : {ScoreKind::dot, ScoreKind::additive, ScoreKind::l2})
    for (bool backward : {false, true}) {
      EXPECT_LT(bytes(65536, score, backward), 20 * bytes(4096, score, backward));
      EXPECT_LT(bytes(65536, score, backward), 120 << 20);
    }
}

}  // namespace
}  // namespace attune::kernels
