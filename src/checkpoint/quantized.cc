#include "checkpoint/quantized.h"

#include <cmath>

#include "base/error.h"
#include "base/half.h"
#include "checkpoint/tensors.h"

namespace attune {

namespace {

void check_finite(const Parameters& parameters, float largest) {
  for (const NamedParameter& p : parameters.named())
    for (int64_t i = 0; i < p.shape.size(); ++i)
      if (const float x = parameters.data()[p.offset + i]; !(std::abs(x) <= largest))
        fail(ErrorKind::model, "tensor '{}' has a weight of {}{}", p.name, x,
             std::isfinite(x) ? ": too large for f16\n  fix: use --type int8"
                              : ": the model is broken\n  fix: use a checkpoint before it diverged");
}

}  // namespace

void* QuantizedTensors::keep(int64_t bytes) {
  return kept_.emplace_back(std::make_unique<std::byte[]>(static_cast<size_t>(bytes))).get();
}

QuantizedTensors QuantizedTensors::int8(Parameters& parameters) {
  check_finite(parameters, 3.4028235e38f);
  QuantizedTensors q;
  for (int i = 0; i < parameters.count(); ++i)
    for (const NamedParameter& p : parameters.names(i)) {
      float* from = parameters.data() + p.offset;
      StoredTensor t{p.name, Stored::f32, {}, from};
      for (int d = 0; d < p.shape.rank(); ++d) t.dims.push_back(p.shape[d]);
      if (parameters.can_be_int8(i)) {
        const int64_t rows = p.shape[0], cols = p.shape[1];
        auto* values = static_cast<int8_t*>(q.keep(rows * cols));
        auto* scales = static_cast<float*>(q.keep(rows * 4));
        kernels::quantize_weights(from, rows, cols, values, scales);
        t.type = Stored::i8;
        t.data = values;
        q.tensors_.push_back({p.name + kScaleSuffix, Stored::f32, {rows}, scales});
      }
      q.tensors_.push_back(std::move(t));
    }
  return q;
}

QuantizedTensors QuantizedTensors::f16(const Parameters& parameters) {
  check_finite(parameters, 65504.0f);
  QuantizedTensors q;
  for (StoredTensor& t : tensors_of(parameters)) {
    const auto* from = static_cast<const float*>(t.data);
    auto* to = static_cast<uint16_t*>(q.keep(t.size() * 2));
    for (int64_t i = 0; i < t.size(); ++i) to[i] = f16_of(from[i]);
    t.type = Stored::f16;
    t.data = to;
    q.tensors_.push_back(std::move(t));
  }
  return q;
}

}  // namespace attune
