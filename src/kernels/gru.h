// The gates of a GRU on rows, without its products; f32 and f64.
//
//   r = sigmoid(x_r + g_r)    z = sigmoid(x_z + g_z)    n = tanh(x_n + r g_n)    h' = (1 - z) n + z h
//
// x are the gates of the input and g those of the state before, both [r | z | n]. The reset gate works on the product
// U h, not on h itself, so that one product with all three matrices of the state is enough.
#pragma once
#include "tensor/tensor.h"

namespace attune::kernels {

/// Rows of a step. Where there is an index, row i of the inputs is row index[i] of the gates.
struct GruCell {
  int64_t rows = 0;
  Tensor gates;  // [.., 3 d]
  const int32_t* index = nullptr;
  Tensor hidden = {}, before = {};  // [rows, 3 d], [rows, d]
  Tensor after = {};                // [rows, d], written
  Tensor kept = {};                 // [rows, 4 d] or missing: receives r, z, n and g_n, for the way back
};
void gru_cell(const GruCell& a);

/// What a gradient that may be missing is written to; `add`: to what is there.
struct GruCellBackward {
  int64_t rows = 0;
  Tensor kept, before, dafter;
  Tensor dgates = {};  // [.., 3 d]
  const int32_t* index = nullptr;
  bool add_gates = false;
  Tensor dhidden = {};
  bool add_hidden = false;
  Tensor dbefore = {};  // may be dafter itself
  bool add_before = false;
};
void gru_cell_backward(const GruCellBackward& a);

}  // namespace attune::kernels
