#include "autograd/attention/linear_attention.h"

#include <vector>

#include "autograd/attention/attention_operands.h"
#include "autograd/attention/attention_reference.h"
#include "autograd/operations/activation.h"
#include "autograd/operations/arrange.h"
#include "autograd/operations/elementwise.h"
#include "autograd/operations/matmul.h"
#include "autograd/operations/reduce.h"

namespace attune {

namespace {

/// Checks everything and fills in what was left to the default.
LinearAttention checked(LinearAttention a) {
  if (a.value_dim == 0) a.value_dim = a.dim;
  check_attention("linear_attention", a, a.value_dim);
  for (int64_t s = 0; a.causal && s < a.queries->count(); ++s)
    check(a.queries->length(s) == a.keys->length(s), "linear_attention",
          "causal, but sequence {} has {} queries and {} keys", s, a.queries->length(s), a.keys->length(s));
  check(a.epsilon >= 0, "linear_attention", "epsilon is {}, below 0", a.epsilon);
  return a;
}

kernels::LinearShape shape_of(const LinearAttention& a) {
  return {a.queries, a.keys, a.heads, a.heads_kv, a.dim, a.value_dim, a.causal, a.feature, a.norm, a.epsilon};
}

/// What the backward function holds on to: the result only where a row's divisor depends on its numbers.
struct Kept {
  LinearAttention a;
  kernels::LinearShape shape;
  Var out, inverse;
  Sink y;
  void operator()(Ctx& ctx) const;
};

void Kept::operator()(Ctx& ctx) const {
  const QkvGradients d = place_qkv(ctx, a, a.value_dim);
  const Tensor dy = ctx.grad_of(y);
  Scratch scratch(ctx.arena, kernels::linear_scratch(shape, workers_of(ctx.pool), true));
  ctx.run([&] {
    kernels::LinearBackward b;
    b.shape = shape;
    give_qkv(a, b);
    if (out) b.out = rows_of(out.value(), 0);
    b.dout = rows_of(dy, 0);
    b.inverse = inverse.value().as<float>();
    d.give(b);
    b.scratch = scratch.as<void>();
    kernels::linear_backward(b, ctx.pool);
  });
}

}  // namespace

Var linear_attention(Ctx& ctx, const LinearAttention& given) {
  const LinearAttention a = checked(given);
  if (a.q.dtype() == DType::f64) return linear_attention_reference(ctx, a);
  const kernels::LinearShape shape = shape_of(a);
  Var y = ctx.make(Shape{a.q.rows(), a.heads * a.value_dim}, DType::f32, {&a.q, &a.k, &a.v});
  Var inverse;
  if (y.needs_grad()) inverse = ctx.make(Shape{a.heads, a.q.rows()}, DType::f32, {});
  {
    Scratch scratch(ctx.arena, kernels::linear_scratch(shape, workers_of(ctx.pool), false));
    ctx.run([&] {
      kernels::linear_forward(
          {shape, rows_of(a.q.value(), a.q_column), rows_of(a.k.value(), a.k_column), rows_of(a.v.value(), a.v_column),
           rows_of(y.value(), 0), inverse ? inverse.value().as<float>() : nullptr, a.states, scratch.as<void>()},
          ctx.pool);
    });
  }
  if (y.needs_grad()) ctx.tape->push(y, Kept{a, shape, a.norm == LinearNorm::by_sum ? y : Var(), inverse, y.sink()});
  return y;
}

Var elu_plus_one(Ctx& ctx, const Var& x) {
  const Var above = activation(ctx, x, {Activation::relu});
  return add(ctx, above, exp(ctx, subtract(ctx, x, above)));
}

namespace {

/// f(i, j) as a constant matrix.
template <class F>
Var constant(Ctx& ctx, DType type, int64_t rows, int64_t cols, F f) {
  const Var x = ctx.make(Shape{rows, cols}, type, {});
  ctx.run([&] {
    by_type(type, [&](auto number) {
      for (int64_t i = 0; i < rows; ++i)
        for (int64_t j = 0; j < cols; ++j)
          x.value().row<decltype(number)>(i)[j] = static_cast<decltype(number)>(f(i, j));
    });
  });
  return x;
}

/// One head of one segment.
Var read_all_keys(Ctx& ctx, const LinearAttention& a, const Var& q, const Var& k, const Var& v) {
  const bool mapped = a.feature == FeatureMap::none;
  const int64_t n = q.rows(), m = k.rows();
  Var weights =
      matmul(ctx, mapped ? q : elu_plus_one(ctx, q), mapped ? k : elu_plus_one(ctx, k), {.right = true});  // [n, m]
  if (a.causal)
    weights =
        multiply(ctx, weights, constant(ctx, q.dtype(), n, m, [](int64_t i, int64_t j) { return j <= i ? 1 : 0; }));
  const Var sums = matmul(ctx, weights, v);  // [n, value_dim]
  if (a.norm == LinearNorm::by_sum)
    return divide(ctx, sums, add_constant(ctx, row_sum(ctx, weights), static_cast<double>(a.epsilon)));
  return multiply(ctx, sums, constant(ctx, q.dtype(), n, 1, [&](int64_t i, int64_t) {
                    const int64_t seen = a.causal ? i + 1 : m;
                    return seen > 0 ? 1.0 / static_cast<double>(seen) : 0.0;
                  }));
}

}  // namespace

Var linear_attention_reference(Ctx& ctx, const LinearAttention& given) {
  const LinearAttention a = checked(given);
  return reference::head_by_head(
      ctx, a, a.value_dim, [&](const reference::OneHead& one) { return read_all_keys(ctx, a, one.q, one.k, one.v); });
}

}  // namespace attune
