// An attention matrix as text: use it to see what a model looked at while it wrote. attune/show.h is its public face.
#pragma once
#include <string>
#include <vector>

#include "attune/show.h"
#include "tensor/tensor.h"

namespace attune::show {

/// A view: all three must outlive it. Rows may lie apart, as one head's do in a larger matrix.
struct Attention {
  const std::vector<std::string>& rows;
  const std::vector<std::string>& columns;
  Tensor weights;  // f32 [rows, columns]
};

std::string draw(const Attention& attention, const DrawOptions& options);
/// "column-row" of each row's largest weight, the first of equals.
std::string pharaoh(const Attention& attention);

}  // namespace attune::show
