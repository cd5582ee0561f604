#include "kernels/relative.h"

#include <gtest/gtest.h>

#include <cmath>
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
};

std::vector<Case> cases() {
  std::vector<Case> all;
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
  }
  Tensor table(std::vector<float>& v) const { return Tensor(v.data(), Shape{c.range.rows(), wide}).columns(0, c.dim); }
  DistanceTerm term(bool with_gradient) {
    return {{c.range, table(vectors), with_gradient ? table(gradient) : Tensor()}, x.data(), wide, 0.3f};
  }
  template <class F>
  void each(F f) const {
    for (int64_t r = 0; r < c.rows; ++r)
      for (int64_t j = 0; j < c.cols; ++j)
        f(static_cast<size_t>(r), static_cast<size_t>(j), static_cast<size_t>(c.range.row(c.corner + r - j)));
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
