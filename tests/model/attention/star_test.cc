// Star-Transformer against its paper's equations, written out naively in double.
#include "model/attention/lab.h"

namespace attune {
namespace {

const Choice kStar{"star"};

/// Guo et al. 2019, section 3.2: MultiAtt of one row to some, by the matrices of that name.
struct Star {
  const SublayerLab& lab;

  Row multi(const std::string& of, const Row& query, const std::vector<Row>& context) const {
    const Row q = lab.linear(of + "query", query);
    Row mixed;
    for (size_t h = 0; h < 2; ++h) {
      Row a;
      for (const Row& c : context) a.push_back(std::exp(dot(head(q, h), head(lab.linear(of + "key", c), h)) / 2));
      a = divided(a, total(a));
      Row sum(4, 0.0);
      for (size_t j = 0; j < context.size(); ++j) {
        const Row v = head(lab.linear(of + "value", context[j]), h);
        for (size_t d = 0; d < 4; ++d) sum[d] += a[j] * v[d];
      }
      mixed.insert(mixed.end(), sum.begin(), sum.end());
    }
    Row y = lab.linear(of + "output", mixed);
    for (double& x : y) x = std::max(x, 0.0);
    return y;
  }
  static Row normed(Row x) {
    const double mean = total(x) / 8;
    double variance = 0;
    for (const double v : x) variance += (v - mean) * (v - mean) / 8;
    for (double& v : x) v = (v - mean) / std::sqrt(variance + 1e-5);
    return x;
  }
  /// All rows of a sequence after one layer that is the first.
  std::vector<Row> layer(int64_t s) const {
    const int64_t from = lab.segments.begin(s), n = lab.segments.length(s);
    std::vector<Row> x;
    Row mean(8, 0.0);
    for (int64_t i = 0; i < n; ++i) {
      x.push_back(lab.input(from + i));
      for (size_t d = 0; d < 8; ++d) mean[d] += x.back()[d] / static_cast<double>(n);
    }
    std::vector<Row> all = x;
    all.push_back(mean);
    const Row relay = normed(multi("relay.", mean, all));
    std::vector<Row> y;
    for (int64_t i = 0; i < n; ++i) {
      const auto at = [&](int64_t j) { return x[static_cast<size_t>((j + n) % n)]; };
      std::vector<Row> context{at(i), at(i), relay};  // the row, its embedding
      if (n > 1) context.push_back(at(i + 1));
      if (n > 2) context.push_back(at(i - 1));
      y.push_back(multi("", at(i), context));
    }
    return y;
  }
};

TEST(Star, IsItsFormula) {
  SublayerLab lab(kStar, false);
  lab.segments = Segments::of_lengths({9, 1, 0, 2, 11});
  const Star right{lab};
  for (int64_t s = 0; s < lab.segments.count(); ++s) {
    const std::vector<Row> want = right.layer(s);
    for (int64_t i = 0; i < lab.segments.length(s); ++i) {
      const Row got = lab.output(lab.segments.begin(s) + i);
      for (size_t d = 0; d < 8; ++d)
        ASSERT_NEAR(got[d], want[static_cast<size_t>(i)][d], 2e-5) << "row " << i << " of " << s;
    }
  }
}

/// What people see: shares of one.
TEST(Star, LooksThroughTheRelay) {
  SublayerLab lab(kStar, false);
  lab.segments = Segments::of_lengths({9, 14});
  const std::vector<float> looked = lab.looked_at(1);
  for (size_t h = 0; h < 2; ++h)
    for (size_t i = 0; i < 14; ++i) {
      double sum = 0;
      for (size_t j = 0; j < 14; ++j) {
        EXPECT_GT(looked[(h * 14 + i) * 14 + j], 0);
        sum += static_cast<double>(looked[(h * 14 + i) * 14 + j]);
      }
      EXPECT_NEAR(sum, 1, 1e-5);
    }
}

}  // namespace
}  // namespace attune
