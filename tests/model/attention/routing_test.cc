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
    lab.expect([&](int64_t i, int64_t h, int64_t from, int64_t to) {
      const Row q = unit(lab.row(0, i, h));
      Row a(static_cast<size_t>(to - from), 0.0);
      int64_t seen = 0;
      for (int64_t j = causal ? i : to - 1; j >= from; --j) {
        const Row k = unit(lab.row(causal ? 0 : 1, j, h));
        if (cluster(k, h) != cluster(q, h) || (causal && seen++ >= 4)) continue;
        a[static_cast<size_t>(j - from)] = std::exp(2 * dot(q, k));
      }
      return total(a) > 0 ? divided(a, total(a)) : a;
    });
  }
}

}  // namespace
}  // namespace attune
