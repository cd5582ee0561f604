// BigBird (Zaheer et al. 2020, "Big Bird: Transformers for Longer Sequences"), as it is built there: in blocks, the
// global ones being the first of the sequence ("internal"), or rows that are no words ("external").
#pragma once
#include <optional>

#include "model/attention/sparse/external.h"
#include "model/attention/sparse/sparse.h"

namespace attune {

class BigBirdAttention : public SparseAttention {
 public:
  static constexpr AttentionKind kKind{
      .name = "bigbird",
      .sentence = "blocks see their neighbours, the first ones, and a few drawn by chance",
      .formula =
          "sparse with atoms = [{ block = window }, { global = global * block }, { random = random }]; external: the "
          "global rows are no words",
      .cost = "n b (w + g + r) d time, n d memory",
      .cite = "Zaheer et al. 2020, Big Bird: Transformers for Longer Sequences",
      .cross = false,
      .relative = Relative::scores,
      .survey = {.sequences = "one", .positions = "by a pattern"},
      .details =
          "Positions of the first `global` blocks see all and are seen by all. Random blocks are drawn once for each "
          "block and layer, among all of them: one that is seen already counts once. In a decoder each block sees the "
          "last `window` ones, its own with them, and what lies ahead is hidden; the paper has encoders alone. "
          "external = true: a stack puts the global rows in front of each sequence, as with etc; blocks are counted "
          "from the first of them. Every layer of the stack must have them.",
      .drawn = "block=4;global=1;random=2",
  };
  struct Options {
    int64_t block = 64, window = 3, global = 2, random = 3, seed = 0;
    bool external = false;
    template <class V>
    void fields(V& v) {
      v("block", block, "positions of a block", between(1, 1 << 16));
      v("window", window, "neighbouring blocks that one sees, itself with them", between(1, 1 << 10));
      v("global", global, "blocks at the begin that see all and are seen by all", between(1, 1 << 10));
      v("random", random, "blocks that each sees by chance", between(1, 1 << 10));
      v("seed", seed, "where they are drawn from", at_least(0));
      v("external", external, "the global blocks are rows in front of the words (encoders)");
    }
    Pattern pattern(const AttentionSetup& setup, const Blueprint& b) const {
      if (external && setup.causal)
        fail(ErrorKind::recipe,
             "external rows see the future, which a decoder may not\n  fix: external = false for the decoder");
      const std::string own = external ? "" : fmt::format(", global {}", global * block);
      Pattern p =
          drawn_pattern(fmt::format("block {}{}, random {}", window, own, random), block, seed, setup.causal, b);
      if (external) p.atoms.insert(p.atoms.begin(), ExternalRows(global * block).atom());
      return p;
    }
  };
  BigBirdAttention(const Options& o, const AttentionSetup& setup, const Blueprint& b)
      : SparseAttention(o.pattern(setup, b), setup) {
    if (o.external) external_.emplace(o.global * o.block);
  }
  const OwnRows* own_rows() const override { return external_ ? &*external_ : nullptr; }

 private:
  std::optional<ExternalRows> external_;
};

}  // namespace attune
