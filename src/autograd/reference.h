// What the naive reference of several operations needs. Slow on purpose: read it, check by it, never train with it.
#pragma once
#include "autograd/tape.h"

namespace attune::reference {

/// What dropout multiplies an element by.
template <class T>
T kept(const Dropout& d, int64_t row, int64_t column) {
  if (!d.on()) return 1;
  return dropped(d, row, static_cast<uint32_t>(column)) ? T(0) : static_cast<T>(dropout_scale(d.rate));
}

/// Makes a gradient that holds nothing yet zero, so that everything after may add.
template <class T>
void clear_unless_added(const Grad& g) {
  for (int64_t r = 0; g && !g.add && r < g.tensor.rows(); ++r)
    for (int64_t j = 0; j < g.tensor.cols(); ++j) g.tensor.row<T>(r)[j] = 0;
}

}  // namespace attune::reference
