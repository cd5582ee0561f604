// Turning pairs of columns by an angle that grows with the position: rotary positions (Su et al. 2021).
#pragma once
#include <cstdint>

#include "base/thread_pool.h"
#include "kernels/row_positions.h"
#include "tensor/tensor.h"

namespace attune {

/// Fills a [positions, dim] table, f32 or f64, with what `rotate` needs: cos(m theta_i) at (m, 2i) and sin(m theta_i)
/// at (m, 2i + 1), where theta_i = base^(-2i / dim). `dim` is even.
void fill_rotations(const Tensor& table, double base = 10000);

namespace kernels {

/// Each `dim` columns of a row are a head. Pairs are adjacent columns (2i, 2i + 1), as in the paper; m is the row's
/// position:
///   y[2i] = x[2i] cos(m theta_i) - x[2i + 1] sin(m theta_i)      y[2i + 1] = x[2i + 1] cos(..) + x[2i] sin(..)
struct Rotate {
  Tensor x = {}, y = {};  // [n, heads * dim], f32; may be columns of wider ones, y may be x
  Tensor table = {};      // [positions, dim], f32: fill_rotations
  RowPositions where = {};
  bool back = false;  // by the opposite angle: the way of a gradient
  bool add = false;   // y += instead of y =
};
void rotate(const Rotate& a, ThreadPool* pool = nullptr);

}  // namespace kernels
}  // namespace attune
