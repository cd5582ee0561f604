// Attention with rows of its own in front of the words: global ones (ETC, BigBird's external) and spans
// (BP-Transformer), against their definitions and against the edges that the published program makes.
#include <numeric>

#include "model/attention/lab.h"
#include "model/attention/sparse/binary_partition.h"
#include "model/attention/sparse/external.h"
#include "model/tiny_model.h"

namespace attune {
namespace {

/// Softmax of the scores of the pairs that sees(i, j, n) has, of n rows together.
template <class Sees>
void expect_sees(Lab& lab, const Sees& sees) {
  lab.segments = Segments::of_lengths({27, 0, 1, 150});
  lab.make_rows();
  const auto formula = [&](int64_t i, int64_t h, int64_t from, int64_t to) {
    Row a;
    for (int64_t j = from; j < to; ++j)
      a.push_back(sees(i - from, j - from, to - from) ? std::exp(dot(lab.row(0, i, h), lab.row(1, j, h)) / 2) : 0);
    return divided(a, total(a));
  };
  lab.expect(formula);
  const std::vector<float> looked = lab.weights(3);
  for (int64_t i = 0; i < 150; ++i) {
    const Row right = formula(28 + i, 1, 28, 178);
    for (int64_t j = 0; j < 150; ++j)
      EXPECT_NEAR(looked[static_cast<size_t>((150 + i) * 150 + j)], right[static_cast<size_t>(j)], 1e-5);
  }
}

TEST(OwnRows, EtcsWordsSeeNeighboursAndGlobalRows) {
  Lab lab({"etc", {{"radius", int64_t{3}}, {"global", int64_t{5}}}}, false);
  expect_sees(lab, [](int64_t i, int64_t j, int64_t n) {
    const int64_t own = std::min<int64_t>(5, (n + 1) / 2);
    return i < own || j < own || std::abs(i - j) <= 3;
  });
}

TEST(OwnRows, BigBirdsExternalRowsAreGlobal) {
  Lab lab({"bigbird",
           {{"block", int64_t{4}},
            {"window", int64_t{3}},
            {"global", int64_t{1}},
            {"random", int64_t{1}},
            {"external", true}}},
          false);
  const std::vector<float> w = lab.weights(2);  // 40 rows: 4 of them external
  for (int64_t i = 0; i < 40; ++i)
    for (int64_t j = 0; j < 40; ++j) {
      const bool sure = i < 4 || j < 4 || std::abs(i / 4 - j / 4) <= 1;
      EXPECT_TRUE(!sure || w[static_cast<size_t>(i * 40 + j)] > 0) << i << " " << j;
    }
  EXPECT_EQ(lab.mechanism->own_rows()->of(100), 4);
  EXPECT_EQ(lab.mechanism->own_rows()->of(3), 3);
}

/// What rows [of `n` words] attend to by their weights, as sets.
std::vector<std::vector<int64_t>> seen_by(int64_t words, int64_t near) {
  Lab lab({"bp", {{"near", near}}}, false);
  const int64_t own = lab.mechanism->own_rows()->of(words), n = words + own;
  lab.segments = Segments::of_lengths({static_cast<int32_t>(n)});
  lab.make_rows();
  const std::vector<float> w = lab.weights(0);
  std::vector<std::vector<int64_t>> seen(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < n; ++j)
      if (w[static_cast<size_t>(i * n + j)] > 0) seen[static_cast<size_t>(i)].push_back(j);
  return seen;
}

/// The edges of 13 words and k = 2, as the program that Ye et al. published builds them: its nodes are the words, then
/// the spans level by level. But for three: where the last span has one child only, the right child of it is there the
/// node whose number comes next (20, the first of level 2, for words 7 and 8; 13 for word 10).
TEST(OwnRows, SpansAreThoseOfTheirPaper) {
  const std::vector<std::vector<int64_t>> published{
      {0, 1, 2, 3, 15, 16, 22, 23},       {0, 1, 2, 3, 15, 16, 22, 23},       {0, 1, 2, 3, 4, 5, 16, 22, 23},
      {0, 1, 2, 3, 4, 5, 16, 17, 18, 23}, {2, 3, 4, 5, 6, 7, 13, 17, 18, 23}, {2, 3, 4, 5, 6, 7, 13, 17, 18, 23},
      {4, 5, 6, 7, 8, 9, 13, 14, 18, 23}, {4, 5, 6, 7, 8, 9, 13, 14, 18, 19}, {6, 7, 8, 9, 10, 11, 13, 14, 15, 19},
      {6, 7, 8, 9, 10, 11, 15, 19, 20},   {8, 9, 10, 11, 12, 15, 16, 20},     {8, 9, 10, 11, 12, 15, 16, 20},
      {10, 11, 12, 15, 16, 17, 20},
  };
  const auto seen = seen_by(13, 2);
  ASSERT_EQ(seen.size(), 27u);
  for (size_t i = 0; i < 13; ++i) {
    std::vector<int64_t> right;
    for (const int64_t node : published[i]) right.push_back(node < 13 ? node + 14 : node - 13);
    std::sort(right.begin(), right.end());
    EXPECT_EQ(seen[14 + i], right) << "word " << i;
  }
  EXPECT_EQ(seen[6], (std::vector<int64_t>{14 + 12}));  // the last span of level 1 has one word
  EXPECT_EQ(seen[13].size(), 13u);                      // the whole
}

TEST(OwnRows, EveryWordIsSeenOnceAsItselfOrInASpan) {
  for (const int64_t near : {1, 2, 3, 5})
    for (const int64_t words : {1, 2, 3, 4, 5, 8, 13, 31, 64, 77}) {
      const auto seen = seen_by(words, near);
      const int64_t own = std::ssize(seen) - words;
      for (int64_t i = 0; i < words; ++i) {
        std::vector<int> times(static_cast<size_t>(words));
        for (const int64_t row : seen[static_cast<size_t>(own + i)]) {
          if (row >= own) {
            ++times[static_cast<size_t>(row - own)];
            continue;
          }
          for (const int64_t word : seen[static_cast<size_t>(row)]) ++times[static_cast<size_t>(word - own)];
        }
        EXPECT_EQ(*std::max_element(times.begin(), times.end()), 1)
            << words << " words, near " << near << ", word " << i;
        EXPECT_EQ(*std::min_element(times.begin(), times.end()), 1)
            << words << " words, near " << near << ", word " << i;
      }
    }
}

TEST(OwnRows, SpansHaveTheirLevelsVector) {
  const SpanRows spans;
  std::vector<int64_t> kinds;
  for (int64_t i = 0; i < spans.of(13); ++i) kinds.push_back(spans.kind(13, i));
  EXPECT_EQ(kinds, (std::vector<int64_t>{0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 3}));
  EXPECT_EQ(spans.of(1), 0);
  for (int64_t n = 1; n < 300; ++n) EXPECT_EQ(own_among(spans, n + spans.of(n)), spans.of(n)) << n;
}

}  // namespace
}  // namespace attune
