#include "autograd/operations/reduce.h"

#include "autograd/operands.h"
#include "kernels/rows/reduce.h"

namespace attune {

namespace {

using kernels::SumOf;

/// x's shape with one column.
Shape one_column(const Shape& shape) {
  Shape s = shape;
  if (s.rank() == 0) return {1};
  s[s.rank() - 1] = 1;
  return s;
}

void push_sum(Ctx& ctx, SumOf of, double scale, const Var& x, const Var& y) {
  if (y.needs_grad())
    ctx.tape->push(y, [x = x.sink(), y = y.sink(), of, scale](Ctx& ctx) {
      Grad dx = ctx.grad(x);
      ctx.run([&] { kernels::sum_backward({of, scale, ctx.grad_of(y), dx.tensor, dx.add}, ctx.pool); });
    });
}

Var sum_rows(Ctx& ctx, const Var& x, double scale) {
  Var y = ctx.make(one_column(x.shape()), x.dtype(), {&x});
  ctx.run([&] { kernels::row_sum(x.value(), scale, y.value(), ctx.pool); });
  push_sum(ctx, SumOf::rows, scale, x, y);
  return y;
}

Var sum_columns(Ctx& ctx, const Var& x, double scale) {
  Var y = ctx.make({1, x.cols()}, x.dtype(), {&x});
  ctx.run([&] { kernels::column_sum(x.value(), scale, y.value(), false, ctx.pool); });
  push_sum(ctx, SumOf::columns, scale, x, y);
  return y;
}

Var sum_all(Ctx& ctx, const Var& x, double scale) {
  Var y = ctx.make({1}, x.dtype(), {&x});
  Scratch sums(ctx.arena, x.rows() * bytes_of(x.dtype()));
  ctx.run([&] { kernels::sum_all(x.value(), scale, sums.as<void>(), y.value(), ctx.pool); });
  push_sum(ctx, SumOf::all, scale, x, y);
  return y;
}

using MaxKernel = void (*)(const Tensor&, const Tensor&, ThreadPool*);
using MaxBackwardKernel = void (*)(const kernels::MaxBackward&, ThreadPool*);

Var max_of(Ctx& ctx, const Var& x, const Shape& shape, MaxKernel forward, MaxBackwardKernel backward) {
  Var y = ctx.make(shape, x.dtype(), {&x});
  ctx.run([&] { forward(x.value(), y.value(), ctx.pool); });
  if (y.needs_grad())
    ctx.tape->push(y, [x, y, backward](Ctx& ctx) {
      Grad dx = ctx.grad(x);
      ctx.run([&] { backward({x.value(), y.value(), ctx.grad_of(y.sink()), dx.tensor, dx.add}, ctx.pool); });
    });
  return y;
}

Var softmax_of(Ctx& ctx, const char* name, const Var& x, bool logarithm) {
  check_real(name, "the value", x);
  Var y = ctx.make(x.shape(), x.dtype(), {&x});
  ctx.run([&] { kernels::softmax(x.value(), logarithm, y.value(), ctx.pool); });
  if (y.needs_grad())
    ctx.tape->push(y, [x = x.sink(), y, logarithm](Ctx& ctx) {
      Grad dx = ctx.grad(x);
      ctx.run([&] {
        kernels::softmax_backward({y.value(), ctx.grad_of(y.sink()), dx.tensor, logarithm, dx.add}, ctx.pool);
      });
    });
  return y;
}

void check_columns(const char* name, const Var& x) {
  check_real(name, "the value", x);
  check(x.cols() > 0 || x.rows() == 0, name, "the rows have no columns");
}
void check_rows(const char* name, const Var& x) {
  check_real(name, "the value", x);
  check(x.rows() > 0 || x.cols() == 0, name, "there are no rows");
}

}  // namespace

Var row_sum(Ctx& ctx, const Var& x) {
  check_real("row_sum", "the value", x);
  return sum_rows(ctx, x, 1.0);
}
Var row_mean(Ctx& ctx, const Var& x) {
  check_columns("row_mean", x);
  return sum_rows(ctx, x, 1.0 / static_cast<double>(x.cols()));
}
Var row_max(Ctx& ctx, const Var& x) {
  check_columns("row_max", x);
  return max_of(ctx, x, one_column(x.shape()), kernels::row_max, kernels::row_max_backward);
}

Var column_sum(Ctx& ctx, const Var& x) {
  check_real("column_sum", "the value", x);
  return sum_columns(ctx, x, 1.0);
}
Var column_mean(Ctx& ctx, const Var& x) {
  check_rows("column_mean", x);
  return sum_columns(ctx, x, 1.0 / static_cast<double>(x.rows()));
}
Var column_max(Ctx& ctx, const Var& x) {
  check_rows("column_max", x);
  return max_of(ctx, x, {1, x.cols()}, kernels::column_max, kernels::column_max_backward);
}

Var sum(Ctx& ctx, const Var& x) {
  check_real("sum", "the value", x);
  return sum_all(ctx, x, 1.0);
}
Var mean(Ctx& ctx, const Var& x) {
  check_real("mean", "the value", x);
  check(x.shape().size() > 0, "mean", "there are no elements");
  return sum_all(ctx, x, 1.0 / static_cast<double>(x.shape().size()));
}

Var softmax(Ctx& ctx, const Var& x) { return softmax_of(ctx, "softmax", x, false); }
Var log_softmax(Ctx& ctx, const Var& x) { return softmax_of(ctx, "log_softmax", x, true); }

Var cumulative_sum(Ctx& ctx, const Var& x, const Segments& segments) {
  check_real("cumulative_sum", "the value", x);
  check_segments("cumulative_sum", segments, x);
  Var y = ctx.make(x.shape(), x.dtype(), {&x});
  ctx.run([&] { kernels::running_sum({x.value(), y.value(), &segments, false, false}, ctx.pool); });
  if (y.needs_grad())
    ctx.tape->push(y, [x = x.sink(), y = y.sink(), &segments](Ctx& ctx) {
      Grad dx = ctx.grad(x);
      ctx.run([&] { kernels::running_sum({ctx.grad_of(y), dx.tensor, &segments, true, dx.add}, ctx.pool); });
    });
  return y;
}

}  // namespace attune
