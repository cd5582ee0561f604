#include "autograd/attention/heads.h"

#include <vector>

#include "autograd/attention/attention_operands.h"
#include "autograd/operations/arrange.h"
#include "autograd/operations/elementwise.h"
#include "autograd/operations/matmul.h"
#include "autograd/operations/reduce.h"
#include "kernels/attention/unit_heads.h"
#include "kernels/matrix/matmul.h"
#include "kernels/rows/arrange.h"
#include "kernels/rows/reduce.h"

namespace attune {

namespace {

void check_heads(const char* op, const Var& x, int64_t column, int64_t heads, int64_t dim) {
  check_real(op, "the value", x);
  check(heads > 0 && dim > 0, op, "{} heads of {} columns", heads, dim);
  check(column >= 0 && column + heads * dim <= x.cols(), op, "{} heads of {} need columns {} to {}, rows have {}",
        heads, dim, column, column + heads * dim, x.cols());
}

void check_gain(const Var& x, int64_t column, int64_t heads, int64_t dim, const Var& gain) {
  check_heads("normalize_heads", x, column, heads, dim);
  if (!gain) return;
  check_same_type("normalize_heads", x, gain);
  check(gain.shape().size() == heads && gain.value().contiguous(), "normalize_heads",
        "the gain has {} elements, there are {} heads", gain.shape().size(), heads);
}

/// Returns the columns of a head.
int64_t check_weights(const Var& x, int64_t column, int64_t heads, const Var& weights) {
  check_given("multiply_heads", "weights", weights);
  check_rank("multiply_heads", "weights", weights, 2, 2);
  check(heads > 0 && weights.rows() % heads == 0, "multiply_heads", "the weights have {} rows for {} heads",
        weights.rows(), heads);
  check_heads("multiply_heads", x, column, heads, weights.rows() / heads);
  check_same_type("multiply_heads", x, weights);
  return weights.rows() / heads;
}

const float* data_of(const Var& gain) { return gain ? gain.value().as<float>() : nullptr; }

}  // namespace

Var normalize_heads(Ctx& ctx, const Var& x, int64_t column, int64_t heads, int64_t dim, const Var& gain) {
  check_gain(x, column, heads, dim, gain);
  if (x.dtype() == DType::f64) return normalize_heads_reference(ctx, x, column, heads, dim, gain);
  Var y = ctx.make(Shape{x.rows(), heads * dim}, DType::f32, {&x, &gain});
  ctx.run([&] {
    kernels::unit_heads({x.rows(), heads, dim, rows_of(x.value(), column), rows_of(y.value(), 0), data_of(gain)},
                        ctx.pool);
  });
  if (y.needs_grad())
    ctx.tape->push(y, [x, gain, y = y.sink(), column, heads, dim](Ctx& ctx) {
      Part dx;
      PartOf parts[]{{&x.sink(), column, heads * dim, &dx}};
      place_parts(ctx, parts);
      const Grad dgain = ctx.grad(gain);
      const int64_t rows = x.rows();
      Scratch dots(ctx.arena, dgain ? rows * heads * bytes_of(DType::f32) : 0);
      ctx.run([&] {
        float* to = dgain ? dots.as<float>() : nullptr;
        kernels::unit_heads_backward({rows, heads, dim, rows_of(x.value(), column), rows_of(ctx.grad_of(y), 0), dx.rows,
                                      data_of(gain), dx.add, to},
                                     ctx.pool);
        if (dgain) kernels::column_sum(Tensor(to, {rows, heads}), 1, dgain.tensor, dgain.add, ctx.pool);
      });
    });
  return y;
}

Var normalize_heads_reference(Ctx& ctx, const Var& x, int64_t column, int64_t heads, int64_t dim, const Var& gain) {
  check_gain(x, column, heads, dim, gain);
  std::vector<Var> all;
  for (int64_t h = 0; h < heads; ++h) {
    const Var head = slice_columns(ctx, x, column + h * dim, dim);
    const Var squares =
        add_constant(ctx, row_sum(ctx, multiply(ctx, head, head)), static_cast<double>(kernels::kUnitEpsilon));
    Var unit = divide(ctx, head, sqrt(ctx, squares));
    if (gain) unit = multiply(ctx, unit, slice_columns(ctx, ctx.reshape(gain, Shape{1, heads}), h, 1));
    all.push_back(unit);
  }
  return concatenate_columns(ctx, all);
}

Var multiply_heads(Ctx& ctx, const Var& x, int64_t column, int64_t heads, const Var& weights) {
  const int64_t dim = check_weights(x, column, heads, weights), to = weights.cols();
  Var y = ctx.make(Shape{x.rows(), heads * to}, x.dtype(), {&x, &weights});
  // what belongs to a head: all rows as one matrix
  const auto part = [](const Tensor& t, int64_t from, int64_t count) {
    return t.row_range(0, t.rows()).columns(from, count);
  };
  const auto matrix = [dim](const Tensor& w, int64_t h) { return w.row_range(h * dim, dim); };
  ctx.run([&] {
    for (int64_t h = 0; h < heads; ++h)
      kernels::matmul({part(x.value(), column + h * dim, dim), matrix(weights.value(), h), part(y.value(), h * to, to)},
                      ctx.pool);
  });
  if (y.needs_grad())
    ctx.tape->push(y, [=, y = y.sink()](Ctx& ctx) {
      const Tensor dy = ctx.grad_of(y);
      Grad dx = ctx.grad(x), dw = ctx.grad(weights);
      if (dx && !dx.add && heads * dim < dx.tensor.cols()) {
        ctx.run([&] { kernels::fill_zero(dx.tensor, ctx.pool); });
        dx.add = true;
      }
      ctx.run([&] {
        for (int64_t h = 0; h < heads; ++h) {
          const Tensor dyh = part(dy, h * to, to);
          if (dx)
            kernels::matmul(
                {dyh, matrix(weights.value(), h), part(dx.tensor, column + h * dim, dim), false, true, dx.add},
                ctx.pool);
          if (dw)
            kernels::matmul({part(x.value(), column + h * dim, dim), dyh, matrix(dw.tensor, h), true, false, dw.add},
                            ctx.pool);
        }
      });
    });
  return y;
}

Var multiply_heads_reference(Ctx& ctx, const Var& x, int64_t column, int64_t heads, const Var& weights) {
  const int64_t dim = check_weights(x, column, heads, weights);
  std::vector<Var> all;
  for (int64_t h = 0; h < heads; ++h)
    all.push_back(matmul(ctx, slice_columns(ctx, x, column + h * dim, dim), slice_rows(ctx, weights, h * dim, dim)));
  return concatenate_columns(ctx, all);
}

}  // namespace attune
