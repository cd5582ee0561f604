#include "autograd/operations/linear.h"

#include "autograd/operands.h"
#include "autograd/operations/activation.h"
#include "autograd/operations/elementwise.h"
#include "autograd/operations/matmul.h"
#include "autograd/parameters.h"
#include "autograd/products.h"
#include "kernels/matrix/gemm.h"
#include "kernels/rows/reduce.h"

namespace attune {

namespace {

void check_shapes(const Var& x, const Var& w, const Var& b) {
  check_real("linear", "input", x);
  check_same_type("linear", x, w);
  check_rank("linear", "weight", w, 2, 2);
  check(x.cols() == w.cols(), "linear", "rows have {} elements, weight has {} columns", x.cols(), w.cols());
  if (!b) return;
  check_same_type("linear", x, b);
  check(b.shape().size() == w.rows(), "linear", "bias has {} elements, weight has {} rows", b.shape().size(), w.rows());
}

}  // namespace

Var linear(Ctx& ctx, const Var& x, const Var& w, const Var& b, Activation f) {
  check_shapes(x, w, b);
  if (x.dtype() == DType::f64) return linear_reference(ctx, x, w, b, f);
  Shape shape = x.shape();
  shape[shape.rank() - 1] = w.rows();
  Var y = ctx.make(shape, DType::f32, {&x, &w, &b});
  // relu's gradient can be read off its result; other activations need what went into them
  const bool curved = f != Activation::none && f != Activation::relu;
  Var before = curved && y.needs_grad() ? ctx.make(shape, DType::f32, {}) : Var();
  if (const Int8Weight* int8 = w.slot()->int8) {
    check(!y.needs_grad(), "linear", "int8 weights are for use and can't be trained");
    ctx.run([&] {
      kernels::Int8Gemm g{.m = x.rows(), .a = x.value().as<float>(), .a_stride = x.value().stride};
      g.packed = &int8->packed;
      g.c = y.value().as<float>();
      g.c_stride = y.value().stride;
      g.epilogue.bias = b ? b.value().as<float>() : nullptr;
      g.epilogue.activation = f;
      kernels::gemm_int8(g, ctx.pool);
    });
    return y;
  }
  ctx.run([&] {
    kernels::Gemm g;
    g.m = x.rows();
    g.n = w.rows();
    g.k = w.cols();
    g.a = x.value().as<float>();
    g.a_stride = x.value().stride;
    g.b = w.value().as<float>();
    g.b_stride = w.value().stride;
    g.b_transposed = true;
    g.packed = w.slot()->packed;
    g.c = y.value().as<float>();
    g.c_stride = y.value().stride;
    g.epilogue.bias = b ? b.value().as<float>() : nullptr;
    g.epilogue.before = before ? before.value().as<float>() : nullptr;
    g.epilogue.before_stride = w.rows();
    g.epilogue.activation = f;
    kernels::gemm(g, ctx.pool);
  });
  if (!y.needs_grad()) return y;
  ctx.tape->push(y, [x = w.needs_grad() ? x : Var(), to_x = x.sink(), w, to_b = b.sink(), y = y.sink(),
                     kept = f == Activation::relu ? y : before, f](Ctx& ctx) {
    Tensor dz = ctx.grad_of(y);
    dz = dz.row_range(0, dz.rows());
    Scratch scratch(ctx.arena, f == Activation::none ? 0 : dz.size() * 4);
    if (f != Activation::none) {
      const Tensor dy = dz;
      dz = Tensor(scratch.as<float>(), dy.shape);
      const Tensor seen = kept.value().row_range(0, dy.rows());
      ctx.run([&] {
        kernels::ActivateBackward a;
        a.kind = f;
        (f == Activation::relu ? a.y : a.x) = seen;
        a.dy = dy;
        a.dx = dz;
        kernels::activate_rows_backward(a, ctx.pool);
      });
    }
    if (Grad dx = ctx.grad(to_x)) ctx.run([&] { input_gradient(dz, w, dx.tensor, dx.add, ctx.pool); });
    if (Grad dw = ctx.grad(w))
      ctx.run([&] { weight_gradient(dz, x.value().row_range(0, dz.rows()), dw.tensor, dw.add, ctx.pool); });
    if (Grad db = ctx.grad(to_b)) ctx.run([&] { kernels::column_sum(dz, 1, db.tensor, db.add, ctx.pool); });
  });
  return y;
}

Var linear_reference(Ctx& ctx, const Var& x, const Var& w, const Var& b, Activation f) {
  check_shapes(x, w, b);
  Var y = matmul(ctx, x, w, {.right = true});
  if (b) y = add(ctx, y, b);
  return f == Activation::none ? y : activation_reference(ctx, y, {f});
}

}  // namespace attune
