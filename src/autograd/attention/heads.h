// What happens to the heads of queries and keys before they meet, differentiably: for scores that are dot products of
// something (cosine, general) and for vectors of unit length (normed additive).
#pragma once
#include "autograd/tape.h"

namespace attune {

/// Heads are ranges of `dim` columns, the first from `column` on: [rows, heads * dim] of them, each divided by its
/// length and, where there is a gain (one number a head), multiplied by that. A head of zeros stays one. In f64 it runs
/// as the reference does.
Var normalize_heads(Ctx& ctx, const Var& x, int64_t column, int64_t heads, int64_t dim, const Var& gain = {});

/// Each head times a matrix of its own: y_h = x_h W_h, [rows, heads * columns]. The weights are [heads * dim, columns],
/// W_h above W_h+1.
Var multiply_heads(Ctx& ctx, const Var& x, int64_t column, int64_t heads, const Var& weights);

/// The same composed of plain operations, in f32 or f64.
Var normalize_heads_reference(Ctx& ctx, const Var& x, int64_t column, int64_t heads, int64_t dim, const Var& gain = {});
Var multiply_heads_reference(Ctx& ctx, const Var& x, int64_t column, int64_t heads, const Var& weights);

}  // namespace attune
