// The two factorised patterns of Child et al. 2019, "Generating Long Sequences with Sparse Transformers", each with
// both of its parts in every head ("merged"). A list of layers interleaves the parts, and `heads` gives them to heads of
// their own: `sparse` has them as atoms.
#pragma once
#include "model/attention/sparse/sparse.h"

namespace attune {

class StridedSparseAttention : public SparseAttention {
 public:
  static constexpr AttentionKind kKind{
      .name = "sparse-strided",
      .sentence = "the last `stride` positions, and before them every stride-th: for data with a period",
      .formula = "sparse with atoms = [{ band = stride }, { strided = stride }]",
      .cost = "n (l + n / l) d time: n sqrt(n) d where l is about sqrt(n); n d memory",
      .cite = "Child et al. 2019, Generating Long Sequences with Sparse Transformers, section 4.3",
      .cross = false,
      .relative = Relative::scores,
      .survey = {.sequences = "one", .positions = "by a pattern"},
      .details =
          "In a decoder i sees j in {i - l + 1, ..., i} and those with (i - j) mod l = 0; elsewhere l / 2 to each "
          "side, "
          "and those of both directions.",
      .drawn = "stride=8",
  };
  struct Options {
    int64_t stride = 128;
    template <class V>
    void fields(V& v) {
      v("stride", stride, "the period: a row of pixels, a bar of music", between(1, 1 << 20));
    }
  };
  StridedSparseAttention(const Options& o, const AttentionSetup& setup, const Blueprint& b)
      : SparseAttention(fmt::format("band {0}, strided {0}", o.stride), 64, 0, setup, b) {}
};

class FixedSparseAttention : public SparseAttention {
 public:
  static constexpr AttentionKind kKind{
      .name = "sparse-fixed",
      .sentence = "the own block, and the last few positions of every other one, which sum it up: for text",
      .formula = "sparse with atoms = [{ chunk = block }, { columns = block, summary = summary }]",
      .cost = "n (l + c n / l) d time: n sqrt(n) d where l is about sqrt(n); n d memory",
      .cite = "Child et al. 2019, Generating Long Sequences with Sparse Transformers, section 4.3",
      .cross = false,
      .relative = Relative::scores,
      .survey = {.sequences = "one", .positions = "by a pattern"},
      .details =
          "i sees j of floor(j / l) = floor(i / l), and those with j mod l >= l - c; in a decoder of both the ones up "
          "to itself.",
      .drawn = "block=8;summary=1",
  };
  struct Options {
    int64_t block = 128, summary = 8;
    template <class V>
    void fields(V& v) {
      v("block", block, "positions of a block", between(1, 1 << 20));
      v("summary", summary, "positions at its end that all others see", between(1, 1 << 20));
    }
  };
  FixedSparseAttention(const Options& o, const AttentionSetup& setup, const Blueprint& b)
      : SparseAttention(fmt::format("chunk {0}, columns {0} summary {1}", o.block, std::min(o.block, o.summary)), 64, 0,
                        setup, b) {}
};

}  // namespace attune
