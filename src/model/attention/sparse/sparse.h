// Attention to pairs of positions that a pattern names: a union of atoms (Lin et al. 2021, "A Survey of Transformers",
// section 4.1), of which only what is seen is computed. Compounds of the literature are presets: a name, and the atoms
// it stands for.
#pragma once
#include "base/error.h"
#include "base/fields.h"
#include "model/attention/dot_product.h"
#include "tensor/atoms.h"

namespace attune {

class SparseAttention : public AttentionMechanism {
 public:
  static constexpr AttentionKind kKind{
      .name = "sparse",
      .sentence = "softmax over the pairs that any of its atoms names: band, global, random, block, strided and others",
      .formula = "softmax over j of (q_i . k_j / sqrt(d_k)) v_j with (i, j) in the union of the atoms",
      .cost =
          "time by the pairs, n d memory; decoding reads the keys that are seen, and keeps no others where all "
          "atoms are near",
      .cite = "Lin et al. 2021, A Survey of Transformers, section 4.1",
      .cross = false,
      .relative = Relative::scores,
      .survey = {.sequences = "one", .positions = "by a pattern"},
      .details =
          "atoms = [{ band = 128 }, { global = 2 }, { random = 3 }], or as a text: \"band 128, global 2, random 3\". "
          "In "
          "a decoder each has its pairs with j <= i. band w, gap g: i - j in {0, g, ..., (w - 1) g}, elsewhere |i - j| "
          "in {0, g, ..., floor(w / 2) g}. global g: i < g or j < g; global = [5, 9] (global at 5 9): i or j among "
          "these. seen g: j < g. Blocks are runs of `block` positions, counted from the first. random r: r different "
          "blocks for each "
          "block of i, drawn by the seed and the layer, in a decoder among those up to its own. block b: the block of "
          "i and floor((b - 1) / 2) to each side of it, in a decoder the last b. chunk l, memory m: j from the begin "
          "of i's run of l positions less m to its end, elsewhere with m - floor(m / 2) before and floor(m / 2) "
          "behind. strided l, within p: i - j is a multiple of l and floor(i / p) = floor(j / p) (p = 0: all). "
          "columns l, summary c: j mod l >= l - c. rectangle h, by w, above a, beside s, of W: position i is row "
          "floor(i / W), column i mod W of a picture; i sees the rectangle of h x w that it lies in, counted from the "
          "corner, a rows more above it (elsewhere below it, too) and s columns more to each side. edges (in a recipe "
          "{ edges = true }): the "
          "rows that the example's edges name, all where it has none. A pair that several atoms name counts once.",
      .drawn = "atoms=band 5 + global 2 + random 1;block=4",
  };
  struct Options {
    std::string atoms = "band 128, global 2";
    int64_t block = 64, seed = 0;
    void check(const std::string& key) const { parse_pattern(atoms, {}, key); }
    template <class V>
    void fields(V& v) {
      v("atoms", atoms, "what is seen: band, global, seen, random, block, chunk, strided, columns, rectangle, edges");
      v("block", block, "positions of a block", between(1, 1 << 20));
      v("seed", seed, "where random blocks are drawn from", at_least(0));
    }
  };
  SparseAttention(const Options& o, const AttentionSetup& setup, const Blueprint& b)
      : SparseAttention(o.atoms, o.block, o.seed, setup, b) {}

  Var mix(const Pass& pass, const Projected& p) const override;
  std::unique_ptr<AttentionState> state(int64_t rows) const override;
  Var step(const Pass& pass, const Projected& p, AttentionState& state) const override;
  bool weights(const Pass& pass, const Projected& p, float* out) const override;
  double operations(const Parameters&, const Segments& queries, const Segments& keys) const override;

 protected:
  SparseAttention(const std::string& atoms, int64_t block, int64_t seed, const AttentionSetup& setup, const Blueprint&);
  SparseAttention(Pattern pattern, const AttentionSetup& setup) : setup_(setup), patterns_(std::move(pattern)) {}
  static Pattern drawn_pattern(const std::string& atoms, int64_t block, int64_t seed, bool causal,
                               const Blueprint& place);
  BatchPattern pattern_of(const Pass& pass, const Segments& segments) const;

  AttentionSetup setup_;

 private:
  PatternCache patterns_;
};

}  // namespace attune
