// Choosing by size: the largest of each row, and sorting. The choice itself carries no gradient; what is chosen does.
#pragma once
#include "autograd/tape.h"

namespace attune {

/// values are [.., k], ids are i32 [.., k]: columns of the row.
struct TopK {
  Var values, ids;
};

/// The k largest of each row, largest first; of equal ones the first. With k = cols it sorts, differentiably.
TopK top_k(Ctx& ctx, const Var& x, int64_t k);

enum class Order : uint8_t { ascending, descending };

// Stable sorts that give permutations (i32). Keys are f32, f64 or i32; NaN is less than every number.

/// ids[i, j] = the column of row i that comes j-th.
Var argsort_rows(Ctx& ctx, const Var& keys, Order order = Order::ascending);
/// Sorts the rows of each sequence by keys [rows] or [rows, 1]: `gather_rows(ctx, x, ids)` is x in that order and
/// `scatter_add_rows(ctx, y, ids, y.rows())` puts it back.
Var argsort_segments(Ctx& ctx, const Var& keys, const Segments& segments, Order order = Order::ascending);

}  // namespace attune
