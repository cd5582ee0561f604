// How an example of several typed columns lies in a corpus: as one run of 4-byte numbers, so that whatever keeps,
// shuffles, holds out and resumes token ids does the same with vectors, places and edges. A run is the rows of each
// column, one number a column, and then the columns one after another; f32 as their bits, bytes four in a number.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tensor/rows.h"

namespace attune {

enum class ColumnType : uint8_t {
  i32,
  f32,
  u8,  // 0 to 255 for numbers from 0 to 1, as pictures have them
};

/// What a column becomes in Rows.
enum class ColumnUse : uint8_t {
  ids,
  values,
  grid,  // the sizes of a grid on each axis, from which places follow: its last axis runs fastest
  places,
  edge_start,  // as Edges has them: one more than there are rows, counted from the first edge of the example ...
  edge_to,
  edge_label,
  weights,  // of what is wanted
};

struct TypedColumn {
  ColumnUse use = ColumnUse::ids;
  ColumnType type = ColumnType::i32;
  int64_t width = 1;  // numbers of a row
  bool operator==(const TypedColumn&) const = default;
};

struct Layout {
  std::vector<TypedColumn> columns = {};  // none: examples are token ids as they are
  int64_t longest = 0;                    // rows of the longest example: whoever adds one notes it

  bool empty() const { return columns.empty(); }
  /// One sequence, as a run; what `weights` has goes with its rows. Notes how long it is.
  void pack(const Rows& example, std::span<const float> weights, std::vector<int32_t>& run);
  void pack(const Rows& example, std::vector<int32_t>& run) { pack(example, {}, run); }
  /// How many rows the sequence of a run has.
  int64_t rows(std::span<const int32_t> run) const;
  /// One sequence more. ErrorKind::internal for a run of another layout.
  void unpack(std::span<const int32_t> run, Rows& to, Column<float>* weights = nullptr) const;
  bool operator==(const Layout&) const = default;
};

/// The places of a grid, one more sequence of them: its last axis runs fastest.
void add_grid_places(std::span<const int32_t> sizes, Column<int32_t>& places);

}  // namespace attune
