#include "kernels/attention/relative.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>
#include <vector>

#include "base/aligned.h"
#include "checks.h"

namespace attune::kernels {
namespace {

struct Case {
  int64_t rows, cols, dim;
  int64_t corner;  // the distance of the first row and column
  DistanceRange range;
  std::vector<int32_t> queries = {}, keys = {};  // their places, if they are told
  int64_t axes = 1;

  int64_t distance(int64_t r, int64_t c) const {
    if (queries.empty()) return corner + r - c;
    return queries[static_cast<size_t>(r * axes)] - keys[static_cast<size_t>(c * axes)];
  }
};

/// The i-th of n places is f(i); on further axes stands what nobody may look at.
template <class F>
std::vector<int32_t> places(int64_t n, int64_t axes, F f) {
  std::vector<int32_t> p;
  for (int64_t i = 0; i < n; ++i)
    for (int64_t a = 0; a < axes; ++a) p.push_back(static_cast<int32_t>(a == 0 ? f(i) : -1000000 + 77 * i));
  return p;
}

/// Cases whose rows tell where they stand.
std::vector<Case> placed_cases() {
  std::vector<Case> all;
  const auto add = [&](const Case& c, int64_t axes, auto query, auto key) {
    all.push_back(c);
    all.back().queries = places(c.rows, axes, query);
    all.back().keys = places(c.cols, axes, key);
    all.back().axes = axes;
  };
  for (const int64_t dim : {16, 33})
    for (const DistanceRange range : {DistanceRange{-900, 900}, DistanceRange{-16, 16}, DistanceRange{0, 63}})
      for (const auto& [rows, cols] : {std::pair{96, 128}, {48, 100}, {7, 17}, {1, 300}, {1, 1}, {130, 200}, {6, 1}}) {
        const Case c{rows, cols, dim, 0, range};
        const auto evenly = [](int64_t step, int64_t first) { return [=](int64_t i) { return first + step * i; }; };
        const auto apart = [](int64_t i) { return 5 * i + i * i % 4; };               // a cluster's rows
        const auto anywhere = [](int64_t i) { return (i * 7919 + 13) % 501 - 250; };  // in no order at all
        add(c, 1, evenly(1, 40), evenly(1, 0));
        add(c, 2, evenly(3, 7), evenly(3, 1));    // a band with gaps
        add(c, 1, evenly(-2, 9), evenly(-2, 5));  // backwards
        add(c, 1, evenly(0, 4), evenly(0, 9));    // all in one place
        add(c, 1, evenly(1, 0), evenly(4, 3));    // pooled keys, at their last row's place
        add(c, 3, apart, apart);
        add(c, 1, anywhere, anywhere);
        add(c, 1, evenly(1, 500), [](int64_t i) { return 500 + i / 3; });  // few distances, and no even step
      }
  return all;
}

std::vector<Case> cases() {
  std::vector<Case> all = placed_cases();
  for (int64_t dim : {16, 64, 7, 33}) {
    all.push_back({96, 128, dim, 40, {-300, 300}});   // nothing is clipped
    all.push_back({96, 128, dim, 40, {-16, 16}});     // both ends are
    all.push_back({48, 100, dim, -30, {0, 63}});      // a past alone
    all.push_back({5, 33, dim, 1000, {-16, 16}});     // all in one
    all.push_back({13, 70, dim, -1000, {-200, 10}});  // all in the other
    all.push_back({7, 17, dim, 10, {4, 4}});          // one row for everything
    all.push_back({1, 300, dim, 299, {0, 127}});      // a decoding step
    all.push_back({1, 1, dim, 0, {-2, 2}});
    all.push_back({130, 200, dim, 20, {-90, 150}});  // several pieces
  }
  return all;
}

/// Numbers around the tile, so that what lies outside it shows.
struct RelativeWorld {
  Case c;
  int64_t stride, wide;
  std::vector<float> s, x, out, vectors, gradient, bias;
  Aligned<float> scratch;
  ScoreTile tile{};

