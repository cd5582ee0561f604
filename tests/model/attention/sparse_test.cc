// Sparse attention against the definitions of its atoms and of its presets' papers, written out naively in double.
#include <algorithm>
#include <random>
#include <set>
#include <thread>

#include "autograd/op_checks.h"
#include "model/attention/lab.h"
#include "model/attention/sparse/sparse.h"

namespace attune {
namespace {

using Sees = std::function<bool(int64_t i, int64_t j, int64_t n)>;
using Options = std::map<std::string, Choice::Option>;

/// Softmax of the scores of the pairs that `sees` has: all rows at once, row by row, and as people look at it.
void expect_pairs(const Choice& choice, bool causal, const Sees& sees) {
  Lab lab(choice, causal);
  constexpr int64_t n = 140;  // more than two tiles
  lab.segments = Segments::of_lengths({23, 0, 1, n});
  lab.make_rows();
  const auto formula = [&](int64_t i, int64_t h, int64_t from, int64_t to) {
    Row a;
    for (int64_t j = from; j < to; ++j) {
      const bool seen = (!causal || j <= i) && sees(i - from, j - from, to - from);
      a.push_back(seen ? std::exp(dot(lab.row(0, i, h), lab.row(1, j, h)) / 2) : 0);
    }
    return total(a) > 0 ? divided(a, total(a)) : a;
  };
  lab.expect(formula);
  if (causal) lab.expect_steps(formula);
  const std::vector<float> looked = lab.weights(3);
  for (int64_t i = 0; i < n; ++i) {
    const Row right = formula(24 + i, 1, 24, 24 + n);
    for (int64_t j = 0; j < n; ++j)
      EXPECT_NEAR(looked[static_cast<size_t>((n + i) * n + j)], right[static_cast<size_t>(j)], 1e-5);
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
    expect_pairs(sparse("columns 6 summary 2"), causal, [](int64_t, int64_t j, int64_t) { return j % 6 >= 4; });
    expect_pairs(sparse("band 2, global at 7 3"), causal,
                 [&](int64_t i, int64_t j, int64_t) { return near(i, j, 2) || i == 3 || i == 7 || j == 3 || j == 7; });
    expect_pairs(sparse("chunk 5 memory 3"), causal, [&](int64_t i, int64_t j, int64_t) {
      const int64_t begin = i / 5 * 5;
      return j >= begin - (causal ? 3 : 2) && j < begin + 5 + (causal ? 0 : 1);
    });
    expect_pairs(sparse("strided 3 within 12"), causal,
                 [](int64_t i, int64_t j, int64_t) { return (i - j) % 3 == 0 && i / 12 == j / 12; });
    expect_pairs(sparse("rectangle 2 by 3 above 1 beside 2 of 8"), causal, [&](int64_t i, int64_t j, int64_t) {
      const int64_t row = i / 8 / 2 * 2, column = i % 8 / 3 * 3, r = j / 8, c = j % 8;
      return r >= row - 1 && r < row + 2 + (causal ? 0 : 1) && c >= column - 2 && c < column + 3 + 2;
    });
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
  const char* const patterns[] = {"band 9",
                                  "band 70, global 3, random 2",
                                  "block 3, columns 20 summary 3, strided 17",
                                  "strided 100, band 30 gap 7, columns 9 summary 9",
                                  "band 200 gap 3, random 1",
                                  "strided 1",
                                  "chunk 40 memory 33, global at 5 70",
                                  "seen 70, band 2",
                                  "chunk 10, strided 10 within 70, strided 70",
                                  "rectangle 5 by 7 above 3 beside 2 of 20, rectangle 16 by 16 of 16, band 3"};
  for (const std::string atoms : patterns)
    for (const bool causal : {false, true})
      for (const int64_t n : {0, 1, 5, 63, 64, 65, 200, 331}) {
        const Pattern p = parse_pattern(atoms, {{}, {}, 24, 5, causal}, "atoms");
        const TilePattern t(p, {n});
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
            ASSERT_EQ(times[static_cast<size_t>(i * n + j)], p.sees(i, j, {n}) ? 1 : 0)
                << i << " " << j << " of " << n << (causal ? " causal" : "");
        EXPECT_EQ(t.pairs(), pairs);
        std::vector<int32_t> keys;
        for (int64_t i = 0; causal && i < n; ++i) {
          p.keys_of(i, {n}, keys);
          std::vector<int32_t> right;
          for (int64_t j = 0; j <= i; ++j)
            if (p.sees(i, j, {n})) right.push_back(static_cast<int32_t>(j));
          ASSERT_EQ(keys, right);
          for (const int32_t j : keys) EXPECT_TRUE(i - j <= p.reach() || p.stays(j)) << i << " " << j;
        }
      }
}

/// A model that was saved draws the same blocks for ever: from the seed, the name of the layer and which atom it is.
TEST(Sparse, RandomBlocksStay) {
  const auto drawn = [](const std::string& place, const std::string& atoms) {
    Parameters parameters;
    Blueprint::Shared shared{parameters};
    AttentionSetup setup{.heads = 1, .heads_kv = 1, .dim = 1};
    const auto mechanism = make_attention(sparse(atoms, 1), setup, Blueprint(shared, place), "model.attention");
    Arena arena;
    Ctx ctx(arena);
    const Pass pass{ctx, parameters};
    std::vector<float> rows(3 * 16, 1.0f), w(16 * 16);
    const Var x = ctx.input(Tensor(rows.data(), Shape{16, 3}));
    const Segments one = Segments::single(16);
    EXPECT_TRUE(mechanism->weights(pass, {x, x, x, 0, 1, 2, &one, &one}, w.data()));
    std::vector<int64_t> seen;
    for (int64_t j = 0; j < 16; ++j)
      if (w[static_cast<size_t>(9 * 16 + j)] > 0) seen.push_back(j);
    return seen;
  };
  const std::vector<int64_t> first = drawn("encoder.0.self", "random 3");
  EXPECT_EQ(first, (std::vector<int64_t>{4, 8, 10}));
  EXPECT_NE(first, drawn("encoder.1.self", "random 3"));
  EXPECT_GT(drawn("encoder.0.self", "random 3, random 3").size(), 3u);
}

TEST(Sparse, TilesAreKeptForTheLengthsMetLast) {
  const PatternCache cache(parse_pattern("random 3", {.block = 1}, "atoms"));
  const auto first = cache.of_length(1 << 14);
  EXPECT_EQ(cache.of_length(1 << 14), first);
  EXPECT_GT(4 * first->bytes(), PatternCache::kBytes) << "more than a few have no room";
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int64_t n = 0; n < 2000; ++n) EXPECT_EQ(cache.of_length(n % 500)->length(), n % 500);
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(cache.of_length(1 << 14), first) << "what is asked for stays";
  for (int64_t n = 1; n < 5; ++n) cache.of_length((1 << 14) + n);
  EXPECT_NE(cache.of_length(1 << 14), first) << "what is not goes";
}

/// Along the edges of a graph, by two kernels that have nothing in common.
TEST(Sparse, EdgesAreThoseOfTheExample) {
  Rows rows;
  rows.segments = Segments::of_lengths({90, 0, 1, 7});
  std::vector<int32_t>&start = rows.edges.start.own(), &to = rows.edges.to.own();
  std::mt19937 random(3);
  start.push_back(0);
  for (int64_t s = 0; s < rows.segments.count(); ++s)
    for (int64_t i = 0; i < rows.segments.length(s); ++i) {
      std::set<int32_t> keys{static_cast<int32_t>(i)};
      for (int k = 0; k < 3; ++k)
        keys.insert(static_cast<int32_t>(random() % static_cast<unsigned>(rows.segments.length(s))));
      to.insert(to.end(), keys.begin(), keys.end());
      start.push_back(static_cast<int32_t>(to.size()));
    }
  const auto mixed = [&](const Choice& choice, const Rows& of) {
    Parameters parameters;
    Blueprint::Shared shared{parameters};
    const AttentionSetup setup{.heads = 2, .heads_kv = 2, .dim = 8};
    const auto mechanism = make_attention(choice, setup, Blueprint(shared, "encoder.0.self"), "model.attention");
    const CheckInput q = random_input({98, 16}, 1), k = random_input({98, 16}, 2), v = random_input({98, 16}, 3);
    return run_checked(
        [&](Ctx& ctx, const std::vector<Var>& in) {
          Pass pass{ctx, parameters};
          const RowsAtHand at_hand(pass, of);
          return mechanism->mix(pass, {in[0], in[1], in[2], 0, 0, 0, &of.segments, &of.segments});
        },
        {q, k, v}, DType::f32);
  };
  const CheckRun tiles = mixed(sparse("edges"), rows), lists = mixed({"edges", {{"score", "dot"}}}, rows);
  for (size_t i = 0; i < tiles.value.size(); ++i) ASSERT_NEAR(tiles.value[i], lists.value[i], 1e-5);
  for (size_t k = 0; k < 3; ++k)
    for (size_t i = 0; i < tiles.grads[k].size(); ++i) ASSERT_NEAR(tiles.grads[k][i], lists.grads[k][i], 1e-5);
  Rows none;
  none.segments = rows.segments;
  EXPECT_TRUE(same_bits(mixed(sparse("edges"), none).value, mixed(sparse("band 200"), none).value)) << "all see all";
  to[5] = 90;
  EXPECT_EQ(error_of([&] { mixed(sparse("edges"), rows); }), "[edges] an edge to row 90 of a sequence of 90");
}

/// However large the numbers of a recipe, what a query sees costs no more than the sequence is long.
TEST(Sparse, LargeNumbersCostNothing) {
  for (const char* atoms :
       {"rectangle 1000000 by 1 above 1000000 of 1", "columns 65536 summary 65535", "band 1000000000 gap 1000000000",
        "chunk 1000000000 memory 1000000000", "strided 1000000000 within 1000000000", "random 1000000000",
        "rectangle 1000000000 by 1000000000 above 1000000000 beside 1000000000 of 1000000000"})
    for (const bool causal : {false, true}) {
      const Pattern p = parse_pattern(atoms, {{}, {}, 1, 3, causal}, "atoms");
      std::vector<KeyRun> runs;
      for (const auto& a : p.atoms) a->keys(150, {200}, runs);
      EXPECT_LE(runs.size(), 201u) << atoms;
      EXPECT_LE(TilePattern(p, {200}).pairs(), 200 * 200) << atoms;
      EXPECT_GE(p.reach(), 0) << atoms;
    }
}

/// Of a picture row by row, 4 columns wide; of a video, 3 rows a picture.
TEST(Sparse, AxesOfAGrid) {
  const auto axial = [](const std::string& axis, int64_t height) {
    return Choice{"axial", {{"axis", axis}, {"width", int64_t{4}}, {"height", height}}};
  };
  for (const bool causal : {false, true}) {
    expect_pairs(axial("row", 0), causal, [](int64_t i, int64_t j, int64_t) { return i / 4 == j / 4; });
    expect_pairs(axial("column", 0), causal, [](int64_t i, int64_t j, int64_t) { return i % 4 == j % 4; });
    expect_pairs(axial("all", 0), causal,
                 [](int64_t i, int64_t j, int64_t) { return i / 4 == j / 4 || i % 4 == j % 4; });
    expect_pairs(axial("column", 3), causal,
                 [](int64_t i, int64_t j, int64_t) { return i % 4 == j % 4 && i / 12 == j / 12; });
    expect_pairs(axial("all", 3), causal, [](int64_t i, int64_t j, int64_t) {
      const int64_t same = (i % 4 == j % 4) + (i / 4 % 3 == j / 4 % 3) + (i / 12 == j / 12);
      return same >= 2;
    });
    expect_pairs(axial("time", 3), causal, [](int64_t i, int64_t j, int64_t) { return i % 12 == j % 12; });
  }
}

TEST(Sparse, MistakesAreNamed) {
  const auto said = [](const std::string& atoms) -> std::string {
    try {
      parse_pattern(atoms, {.causal = true}, "model.attention");
    } catch (const Error& e) { return std::string(e.what()).substr(0, std::string(e.what()).find('\n')); }
    return "";
  };
  EXPECT_EQ(said("band 3, columns 4 summary 2"), "");
  EXPECT_EQ(said("bend 3"), "model.attention: the atom \"bend 3\" is none");
  EXPECT_EQ(said("band"), "model.attention: the atom \"band\" lacks its number");
  EXPECT_EQ(said("band 3, "), "model.attention: the atom \"\" is none");
  EXPECT_EQ(said("band x"), "model.attention: the atom \"band x\" wants a number from 1 to 1073741824, not \"x\"");
  EXPECT_EQ(said("band 0"), "model.attention: the atom \"band 0\" wants a number from 1 to 1073741824, not \"0\"");
  EXPECT_EQ(said("global 3 gap 2"), "model.attention: the atom \"global 3 gap 2\" says too much");
  EXPECT_EQ(said("columns 3 summary 4 summary 2"),
            "model.attention: the atom \"columns 3 summary 4 summary 2\" says too much");
  EXPECT_EQ(said("rectangle 3 of 9"), "model.attention: the atom \"rectangle 3 of 9\" lacks its \"by\"");
  EXPECT_EQ(said("global at"), "model.attention: the atom \"global at\" lacks its positions");
  EXPECT_EQ(said("edges"), "model.attention: the atom \"edges\" is for encoders: a decoder's rows have none");
  EXPECT_EQ(said("global 2 at 5 9"), "model.attention: the atom \"global 2 at 5 9\" has both a number and positions");
  EXPECT_EQ(said("band 128 gap"), "model.attention: the atom \"band 128 gap\" lacks the number of its \"gap\"");
  EXPECT_EQ(said("columns 3 summary"),
            "model.attention: the atom \"columns 3 summary\" lacks the number of its \"summary\"");
  EXPECT_EQ(said("edges 7"), "model.attention: the atom \"edges 7\" takes no number");
  EXPECT_EQ(said("columns 3 summary 4"),
            "model.attention: the atom \"columns 3 summary 4\" has more summary columns than there are");
}

}  // namespace
}  // namespace attune
