// BigBird (Zaheer et al. 2020, "Big Bird: Transformers for Longer Sequences"), as it is built there: in blocks, the
// global ones being the first of the sequence ("internal").
#pragma once
#include "model/attention/sparse/sparse.h"

namespace attune {

class BigBirdAttention : public SparseAttention {
 public:
  static constexpr AttentionKind kKind{
      .name = "bigbird",
      .sentence = "blocks see their neighbours, the first ones, and a few drawn by chance",
      .formula = "sparse with atoms = [{ block = window }, { global = global * block }, { random = random }]",
      .cost = "n b (w + g + r) d time, n d memory",
      .cite = "Zaheer et al. 2020, Big Bird: Transformers for Longer Sequences",
      .cross = false,
      .relative = Relative::scores,
      .survey = {.sequences = "one", .positions = "by a pattern"},
      .details =
          "Positions of the first `global` blocks see all and are seen by all. Random blocks are drawn once for each "
          "block and layer, among all of them: one that is seen already counts once. In a decoder each block sees the "
          "last `window` ones, its own with them, and what lies ahead is hidden; the paper has encoders alone.",
      .drawn = "block=4;global=1;random=2",
  };
  struct Options {
    int64_t block = 64, window = 3, global = 2, random = 3, seed = 0;
    template <class V>
    void fields(V& v) {
      v("block", block, "positions of a block", between(1, 1 << 16));
      v("window", window, "neighbouring blocks that one sees, itself with them", between(1, 1 << 10));
      v("global", global, "blocks at the begin that see all and are seen by all", between(1, 1 << 10));
      v("random", random, "blocks that each sees by chance", between(1, 1 << 10));
      v("seed", seed, "where they are drawn from", at_least(0));
    }
    std::string atoms() const { return fmt::format("block {}, global {}, random {}", window, global * block, random); }
  };
  BigBirdAttention(const Options& o, const AttentionSetup& setup, const Blueprint& b)
      : SparseAttention(o.atoms(), o.block, o.seed, setup, b) {}
};

}  // namespace attune
