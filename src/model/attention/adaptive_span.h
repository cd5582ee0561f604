// Adaptive span: every head learns how far back it looks, pays for it, and no more than that is computed (Sukhbaatar et
// al. 2019, "Adaptive Attention Span in Transformers").
//
//   a_ij = m(i - j) exp(s_ij) / sum over r of m(i - r) exp(s_ir),  m(x) = clamp((R + z - x) / R, 0, 1)
//
// z is learned for each head, between 0 and `longest`, and the loss has penalty / heads times the sum of all z. A
// factor m on the exponentials is ln m on the scores. In an encoder the span reaches to both sides.
#pragma once
#include "base/fields.h"
#include "model/attention/dot_product.h"

namespace attune {

/// ln m on the scores of one head. Table: [1, 1], z / longest.
class SpanScores : public RelativeScores {
 public:
  SpanScores(double ramp, double longest) : ramp_(ramp), longest_(longest) {}
  void scores(const ScoreTile& t, const HookTables& w, float* s) const override;
  void scores_backward(const ScoreTile& t, const HookTables& w, const float* ds, float* dq,
                       int64_t dq_stride) const override;
  Var scores_reference(Ctx& ctx, const Var& q, const ReferencePlace& place) const override;

 private:
  double ramp_, longest_;
};

class AdaptiveSpanAttention : public AttentionMechanism {
 public:
  static constexpr AttentionKind kKind{
      .name = "adaptive-span",
      .sentence = "softmax over as many near positions as each head learns to need",
      .formula = "softmax over j of (q_i . k_j / sqrt(d_k) + ln m(i - j)) v_j, m(x) = clamp((R + z - x) / R, 0, 1)",
      .cost = "n (z + R) d time, z the mean span; n d memory",
      .cite = "Sukhbaatar et al. 2019, Adaptive Attention Span in Transformers",
      .cross = false,
      .relative = Relative::turned,
      .survey = {.sequences = "one", .positions = "local, as far as learned"},
      .details =
          "z = longest times a learned share of each head, clamped to 0 .. 1 after each update, which begins at "
          "`start`. Distances are |i - j|; a decoder sees the past alone. What is at R + z or farther is left out "
          "of the softmax, and not computed. The loss has, once a layer and update, penalty times the mean of the "
          "heads' z.",
  };
  struct Options {
    int64_t longest = 1024, ramp = 32;
    double start = 0.1, penalty = 2e-6;

    template <class V>
    void fields(V& v) {
      v("longest", longest, "the longest span there can be", between(1, 1 << 20));
      v("ramp", ramp, "over how many positions the end of a span fades", between(1, 1 << 20));
      v("start", start, "the first spans, as a share of the longest", between(0, 1));
      v("penalty", penalty, "what a position of span costs in the loss, as a mean over heads", at_least(0));
    }
  };
  AdaptiveSpanAttention(const Options& options, const AttentionSetup& setup, const Blueprint& place);

  Var mix(const Pass& pass, const Projected& p) const override;
  std::unique_ptr<AttentionState> state(int64_t rows) const override;
  Var step(const Pass& pass, const Projected& p, AttentionState& state) const override;
  bool weights(const Pass& pass, const Projected& p, float* out) const override;
  double operations(const Parameters& parameters, const Segments& queries, const Segments& keys) const override;
  void after_update(Parameters& parameters, const Gradients& gathered) const override;

 private:
  /// How far a head sees: every position with m above 0. In a rehearsal as far as it ever can.
  int64_t reach(double share) const;
  Mask mask(const Pass& pass, int64_t head) const;
  /// One head's part of everything.
  Projected head_of(const Pass& pass, const Projected& p, int64_t head) const;
  AttentionSetup one_head() const;

  AttentionSetup setup_;
  int64_t longest_, ramp_;
  double penalty_;
  int span_;  // [heads, 1]: z / longest
  SpanScores scores_;
};

}  // namespace attune
