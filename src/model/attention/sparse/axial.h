// Axial attention (Ho et al. 2019, "Axial Attention in Multidimensional Transformers"): over one axis of a picture or
// video at a time, all others held fixed. A list of layers takes axis after axis, as published, or one layer takes all.
#pragma once
#include "model/attention/sparse/sparse.h"

namespace attune {

class AxialAttention : public SparseAttention {
 public:
  static constexpr AttentionKind kKind{
      .name = "axial",
      .sentence = "along one axis of a grid at a time, or along all of them: for pictures and video",
      .formula = "sparse with atoms = [{ chunk = width }, { strided = width }] (axis = \"all\"), or one of them",
      .cost = "n (width + height) d time for pictures, n d memory",
      .cite = "Ho et al. 2019, Axial Attention in Multidimensional Transformers",
      .cross = false,
      .relative = Relative::scores,
      .survey = {.sequences = "one", .positions = "by a pattern"},
      .details =
          "Positions count through the grid row by row, and of a video picture by picture: i is column i mod width of "
          "row floor(i / width), height rows a picture. axis = \"row\": j of the same row (chunk width); \"column\": "
          "of the same column and picture (strided width, within height * width); \"time\": of the same place in all "
          "pictures (strided height * width); \"all\": any of them. In a decoder of each those with j <= i, so raster "
          "order. The paper's layers take one axis each: decoder_attention = [{ kind = \"axial\", axis = \"row\" }, "
          "...]; its shifts between an outer and an inner decoder are not built, since a layer of \"all\" sees both.",
      .drawn = "width=8",
  };
  struct Options {
    std::string axis = "all";
    int64_t width = 28, height = 0;
    template <class V>
    void fields(V& v) {
      v("axis", axis, "what is looked along", one_of({"all", "row", "column", "time"}));
      v("width", width, "positions of a row", between(1, 1 << 15));
      v("height", height, "rows of a picture, where there are several of them; 0: one", between(0, 1 << 15));
    }
    void check(const std::string& key) const {
      if (axis == "time" && height == 0)
        fail(ErrorKind::recipe, "{}: axis \"time\" wants the height of a picture\n  fix: height = {}", key, width);
    }
    std::string atoms() const {
      const std::string within = height > 0 ? fmt::format(" within {}", height * width) : "";
      const std::string row = fmt::format("chunk {}", width), column = fmt::format("strided {}{}", width, within),
                        time = fmt::format("strided {}", height * width);
      if (axis == "row") return row;
      if (axis == "column") return column;
      if (axis == "time") return time;
      return height > 0 ? row + ", " + column + ", " + time : row + ", " + column;
    }
  };
  AxialAttention(const Options& o, const AttentionSetup& setup, const Blueprint& b)
      : SparseAttention(o.atoms(), 64, 0, setup, b) {}
};

}  // namespace attune
