#include "model/layers/feed_forward.h"

#include "base/error.h"

namespace attune {

ActivationKind activation_kind(const std::string& name) {
  if (name == "relu") return {Activation::relu, false};
  if (name == "gelu") return {Activation::gelu, false};
  if (name == "swish") return {Activation::swish, false};
  if (name == "swiglu") return {Activation::swish, true};
  if (name == "geglu") return {Activation::gelu, true};
  fail(ErrorKind::recipe, "model.activation = \"{}\" is none of relu, gelu, swish, swiglu, geglu", name);
}

FeedForward::FeedForward(const Blueprint& b, const ModelOptions& o)
    : kind(activation_kind(o.activation)),
      inner(b.at("inner"), kind.gated ? 2 * o.d_ff : o.d_ff, o.d_model),
      outer(b.at("outer"), o.d_model, o.d_ff),
      rate(static_cast<float>(o.activation_dropout)),
      site(b.site()),
      weights((kind.gated ? 3 : 2) * static_cast<double>(o.d_model) * static_cast<double>(o.d_ff)) {}

Var FeedForward::operator()(const Pass& pass, const Var& x) const {
  const Dropout dropout = pass.ctx.dropout(rate, site);
  if (!kind.gated && !dropout.on()) return outer(pass, inner(pass, x, kind.f));
  return outer(pass, activation(pass.ctx, inner(pass, x), kind, dropout));
}

}  // namespace attune
