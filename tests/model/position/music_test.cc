#include "model/position/music.h"

#include "model/position/hook_checks.h"

namespace attune {
namespace {

HookCase music(int64_t longest, bool causal, int64_t heads, int64_t dim) {
  auto hook = std::make_shared<MusicScores>(longest, causal);
  return {hook, heads, dim, {random_input({hook->range().rows(), heads * dim}, 11)}};
}

TEST(Music, HookIsItsReference) {
  expect_hook_right(music(512, true, 2, 16));
  expect_hook_right(music(100, true, 2, 12));
  expect_hook_right(music(512, false, 2, 32));
}

TEST(Music, ReferenceHasRightGradients) {
  expect_reference_gradients(music(4, true, 2, 3));
  expect_reference_gradients(music(3, false, 2, 3));
}

// Huang et al. 2018, equation 3: RelativeAttention = softmax((Q K^T + S^rel) / sqrt(D_h)) V, where S^rel = Q R^T and R
// holds the embedding of each relative distance r = j - i, "E^r ordered from -L + 1 to 0".
TEST(Music, IsThePapersFormula) {
  constexpr int64_t dim = 4, n = 9;
  for (const int64_t longest : {n, n - 4})  // the second: beyond the table the farthest counts
    for (const bool causal : {true, false}) {
      const HookCase c = music(longest, causal, 2, dim);
      const Sequences s{{n}, {n}, causal ? Mask::past() : Mask::none()};
      const auto in = hooked_inputs(c, s);
      const auto row = [&](int64_t i, int64_t j) {
        return std::clamp(j - i, 1 - longest, causal ? 0 : longest - 1) + longest - 1;
      };
      expect_formula(c, s, in,
                     {[&](int64_t h, int64_t i, int64_t j) {
                        return (dot(in[0], i, h * dim, in[1], j, h * dim, dim) +
                                dot(in[0], i, h * dim, in[3], row(i, j), h * dim, dim)) /
                               std::sqrt(4.0);
                      },
                      [&](int64_t h, int64_t, int64_t j, int64_t d) { return at(in[2], j, h * dim + d); }});
    }
}

// The same by the paper's own procedure (section 3.4.1): a column of padding before Q E^T, reshaped, its first row cut.
TEST(Music, IsThePapersSkewing) {
  constexpr int64_t n = 6, dim = 4;
  const CheckInput q = random_input({n, dim}, 1), e = random_input({n, dim}, 2);
  std::vector<double> padded;  // [n, n + 1]
  for (int64_t i = 0; i < n; ++i) {
    padded.push_back(0);
    for (int64_t r = 0; r < n; ++r) padded.push_back(dot(q, i, 0, e, r, 0, dim));
  }
  const DistanceRange range = MusicScores(n, true).range();
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j <= i; ++j)
      EXPECT_DOUBLE_EQ(padded[static_cast<size_t>((i + 1) * n + j)], dot(q, i, 0, e, range.row(i - j), 0, dim));
}

TEST(Music, SaysWhatDoesNotFit) {
  HookCase c = music(4, true, 2, 8);
  const Sequences s{{3}, {3}};
  c.tables[0] = random_input({4, 8}, 1);
  EXPECT_EQ(error_of([&] { run_checked(hooked_op(c, s), hooked_inputs(c, s), DType::f32); }),
            "[music] the table of distances is [4, 8], not [4, 16]");
}

}  // namespace
}  // namespace attune
