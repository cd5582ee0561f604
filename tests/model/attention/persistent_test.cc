// Persistent memory against its paper's equation, written out naively in double.
#include "model/attention/lab.h"

namespace attune {
namespace {

/// Sukhbaatar et al. 2019b, equations 8 and 9: the softmax runs over the context and the persistent vectors, [k; M_k]
/// and [v; M_v].
TEST(Persistent, IsItsFormula) {
  for (const bool causal : {false, true}) {
    Lab lab({"persistent", {{"size", int64_t{6}}}}, causal);
    const Row keys = lab.parameter("memory.key"), values = lab.parameter("memory.value");
    const std::vector<float> got = lab.mixed();
    const int64_t w = lab.setup.width();
    for (int64_t s = 0; s < lab.segments.count(); ++s)
      for (int64_t i = lab.segments.begin(s); i < lab.segments.begin(s) + lab.segments.length(s); ++i)
        for (int64_t h = 0; h < 2; ++h) {
          Row sum(4, 0.0);
          double all = 0;
          const auto meet = [&](const Row& k, const Row& v) {
            const double e = std::exp(dot(lab.row(0, i, h), k) / 2);
            all += e;
            for (size_t d = 0; d < 4; ++d) sum[d] += e * v[d];
          };
          for (int64_t j = lab.segments.begin(s); j < lab.segments.begin(s) + lab.segments.length(s); ++j)
            if (!causal || j <= i) meet(lab.row(1, j, h), lab.row(2, j, h));
          for (int64_t m = 0; m < 6; ++m) {
            const auto k = keys.begin() + m * w + h * 4, v = values.begin() + m * w + h * 4;
            meet(divided({k, k + 4}, 1 / std::sqrt(4.0)), divided({v, v + 4}, 1 / std::sqrt(6.0)));
          }
          for (int64_t d = 0; d < 4; ++d)
            ASSERT_NEAR(got[static_cast<size_t>(i * w + h * 4 + d)], sum[static_cast<size_t>(d)] / all, 2e-5);
        }
  }
}

}  // namespace
}  // namespace attune
