// Scaled dot-product attention (Vaswani et al. 2017, section 3.2.1).
#pragma once
#include "base/fields.h"
#include "kernels/attention_step.h"
#include "model/attention/mechanism.h"

namespace attune {

class SoftmaxAttention : public AttentionMechanism {
 public:
  static constexpr AttentionKind kKind{
      .name = "softmax",
      .sentence = "scaled dot-product attention, as published",
      .formula = "softmax(Q K^T / sqrt(d_k)) V",
      .cost = "n^2 d time, n d memory",
      .cite = "Vaswani et al. 2017, Attention Is All You Need",
  };
  struct Options {
    template <class V>
    void fields(V&) {}
  };
  SoftmaxAttention(const Options&, const AttentionSetup& setup) : setup_(setup) {}

  Var mix(Ctx& ctx, const Projected& p) const override;
  std::unique_ptr<AttentionState> state(int64_t rows, int64_t longest) const override;
  Var step(Ctx& ctx, const Projected& p, AttentionState& state) const override;
  Var read(Ctx& ctx, const Projected& p, std::span<const int32_t> memory_of) const override;
  void weights(const Projected& p, float* out) const override;

 private:
  /// What step and read share: `a` says where the keys are.
  Var attend(Ctx& ctx, const Projected& p, kernels::AttentionStep a) const;

  AttentionSetup setup_;
};

}  // namespace attune
