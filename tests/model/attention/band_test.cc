// The band against its paper's equation, written out naively in double.
#include "model/attention/lab.h"

namespace attune {
namespace {

/// Beltagy et al. 2020, section 3.1: "each token attends to w / 2 tokens on each side"; dilated: "the window has gaps
/// of size dilation d". In a decoder, the last w.
TEST(Band, IsItsFormula) {
  for (const bool causal : {false, true})
    for (const int64_t gap : {1, 3}) {
      Lab lab({"band", {{"width", int64_t{5}}, {"dilation", gap}}}, causal);
      lab.expect([&](int64_t i, int64_t h, int64_t from, int64_t to) {
        Row a;
        for (int64_t j = from; j < to; ++j) {
          const int64_t steps = std::abs(i - j) / gap;
          const bool seen = (i - j) % gap == 0 && (causal ? j <= i && steps < 5 : steps <= 2);
          a.push_back(seen ? std::exp(dot(lab.row(0, i, h), lab.row(1, j, h)) / 2) : 0);
        }
        return divided(a, total(a));
      });
    }
}

}  // namespace
}  // namespace attune
