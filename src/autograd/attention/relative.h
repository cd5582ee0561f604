// What the references of relative positions are made of, in plain operations on whole matrices: slow, for checking.
#pragma once
#include "autograd/attention/attention.h"
#include "base/function_ref.h"
#include "kernels/attention/relative.h"

namespace attune {

/// y[i, j] = x[i, row of the range for the distance of i and j], from x [queries, range.rows()]: [queries, keys].
Var spread_by_distance(Ctx& ctx, const Var& x, const ReferencePlace& place, const DistanceRange& range);

/// y[i, row] = the sum of w[i, j] over all j whose distance from i has that row, from w [queries, keys]:
/// [queries, range.rows()].
Var sum_by_distance(Ctx& ctx, const Var& w, const ReferencePlace& place, const DistanceRange& range);

/// y[i, j] = bias[row_of(distance of i and j)], from bias [rows, 1]: [queries, keys].
Var bias_by_distance(Ctx& ctx, const Var& bias, const ReferencePlace& place,
                     FunctionRef<int64_t(int64_t distance)> row_of);

/// Checks the shape of a table: "[shaw] the keys' table is [33, 32], not [33, 64]".
void check_table(const char* scheme, const char* what, const Var& table, const Shape& wanted);

}  // namespace attune
