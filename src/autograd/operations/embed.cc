#include "autograd/operations/embed.h"

#include "autograd/operands.h"
#include "autograd/parameters.h"
#include "autograd/reference.h"
#include "base/error.h"

namespace attune {

namespace {

constexpr const char* kEmbedOp = "embed";

void check_positions(const EmbedArgs& e, int64_t n) {
  check(e.positions.dtype() == e.table.dtype() && e.positions.cols() == e.table.cols(), kEmbedOp,
        "positions are {} {}, the table is {} {}", name_of(e.positions.dtype()), e.positions.shape().text(),
        name_of(e.table.dtype()), e.table.shape().text());
  check_row_positions(kEmbedOp, e.where, n, e.positions.rows());
}

Var make_result(Ctx& ctx, const EmbedArgs& e) {
  check(static_cast<bool>(e.table), kEmbedOp, "the table is missing");
  const DType type = e.table.dtype();
  check(type == DType::f32 || type == DType::f64, kEmbedOp, "the table is {}, not f32 or f64", name_of(type));
  check(e.table.shape().rank() == 2, kEmbedOp, "the table is {}, not [rows, columns]", e.table.shape().text());
  check(e.ids.dtype == DType::i32 && e.ids.contiguous(), kEmbedOp, "ids are {}, not i32 one after another",
        name_of(e.ids.dtype));
  const int64_t n = e.ids.size();
  if (e.where.segments)
    check(e.where.segments->rows() == n, kEmbedOp, "{} ids for segments of {} rows", n, e.where.segments->rows());
  if (e.positions) check_positions(e, n);
  ctx.run([&] {
    const int32_t* ids = e.ids.as<int32_t>();
    for (int64_t r = 0; r < n; ++r)
      check(ids[r] >= 0 && ids[r] < e.table.rows(), kEmbedOp, "row {}: id {}, the table has {} rows", r, ids[r],
            e.table.rows());
  });
  return ctx.make({n, e.table.cols()}, type, {&e.table, &e.positions});
}

}  // namespace

Var embed(Ctx& ctx, const EmbedArgs& e, const Dropout& dropout) {
  if (e.table && e.table.dtype() == DType::f64) return embed_reference(ctx, e, dropout);
  Var y = make_result(ctx, e);
  ctx.run([&] {
    const Tensor positions = e.positions ? e.positions.value() : Tensor();
    if (positions) check_told_places(kEmbedOp, e.where, positions.rows());
    kernels::Embed a{e.table.value(), e.ids.as<int32_t>(), e.scale, positions, e.where, dropout, e.words, y.value()};
    if (const Int8Weight* int8 = e.table.slot()->int8) a.int8 = int8->rows;
    kernels::embed(a, ctx.pool);
  });
  if (!y.needs_grad()) return y;
  ctx.tape->push(y, [table = e.table.sink(), positions = e.positions.sink(), ids = e.ids, scale = e.scale,
                     where = e.where, words = e.words, dropout, y = y.sink()](Ctx& ctx) {
    kernels::EmbedBackward b{ids.as<int32_t>(), scale, where, dropout, words, ctx.grad_of(y)};
    const Grad dtable = ctx.grad(table), dpositions = ctx.grad(positions);
    b.dtable = dtable.tensor;
    b.add_table = dtable.add;
    b.dpositions = dpositions.tensor;
    b.add_positions = dpositions.add;
    ctx.run([&] { kernels::embed_backward(b, ctx.pool); });
  });
  return y;
}

// --- the reference ---------------------------------------------------------------------------------------------------

namespace {

int64_t position_of(const RowPositions& where, int64_t row) {
  if (where.places) return RowPlaces(where.places)[row];
  int64_t segment = 0, first = 0;
  if (where.segments)
    while (row >= where.segments->begin(segment + 1)) first = where.segments->begin(++segment);
  return row - first + (where.offsets.empty() ? 0 : where.offsets[static_cast<size_t>(segment)]);
}

}  // namespace

Var embed_reference(Ctx& ctx, const EmbedArgs& e, const Dropout& dropout) {
  Var y = make_result(ctx, e);
  ctx.run([&] {
    by_type(y.dtype(), [&](auto t) {
      using T = decltype(t);
      for (int64_t r = 0; r < y.rows(); ++r)
        for (int64_t j = 0; j < y.cols(); ++j) {
          T v = e.table.value().row<T>(e.ids.as<int32_t>()[r])[j] * static_cast<T>(e.scale);
          v *= reference::kept<T>(e.words, r, 0);
          if (e.positions) v += e.positions.value().row<T>(position_of(e.where, r))[j];
          y.value().row<T>(r)[j] = v * reference::kept<T>(dropout, r, j);
        }
    });
  });
  if (!y.needs_grad()) return y;
  ctx.tape->push(y, [table = e.table.sink(), positions = e.positions.sink(), ids = e.ids, scale = e.scale,
                     where = e.where, words = e.words, dropout, y = y.sink()](Ctx& ctx) {
    const Tensor dy = ctx.grad_of(y);
    const Grad dtable = ctx.grad(table), dpositions = ctx.grad(positions);
    ctx.run([&] {
      by_type(dy.dtype, [&](auto t) {
        using T = decltype(t);
        reference::clear_unless_added<T>(dtable);
        reference::clear_unless_added<T>(dpositions);
        for (int64_t r = 0; r < dy.rows(); ++r)
          for (int64_t j = 0; j < dy.cols(); ++j) {
            const T g = dy.row<T>(r)[j] * reference::kept<T>(dropout, r, j);
            if (dtable)
              dtable.tensor.row<T>(ids.as<int32_t>()[r])[j] +=
                  g * static_cast<T>(scale) * reference::kept<T>(words, r, 0);
            if (dpositions) dpositions.tensor.row<T>(position_of(where, r))[j] += g;
          }
      });
    });
  });
  return y;
}

}  // namespace attune
