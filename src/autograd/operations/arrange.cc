#include "autograd/operations/arrange.h"

#include "autograd/operands.h"
#include "kernels/rows/arrange.h"

namespace attune {

namespace {

/// A part of a tensor: a range of its rows or of its columns.
struct ArrangedPart {
  bool by_rows;
  int64_t from, count;
  Tensor of(const Tensor& t) const { return by_rows ? t.row_range(from, count) : t.columns(from, count); }
};

Shape with_columns(const Shape& shape, int64_t cols) {
  Shape s = shape;
  if (s.rank() == 0) return {cols};
  s[s.rank() - 1] = cols;
  return s;
}

Var slice(Ctx& ctx, const Var& x, const ArrangedPart& part, const Shape& shape) {
  Var y = ctx.make(shape, x.dtype(), {&x});
  ctx.run([&] { kernels::copy(part.of(x.value()), y.value(), false, ctx.pool); });
  if (y.needs_grad())
    ctx.tape->push(y, [x = x.sink(), y = y.sink(), part](Ctx& ctx) {
      Grad dx = ctx.grad(x);
      ctx.run([&] {
        if (!dx.add) kernels::fill_zero(dx.tensor, ctx.pool);
        kernels::copy(ctx.grad_of(y), part.of(dx.tensor), dx.add, ctx.pool);
      });
    });
  return y;
}

void check_part(const char* name, const char* what, const ArrangedPart& part, int64_t size) {
  check(part.from >= 0 && part.count >= 0 && part.count <= size - part.from, name, "{} {} to {} of {}", what, part.from,
        part.from + part.count, size);
}

/// The parts must agree in dtype and in the size they share.
Var concatenate(Ctx& ctx, const char* name, bool by_rows, std::span<const Var> parts) {
  check(!parts.empty(), name, "there are no parts");
  int64_t total = 0;
  const Var* source = &parts[0];  // a part that needs a gradient, where there is one
  for (size_t i = 0; i < parts.size(); ++i) {
    check(static_cast<bool>(parts[i]), name, "part {} is missing", i);
    const Var &part = parts[i], &first = parts[0];
    check(part.dtype() == first.dtype(), name, "part {} is {}, part 0 is {}", i, name_of(part.dtype()),
          name_of(first.dtype()));
    const int64_t size = by_rows ? part.cols() : part.rows(), wanted = by_rows ? first.cols() : first.rows();
    check(size == wanted, name, "part {} has {} {}, part 0 has {}", i, size, by_rows ? "columns" : "rows", wanted);
    total += by_rows ? part.rows() : part.cols();
    if (part.needs_grad()) source = &part;
  }
  Var y = ctx.make(by_rows ? Shape{total, parts[0].cols()} : with_columns(parts[0].shape(), total), parts[0].dtype(),
                   {source});
  int64_t at = 0;
  for (const Var& x : parts) {
    const ArrangedPart part{by_rows, at, by_rows ? x.rows() : x.cols()};
    at += part.count;
    ctx.run([&] { kernels::copy(x.value(), part.of(y.value()), false, ctx.pool); });
    if (y.needs_grad() && x.needs_grad())
      ctx.tape->push(y, [x = x.sink(), y = y.sink(), part](Ctx& ctx) {
        Grad dx = ctx.grad(x);
        ctx.run([&] { kernels::copy(part.of(ctx.grad_of(y)), dx.tensor, dx.add, ctx.pool); });
      });
  }
  return y;
}

void check_range(const char* name, const Var& ids, int64_t rows) {
  int64_t at = 0;
  const bool fit = kernels::ids_fit(ids.value(), rows, &at);
  check(fit, name, "id {} at {} is not a row of {}", fit ? 0 : ids.value().as<int32_t>()[at], at, rows);
}

}  // namespace

Var copy(Ctx& ctx, const Var& x) {
  check_given("copy", "the value", x);
  Var y = ctx.make(x.shape(), x.dtype(), {&x});
  ctx.run([&] { kernels::copy(x.value(), y.value(), false, ctx.pool); });
  if (y.needs_grad())
    ctx.tape->push(y, [x = x.sink(), y = y.sink()](Ctx& ctx) {
      Grad dx = ctx.grad(x);
      ctx.run([&] { kernels::copy(ctx.grad_of(y), dx.tensor, dx.add, ctx.pool); });
    });
  return y;
}

Var concatenate_rows(Ctx& ctx, std::span<const Var> parts) { return concatenate(ctx, "concatenate_rows", true, parts); }
Var concatenate_rows(Ctx& ctx, std::initializer_list<Var> parts) {
  return concatenate_rows(ctx, std::span(parts.begin(), parts.size()));
}
Var concatenate_columns(Ctx& ctx, std::span<const Var> parts) {
  return concatenate(ctx, "concatenate_columns", false, parts);
}
Var concatenate_columns(Ctx& ctx, std::initializer_list<Var> parts) {
  return concatenate_columns(ctx, std::span(parts.begin(), parts.size()));
}

Var slice_rows(Ctx& ctx, const Var& x, int64_t from, int64_t count) {
  check_given("slice_rows", "the value", x);
  const ArrangedPart part{true, from, count};
  check_part("slice_rows", "rows", part, x.rows());
  return slice(ctx, x, part, {count, x.cols()});
}
Var slice_columns(Ctx& ctx, const Var& x, int64_t from, int64_t count) {
  check_given("slice_columns", "the value", x);
  const ArrangedPart part{false, from, count};
  check_part("slice_columns", "columns", part, x.cols());
  if (count == x.cols() && x.value().contiguous()) return x;
  return slice(ctx, x, part, with_columns(x.shape(), count));
}

Var transpose(Ctx& ctx, const Var& x) {
  check_real("transpose", "the value", x);
  check_rank("transpose", "the value", x, 2, 3);
  Shape shape = x.shape();
  const int last = shape.rank() - 1;
  std::swap(shape[last - 1], shape[last]);
  Var y = ctx.make(shape, x.dtype(), {&x});
  ctx.run([&] { kernels::transpose(x.value(), y.value(), false, ctx.pool); });
  if (y.needs_grad())
    ctx.tape->push(y, [x = x.sink(), y = y.sink()](Ctx& ctx) {
      Grad dx = ctx.grad(x);
      ctx.run([&] { kernels::transpose(ctx.grad_of(y), dx.tensor, dx.add, ctx.pool); });
    });
  return y;
}

Var gather_rows(Ctx& ctx, const Var& x, const Var& ids) {
  check_given("gather_rows", "the value", x);
  check_ids("gather_rows", ids);
  Var y = ctx.make({ids.shape().size(), x.cols()}, x.dtype(), {&x});
  ctx.run([&] {
    check_range("gather_rows", ids, x.rows());
    kernels::gather_rows(x.value(), ids.value(), y.value(), false, ctx.pool);
  });
  if (y.needs_grad())
    ctx.tape->push(y, [x = x.sink(), y = y.sink(), ids](Ctx& ctx) {
      Grad dx = ctx.grad(x);
      ctx.run([&] {
        if (!dx.add) kernels::fill_zero(dx.tensor, ctx.pool);
        kernels::scatter_add_rows(ctx.grad_of(y), ids.value(), dx.tensor, ctx.pool);
      });
    });
  return y;
}

Var scatter_add_rows(Ctx& ctx, const Var& x, const Var& ids, int64_t rows) {
  check_real("scatter_add_rows", "the value", x);
  check_ids("scatter_add_rows", ids);
  check(ids.shape().size() == x.rows(), "scatter_add_rows", "{} ids for {} rows", ids.shape().size(), x.rows());
  check(rows >= 0, "scatter_add_rows", "a result of {} rows", rows);
  Var y = ctx.make({rows, x.cols()}, x.dtype(), {&x});
  ctx.run([&] {
    check_range("scatter_add_rows", ids, rows);
    kernels::fill_zero(y.value(), ctx.pool);
    kernels::scatter_add_rows(x.value(), ids.value(), y.value(), ctx.pool);
  });
  if (y.needs_grad())
    ctx.tape->push(y, [x = x.sink(), y = y.sink(), ids](Ctx& ctx) {
      Grad dx = ctx.grad(x);
      ctx.run([&] { kernels::gather_rows(ctx.grad_of(y), ids.value(), dx.tensor, dx.add, ctx.pool); });
    });
  return y;
}

}  // namespace attune
