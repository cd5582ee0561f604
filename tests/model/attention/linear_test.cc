// Linearised attention against its paper's equation, written out naively in double.
#include "model/attention/lab.h"

namespace attune {
namespace {

/// Katharopoulos et al. 2020, equations 5 and 7: V'_i = phi(Q_i)^T sum_j phi(K_j) V_j^T / (phi(Q_i)^T sum_j phi(K_j)),
/// phi(x) = elu(x) + 1; equation 8: j up to i.
TEST(Linear, IsItsFormula) {
  const auto phi = [](Row x) {
    for (double& v : x) v = v > 0 ? v + 1 : std::exp(v);
    return x;
  };
  for (const bool causal : {false, true}) {
    Lab lab({"linear"}, causal);
    lab.expect([&](int64_t i, int64_t h, int64_t from, int64_t to) {
      Row a;
      for (int64_t j = from; j < to; ++j)
        a.push_back(causal && j > i ? 0 : dot(phi(lab.row(0, i, h)), phi(lab.row(1, j, h))));
      return divided(a, total(a));
    });
  }
}

}  // namespace
}  // namespace attune
