// Extended Transformer Construction (Ainslie et al. 2020, "ETC: Encoding Long and Structured Inputs in Transformers"):
// words see their neighbours, and rows of their own carry everything else.
#pragma once
#include "model/attention/sparse/external.h"
#include "model/attention/sparse/sparse.h"

namespace attune {

class EtcAttention : public SparseAttention {
 public:
  static constexpr AttentionKind kKind{
      .name = "etc",
      .sentence = "neighbours, and global rows that are no words: they see all and are seen by all",
      .formula =
          "softmax over j of (q_i . k_j / sqrt(d_k)) v_j: a global row sees all rows, a word the global rows and "
          "words with |i - j| <= radius",
      .cost = "n (radius + global) d time, n d memory",
      .cite = "Ainslie et al. 2020, ETC: Encoding Long and Structured Inputs in Transformers, section 3",
      .causal = false,
      .cross = false,
      .step = false,
      .relative = Relative::scores,
      .survey = {.sequences = "one, through global rows", .levels = "two", .positions = "local and global"},
      .details =
          "A stack puts `global` rows in front of each sequence (no more than it has words), which begin as learned "
          "vectors (encoder.own_rows), go through its blocks by the same matrices as words do, and are gone behind "
          "the last. Every layer of the stack must have them. Relative positions (shaw, t5 and others) give the "
          "labels of the paper: global rows stand before the first word, so that beyond the distance that is clipped "
          "all of them have one label. The paper's own matrices for each of the four kinds of pairs, and its hard "
          "links between a global row and the words that it stands for, are left out.",
      .drawn = "radius=3;global=4",
  };
  struct Options {
    int64_t radius = 84, global = 64;
    template <class V>
    void fields(V& v) {
      v("radius", radius, "words to each side that a word sees", between(0, 1 << 20));
      v("global", global, "rows that are no words", between(1, 1 << 14));
    }
  };
  EtcAttention(const Options& o, const AttentionSetup& setup, const Blueprint&)
      : SparseAttention(pattern(o), setup), external_(o.global) {}
  const OwnRows* own_rows() const override { return &external_; }

 private:
  static Pattern pattern(const Options& o) {
    Pattern p = parse_pattern(fmt::format("band {}", 2 * o.radius + 1), {}, "radius");
    p.atoms.insert(p.atoms.begin(), ExternalRows(o.global).atom());
    return p;
  }
  ExternalRows external_;
};

}  // namespace attune
