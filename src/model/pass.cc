#include "model/pass.h"

#include "autograd/operations/activation.h"
#include "autograd/operations/elementwise.h"

namespace attune {

void Pass::add_loss(const Var& term) const {
  if (loss_terms) *loss_terms = *loss_terms ? add(ctx, *loss_terms, term) : term;
}

Var dropped(const Pass& pass, const Var& x, float rate, uint64_t site) {
  const Dropout dropout = pass.ctx.dropout(rate, site);
  return dropout.on() ? activation(pass.ctx, x, {Activation::none, false}, dropout) : x;
}

}  // namespace attune
