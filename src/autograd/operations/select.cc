#include "autograd/operations/select.h"

#include "autograd/operands.h"
#include "kernels/rows/select.h"

namespace attune {

namespace {

void check_keys(const char* name, const Var& keys) {
  check_given(name, "the value of keys", keys);
  const DType type = keys.dtype();
  check(type == DType::f32 || type == DType::f64 || type == DType::i32, name, "keys are {}, not f32, f64 or i32",
        name_of(type));
}

/// Ids are 32 bits wide.
void check_count(const char* name, int64_t count) {
  check(count <= INT32_MAX, name, "{} elements are more than ids can name", count);
}

}  // namespace

TopK top_k(Ctx& ctx, const Var& x, int64_t k) {
  check_real("top_k", "the value", x);
  check(k >= 0 && k <= x.cols(), "top_k", "the {} largest of {} columns", k, x.cols());
  check_count("top_k", x.cols());
  Shape shape = x.shape().rank() ? x.shape() : Shape{1};
  shape[shape.rank() - 1] = k;
  TopK y{ctx.make(shape, x.dtype(), {&x}), ctx.make(shape, DType::i32, {})};
  {
    Scratch space(ctx.arena, x.cols() * workers_of(ctx.pool) * bytes_of(DType::i32));
    ctx.run([&] { kernels::top_k({x.value(), y.values.value(), y.ids.value(), space.as<int32_t>()}, ctx.pool); });
  }
  if (y.values.needs_grad())
    ctx.tape->push(y.values, [x = x.sink(), values = y.values.sink(), ids = y.ids](Ctx& ctx) {
      Grad dx = ctx.grad(x);
      ctx.run([&] { kernels::top_k_backward(ctx.grad_of(values), ids.value(), dx.tensor, dx.add, ctx.pool); });
    });
  return y;
}

Var argsort_rows(Ctx& ctx, const Var& keys, Order order) {
  check_keys("argsort_rows", keys);
  check_count("argsort_rows", keys.cols());
  Var ids = ctx.make(keys.shape(), DType::i32, {});
  ctx.run([&] { kernels::argsort_rows(keys.value(), order == Order::descending, ids.value(), ctx.pool); });
  return ids;
}

Var argsort_segments(Ctx& ctx, const Var& keys, const Segments& segments, Order order) {
  check_keys("argsort_segments", keys);
  check(keys.rows() == 1 || keys.cols() == 1, "argsort_segments", "keys have {} columns, not one", keys.cols());
  check(segments.rows() == keys.shape().size(), "argsort_segments", "the segments have {} rows, there are {} keys",
        segments.rows(), keys.shape().size());
  Var ids = ctx.make({segments.rows()}, DType::i32, {});
  ctx.run(
      [&] { kernels::argsort_segments(keys.value(), segments, order == Order::descending, ids.value(), ctx.pool); });
  return ids;
}

}  // namespace attune
