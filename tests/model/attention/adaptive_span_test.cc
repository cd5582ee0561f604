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

/// Row by row, what is kept of the past reaches as far as the longest span does: m(longest + R - 1) = 1 / R.
TEST(AdaptiveSpan, StepsSeeAsFarAsTheLongestSpan) {
  Lab lab({"adaptive-span", {{"longest", int64_t{6}}, {"ramp", int64_t{4}}, {"start", 1.0}}}, true);
  const auto m = [](int64_t x) { return std::clamp((4 + 6 - static_cast<double>(x)) / 4, 0.0, 1.0); };
  EXPECT_EQ(m(9), 0.25);
  const auto weights = [&](int64_t i, int64_t h, int64_t from, int64_t to) {
    Row a;
    for (int64_t j = from; j < to; ++j)
      a.push_back(j > i ? 0 : m(i - j) * std::exp(dot(lab.row(0, i, h), lab.row(1, j, h)) / 2));
    return divided(a, total(a));
  };
  lab.expect(weights);
  lab.expect_steps(weights);
}

/// z stays between 0 and `longest`: what an update made of it is brought back.
TEST(AdaptiveSpan, SpansStayWithinTheirBounds) {
  Lab lab({"adaptive-span", {{"longest", int64_t{20}}}}, true);
  const auto moved = [&](float one, float two) {
    for (const NamedParameter& p : lab.parameters.named())
      if (p.name.ends_with("span")) {
        lab.parameters.data()[p.offset] = one;
        lab.parameters.data()[p.offset + 1] = two;
      }
    lab.mechanism->after_update(lab.parameters, Gradients(lab.parameters));
    return lab.parameter("span");
  };
  EXPECT_EQ(moved(1.25f, -0.5f), (Row{1, 0}));
  EXPECT_EQ(moved(0.25f, 1.0f), (Row{0.25, 1}));
}

}  // namespace
}  // namespace attune
