// Adaptive span against its paper's equation, written out naively in double.
#include "model/attention/lab.h"

namespace attune {
namespace {

/// Sukhbaatar et al. 2019a, equations 5 and 6: a_tr = m_z(t - r) exp(s_tr) / sum_q m_z(t - q) exp(s_tq), m_z(x) =
/// min(max((R + z - x) / R, 0), 1).
TEST(AdaptiveSpan, IsItsFormula) {
  for (const bool causal : {false, true}) {
    Lab lab({"adaptive-span", {{"longest", int64_t{20}}, {"ramp", int64_t{4}}, {"start", 0.33}}}, causal);
    // Heads of different spans: one that ends within the sequences, one that is all ramp.
    for (const NamedParameter& p : lab.parameters.named())
      if (p.name.ends_with("span")) lab.parameters.data()[p.offset + 1] = 0;
    const double z[] = {20 * 0.33f, 0};
    lab.expect([&](int64_t i, int64_t h, int64_t from, int64_t to) {
      Row a;
      for (int64_t j = from; j < to; ++j) {
        const double x = static_cast<double>(std::abs(i - j));
        const double m = std::clamp((4 + z[h] - x) / 4, 0.0, 1.0);
        a.push_back(causal && j > i ? 0 : m * std::exp(dot(lab.row(0, i, h), lab.row(1, j, h)) / 2));
      }
      return divided(a, total(a));
    });
  }
}

}  // namespace
}  // namespace attune
