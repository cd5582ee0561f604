// Attention along the edges of a graph: a row reads those it has an edge to, and no others (Velickovic et al. 2018,
// "Graph Attention Networks"). Scores are one number an edge and head, so that memory grows with the edges, not with
// the square of the rows.
#pragma once
#include "autograd/attention/list_attention.h"
#include "model/attention/mechanism.h"

namespace attune {

class EdgesAttention : public AttentionMechanism {
 public:
  static constexpr AttentionKind kKind{
      .name = "edges",
      .sentence = "softmax over the rows that a row has an edge to, of data that are graphs; without edges over all",
      .formula =
          "sum over j in N_i of softmax_j(e_ij) v_j; additive: e_ij = LeakyReLU(a_q . q_i + a_k . k_j), dot: "
          "e_ij = q_i . k_j / sqrt(d_k)",
      .cost = "|E| d time; |E| d memory, by dot products |E|",
      .cite = "Velickovic et al. 2018, Graph Attention Networks",
      .causal = false,
      .cross = false,
      .step = false,
      .survey = {.sequences = "one", .positions = "along edges"},
      .details =
          "a_q and a_k are a number for each column of a head, N_i the rows that i has an edge to as the data has "
          "them: a graph's nodes have one to themselves where the recipe's reader adds it (docs/rows.md). LeakyReLU "
          "has the slope 0.2. Dropout falls on the weights.",
  };
  enum class Score { additive, dot };
  struct Options {
    Score score = Score::additive;
    template <class V>
    void fields(V& v) {
      v("score", score, "how a key fits a query: as published, or by their dot product", one_of({"additive", "dot"}));
    }
  };
  EdgesAttention(const Options& options, const AttentionSetup& setup, const Blueprint& b);

  Var mix(const Pass& pass, const Projected& p) const override;
  bool weights(const Pass& pass, const Projected& p, float* out) const override;
  double operations(const Parameters&, const Segments& queries, const Segments& keys) const override;

 private:
  struct EdgeList;
  /// Those of the rows at hand, a query after another.
  EdgeList list_of(const Pass& pass, const Segments& rows) const;
  /// What each edge counts, [edges, heads].
  Var edge_weights(const Pass& pass, const Projected& p, const EdgeList& edges) const;

  AttentionSetup setup_;
  Score score_;
  int query_ = -1, key_ = -1;  // additive: a_q and a_k, a number for each column
};

}  // namespace attune
