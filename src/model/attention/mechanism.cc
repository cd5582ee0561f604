#include "model/attention/mechanism.h"

#include "base/error.h"

namespace attune {

std::unique_ptr<AttentionState> AttentionMechanism::state(int64_t) const {
  fail(ErrorKind::internal, "attention: this mechanism takes no steps");
}
Var AttentionMechanism::step(const Pass&, const Projected&, AttentionState&) const {
  fail(ErrorKind::internal, "attention: this mechanism takes no steps");
}
void AttentionMechanism::prefill(const Pass&, const Projected&, AttentionState&) const {
  fail(ErrorKind::internal, "attention: this mechanism can't take up a prefix");
}
Var AttentionMechanism::read(const Pass&, const Projected&, std::span<const int32_t>, AttentionState*) const {
  fail(ErrorKind::internal, "attention: this mechanism reads no other sequence");
}
Var AttentionMechanism::guide(const Pass&, const Projected&, const Guide&) const { return {}; }

bool AttentionMechanism::weights(const Pass&, const Projected&, float*) const { return false; }

}  // namespace attune
