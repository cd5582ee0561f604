// Some columns of a weight matrix, packed for products of their own: where only a few words of a vocabulary count.
#pragma once
#include <cstdint>
#include <span>

#include "kernels/matrix/gemm.h"
#include "kernels/matrix/int8.h"

namespace attune::kernels {

/// What pack() would make of W^T, if W had only these of its rows, in this order; `w` is [any, k], row by row. `to` has
/// room for packed_floats(k, rows.size()).
PackedMatrix pack_rows(const float* w, int64_t k, std::span<const int32_t> rows, float* to);

/// The same of int8 weights that are packed already. `to` has room for packed_int8_bytes(w.k, rows.size()).
PackedInt8 pack_rows(const PackedInt8& w, std::span<const int32_t> rows, int8_t* to);

}  // namespace attune::kernels
