// Additive attention (Bahdanau et al. 2014, "Neural Machine Translation by Jointly Learning to Align and Translate",
// section 3.1 and appendix A.1.2):
//
//   e_ij = v^T tanh(W s_{i-1} + U h_j)    alpha_ij = exp(e_ij) / sum_k exp(e_ik)    c_i = sum_j alpha_ij h_j
#pragma once
#include "autograd/row_attention.h"
#include "autograd/steps.h"
#include "model/layers/linear.h"
#include "model/rnn/attention.h"

namespace attune {

class AdditiveAttention : public RecurrentAttention {
 public:
  static constexpr RecurrentAttentionKind kKind{
      .name = "additive",
      .sentence = "a small network says how well each row of the source fits the state",
      .formula = "softmax over j of v^T tanh(W s + U h_j)",
      .cite = "Bahdanau et al. 2014, Neural Machine Translation by Jointly Learning to Align and Translate",
  };
  struct Options {
    int64_t size = 0;
    template <class V>
    void fields(V& v) {
      v("size", size, "inner numbers of the network; 0: d_model", between(0, 65536));
    }
  };
  AdditiveAttention(const Options& o, const RecurrentAttentionSetup& s, const Blueprint& b)
      : setup_(s),
        size_(o.size ? o.size : s.width),
        query_(b.matrix("query.weight", size_, s.query, Init::xavier(s.query, size_))),
        key_(b.at("key"), size_, s.read),
        vector_(b.vector("score.vector", size_, Init::xavier(size_, 1))) {}

  RecurrentSources sources(const Pass& pass, const Var& encoded, const Segments& segments) const override {
    return {key_(pass, encoded), encoded, &segments};
  }
  std::unique_ptr<RecurrentAttentionSteps> steps(const Pass& pass, const RecurrentSources& sources,
                                                 int64_t rows) const override {
    return std::make_unique<Steps>(sources, StepLinear(pass.ctx, pass[query_], {}, rows), pass[vector_]);
  }
  /// A sum, a tanh and a product for each number of a key, a product and a sum for each of a value.
  double operations_per_pair() const override {
    return 4 * static_cast<double>(size_) + 2 * static_cast<double>(setup_.read);
  }
  double source_weights() const override { return static_cast<double>(size_) * static_cast<double>(setup_.read); }
  double target_weights() const override { return static_cast<double>(size_) * static_cast<double>(setup_.query); }

 private:
  struct Steps : RecurrentAttentionSteps {
    Steps(RecurrentSources s, StepLinear q, Var v) : sources(std::move(s)), query(std::move(q)), vector(std::move(v)) {}
    StepRead operator()(Ctx& ctx, const StepQuery& q) const override {
      const RowReads reads{sources.segments, q.source_of};
      const Var energies = additive_energies(ctx, reads, query(ctx, q.state, q.index), sources.keys, vector);
      const Var weights = row_softmax(ctx, reads, energies);
      return {row_mix(ctx, reads, weights, sources.values), weights};
    }
    RecurrentSources sources;
    StepLinear query;
    Var vector;
  };

  RecurrentAttentionSetup setup_;
  int64_t size_;
  int query_;
  Linear key_;
  int vector_;
};

}  // namespace attune
