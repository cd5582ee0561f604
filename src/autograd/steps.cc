#include "autograd/steps.h"

#include "autograd/operands.h"
#include "autograd/products.h"
#include "kernels/rows/arrange.h"
#include "kernels/rows/reduce.h"

namespace attune {

namespace {

/// to[index[i]] = from[i].
void put_step_rows(const Tensor& from, std::span<const int32_t> index, const Tensor& to) {
  for (size_t i = 0; i < index.size(); ++i)
    kernels::copy(from.row_range(static_cast<int64_t>(i), 1), to.row_range(index[i], 1), false, nullptr);
}

}  // namespace

void clear_rows_beyond(const Grad& grad, int64_t rows) {
  if (grad && !grad.add && grad.tensor.rows() > rows)
    kernels::fill_zero(grad.tensor.row_range(rows, grad.tensor.rows() - rows), nullptr);
}

StepLinear::StepLinear(Ctx& ctx, const Var& weight, const Var& bias, int64_t rows)
    : StepLinear(ctx, {}, weight, bias, rows) {}

StepLinear::StepLinear(Ctx& ctx, const Var& base, const Var& weight, const Var& bias, int64_t rows)
    : base_(base), weight_(weight), bias_(bias) {
  check_real("step linear", "weight", weight);
  if (base) check(base.cols() == weight.rows(), "step linear", "{} columns to add {} to", base.cols(), weight.rows());
  if (!ctx.tape || !(weight.needs_grad() || bias.needs_grad())) return;
  inputs_ = ctx.make({rows, weight.cols()}, weight.dtype(), {});
  outputs_ = base.needs_grad() ? base : ctx.input(Tensor(nullptr, weight.dtype(), Shape{rows, weight.rows()}), true);
  // Recorded before all steps: it runs when all of them have gone back.
  ctx.tape->push(outputs_, [weight = weight.sink(), bias = bias.sink(), in = inputs_, out = outputs_.sink()](Ctx& ctx) {
    const Grad dw = ctx.grad(weight), db = ctx.grad(bias);
    ctx.run([&] {
      const Tensor dz = ctx.grad_of(out);
      if (dw) weight_gradient(dz, in.value(), dw.tensor, dw.add, ctx.pool);
      if (db) kernels::column_sum(dz, 1, db.tensor, db.add, ctx.pool);
    });
  });
}

Var StepLinear::operator()(Ctx& ctx, const Var& x, std::span<const int32_t> index) const {
  check_same_type("step linear", x, weight_);
  const auto rows = std::ssize(index);
  check(x.cols() == weight_.cols() && x.rows() >= rows, "step linear",
        "input {} for {} rows and a weight of {} columns", x.shape().text(), rows, weight_.cols());
  Var y = ctx.make({rows, weight_.rows()}, x.dtype(), {&x, &weight_, &bias_, &base_});
  ctx.run([&] {
    const Tensor in = x.value().row_range(0, rows);
    if (base_) kernels::gather_rows(base_.value(), id_tensor(index), y.value(), false, nullptr);
    multiply_by_weight(ctx, {in, weight_, bias_ ? bias_.value() : Tensor(), y.value(), static_cast<bool>(base_)});
    if (inputs_) put_step_rows(in, index, inputs_.value());
  });
  if (!y.needs_grad()) return y;
  ctx.tape->push(y, [x = x.sink(), w = weight_, index, rows, y = y.sink(),
                     out = outputs_ ? outputs_.sink() : base_.sink()](Ctx& ctx) {
    const Grad dx = ctx.grad(x), all = ctx.grad(out);
    ctx.run([&] {
      const Tensor dy = ctx.grad_of(y);
      clear_rows_beyond(dx, rows);
      if (dx) input_gradient(dy, w, dx.tensor.row_range(0, rows), dx.add, ctx.pool);
      if (all && !all.add) kernels::fill_zero(all.tensor, nullptr);
      if (all) kernels::scatter_add_rows(dy, id_tensor(index), all.tensor, nullptr);
    });
  });
  return y;
}

void StepRows::put(Ctx& ctx, const Var& x, std::span<const int32_t> index) {
  ctx.run([&] { put_step_rows(x.value(), index, all_.value()); });
  if (!x.needs_grad()) return;
  all_.slot()->needs_grad = true;
  ctx.tape->push(all_, [x = x.sink(), all = all_.sink(), index](Ctx& ctx) {
    const Grad dx = ctx.grad(x);
    ctx.run([&] { kernels::gather_rows(ctx.grad_of(all), id_tensor(index), dx.tensor, dx.add, nullptr); });
  });
}

}  // namespace attune
