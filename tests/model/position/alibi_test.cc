#include "model/position/alibi.h"

#include "model/position/hook_checks.h"

namespace attune {
namespace {

HookCase alibi(int64_t heads, int64_t dim) { return {std::make_shared<AlibiScores>(heads), heads, dim}; }

TEST(Alibi, HookIsItsReference) {
  expect_hook_right(alibi(2, 16));
  expect_hook_right(alibi(3, 7));
}

TEST(Alibi, ReferenceHasRightGradients) { expect_reference_gradients(alibi(2, 3)); }

// Press et al. 2022, section 3: "for models with 8 heads, the slopes that we use are the geometric sequence 1/2^1,
// 1/2^2,
// .., 1/2^8"; for 16 heads 1/2^0.5, 1/2^1, .., 1/2^8. The authors' code for 12: those of 8, then every second of 16.
TEST(Alibi, SlopesAreTheAuthors) {
  const auto of_8 = alibi_slopes(8), of_12 = alibi_slopes(12), of_16 = alibi_slopes(16);
  ASSERT_EQ(of_8.size(), 8u);
  ASSERT_EQ(of_12.size(), 12u);
  for (size_t h = 0; h < 8; ++h) EXPECT_DOUBLE_EQ(of_8[h], std::pow(0.5, static_cast<double>(h + 1)));
  for (size_t h = 0; h < 16; ++h) EXPECT_DOUBLE_EQ(of_16[h], std::pow(0.5, static_cast<double>(h + 1) / 2));
  const double more[] = {0.5, 1.5, 2.5, 3.5};
  for (size_t h = 0; h < 12; ++h) EXPECT_DOUBLE_EQ(of_12[h], h < 8 ? of_8[h] : std::pow(0.5, more[h - 8]));
  EXPECT_EQ(alibi_slopes(1), std::vector<double>{1.0 / 256});
}

// Press et al. 2022, section 3: softmax(q_i K^T + m [-(i - 1), .., -2, -1, 0]), the bias not scaled with q_i K^T.
TEST(Alibi, IsThePapersFormula) {
  constexpr int64_t dim = 4, heads = 8;
  const HookCase c = alibi(heads, dim);
  for (const Sequences& s : {Sequences{{9}, {9}, Mask::past()}, Sequences{{9}, {9}}}) {
    const auto in = hooked_inputs(c, s);
    expect_formula(c, s, in,
                   {[&](int64_t h, int64_t i, int64_t j) {
                      const double m = std::pow(2.0, -static_cast<double>(h + 1));
                      return dot(in[0], i, h * dim, in[1], j, h * dim, dim) / std::sqrt(4.0) -
                             m * static_cast<double>(std::abs(i - j));
                    },
                    [&](int64_t h, int64_t, int64_t j, int64_t d) { return at(in[2], j, h * dim + d); }});
  }
}

TEST(Alibi, SaysWhatDoesNotFit) {
  HookCase c = alibi(2, 8);
  c.heads = 3;
  const Sequences s{{3}, {3}};
  EXPECT_EQ(error_of([&] { run_checked(hooked_op(c, s), hooked_inputs(c, s), DType::f32); }),
            "[alibi] it was made for 2 heads, there are 3");
}

}  // namespace
}  // namespace attune
