// What recurrent networks that are trained through their own steps need, so that a step costs what it must and no more:
// rows of all steps brought together, and products by one weight whose gradient is one product for all steps.
//
// The rows of a step are a few of all: `index` says which. What a step gives is computed as decoding computes it.
#pragma once
#include <span>

#include "autograd/tape.h"

namespace attune {

/// Which rows, as operations on them take it.
inline Tensor id_tensor(std::span<const int32_t> ids) { return Tensor(ids.data(), Shape{std::ssize(ids)}); }

/// In a backward function that wrote the first rows only: makes the others zero, unless there was a gradient before.
void clear_rows_beyond(const Grad& grad, int64_t rows);

/// y = x W^T + b, or x W^T + base, step after step.
class StepLinear {
 public:
  /// `rows` of all steps. Without a tape nothing is kept. Where there is a base, [rows, out], there is no bias.
  StepLinear(Ctx& ctx, const Var& weight, const Var& bias, int64_t rows);
  static StepLinear onto(Ctx& ctx, const Var& base, const Var& weight) { return {ctx, base, weight, {}, base.rows()}; }

  /// The rows `index` of all: the first rows of x, which may have more.
  Var operator()(Ctx& ctx, const Var& x, std::span<const int32_t> index) const;

 private:
  StepLinear(Ctx& ctx, const Var& base, const Var& weight, const Var& bias, int64_t rows);

  Var base_, weight_, bias_;
  Var inputs_;   // [rows, in]: those of all steps
  Var outputs_;  // [rows, out]: no numbers, but the gradients of all steps, or of the base
};

/// Rows of all steps below one another, in the order of the index.
class StepRows {
 public:
  StepRows(Ctx& ctx, int64_t rows, int64_t columns, DType type) : all_(ctx.make({rows, columns}, type, {})) {}
  /// x are the rows `index`, each of which is given once; before any use of all().
  void put(Ctx& ctx, const Var& x, std::span<const int32_t> index);
  const Var& all() const { return all_; }

 private:
  Var all_;
};

}  // namespace attune
