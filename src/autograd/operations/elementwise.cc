#include "autograd/operations/elementwise.h"

#include "autograd/operands.h"
#include "kernels/rows/elementwise.h"

namespace attune {

namespace {

using kernels::Pairwise;
using kernels::Spread;
using kernels::Unary;

/// What the backward pass needs to know again.
enum class Keeps { nothing, argument, result };

Var unary(Ctx& ctx, const char* name, Unary f, const Var& x, double by, Keeps keeps) {
  check_real(name, "the value", x);
  Var y = ctx.make(x.shape(), x.dtype(), {&x});
  ctx.run([&] { kernels::unary(f, by, x.value(), y.value(), ctx.pool); });
  if (y.needs_grad()) {
    const Var kept = keeps == Keeps::argument ? x : keeps == Keeps::result ? y : Var();
    ctx.tape->push(y, [x = x.sink(), y = y.sink(), kept, f, by](Ctx& ctx) {
      Grad dx = ctx.grad(x);
      ctx.run([&] {
        kernels::unary_backward({f, by, kept ? kept.value() : Tensor(), ctx.grad_of(y), dx.tensor, dx.add}, ctx.pool);
      });
    });
  }
  return y;
}

Spread spread_of(const char* name, const Var& a, const Var& b) {
  if (a.shape() == b.shape()) return Spread::none;
  if (b.shape().size() == 1) return Spread::one;
  if (b.rows() == 1 && b.cols() == a.cols()) return Spread::row;
  if (b.cols() == 1 && b.rows() == a.rows()) return Spread::column;
  fail(ErrorKind::usage, "[{}] {} does not spread over {}: it needs that shape, one row, one column or one number",
       name, b.shape().text(), a.shape().text());
}

Var pairwise(Ctx& ctx, const char* name, Pairwise f, const Var& a, const Var& b) {
  check_real(name, "left", a);
  check_real(name, "right", b);
  check_same_type(name, a, b);
  const Spread spread = spread_of(name, a, b);
  Var y = ctx.make(a.shape(), a.dtype(), {&a, &b});
  ctx.run([&] { kernels::pairwise(f, spread, a.value(), b.value(), y.value(), ctx.pool); });
  if (!y.needs_grad()) return y;
  const bool product = f == Pairwise::multiply || f == Pairwise::divide;
  const Var keep_a = product && b.needs_grad() ? a : Var();
  const Var keep_b = product && (a.needs_grad() || f == Pairwise::divide) ? b : Var();
  ctx.tape->push(y, [to_a = a.sink(), to_b = b.sink(), y = y.sink(), keep_a, keep_b, f, spread](Ctx& ctx) {
    kernels::PairwiseBackward p{f, spread, {}, {}, ctx.grad_of(y), {}, false};
    if (keep_a) p.a = keep_a.value();
    if (keep_b) p.b = keep_b.value();
    if (Grad da = ctx.grad(to_a)) {
      p.to = da.tensor;
      p.add = da.add;
      ctx.run([&] { kernels::pairwise_backward_left(p, ctx.pool); });
    }
    if (Grad db = ctx.grad(to_b)) {
      p.to = db.tensor;
      p.add = db.add;
      Scratch sums(ctx.arena, spread == Spread::one ? p.dy.rows() * bytes_of(p.dy.dtype) : 0);
      p.row_sums = sums.as<void>();
      ctx.run([&] { kernels::pairwise_backward_right(p, ctx.pool); });
    }
  });
  return y;
}

}  // namespace

Var add(Ctx& ctx, const Var& a, const Var& b) { return pairwise(ctx, "add", Pairwise::add, a, b); }
Var subtract(Ctx& ctx, const Var& a, const Var& b) { return pairwise(ctx, "subtract", Pairwise::subtract, a, b); }
Var multiply(Ctx& ctx, const Var& a, const Var& b) { return pairwise(ctx, "multiply", Pairwise::multiply, a, b); }
Var divide(Ctx& ctx, const Var& a, const Var& b) { return pairwise(ctx, "divide", Pairwise::divide, a, b); }

Var scale(Ctx& ctx, const Var& x, double by) { return unary(ctx, "scale", Unary::scale, x, by, Keeps::nothing); }
Var add_constant(Ctx& ctx, const Var& x, double constant) {
  return unary(ctx, "add_constant", Unary::add_constant, x, constant, Keeps::nothing);
}
Var exp(Ctx& ctx, const Var& x) { return unary(ctx, "exp", Unary::exp, x, 0, Keeps::result); }
Var log(Ctx& ctx, const Var& x) { return unary(ctx, "log", Unary::log, x, 0, Keeps::argument); }
Var tanh(Ctx& ctx, const Var& x) { return unary(ctx, "tanh", Unary::tanh, x, 0, Keeps::result); }
Var sigmoid(Ctx& ctx, const Var& x) { return unary(ctx, "sigmoid", Unary::sigmoid, x, 0, Keeps::result); }
Var sqrt(Ctx& ctx, const Var& x) { return unary(ctx, "sqrt", Unary::sqrt, x, 0, Keeps::result); }

}  // namespace attune
