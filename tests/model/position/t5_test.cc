#include "model/position/t5.h"

#include "model/position/hook_checks.h"

namespace attune {
namespace {

HookCase t5(const T5Buckets& buckets, int64_t heads, int64_t dim) {
  return {std::make_shared<T5Scores>(buckets), heads, dim, {random_input({buckets.count, heads}, 11)}};
}

TEST(T5, HookIsItsReference) {
  expect_hook_right(t5({.causal = true}, 2, 16));
  expect_hook_right(t5({.causal = false}, 3, 7));
  expect_hook_right(t5({.causal = false, .count = 8, .farthest = 20}, 2, 16));
}

TEST(T5, ReferenceHasRightGradients) {
  expect_reference_gradients(t5({.causal = true, .count = 4, .farthest = 6}, 2, 3));
  expect_reference_gradients(t5({.causal = false, .count = 6, .farthest = 6}, 2, 3));
}

/// The last distance of each bucket from `exact` on.
void expect_borders(bool causal, int64_t exact, const std::vector<int64_t>& last) {
  const T5Buckets b{.causal = causal};
  int64_t distance = exact;
  for (size_t i = 0; i < last.size(); ++i)
    for (; distance <= last[i]; ++distance)
      EXPECT_EQ(t5_bucket(-distance, b), exact + static_cast<int64_t>(i)) << distance;
  const int64_t most = exact + std::ssize(last);
  for (const int64_t d : {distance, distance + 1, int64_t{127}, int64_t{128}, int64_t{129}, int64_t{5000}})
    EXPECT_EQ(t5_bucket(-d, b), most) << d;
}

// The published code: bucket = n below max_exact = half of the buckets, else max_exact + floor(log(n / max_exact) /
// log(128 / max_exact) * (buckets - max_exact)), at most the last. To both sides (16 buckets each): bucket 8 + j begins
// at 8 * 16^(j / 8) = 8, 11.3, 16, 22.6, 32, 45.3, 64, 90.5. Causal (32): 16 + j begins at 16 * 8^(j / 16).
TEST(T5, BucketsArePublishedOnes) {
  for (const bool causal : {false, true})
    for (int64_t n = 0; n < (causal ? 16 : 8); ++n) EXPECT_EQ(t5_bucket(-n, {.causal = causal}), n);
  expect_borders(false, 8, {11, 15, 22, 31, 45, 63, 90});
  expect_borders(true, 16, {18, 20, 23, 26, 30, 34, 39, 45, 51, 58, 66, 76, 86, 98, 112});
  // keys after their query: the second half, or as if at no distance
  for (const int64_t n : {1, 7, 8, 15, 16, 100, 1000}) {
    EXPECT_EQ(t5_bucket(n, {.causal = false}), 16 + t5_bucket(-n, {.causal = false}));
    EXPECT_EQ(t5_bucket(n, {.causal = true}), 0);
  }
}

// Raffel et al. 2020, section 2.1: a scalar for each bucket of key minus query is added to the logit, another for each
// head.
TEST(T5, IsThePapersFormula) {
  constexpr int64_t dim = 4, n = 40;
  for (const bool causal : {true, false}) {
    const HookCase c = t5({.causal = causal}, 2, dim);
    const Sequences s{{n}, {n}, causal ? Mask::past() : Mask::none()};
    const auto in = hooked_inputs(c, s);
    expect_formula(c, s, in,
                   {[&](int64_t h, int64_t i, int64_t j) {
                      return dot(in[0], i, h * dim, in[1], j, h * dim, dim) / std::sqrt(4.0) +
                             at(in[3], t5_bucket(j - i, {.causal = causal}), h);
                    },
                    [&](int64_t h, int64_t, int64_t j, int64_t d) { return at(in[2], j, h * dim + d); }});
  }
}

TEST(T5, SaysWhatDoesNotFit) {
  EXPECT_EQ(error_of([] { T5Scores({.causal = true, .count = 32, .farthest = 16}); }),
            "[t5] 32 buckets do not reach a distance of 16");
  HookCase c = t5({}, 2, 8);
  const Sequences s{{3}, {3}};
  c.tables[0] = random_input({32, 3}, 1);
  EXPECT_EQ(error_of([&] { run_checked(hooked_op(c, s), hooked_inputs(c, s), DType::f32); }),
            "[t5] the table of biases is [32, 3], not [32, 2]");
}

}  // namespace
}  // namespace attune
