// From ids to rows: table[id] * scale + position, with dropout, and the way back.
#pragma once
#include <cstdint>

#include "base/random.h"
#include "base/thread_pool.h"
#include "kernels/matrix/int8.h"
#include "kernels/row_positions.h"
#include "tensor/tensor.h"

namespace attune {

/// Fills a [max, d] table, f32 or f64, with PE(pos, 2i) = sin(pos / 10000^(2i/d)), PE(pos, 2i + 1) = cos of the same
/// (Vaswani et al. 2017, section 3.5).
void fill_sinusoidal(const Tensor& table);

namespace kernels {

/// y[r] = dropout(words(table[ids[r]] * scale) + positions[position of r]), where `words` drops whole rows. Ids and
/// positions are in range: callers check.
struct Embed {
  Tensor table = {};             // [V, d]
  const int32_t* ids = nullptr;  // [n]
  float scale = 1;
  Tensor positions = {};  // [max, d] or missing
  RowPositions where = {};
  Dropout dropout = {}, words = {};
  Tensor y = {};       // [n, d]
  Int8Rows int8 = {};  // the table instead, if there; 16 bytes behind its last row can be read
};
void embed(const Embed& a, ThreadPool* pool = nullptr);

/// Adds each row of dy to its row of the table's gradient, and of the positions'. Rows are added in ascending order
/// whatever the number of threads. What holds nothing yet (add is false) is made zero first.
struct EmbedBackward {
  const int32_t* ids = nullptr;
  float scale = 1;
  RowPositions where = {};
  Dropout dropout = {}, words = {};
  Tensor dy = {};
  Tensor dtable = {}, dpositions = {};  // either may be missing
  bool add_table = false, add_positions = false;
};
void embed_backward(const EmbedBackward& a, ThreadPool* pool = nullptr);

}  // namespace kernels
}  // namespace attune
