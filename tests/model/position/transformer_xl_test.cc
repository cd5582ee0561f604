#include "model/position/transformer_xl.h"

#include "model/position/hook_checks.h"

namespace attune {
namespace {

HookCase transformer_xl(DistanceRange range, int64_t heads, int64_t dim) {
  return {std::make_shared<TransformerXlScores>(range),
          heads,
          dim,
          {random_input({range.rows(), heads * dim}, 11), random_input({1, heads * dim}, 12)}};
}

TEST(TransformerXl, HookIsItsReference) {
  expect_hook_right(transformer_xl({0, 400}, 2, 16));
  expect_hook_right(transformer_xl({-50, 50}, 2, 10));
}

TEST(TransformerXl, ReferenceHasRightGradients) { expect_reference_gradients(transformer_xl({-3, 5}, 2, 3)); }

// Dai et al. 2019, section 3.3: A^rel_ij = E_xi^T W_q^T W_k,E E_xj + E_xi^T W_q^T W_k,R R_(i-j) + u^T W_k,E E_xj + v^T
// W_k,R R_(i-j); the scores are A / sqrt(d). Keys reach into a memory in front of the queries.
TEST(TransformerXl, IsThePapersFormula) {
  constexpr int64_t heads = 2, dim = 4, n = 5, memory = 4, wide = heads * dim, model = 6;
  const DistanceRange range{0, n + memory - 1};
  const CheckInput q = random_input({n, wide}, 1), k = random_input({n + memory, wide}, 2),
                   v = random_input({n + memory, wide}, 3), weight = random_input({wide, model}, 4),
                   bias_u = random_input({1, wide}, 5), bias_v = random_input({1, wide}, 6);
  std::vector<double> sinusoids(static_cast<size_t>(range.rows() * model));
  fill_distance_sinusoids(Tensor(sinusoids.data(), Shape{range.rows(), model}), range);
  const CheckInput r{{range.rows(), model}, sinusoids};
  // what comes to attention: q + u, W_R R, v - u
  CheckInput shifted = q, projected{{range.rows(), wide}, {}}, difference = bias_v;
  for (int64_t i = 0; i < n * wide; ++i) shifted.values[static_cast<size_t>(i)] += at(bias_u, 0, i % wide);
  for (int64_t row = 0; row < range.rows(); ++row)
    for (int64_t j = 0; j < wide; ++j) projected.values.push_back(dot(r, row, 0, weight, j, 0, model));
  for (int64_t j = 0; j < wide; ++j) difference.values[static_cast<size_t>(j)] -= at(bias_u, 0, j);
  const HookCase c{std::make_shared<TransformerXlScores>(range), heads, dim};
  expect_formula(c, {{n}, {n + memory}, Mask::past()}, {shifted, k, v, projected, difference},
                 {[&](int64_t h, int64_t i, int64_t j) {
                    const int64_t distance = i + memory - j;
                    double a = dot(q, i, h * dim, k, j, h * dim, dim) + dot(bias_u, 0, h * dim, k, j, h * dim, dim);
                    for (int64_t d = 0; d < dim; ++d) {
                      double key = 0;  // W_R R_(i - j)
                      for (int64_t m = 0; m < model; ++m) {
                        const double angle =
                            static_cast<double>(distance) / std::pow(10000.0, static_cast<double>(m % 3 * 2) / 6.0);
                        key += at(weight, h * dim + d, m) * (m < 3 ? std::sin(angle) : std::cos(angle));
                      }
                      a += (at(q, i, h * dim + d) + at(bias_v, 0, h * dim + d)) * key;
                    }
                    return a / std::sqrt(4.0);
                  },
                  [&](int64_t h, int64_t, int64_t j, int64_t d) { return at(v, j, h * dim + d); }});
}

TEST(TransformerXl, SaysWhatDoesNotFit) {
  HookCase c = transformer_xl({0, 9}, 2, 8);
  const Sequences s{{3}, {3}};
  c.tables[1] = random_input({16}, 1);
  EXPECT_EQ(error_of([&] { run_checked(hooked_op(c, s), hooked_inputs(c, s), DType::f32); }),
            "[transformer-xl] the bias is [16], not [1, 16]");
}

}  // namespace
}  // namespace attune
