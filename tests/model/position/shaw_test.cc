#include "model/position/shaw.h"

#include "model/position/hook_checks.h"

namespace attune {
namespace {

HookCase shaw(int64_t clip, int64_t heads, int64_t dim, bool values = true) {
  HookCase c{std::make_shared<ShawScores>(clip), heads, dim, {random_input({2 * clip + 1, dim}, 11)}, values};
  if (values) c.tables.push_back(random_input({2 * clip + 1, dim}, 12));
  return c;
}

TEST(Shaw, HookIsItsReference) {
  expect_hook_right(shaw(16, 2, 16));
  expect_hook_right(shaw(3, 2, 7));
  expect_hook_right(shaw(200, 2, 32, false));
}

TEST(Shaw, ReferenceHasRightGradients) { expect_reference_gradients(shaw(2, 2, 3)); }

// Shaw et al. 2018, equations 3 and 4: z_i = sum_j alpha_ij (x_j W^V + a^V_ij), e_ij = x_i W^Q (x_j W^K + a^K_ij)^T /
// sqrt(d_z); section 3.2: a_ij = w_clip(j-i, k), clip(x, k) = max(-k, min(k, x)), w = (w_-k, .., w_k).
TEST(Shaw, IsThePapersFormula) {
  constexpr int64_t k = 3, dim = 4;
  const HookCase c = shaw(k, 2, dim);
  for (const Sequences& s : {Sequences{{9}, {9}, Mask::past()}, Sequences{{9}, {9}}}) {
    const auto in = hooked_inputs(c, s);
    const auto row = [&](int64_t i, int64_t j) { return std::max(-k, std::min(k, j - i)) + k; };
    expect_formula(
        c, s, in,
        {[&](int64_t h, int64_t i, int64_t j) {
           return (dot(in[0], i, h * dim, in[1], j, h * dim, dim) + dot(in[0], i, h * dim, in[3], row(i, j), 0, dim)) /
                  std::sqrt(4.0);
         },
         [&](int64_t h, int64_t i, int64_t j, int64_t d) {
           return at(in[2], j, h * dim + d) + at(in[4], row(i, j), d);
         }});
  }
}

TEST(Shaw, SaysWhatDoesNotFit) {
  HookCase c = shaw(4, 2, 8);
  const Sequences s{{3}, {3}};
  c.tables[0] = random_input({8, 8}, 1);
  EXPECT_EQ(error_of([&] { run_checked(hooked_op(c, s), hooked_inputs(c, s), DType::f32); }),
            "[shaw] the keys' table is [8, 8], not [9, 8]");
  c.tables.clear();
  EXPECT_EQ(error_of([&] { run_checked(hooked_op(c, s), hooked_inputs(c, s), DType::f32); }),
            "[shaw] the keys' table is missing");
}

}  // namespace
}  // namespace attune
