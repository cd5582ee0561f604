// What answers that are no word of a vocabulary cost: sets of labels, numbers and vectors. One label of many is
// output_loss.
#pragma once
#include "autograd/tape.h"

namespace attune {

struct SetLoss {
  Var scores;           // [n, labels]: the logarithm of the odds of each
  Tensor targets = {};  // i32: the labels that are right, of all rows one after another (below 0: none of them), ...
  const Segments* segments = nullptr;  // ... so many of each row; must live until the backward pass is over.
  float scale = 1;
  Tensor weights = {};  // f32 [n] or missing: what each row's loss is multiplied by
};
/// scale times the sum over rows of the mean over labels of -log p(right or not), [1].
Var set_loss(Ctx& ctx, const SetLoss& a);

struct NumberLoss {
  Var values;           // [n, 1]
  Tensor targets = {};  // f32 [n]
  float scale = 1;
  Tensor weights = {};
};
/// scale times the sum of squared distances, [1].
Var number_loss(Ctx& ctx, const NumberLoss& a);

enum class Distance : uint8_t { absolute, squared };  // L1, L2
struct VectorLoss {
  Var values;           // [n, d]
  Tensor targets = {};  // f32 [n, d]
  Distance distance = Distance::squared;
  float scale = 1;
  Tensor weights = {};
};
/// scale times the sum over rows of the mean over columns of |x - t| or (x - t)^2, [1].
Var vector_loss(Ctx& ctx, const VectorLoss& a);

}  // namespace attune
