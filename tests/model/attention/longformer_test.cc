// Longformer against its paper's two sets of projections, written out naively in double.
#include "model/attention/lab.h"

namespace attune {
namespace {

const Choice kLongformer{"longformer", {{"window", int64_t{4}}, {"global", int64_t{2}}}};

/// Beltagy et al. 2020, section 3.1: Q_s, K_s, V_s of the sliding window, Q_g, K_g, V_g of the global attention.
struct Longformer {
  const SublayerLab& lab;
  bool causal;

  /// The weights of row i of a sequence that begins at `from` and has n rows, in one head.
  Row weights(int64_t from, int64_t n, int64_t i, size_t h) const {
    const bool global = i < 2;
    const std::string in = global ? "global." : "";
    const Row q = head(lab.linear(in + "query", lab.input(from + i)), h);
    Row a;
    for (int64_t j = 0; j < n; ++j) {
      const bool near = causal ? i - j < 4 : std::abs(i - j) <= 2;
      const bool seen = (global || near || j < 2) && (!causal || j <= i);
      a.push_back(seen ? std::exp(dot(q, head(lab.linear(in + "key", lab.input(from + j)), h)) / 2) : 0);
    }
    return divided(a, total(a));
  }
  Row output(int64_t from, int64_t n, int64_t i) const {
    Row mixed;
    for (size_t h = 0; h < 2; ++h) {
      const Row a = weights(from, n, i, h);
      Row sum(4, 0.0);
      for (int64_t j = 0; j < n; ++j) {
        const Row v = head(lab.linear(i < 2 ? "global.value" : "value", lab.input(from + j)), h);
        for (size_t d = 0; d < 4; ++d) sum[d] += a[static_cast<size_t>(j)] * v[d];
      }
      mixed.insert(mixed.end(), sum.begin(), sum.end());
    }
    return lab.linear("output", mixed);
  }
};

TEST(Longformer, IsItsFormula) {
  for (const bool causal : {false, true}) {
    SublayerLab lab(kLongformer, causal);
    lab.segments = Segments::of_lengths({9, 1, 0, 13});
    const Longformer right{lab, causal};
    for (int64_t s = 0; s < 4; ++s) {
      const int64_t from = lab.segments.begin(s), n = lab.segments.length(s);
      Row want;
      for (int64_t i = 0; i < n; ++i) {
        want = right.output(from, n, i);
        const Row got = lab.output(from + i);
        for (size_t d = 0; d < 8; ++d) ASSERT_NEAR(got[d], want[d], 2e-5) << causal << " row " << i << " of " << s;
      }
      if (!causal || n == 0) continue;
      const Row stepped = lab.stepped(s);
      for (size_t d = 0; d < 8; ++d) ASSERT_NEAR(stepped[d], want[d], 2e-5);
    }
    const std::vector<float> looked = lab.looked_at(3);
    for (int64_t i = 0; i < 13; ++i)
      for (size_t h = 0; h < 2; ++h) {
        const Row a = right.weights(lab.segments.begin(3), 13, i, h);
        for (size_t j = 0; j < 13; ++j)
          ASSERT_NEAR(looked[(h * 13 + static_cast<size_t>(i)) * 13 + j], a[j], 1e-5) << i << " " << j;
      }
  }
}

}  // namespace
}  // namespace attune
