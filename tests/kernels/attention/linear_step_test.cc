#include <gtest/gtest.h>

#include "checks.h"
#include "kernels/attention/linear_attention.h"

namespace attune::kernels {
namespace {

/// Sequences of one length each, all positions at hand.
struct LinearStepWorld {
  LinearShape shape;
  Segments segments;
  std::vector<float> q, k, v, out;
  std::vector<std::vector<float>> states;
  std::vector<float*> addresses;

  LinearStepWorld(const LinearShape& s, const std::vector<int32_t>& lengths)
      : shape(s), segments(Segments::of_lengths(lengths)) {
    shape.queries = shape.keys = &segments;
    std::mt19937 random(3);
    std::normal_distribution<float> normal;
    const auto fill = [&](std::vector<float>& x, int64_t columns, bool positive) {
      x.resize(static_cast<size_t>(segments.rows() * columns));
      for (float& f : x) f = positive ? std::abs(normal(random)) : normal(random);
    };
    fill(q, s.heads * s.dim, s.feature == FeatureMap::none);
    fill(k, s.heads_kv * s.dim, s.feature == FeatureMap::none);
    fill(v, s.heads_kv * s.value_dim, false);
    out.resize(static_cast<size_t>(segments.rows() * s.heads * s.value_dim));
    for (size_t i = 0; i < lengths.size(); ++i) {
      states.emplace_back(static_cast<size_t>(linear_state_floats(shape)));
      addresses.push_back(states.back().data());
    }
  }
  Rows queries(int64_t row) { return {q.data() + row * shape.heads * shape.dim, shape.heads * shape.dim}; }
  Rows keys(int64_t row) { return {k.data() + row * shape.heads_kv * shape.dim, shape.heads_kv * shape.dim}; }
  Rows values(int64_t row) {
    return {v.data() + row * shape.heads_kv * shape.value_dim, shape.heads_kv * shape.value_dim};
  }
  int64_t out_width() const { return shape.heads * shape.value_dim; }

  /// All positions at once; the sums go to the states.
  void mix(ThreadPool* pool = nullptr) {
    std::vector<char> scratch(static_cast<size_t>(linear_scratch(shape, workers_of(pool), false)));
    linear_forward(
        {shape, queries(0), keys(0), values(0), {out.data(), out_width()}, nullptr, addresses.data(), scratch.data()},
        pool);
  }
  /// One position of one sequence; `reads_only`: nothing is added.
  std::vector<float> step(int64_t segment, int64_t row, int32_t count, bool reads_only = false) {
    std::vector<float> y(static_cast<size_t>(out_width()));
    std::vector<char> scratch(static_cast<size_t>(linear_step_scratch(shape, 1)));
    LinearStep a;
    a.shape = shape;
    a.rows = 1;
    a.q = queries(row);
    if (!reads_only) a.k = keys(row);
    if (!reads_only) a.v = values(row);
    a.out = {y.data(), out_width()};
    a.states = addresses.data() + segment;
    a.count = &count;
    a.scratch = scratch.data();
    linear_step(a);
    return y;
  }
};

std::vector<LinearShape> shapes() {
  std::vector<LinearShape> all;
  for (const LinearNorm norm : {LinearNorm::by_sum, LinearNorm::by_count})
    for (const auto& [heads, heads_kv, dim, value_dim] :
         std::vector<std::array<int64_t, 4>>{{1, 1, 1, 1}, {4, 2, 7, 33}, {2, 2, 64, 64}, {3, 1, 16, 100}})
      for (const FeatureMap feature : {FeatureMap::none, FeatureMap::elu_plus_one})
        all.push_back({nullptr, nullptr, heads, heads_kv, dim, value_dim, true, feature, norm});
  return all;
}

TEST(LinearStep, IsWhatAllAtOnceGives) {
  for (const LinearShape& shape : shapes())
    for (const std::string& isa : available_isas()) {
      const IsaScope scope(isa);
      LinearStepWorld w(shape, {130, 1, 70}), steps(shape, {130, 1, 70});
      w.mix();
      for (int64_t s = 0; s < 3; ++s)
        for (int64_t i = 0; i < w.segments.length(s); ++i) {
          const int64_t row = w.segments.begin(s) + i;
          const auto y = steps.step(s, row, static_cast<int32_t>(i + 1));
          const float* all_at_once = w.out.data() + row * w.out_width();
          for (int64_t j = 0; j < w.out_width(); ++j)
            ASSERT_NEAR(y[static_cast<size_t>(j)], all_at_once[j], 1e-5 * (1 + std::abs(all_at_once[j])))
                << isa << " dim " << shape.dim << " row " << row;
        }
      for (size_t s = 0; s < 3; ++s)  // and both remember the same
        for (size_t i = 0; i < w.states[s].size(); ++i)
          ASSERT_NEAR(w.states[s][i], steps.states[s][i], 1e-4 * (1 + std::abs(w.states[s][i])));
    }
}

/// A finished memory is read without adding to it, by as many rows as like, as cross-attention does.
TEST(LinearStep, ReadsAFinishedMemory) {
  LinearShape shape{nullptr, nullptr, 4, 2, 24, 40};
  LinearStepWorld w(shape, {90, 5, 20});
  w.mix();
  const auto before = w.states;
  for (int64_t s = 0; s < 3; ++s)
    for (int64_t row = w.segments.begin(s); row < w.segments.start[static_cast<size_t>(s) + 1]; ++row) {
      const auto y = w.step(s, row, 0, true);
      for (int64_t j = 0; j < w.out_width(); ++j)
        ASSERT_NEAR(y[static_cast<size_t>(j)], w.out[static_cast<size_t>(row * w.out_width() + j)], 1e-5);
    }
  EXPECT_EQ(before, w.states);
}

/// All rows at once, in any number of threads and with any set that has FMA, are the rows one by one, bit for bit.
TEST(LinearStep, FixedBits) {
  const LinearShape shape{nullptr, nullptr, 4, 2, 64, 72, true};
  constexpr int64_t rows = 9;
  const std::vector<int32_t> one_each(rows, 1);
  LinearStepWorld alone(shape, one_each);
  std::vector<float> want;
  for (int64_t i = 0; i < rows; ++i) {
    const auto y = alone.step(i, i, 1);
    want.insert(want.end(), y.begin(), y.end());
  }
  const auto together = [&](ThreadPool* pool) {
    LinearStepWorld w(shape, one_each);
    std::vector<char> scratch(static_cast<size_t>(linear_step_scratch(w.shape, workers_of(pool))));
    LinearStep a;
    a.shape = w.shape;
    a.rows = rows;
    a.q = w.queries(0);
    a.k = w.keys(0);
    a.v = w.values(0);
    a.out = {w.out.data(), w.out_width()};
    a.states = w.addresses.data();
    a.scratch = scratch.data();
    linear_step(a, pool);
    EXPECT_EQ(w.states, alone.states);
    return w.out;
  };
  for (int threads : {1, 2, 3}) {
    ThreadPool pool(threads);
    EXPECT_TRUE(same_bits(together(&pool), want)) << threads;
  }
  if (!isa_has_fma(chosen_isa())) return;
  for (const std::string& isa : available_isas()) {
    if (!isa_has_fma(isa)) continue;
    const IsaScope scope(isa);
    EXPECT_TRUE(same_bits(together(nullptr), want)) << isa;
  }
}

}  // namespace
}  // namespace attune::kernels
