// Routing against its paper's equation, written out naively in double.
#include "model/attention/lab.h"

namespace attune {
namespace {

/// Roy et al. 2020, section 4.1: "X'_i = sum over j with K_j in mu(Q_i), j <= i, of A_ij V_j", each vector in the
/// cluster of its nearest centroid; keys are the queries in a decoder, which here sees the last `window` of them.
TEST(Routing, IsItsFormula) {
  for (const bool causal : {false, true}) {
    Lab lab({"routing", {{"clusters", int64_t{3}}, {"window", int64_t{4}}}}, causal);
    const Row mu = lab.parameter("centroids");
    const auto unit = [](const Row& x) { return divided(x, std::sqrt(dot(x, x))); };
    const auto cluster = [&](const Row& x, int64_t h) {
      int64_t best = 0;
      double most = -1e9;
      for (int64_t c = 0; c < 3; ++c) {
        const auto m = mu.begin() + (h * 3 + c) * 5;
        const double s = dot(x, Row(m, m + 4));
        if (s > most) most = s, best = c;
      }
      return best;
    };
    const auto weights = [&](int64_t i, int64_t h, int64_t from, int64_t to) {
      const Row q = unit(lab.row(0, i, h));
      Row a(static_cast<size_t>(to - from), 0.0);
      int64_t seen = 0;
      for (int64_t j = causal ? i : to - 1; j >= from; --j) {
        const Row k = unit(lab.row(causal ? 0 : 1, j, h));
        if (cluster(k, h) != cluster(q, h) || (causal && seen++ >= 4)) continue;
        a[static_cast<size_t>(j - from)] = std::exp(2 * dot(q, k));
      }
      return total(a) > 0 ? divided(a, total(a)) : a;
    };
    lab.expect(weights);
    if (causal) lab.expect_steps(weights);
  }
}

/// Roy et al. 2020, section 4.1: a centroid keeps `decay` of itself and takes the rest from the mean of the rows that
/// came to it, and has length 1; one that nobody came to stays.
TEST(Routing, CentroidsMoveTowardsTheirRows) {
  Lab lab({"routing", {{"clusters", int64_t{2}}, {"decay", 0.75}}}, true);
  const Row before = lab.parameter("centroids");  // [2 heads x 2 clusters, 4 + 1]
  Gradients gathered(lab.parameters);
  gathered.start();
  gathered.finish();
  for (const NamedParameter& p : lab.parameters.named())
    if (p.name.ends_with("centroids"))
      for (const auto& [at, value] : {std::pair{5, 6.0f}, {8, -3.0f}, {9, 3.0f}})  // three rows, of sum (6, 0, 0, -3)
        gathered.data()[p.offset + at] = value;
  lab.mechanism->after_update(lab.parameters, gathered);
  const Row after = lab.parameter("centroids");
  Row moved(before.begin() + 5, before.begin() + 9);
  for (double& x : moved) x *= 0.75;
  moved[0] += 0.25 * 2;
  moved[3] += 0.25 * -1;
  moved = divided(moved, std::sqrt(dot(moved, moved)));
  for (size_t d = 0; d < 4; ++d) EXPECT_NEAR(after[5 + d], moved[d], 1e-6) << d;
  EXPECT_EQ(after[9], 3);
  for (size_t c : {0u, 2u, 3u})
    for (size_t d = 0; d < 4; ++d) EXPECT_EQ(after[5 * c + d], before[5 * c + d]) << c;
}

}  // namespace
}  // namespace attune
