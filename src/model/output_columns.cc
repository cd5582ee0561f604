#include "model/output_columns.h"

#include "base/error.h"
#include "kernels/vocabulary/columns.h"

namespace attune {

OutputColumns::OutputColumns(Ctx& ctx, const Model& model, int64_t words) {
  const Var output = model.parameters().var(ctx, model.output(), nullptr);
  weight_ = output.value();
  int8_ = output.slot()->int8;
  const int64_t k = output.cols();
  const int64_t floats = int8_ ? (kernels::packed_int8_bytes(k, words) + 3) / 4 : kernels::packed_floats(k, words);
  memory_ = ctx.make(Shape{floats}, DType::f32, {});
}

void OutputColumns::gather(std::span<const int32_t> words) {
  auto* to = memory_.value().as<float>();
  if (int8_)
    columns_int8_ = kernels::pack_rows(int8_->packed, words, reinterpret_cast<int8_t*>(to));
  else
    columns_ = kernels::pack_rows(weight_.as<float>(), weight_.cols(), words, to);
}

void OutputColumns::logits(const Tensor& hidden, const Tensor& to) const {
  if (int8_) {
    kernels::Int8Gemm g{.m = hidden.rows(), .a = hidden.as<float>(), .a_stride = hidden.stride};
    g.packed = &columns_int8_;
    g.c = to.as<float>();
    g.c_stride = to.stride;
    kernels::gemm_int8(g);
    return;
  }
  kernels::Gemm g;
  g.m = hidden.rows();
  g.n = columns_.n;
  g.k = columns_.k;
  g.a = hidden.as<float>();
  g.a_stride = hidden.stride;
  g.packed = &columns_;
  g.c = to.as<float>();
  g.c_stride = to.stride;
  kernels::gemm(g);
}

}  // namespace attune
