// Differentiable sums, means, maxima and softmax, and running sums of packed sequences.
#pragma once
#include "autograd/tape.h"

namespace attune {

// Of each row, over the last axis: [.., cols] -> [.., 1]. The first of equal maxima gets the gradient.
Var row_sum(Ctx& ctx, const Var& x);
Var row_mean(Ctx& ctx, const Var& x);
Var row_max(Ctx& ctx, const Var& x);

// Of each column, over all rows: [.., cols] -> [1, cols].
Var column_sum(Ctx& ctx, const Var& x);
Var column_mean(Ctx& ctx, const Var& x);
Var column_max(Ctx& ctx, const Var& x);

// Of all elements: [1].
Var sum(Ctx& ctx, const Var& x);
Var mean(Ctx& ctx, const Var& x);

/// Over the last axis. A row of -inf alone gives zeros.
Var softmax(Ctx& ctx, const Var& x);
/// The logarithm of it, precise where the softmax itself would vanish.
Var log_softmax(Ctx& ctx, const Var& x);

/// y[t] = x[0] + ... + x[t] down the rows of each sequence. `segments` must live until the backward pass is over.
Var cumulative_sum(Ctx& ctx, const Var& x, const Segments& segments);
Var cumulative_sum(Ctx& ctx, const Var& x, Segments&& segments) = delete;

}  // namespace attune
