#include "autograd/attention/rotate.h"

#include "autograd/operands.h"
#include "autograd/operations/arrange.h"
#include "autograd/operations/elementwise.h"
#include "autograd/operations/matmul.h"
#include "kernels/rows/arrange.h"

namespace attune {

namespace {

constexpr const char* kRotateOp = "rotate";

void check_rotation(const Var& x, const Rotation& r) {
  check_real(kRotateOp, "the value", x);
  check(r.table && r.table.dtype == DType::f32, kRotateOp, "the table of angles is missing or not f32");
  const int64_t dim = r.table.cols();
  check(dim > 0 && dim % 2 == 0, kRotateOp, "a head has {} columns, which do not make pairs", dim);
  check(r.column >= 0 && r.heads > 0 && r.column + r.heads * dim <= x.cols(), kRotateOp,
        "{} heads of {} need columns {} to {}, rows have {}", r.heads, dim, r.column, r.column + r.heads * dim,
        x.cols());
  if (r.where.segments) check_segments(kRotateOp, *r.where.segments, x);
  check_row_positions(kRotateOp, r.where, x.rows(), r.table.rows());
}

}  // namespace

Var rotate(Ctx& ctx, const Var& x, const Rotation& r) {
  check_rotation(x, r);
  if (x.dtype() == DType::f64) return rotate_reference(ctx, x, r);
  const int64_t width = r.heads * r.table.cols();
  Var y = ctx.make(Shape{x.rows(), width}, DType::f32, {&x});
  ctx.run([&] {
    check_told_places(kRotateOp, r.where, r.table.rows());
    kernels::rotate({x.value().columns(r.column, width), y.value(), r.table, r.where}, ctx.pool);
  });
  if (y.needs_grad())
    ctx.tape->push(y, [x = x.sink(), y = y.sink(), r, width](Ctx& ctx) {
      const Grad dx = ctx.grad(x);
      ctx.run([&] {
        if (!dx.add && width < dx.tensor.cols()) kernels::fill_zero(dx.tensor, ctx.pool);
        kernels::rotate({ctx.grad_of(y), dx.tensor.columns(r.column, width), r.table, r.where, true, dx.add}, ctx.pool);
      });
    });
  return y;
}

Var rotate_reference(Ctx& ctx, const Var& x, const Rotation& r) {
  check_rotation(x, r);
  const int64_t dim = r.table.cols(), width = r.heads * dim, n = x.rows();
  const Var cosines = ctx.make(Shape{n, width}, x.dtype(), {}), sines = ctx.make(Shape{n, width}, x.dtype(), {});
  const Var turn = ctx.make(Shape{width, width}, x.dtype(), {});  // (a, b) -> (-b, a) for each pair
  ctx.run([&] {
    check_told_places(kRotateOp, r.where, r.table.rows());
    by_type(x.dtype(), [&](auto t) {
      using T = decltype(t);
      kernels::PositionWalk walk(r.where, 0);
      for (int64_t i = 0; i < n; ++i) {
        const float* angles = r.table.row<float>(walk.next());
        for (int64_t j = 0; j < width; ++j) {
          cosines.value().row<T>(i)[j] = static_cast<T>(angles[j % dim / 2 * 2]);
          sines.value().row<T>(i)[j] = static_cast<T>(angles[j % dim / 2 * 2 + 1]);
        }
      }
      for (int64_t j = 0; j < width; ++j)
        for (int64_t k = 0; k < width; ++k)
          turn.value().row<T>(j)[k] = static_cast<T>((j ^ 1) != k ? 0 : k % 2 == 0 ? -1 : 1);
    });
  });
  const Var heads = slice_columns(ctx, x, r.column, width);
  return add(ctx, multiply(ctx, heads, cosines), multiply(ctx, matmul(ctx, heads, turn), sines));
}

}  // namespace attune