  explicit RelativeWorld(const Case& given) : c(given), stride(c.cols + 5), wide(c.dim + 3) {
    std::mt19937 random(5);
    std::normal_distribution<float> normal;
    const auto fill = [&](std::vector<float>& v, int64_t size) {
      v.resize(static_cast<size_t>(size));
      for (float& f : v) f = normal(random);
    };
    fill(s, c.rows * stride);
    fill(x, c.rows * wide);
    fill(out, c.rows * wide);
    fill(vectors, c.range.rows() * wide);
    fill(gradient, c.range.rows() * wide);
    fill(bias, c.rows + c.cols - 1);
    scratch = Aligned<float>(relative_scratch(c.dim));
    for (int64_t i = 0; i < scratch.size(); ++i) scratch.data()[i] = NAN;
    tile.queries = tile.keys = 100000;
    tile.query = 50000 + c.corner;
    tile.key = 50000;
    tile.rows = c.rows;
    tile.cols = c.cols;
    tile.stride = stride;
    tile.q = x.data();
    tile.q_stride = wide;
    tile.dim = c.dim;
    tile.scratch = scratch.data();
    if (c.queries.empty()) return;
    tile.query_places = {c.queries.data(), c.axes};
    tile.key_places = {c.keys.data(), c.axes};
  }
  Tensor table(std::vector<float>& v) const { return Tensor(v.data(), Shape{c.range.rows(), wide}).columns(0, c.dim); }
  DistanceTerm term(bool with_gradient) {
    return {{c.range, table(vectors), with_gradient ? table(gradient) : Tensor()}, x.data(), wide, 0.3f};
  }
  template <class F>
  void each(F f) const {
    for (int64_t r = 0; r < c.rows; ++r)
      for (int64_t j = 0; j < c.cols; ++j)
        f(static_cast<size_t>(r), static_cast<size_t>(j), static_cast<size_t>(c.range.row(c.distance(r, j))));
  }
};

std::vector<double> doubles(const std::vector<float>& v) { return {v.begin(), v.end()}; }

void expect_near(const std::vector<float>& got, const std::vector<double>& want, const Case& c, const char* what) {
  for (size_t i = 0; i < got.size(); ++i)
    ASSERT_NEAR(got[i], want[i], 1e-4 * (1 + std::fabs(want[i])))
        << what << " " << i << " of " << c.rows << " x " << c.cols << " x " << c.dim;
}

TEST(Relative, ProductsAreAddedByDistance) {
  for (const std::string& isa : available_isas()) {
    const IsaScope scope(isa);
    for (const Case& c : cases()) {
      RelativeWorld w(c);
      auto want = doubles(w.s);
      const auto dim = static_cast<size_t>(c.dim), wide = static_cast<size_t>(w.wide);
      w.each([&](size_t r, size_t j, size_t row) {
        double dot = 0;
        for (size_t d = 0; d < dim; ++d) dot += static_cast<double>(w.x[r * wide + d]) * w.vectors[row * wide + d];
        want[r * static_cast<size_t>(w.stride) + j] += 0.3 * dot;
      });
      add_products(w.tile, w.term(false), w.s.data());
      expect_near(w.s, want, c, "scores");
    }
  }
}

TEST(Relative, SumsAreTheWayBack) {
  for (const std::string& isa : available_isas()) {
    const IsaScope scope(isa);
    for (const Case& c : cases()) {
      RelativeWorld w(c);
      auto out = doubles(w.out), gradient = doubles(w.gradient);
      const auto dim = static_cast<size_t>(c.dim), wide = static_cast<size_t>(w.wide);
      w.each([&](size_t r, size_t j, size_t row) {
        const double weight = 0.3 * w.s[r * static_cast<size_t>(w.stride) + j];
        for (size_t d = 0; d < dim; ++d) {
          out[r * wide + d] += weight * w.vectors[row * wide + d];
          gradient[row * wide + d] += weight * w.x[r * wide + d];
        }
      });
      const std::vector<float> before = w.out, table = w.gradient;
      add_sums(w.tile, w.term(true), w.s.data(), {w.out.data(), w.wide});
      expect_near(w.out, out, c, "rows");
      expect_near(w.gradient, gradient, c, "gradients");
      // either alone is the same
      const std::vector<float> both = w.out, both_table = w.gradient;
      w.out = before;
      w.gradient = table;
      add_sums(w.tile, w.term(false), w.s.data(), {w.out.data(), w.wide});
      EXPECT_TRUE(same_bits(w.out, both));
      EXPECT_TRUE(same_bits(w.gradient, table));
      w.out = before;
      add_sums(w.tile, w.term(true), w.s.data(), {});
      EXPECT_TRUE(same_bits(w.out, before));
      EXPECT_TRUE(same_bits(w.gradient, both_table));
    }
  }
}

TEST(Relative, BiasesByDiagonal) {
  for (const std::string& isa : available_isas()) {
    const IsaScope scope(isa);
    for (const Case& c : cases()) {
      RelativeWorld w(c);
      auto want = doubles(w.s), sums = doubles(w.bias);
      std::vector<float> got = w.bias;
      w.each([&](size_t r, size_t j, size_t) {
        const size_t diagonal = static_cast<size_t>(c.rows) - 1 - r + j;
        sums[diagonal] += w.s[r * static_cast<size_t>(w.stride) + j];
        want[r * static_cast<size_t>(w.stride) + j] += w.bias[diagonal];
      });
      add_diagonals(w.tile, w.s.data(), got.data());
      expect_near(got, sums, c, "diagonals");
      add_bias(w.tile, w.bias.data(), w.s.data());
      expect_near(w.s, want, c, "scores");
    }
  }
}

/// A number for each distance, and what flows back into it.
TEST(Relative, BiasesByDistance) {
  const auto bias = [](int64_t distance) { return 0.25f * static_cast<float>(std::abs(distance) % 37); };
  for (const Case& c : cases()) {
    RelativeWorld w(c);
    auto want = doubles(w.s);
    std::map<int64_t, double> sums, got;
    w.each([&](size_t r, size_t j, size_t) {
      const int64_t distance = c.distance(static_cast<int64_t>(r), static_cast<int64_t>(j));
      sums[distance] += w.s[r * static_cast<size_t>(w.stride) + j];
      want[r * static_cast<size_t>(w.stride) + j] += static_cast<double>(bias(distance));
    });
    add_bias_gradients(w.tile, w.s.data(),
                       [&](int64_t distance, float sum) { got[distance] += static_cast<double>(sum); });
    ASSERT_EQ(got.size(), sums.size());
    for (const auto& [distance, sum] : sums) ASSERT_NEAR(got[distance], sum, 1e-4 * (1 + std::fabs(sum))) << distance;
    add_biases(w.tile, w.s.data(), bias);
    expect_near(w.s, want, c, "scores");
  }
}

TEST(Relative, KnowsAnEvenStep) {
  const auto step = [](const std::vector<int32_t>& queries, const std::vector<int32_t>& keys) {
    ScoreTile t{};
    t.rows = std::ssize(queries);
    t.cols = std::ssize(keys);
    t.query_places = {queries.data(), 1};
    t.key_places = {keys.data(), 1};
    return t.even_step();
  };
  EXPECT_EQ(ScoreTile{}.even_step(), 1);
  EXPECT_EQ(step({3, 5, 7}, {0, 2}), 2);
  EXPECT_EQ(step({3}, {9, 6, 3}), -3);
  EXPECT_EQ(step({3, 4}, {7}), 1);
  EXPECT_EQ(step({8}, {8}), 0);
  EXPECT_EQ(step({3, 5, 7}, {0, 1}), std::nullopt);
  EXPECT_EQ(step({3, 5, 8}, {0, 2}), std::nullopt);
  EXPECT_EQ(step({3, 5}, {0, 2, 5}), std::nullopt);
}

TEST(Relative, PiecesCoverATileOnce) {
  const RelativeWorld w({130, 300, 8, 20, {-90, 150}});
  std::vector<int> seen(w.s.size());
  for_pieces(w.tile, [&](const ScoreTile& t, int64_t at) {
    EXPECT_LE(t.rows, kPieceRows);
    EXPECT_LE(t.cols, kPieceCols);
    for (int64_t r = 0; r < t.rows; ++r)
      for (int64_t c = 0; c < t.cols; ++c) {
        ++seen[static_cast<size_t>(at + r * t.stride + c)];
        EXPECT_EQ(t.distance() + r - c, 20 + at / w.stride + r - (at % w.stride + c));
      }
    EXPECT_EQ(t.q, w.x.data() + at / w.stride * w.wide);
  });
  w.each([&](size_t r, size_t j, size_t) { EXPECT_EQ(seen[r * static_cast<size_t>(w.stride) + j], 1); });
}

TEST(Relative, TheSameBitsOnEveryMachine) {
  if (!isa_has_fma(chosen_isa())) GTEST_SKIP() << "no FMA";
  for (const Case& c : cases()) {
    std::vector<std::vector<float>> first;
    for (const std::string& isa : available_isas()) {
      if (!isa_has_fma(isa)) continue;
      const IsaScope scope(isa);
      RelativeWorld w(c);
      add_sums(w.tile, w.term(true), w.s.data(), {w.out.data(), w.wide});
      add_diagonals(w.tile, w.s.data(), w.bias.data());
      add_products(w.tile, w.term(false), w.s.data());
      const std::vector<std::vector<float>> all{w.s, w.out, w.gradient, w.bias};
      if (first.empty()) first = all;
      for (size_t i = 0; i < all.size(); ++i) EXPECT_TRUE(same_bits(all[i], first[i])) << isa << " " << i;
    }
  }
}

}  // namespace
}  // namespace attune::kernels
