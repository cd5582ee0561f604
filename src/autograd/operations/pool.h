// One row for each sequence of a packed batch: how a text becomes a vector. Its first row is gather_rows; a learned
// mixture of all is segment_mix with the segment_softmax of what scores them.
#pragma once
#include "autograd/tape.h"

namespace attune {

// [rows, d] -> [sequences, d]. A sequence of no rows gives zeros. `segments` must live until the backward pass is over.

Var segment_mean(Ctx& ctx, const Var& x, const Segments& segments);
/// The sum over the square root of how many there are: a vector of counts that has length 1.
Var segment_root_sum(Ctx& ctx, const Var& x, const Segments& segments);
/// Of each column by itself; the first of equal maxima gets the gradient.
Var segment_max(Ctx& ctx, const Var& x, const Segments& segments);
/// Mixtures by weights [rows, r]: -> [sequences, r d], one after another.
Var segment_mix(Ctx& ctx, const Var& x, const Var& weights, const Segments& segments);
/// Softmax over the rows of each sequence, of each column by itself: [rows, r] -> [rows, r].
Var segment_softmax(Ctx& ctx, const Var& x, const Segments& segments);

Var segment_mean(Ctx& ctx, const Var& x, Segments&& segments) = delete;
Var segment_root_sum(Ctx& ctx, const Var& x, Segments&& segments) = delete;
Var segment_max(Ctx& ctx, const Var& x, Segments&& segments) = delete;
Var segment_mix(Ctx& ctx, const Var& x, const Var& weights, Segments&& segments) = delete;
Var segment_softmax(Ctx& ctx, const Var& x, Segments&& segments) = delete;

}  // namespace attune
