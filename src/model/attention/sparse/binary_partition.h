// BP-Transformer (Ye et al. 2019, "BP-Transformer: Modelling Long-Range Context via Binary Partitioning"): a sequence
// is halved and halved again; every span is a row of its own, which reads its words, and a word reads spans that are
// the longer the farther away they are.
#pragma once
#include "base/fields.h"
#include "model/attention/mechanism.h"
#include "tensor/key_lists.h"
#include "tensor/segments_cache.h"

namespace attune {

/// The spans of a sequence of words: level 1 has those of two words, level 2 those of four, and so on to the whole.
/// They stand level by level, the whole one last.
class SpanRows : public OwnRows {
 public:
  int64_t of(int64_t length) const override;
  int64_t kinds() const override { return 32; }
  int64_t kind(int64_t length, int64_t i) const override;  // its level
};

class BinaryPartitionAttention : public AttentionMechanism {
 public:
  static constexpr AttentionKind kKind{
      .name = "bp",
      .sentence = "words see near words one by one and far ones as spans of two, four, eight and more",
      .formula =
          "z_u = softmax over v in A(u) of (q_u . k_v / sqrt(d_k)) v_v; A(span) = its words, A(word) = itself and to "
          "each side `near` words, then as many spans of two, of four, ...",
      .cost = "near n log n d time, n d memory",
      .cite = "Ye et al. 2019, BP-Transformer: Modelling Long-Range Context via Binary Partitioning",
      .causal = false,
      .cross = false,
      .step = false,
      .survey = {.sequences = "one, through its spans", .levels = "log n", .positions = "near finely, far coarsely"},
      .details =
          "Spans are rows that a stack puts in front of each sequence, level by level; they go through its blocks by "
          "the same matrices as words do, and every layer of the stack must have them. A span of level l is words "
          "[2^l j, 2^l (j + 1)), the last one shorter. Rightwards of word i: p = i + 1; at each level the next `near` "
          "nodes p, p + 1, ..., then p = floor((p + near) / 2) one level up. Where that parent begins before what is "
          "still to come (the next node is a right child), its right child stands in for it, so that every word is "
          "covered once; leftwards likewise. Spans begin as a learned vector of their level (encoder.own_rows; in "
          "the paper as zeros and a position). Positions are those that are added; the paper's vectors by level and "
          "side, added to keys, are left out.",
      .drawn = "near=2",
  };
  struct Options {
    int64_t near = 4;
    template <class V>
    void fields(V& v) {
      v("near", near, "words and spans of each level that a word sees to each side: k in the paper",
        between(1, 1 << 10));
    }
  };
  BinaryPartitionAttention(const Options& o, const AttentionSetup& setup, const Blueprint&)
      : setup_(setup), near_(o.near) {}

  const OwnRows* own_rows() const override { return &spans_; }
  Var mix(const Pass& pass, const Projected& p) const override;
  bool weights(const Pass& pass, const Projected& p, float* out) const override;
  double operations(const Parameters&, const Segments& queries, const Segments& keys) const override;

 private:
  KeyLists lists_of(const Segments& segments) const;
  std::shared_ptr<const KeyLists> kept_lists(Ctx& ctx, const Segments& segments) const;

  AttentionSetup setup_;
  int64_t near_;
  SpanRows spans_;
  mutable SegmentsCache<KeyLists> lists_;
};

}  // namespace attune
