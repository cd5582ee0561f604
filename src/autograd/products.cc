#include "autograd/products.h"

#include "autograd/parameters.h"
#include "base/error.h"
#include "kernels/matrix/gemm.h"
#include "kernels/matrix/matmul.h"
#include "kernels/rows/elementwise.h"

namespace attune {

namespace {

void multiply_int8(Ctx& ctx, const WeightProduct& p, const Int8Weight& w) {
  const Scratch space(ctx.arena, p.add ? p.y.size() * 4 : 0);
  const Tensor to = p.add ? Tensor(space.as<float>(), Shape{p.y.rows(), p.y.cols()}) : p.y;
  kernels::Int8Gemm g{.m = p.x.rows(), .a = p.x.as<float>(), .a_stride = p.x.stride};
  g.packed = &w.packed;
  g.c = to.as<float>();
  g.c_stride = to.stride;
  g.epilogue.bias = p.bias.as<float>();
  kernels::gemm_int8(g, ctx.pool);
  for (int64_t i = 0; p.add && i < to.rows(); ++i)
    for (int64_t j = 0; j < to.cols(); ++j) p.y.row<float>(i)[j] += to.row<float>(i)[j];
}

}  // namespace

void multiply_by_weight(Ctx& ctx, const WeightProduct& p) {
  if (const Int8Weight* int8 = p.weight.slot()->int8) return multiply_int8(ctx, p, *int8);
  const Tensor& w = p.weight.value();
  if (p.y.dtype == DType::f64) {
    kernels::matmul({p.x, w, p.y, false, true, p.add}, ctx.pool);
    for (int64_t i = 0; p.bias && i < p.y.rows(); ++i)
      for (int64_t j = 0; j < p.y.cols(); ++j) p.y.row<double>(i)[j] += p.bias.as<double>()[j];
    return;
  }
  kernels::Gemm g{p.x.rows(), w.rows(), w.cols()};
  g.a = p.x.as<float>();
  g.a_stride = p.x.stride;
  g.b = w.as<float>();
  g.b_stride = w.stride;
  g.b_transposed = true;
  g.packed = p.weight.slot()->packed;
  g.c = p.y.as<float>();
  g.c_stride = p.y.stride;
  g.add = p.add;
  g.epilogue.bias = p.bias.as<float>();
  kernels::gemm(g, ctx.pool);
}

void input_gradient(const Tensor& dz, const Var& w, const Tensor& dx, bool add, ThreadPool* pool) {
  if (dz.dtype == DType::f64) return kernels::matmul({dz, w.value(), dx, false, false, add}, pool);
  kernels::Gemm g{dz.rows(), w.cols(), w.rows()};
  g.a = dz.as<float>();
  g.a_stride = dz.stride;
  g.b = w.value().as<float>();
  g.b_stride = w.value().stride;
  g.packed = w.slot()->packed_transposed;
  g.c = dx.as<float>();
  g.c_stride = dx.stride;
  g.add = add;
  kernels::gemm(g, pool);
}

void weight_gradient(const Tensor& dz, const Tensor& x, const Tensor& dw, bool add, ThreadPool* pool) {
  kernels::matmul({dz, x, dw, true, false, add}, pool);
}

}  // namespace attune
