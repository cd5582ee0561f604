// One row for each sequence of a packed batch: how a text becomes a vector. Its first row is gather_rows, and a learned
// mixture of all is attention with one query each.
#pragma once
#include "autograd/tape.h"

namespace attune {

// [rows, d] -> [sequences, d]. A sequence of no rows gives zeros. `segments` must live until the backward pass is over.

Var segment_mean(Ctx& ctx, const Var& x, const Segments& segments);
/// Of each column by itself; the first of equal maxima gets the gradient.
Var segment_max(Ctx& ctx, const Var& x, const Segments& segments);
Var segment_mean(Ctx& ctx, const Var& x, Segments&& segments) = delete;
Var segment_max(Ctx& ctx, const Var& x, Segments&& segments) = delete;

}  // namespace attune
