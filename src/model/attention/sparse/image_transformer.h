// Local attention of the Image Transformer (Parmar et al. 2018, "Image Transformer", section 3): blocks of queries that
// share a block of memory around them, along the raster (1d) or in the plane (2d).
#pragma once
#include "model/attention/sparse/sparse.h"

namespace attune {

class Image1dAttention : public SparseAttention {
 public:
  static constexpr AttentionKind kKind{
      .name = "image-1d",
      .sentence = "runs of pixels see themselves and the pixels before them",
      .formula = "sparse with atoms = [{ chunk = block, memory = memory }]",
      .cost = "n (block + memory) d time, n d memory; decoding keeps as many positions",
      .cite = "Parmar et al. 2018, Image Transformer, section 3.3",
      .cross = false,
      .relative = Relative::scores,
      .survey = {.sequences = "one", .positions = "by a pattern"},
      .details =
          "i sees j from floor(i / l) l - m on, up to itself in a decoder; elsewhere j from floor(i / l) l - (m - "
          "floor(m / 2)) to the end of its block and floor(m / 2) behind it. l = block, m = memory.",
      .drawn = "block=16;memory=16",
  };
  struct Options {
    int64_t block = 256, memory = 256;
    template <class V>
    void fields(V& v) {
      v("block", block, "positions that share what they see", between(1, 1 << 20));
      v("memory", memory, "positions before them (elsewhere: around them) that they see", between(0, 1 << 20));
    }
  };
  Image1dAttention(const Options& o, const AttentionSetup& setup, const Blueprint& b)
      : SparseAttention(fmt::format("chunk {} memory {}", o.block, o.memory), 64, 0, setup, b) {}
};

class Image2dAttention : public SparseAttention {
 public:
  static constexpr AttentionKind kKind{
      .name = "image-2d",
      .sentence = "rectangles of pixels see themselves and what lies above and beside them",
      .formula = "sparse with atoms = [{ rectangle = rows, by = columns, above = above, beside = beside, of = width }]",
      .cost = "n (rows + above) (columns + 2 beside) d time, n d memory; decoding keeps the last (rows + above) width",
      .cite = "Parmar et al. 2018, Image Transformer, section 3.3",
      .cross = false,
      .relative = Relative::scores,
      .survey = {.sequences = "one", .positions = "by a pattern"},
      .details =
          "Position i is row floor(i / width), column i mod width. It sees the rectangle of rows x columns that it "
          "lies in, counted from the corner, `above` rows more above it and `beside` columns more to each side; in an "
          "encoder as many rows below it. A decoder hides what comes later in raster order; the paper generates block "
          "by block, and so hides what lies to the right in the rectangle's earlier rows, too.",
      .drawn = "rows=4;columns=4;above=2;beside=2;width=8",
  };
  struct Options {
    int64_t rows = 16, columns = 16, above = 8, beside = 8, width = 28;
    template <class V>
    void fields(V& v) {
      v("rows", rows, "of the rectangle that shares what it sees", between(1, 1 << 16));
      v("columns", columns, "of it", between(1, 1 << 16));
      v("above", above, "rows above it that it sees", between(0, 1 << 16));
      v("beside", beside, "columns to each side that it sees", between(0, 1 << 16));
      v("width", width, "columns of the picture", between(1, 1 << 16));
    }
  };
  Image2dAttention(const Options& o, const AttentionSetup& setup, const Blueprint& b)
      : SparseAttention(
            fmt::format("rectangle {} by {} above {} beside {} of {}", o.rows, o.columns, o.above, o.beside, o.width),
            64, 0, setup, b) {}
};

}  // namespace attune
