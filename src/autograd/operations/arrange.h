// Moving rows and columns about, differentiably. Rows are all dimensions but the last, flattened.
#pragma once
#include <initializer_list>
#include <span>

#include "autograd/tape.h"

namespace attune {

// Slices, concatenations, gathers and copies move any dtype; gradients flow through f32 and f64.

/// The same numbers side by side in memory of their own: what `ctx.reshape` needs of a view.
Var copy(Ctx& ctx, const Var& x);

/// Parts below one another: [all rows, cols].
Var concatenate_rows(Ctx& ctx, std::span<const Var> parts);
Var concatenate_rows(Ctx& ctx, std::initializer_list<Var> parts);
/// Parts beside one another: the first one's shape with all columns.
Var concatenate_columns(Ctx& ctx, std::span<const Var> parts);
Var concatenate_columns(Ctx& ctx, std::initializer_list<Var> parts);

/// Rows [from, from + count): [count, cols].
Var slice_rows(Ctx& ctx, const Var& x, int64_t from, int64_t count);
/// Columns [from, from + count) of every row.
Var slice_columns(Ctx& ctx, const Var& x, int64_t from, int64_t count);

/// The last two axes exchanged: [r, c] -> [c, r], [b, r, c] -> [b, c, r]. matmul reads transposed sides without this.
Var transpose(Ctx& ctx, const Var& x);

/// y[i] = x[ids[i]]: [number of ids, cols]. `ids` is i32.
Var gather_rows(Ctx& ctx, const Var& x, const Var& ids);
/// y[ids[i]] += x[i], from zeros, in ascending i: [rows, cols]. With a permutation it undoes gather_rows.
Var scatter_add_rows(Ctx& ctx, const Var& x, const Var& ids, int64_t rows);

}  // namespace attune
