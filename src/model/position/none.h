// No positions at all: an encoder then can't tell the order of its rows; a decoder can guess it from what it may see.
#pragma once
#include "model/position/scheme.h"

namespace attune {

class NoPosition : public PositionScheme {
 public:
  static constexpr PositionKind kKind{
      .name = "none",
      .sentence = "no positions: an encoder takes its input as a set, a decoder knows only what came before",
      .formula = "x_pos",
      .cite =
          "Haviv et al. 2022, Transformer Language Models without Positional Encodings Still Learn Positional "
          "Information",
      .grids = true,
  };
  struct Options {
    template <class V>
    void fields(V&) {}
  };
  NoPosition(const Options&, const PositionSetup&, const Blueprint&) {}
};

}  // namespace attune
