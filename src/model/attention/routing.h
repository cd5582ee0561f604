// Routing: queries and keys are clustered by k-means as training goes on, and a query attends within its cluster (Roy
// et al. 2020, "Efficient Content-Based Sparse Attention with Routing Transformers").
//
// As published, a cluster takes the n / c rows nearest to its centroid, so a later row can push an earlier one out.
// Here every row goes to its nearest centroid. In an encoder a query sees all keys of its cluster; in a decoder, where
// keys are the queries as in the paper, the last `window` rows of its cluster up to itself: no row depends on a later
// one.
//
// A position scheme adds to the scores within a cluster by the places where its rows stood; queries have length 1 for
// it too. It does not change who goes where: clusters are those of the rows before the scheme turned them.
#pragma once
#include "base/fields.h"
#include "model/attention/dot_product.h"
#include "model/attention/rearranged.h"

namespace attune {

class RoutingAttention : public AttentionMechanism {
 public:
  static constexpr AttentionKind kKind{
      .name = "routing",
      .sentence = "softmax within clusters of queries and keys that training finds by k-means",
      .formula =
          "softmax over j with c(k_j) = c(q_i) of (sqrt(d_k) q_i . k_j / (|q_i| |k_j|)) v_j, c(x) = argmax_c mu_c . x",
      .cost = "n (n / c + c) d time in an encoder, n (w + c) d in a decoder; n d memory",
      .cite = "Roy et al. 2020, Efficient Content-Based Sparse Attention with Routing Transformers",
      .cross = false,
      .relative = Relative::scores,
      .survey = {.sequences = "one", .positions = "few, chosen by content"},
      .details =
          "Queries and keys are divided by their lengths, head by head; in a decoder the keys are the queries, as "
          "published. Clusters are chosen of these unit rows before a position scheme has turned them, of equal "
          "products the first. In an encoder a query sees all keys of its cluster (none: the result is nought); in "
          "a decoder the last `window` members of its cluster up to itself, however far back: the papers' balanced "
          "top-k would let later rows decide what earlier ones see. After an update mu_c becomes decay mu_c + (1 - "
          "decay) times the mean of the unit queries and keys of all sequences that chose it (in a decoder the "
          "queries), divided by its length; one that nobody chose stays. No gradient goes through the choice.",
  };
  struct Options {
    int64_t clusters = 16, window = 64;
    double decay = 0.999;

    template <class V>
    void fields(V& v) {
      v("clusters", clusters, "clusters of each head; about the root of the usual length", between(1, 1 << 16));
      v("window", window, "in a decoder: how many rows of its cluster one sees", between(1, 1 << 20));
      v("decay", decay, "how much of a centroid stays at each update", from_below(0, 1));
    }
  };
  RoutingAttention(const Options& options, const AttentionSetup& setup, const Blueprint& place);

  Var mix(const Pass& pass, const Projected& p) const override;
  std::unique_ptr<AttentionState> state(int64_t rows) const override;
  Var step(const Pass& pass, const Projected& p, AttentionState& state) const override;
  bool weights(const Pass& pass, const Projected& p, float* out) const override;
  double operations(const Parameters&, const Segments& queries, const Segments& keys) const override;
  LayerParts parts() const override { return {.key = !setup_.causal, .plain = true}; }
  void after_update(Parameters& parameters, const Gradients& gathered) const override;

 private:
  /// Rows of length 1: what they meet each other by, and what decides where they go.
  struct Units {
    Var q, k, plain_q, plain_k;
  };
  Units units(const Pass& pass, const Projected& p) const;
  Var unit_rows(const Pass& pass, const HeadColumns& x) const;
  std::vector<int32_t> clusters_of(const Pass& pass, const Var& x) const;
  Rearrangement sorted(const std::vector<int32_t>& clusters, const Segments& segments) const;
  Var in_order(const Pass& pass, const Var& x, const Rearrangement& r) const;
  void gather(const Pass& pass, const Var& x, const std::vector<int32_t>& clusters) const;

  AttentionSetup setup_;
  int64_t clusters_, window_;
  double decay_;
  int centroids_;  // [heads * clusters, dim + 1]: vectors of length 1, and how many rows the last update sent there
};

}  // namespace attune
