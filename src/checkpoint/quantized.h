// Weights of a model as smaller numbers, ready to be written: int8 rows with their scales ("NAME" as I8 and
// "NAME.scale" as F32), or f16. load_parameters() reads both.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "autograd/parameters.h"
#include "checkpoint/safetensors.h"

namespace attune {

constexpr const char* kScaleSuffix = ".scale";

class QuantizedTensors {
 public:
  /// Matrices and words as int8, the rest as f32; or all as f16. The parameters are f32 and outlive it.
  /// ErrorKind::model for weights that are not finite, or too large for f16.
  static QuantizedTensors int8(Parameters& parameters);
  static QuantizedTensors f16(const Parameters& parameters);
  const StoredTensors& tensors() const { return tensors_; }

 private:
  void* keep(int64_t bytes);
  StoredTensors tensors_;
  std::vector<std::unique_ptr<std::byte[]>> kept_;
};

}  // namespace attune
