// What the drivers of int8 products and the code for single instruction sets agree on. Only kernels/matrix/int8*.cc
// need it.
#pragma once
#include <cstdint>

namespace attune::kernels {

/// rows x one panel: sums[i * panel + j] = the sum over p of a[i, p] b[p, j], exact. Rows of A are unsigned, padded
/// with zeros to the depth, a_stride bytes apart; the panel is [depth / group][panel][group].
using Int8TileFn = void (*)(int rows, int64_t depth, const uint8_t* a, int64_t a_stride, const int8_t* b,
                            int32_t* sums);

/// One way to multiply.
struct Int8Tiles {
  const char* name;
  int panel, group;  // columns of a panel; numbers of k that lie together in it
  int element;       // bytes of a number of A
  int rows;          // the most a tile takes
  Int8TileFn tile;
  // Where a product has tall_rows or more, `tall` is better, which takes up to 16. begin() comes before tiles of so
  // many rows, end() after all of them.
  int tall_rows = 0;
  Int8TileFn tall = nullptr;
  void (*begin)(int rows) = nullptr;
  void (*end)() = nullptr;
};

constexpr int kInt8Depth = 64;      // k is padded to a multiple of this
constexpr int kInt8MostRows = 16;   // of any tile
constexpr int kInt8MostPanel = 64;  // columns of any panel

// x86's, or null where this CPU does not have them.
const Int8Tiles* int8_vnni512();
const Int8Tiles* int8_vnni256();
const Int8Tiles* int8_amx();  // the same panels as int8_vnni512
// ARM's, likewise.
const Int8Tiles* int8_dotprod();
const Int8Tiles* int8_i8mm();

}  // namespace attune::kernels
