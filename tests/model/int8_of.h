// Models of int8 weights for tests.
#pragma once
#include <algorithm>
#include <memory>

#include "model/model.h"

namespace attune {

/// The same model, its weights cut to int8.
inline std::unique_ptr<Model> int8_of(const Model& from) {
  auto to = std::make_unique<Model>(from.options(), from.sizes());
  const Parameters& a = from.parameters();
  Parameters& b = to->parameters();
  b.hold_int8();
  for (int i = 0; i < a.count(); ++i) {
    const Tensor t = a.value(i);
    if (b.can_be_int8(i))
      kernels::quantize_weights(t.as<float>(), t.rows(), t.cols(), b.int8(i).values.data(), b.int8(i).scales.data());
    else
      std::copy_n(t.as<float>(), t.size(), b.value(i).as<float>());
  }
  b.repack();
  return to;
}

}  // namespace attune
