// Star-Transformer (Guo et al. 2019, "Star-Transformer"): rows in a ring see their two neighbours, and one relay row
// for each sequence carries everything else. The relay, and the rows as they were embedded, run beside the rows from
// layer to layer:
//
//   s' = LayerNorm(ReLU(MultiAtt(s, [s; H])))    h_i' = ReLU(MultiAtt(h_i, [h_(i-1); h_i; h_(i+1); e_i; s']))
//
// s begins as the mean of the embeddings e.
#pragma once
#include "autograd/attention/list_attention.h"
#include "base/fields.h"
#include "model/attention/mechanism.h"
#include "model/layers/linear.h"
#include "model/layers/residual.h"

namespace attune {

class StarAttention : public AttentionMechanism {
 public:
  static constexpr AttentionKind kKind{
      .name = "star",
      .sentence = "a ring of neighbours, and a relay that all rows read and that reads all of them",
      .formula = "h_i = ReLU(MultiAtt(h_i, [h_(i-1); h_i; h_(i+1); e_i; s])), s = LN(ReLU(MultiAtt(s, [s; H])))",
      .cost = "n d time and memory",
      .cite = "Guo et al. 2019, Star-Transformer",
      .causal = false,
      .cross = false,
      .step = false,
      .survey = {.sequences = "one, through a relay", .levels = "two", .positions = "local and global"},
      .details =
          "e are the rows that enter the first layer, s begins as their mean in each sequence. In every layer the "
          "relay "
          "goes first (in the paper the rows do): it reads itself and all rows, then the rows read it. Neighbours are "
          "those of a ring: the first row's left one is the last; of two that are the same row one is read. Queries, "
          "keys, values and outputs of rows (query, key, value, output) and of the relay (relay.*) have matrices of "
          "their own, keys and values of h, e and s the same. There is no feed-forward sublayer. "
          "The rows' result goes through the block's residual and norm; as published it is LN(ReLU(.)) alone, which is "
          "model.residual = false with model.norm = \"post\".",
  };
  struct Options {
    template <class V>
    void fields(V&) {}
  };
  StarAttention(const Options&, const AttentionSetup& setup, const Blueprint& place);

  LayerParts parts() const override { return {.projections = false, .feed_forward = false}; }
  /// Of rows that are projected already, with their mean as relay.
  Var mix(const Pass& pass, const Projected& p) const override;
  Var attend(const Pass& pass, const SelfAttention& layer, const Var& x, const Segments& segments,
             Carried& carried) const override;
  double operations(const Parameters&, const Segments& queries, const Segments& keys) const override;

 private:
  struct Lists;
  ListAttention along(const Pass& pass, const KeyLists& lists, const Var& q, const Var& kv, const Var& more,
                      uint64_t site) const;
  void look(const Pass& pass, const ListAttention& relay, const ListAttention& rows, float* out) const;

  AttentionSetup setup_;
  Linear query_, relay_query_;
  JoinedLinear key_value_, relay_key_value_;
  Linear output_, relay_output_;
  LayerNorm norm_;
  uint64_t relay_site_;
};

}  // namespace attune
