// Rotary positions: queries and keys are turned by their place, so that their products depend on the distance alone (Su
// et al. 2021, "RoFormer", section 3.2). Turn both before attention; values stay as they are.
#pragma once
#include "autograd/tape.h"
#include "kernels/attention/rotate.h"

namespace attune {

/// Which columns are turned, and by what. The table and `where` outlive the backward pass.
struct Rotation {
  Tensor table = {};              // [positions, dim], f32, by fill_rotations: dim columns are a head
  int64_t column = 0, heads = 1;  // q and k of a joined matrix lie side by side: heads + heads_kv of them
  RowPositions where = {};        // the position of a row
};

/// The given heads, each pair of adjacent columns (2i, 2i + 1) turned by position * theta_i: [n, heads * dim]. In f64
/// it runs as the reference does.
Var rotate(Ctx& ctx, const Var& x, const Rotation& r);

/// The same composed of plain operations, in f32 or f64.
Var rotate_reference(Ctx& ctx, const Var& x, const Rotation& r);

}  // namespace attune
