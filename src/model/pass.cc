#include "model/pass.h"

#include "autograd/operations/elementwise.h"

namespace attune {

void Pass::add_loss(const Var& term) const {
  if (loss_terms) *loss_terms = *loss_terms ? add(ctx, *loss_terms, term) : term;
}

}  // namespace attune
