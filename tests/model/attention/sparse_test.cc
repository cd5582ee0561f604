// Sparse attention against the definitions of its atoms and of its presets' papers, written out naively in double.
#include <algorithm>
#include <set>

#include "model/attention/lab.h"
#include "model/attention/sparse.h"

namespace attune {
namespace {

using Sees = std::function<bool(int64_t i, int64_t j, int64_t n)>;
using Options = std::map<std::string, Choice::Option>;

/// Softmax of the scores of the pairs that `sees` has: all rows at once, row by row, and as people look at it.
void expect_pairs(const Choice& choice, bool causal, const Sees& sees) {
  Lab lab(choice, causal);
  lab.segments = Segments::of_lengths({23, 0, 1, 40});
  const auto formula = [&](int64_t i, int64_t h, int64_t from, int64_t to) {
    Row a;
    for (int64_t j = from; j < to; ++j) {
      const bool seen = (!causal || j <= i) && sees(i - from, j - from, to - from);
      a.push_back(seen ? std::exp(dot(lab.row(0, i, h), lab.row(1, j, h)) / 2) : 0);
    }
    return divided(a, total(a));
  };
  lab.expect(formula);
  if (causal) lab.expect_steps(formula);
  const std::vector<float> looked = lab.weights(3);
  for (int64_t i = 0; i < 40; ++i) {
    const Row right = formula(24 + i, 1, 24, 64);
    for (int64_t j = 0; j < 40; ++j)
      EXPECT_NEAR(looked[static_cast<size_t>((40 + i) * 40 + j)], right[static_cast<size_t>(j)], 1e-5);
  }
}

Choice sparse(const std::string& atoms, int64_t block = 4) { return {"sparse", {{"atoms", atoms}, {"block", block}}}; }

TEST(Sparse, AtomsAreWhatTheyAreCalled) {
  for (const bool causal : {false, true}) {
    SCOPED_TRACE(causal);
    const auto near = [&](int64_t i, int64_t j, int64_t width) {
      return causal ? i - j < width : std::abs(i - j) <= width / 2;
    };
    expect_pairs(sparse("band 6"), causal, [&](int64_t i, int64_t j, int64_t) { return near(i, j, 6); });
    expect_pairs(sparse("band 5 gap 3"), causal,
                 [&](int64_t i, int64_t j, int64_t) { return (i - j) % 3 == 0 && near((i - j) / 3, 0, 5); });
    expect_pairs(sparse("block 1, global 2"), causal,
                 [](int64_t i, int64_t j, int64_t) { return i / 4 == j / 4 || i < 2 || j < 2; });
    expect_pairs(sparse("block 3"), causal, [&](int64_t i, int64_t j, int64_t) {
      return causal ? i / 4 - j / 4 <= 2 : std::abs(i / 4 - j / 4) <= 1;
    });
    expect_pairs(sparse("block 1, strided 7"), causal,
                 [](int64_t i, int64_t j, int64_t) { return i / 4 == j / 4 || (i - j) % 7 == 0; });
    expect_pairs(sparse("band 1, columns 6 summary 2"), causal,
                 [](int64_t i, int64_t j, int64_t) { return i == j || j % 6 >= 4; });
  }
}

/// Child et al. 2019, section 4.3: strided A1 = {t, ..., i} with t = max(0, i - l), here of l positions with its own,
/// A2 = {j : (i - j) mod l = 0}; fixed A1 = {j : floor(j / l) = floor(i / l)}, A2 = {j : j mod l in {t, ..., l}}.
TEST(Sparse, ChildsPatterns) {
  expect_pairs({"sparse-strided", {{"stride", int64_t{5}}}}, true,
               [](int64_t i, int64_t j, int64_t) { return i - j < 5 || (i - j) % 5 == 0; });
  expect_pairs({"sparse-fixed", {{"block", int64_t{6}}, {"summary", int64_t{2}}}}, true,
               [](int64_t i, int64_t j, int64_t) { return j / 6 == i / 6 || j % 6 >= 4; });
}

/// Zaheer et al. 2020, appendix D: each block sees w blocks around it, the first g, and r others; those see all.
TEST(Sparse, BigBirdsBlocks) {
  const Choice choice{"bigbird",
                      {{"block", int64_t{3}}, {"window", int64_t{3}}, {"global", int64_t{1}}, {"random", int64_t{2}}}};
  Lab lab(choice, false);
  const std::vector<float> w = lab.weights(2);
  for (int64_t i = 0; i < 40; ++i) {
    std::set<int64_t> others;
    for (int64_t j = 0; j < 40; ++j) {
      const bool seen = w[static_cast<size_t>(i * 40 + j)] > 0, near = std::abs(i / 3 - j / 3) <= 1;
      if (near || i < 3 || j < 3)
        EXPECT_TRUE(seen) << i << " " << j;
      else if (seen)
        others.insert(j / 3);
      EXPECT_EQ(seen, w[static_cast<size_t>((i / 3 * 3) * 40 + j)] > 0) << "a block sees as one";
    }
    EXPECT_LE(others.size(), i < 3 ? 0u : 2u);
  }
}

TEST(Sparse, TilesHoldEachPairOnce) {
  using Kind = PatternAtom::Kind;
  const std::vector<std::vector<PatternAtom>> patterns{
      {{Kind::band, 9}},
      {{Kind::band, 70}, {Kind::global, 3}, {Kind::random, 2}},
      {{Kind::block, 3}, {Kind::columns, 20, 3}, {Kind::strided, 17}},
      {{Kind::strided, 100}, {Kind::band, 30, 7}, {Kind::columns, 9, 9}},
      {{Kind::band, 200, 3}, {Kind::random, 1}},
      {{Kind::strided, 1}}};
  for (const auto& atoms : patterns)
    for (const bool causal : {false, true})
      for (const int64_t n : {0, 1, 5, 63, 64, 65, 200, 331}) {
        const Pattern p{atoms, 24, causal, 5};
        const TilePattern t(p, n);
        std::vector<int> times(static_cast<size_t>(n * n));
        const auto position = [&](const TilePattern::Tile& tile, int64_t i) -> int64_t {
          return tile.gathered < 0 ? tile.first + i : t.rows(tile)[i];
        };
        int64_t pairs = 0;
        for (int64_t tile = 0; tile < std::ssize(t.tiles()); ++tile) {
          int64_t before = -1;
          for (const TilePattern::Meeting& m : t.of_queries(tile)) {
            EXPECT_GT(m.key, before) << "sorted, each once";
            before = m.key;
            const auto &q = t.tiles()[static_cast<size_t>(m.query)], &k = t.tiles()[static_cast<size_t>(m.key)];
            for (int64_t i = 0; i < q.count; ++i)
              for (int64_t j = 0; j < k.count; ++j) {
                const bool seen = m.mask < 0 || t.mask(m.mask).seen[static_cast<size_t>(i)] >> j & 1;
                if (!seen) continue;
                ++pairs;
                ++times[static_cast<size_t>(position(q, i) * n + position(k, j))];
                if (m.mask < 0) continue;
                const auto strip = static_cast<size_t>(i / TilePattern::kStrip);
                EXPECT_TRUE(j >= t.mask(m.mask).from[strip] && j < t.mask(m.mask).to[strip]);
              }
          }
        }
        for (int64_t i = 0; i < n; ++i)
          for (int64_t j = 0; j < n; ++j)
            ASSERT_EQ(times[static_cast<size_t>(i * n + j)], p.sees(i, j, n) ? 1 : 0)
                << i << " " << j << " of " << n << (causal ? " causal" : "");
        EXPECT_EQ(t.pairs(), pairs);
        std::vector<int32_t> keys;
        for (int64_t i = 0; causal && i < n; ++i) {
          p.keys_of(i, keys);
          std::vector<int32_t> right;
          for (int64_t j = 0; j <= i; ++j)
            if (p.sees(i, j, n)) right.push_back(static_cast<int32_t>(j));
          ASSERT_EQ(keys, right);
          EXPECT_LE(keys.empty() ? 0 : i - keys[0], p.reach());
        }
      }
}

TEST(Sparse, MistakesAreNamed) {
  const auto said = [](const std::string& atoms) -> std::string {
    try {
      parse_atoms(atoms, "model.attention");
    } catch (const Error& e) { return std::string(e.what()).substr(0, std::string(e.what()).find('\n')); }
    return "";
  };
  EXPECT_EQ(said("band 3, columns 4 summary 2"), "");
  EXPECT_EQ(said("bend 3"), "model.attention: the atom \"bend 3\" is none");
  EXPECT_EQ(said("band"), "model.attention: the atom \"band\" lacks its number");
  EXPECT_EQ(said("band 3, "), "model.attention: the atom \"\" is none");
  EXPECT_EQ(said("band x"), "model.attention: the atom \"band x\" wants a number from 1 to 1048576, not \"x\"");
  EXPECT_EQ(said("band 0"), "model.attention: the atom \"band 0\" wants a number from 1 to 1048576, not \"0\"");
  EXPECT_EQ(said("global 3 gap 2"), "model.attention: the atom \"global 3 gap 2\" says too much");
  EXPECT_EQ(said("columns 3 summary 4"),
            "model.attention: the atom \"columns 3 summary 4\" has more summary columns than there are");
}

}  // namespace
}  // namespace attune
