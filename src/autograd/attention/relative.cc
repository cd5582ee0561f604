#include "autograd/attention/relative.h"

#include "autograd/operands.h"
#include "autograd/operations/arrange.h"

namespace attune {

namespace {

/// ids[i, j] = id(i, distance of i and j), one after another.
Var ids_by_distance(Ctx& ctx, const ReferencePlace& place, FunctionRef<int64_t(int64_t, int64_t)> id) {
  Var ids = ctx.make(Shape{place.queries * place.keys}, DType::i32, {});
  ctx.run([&] {
    int32_t* to = ids.value().as<int32_t>();
    for (int64_t i = 0; i < place.queries; ++i)
      for (int64_t j = 0; j < place.keys; ++j) *to++ = static_cast<int32_t>(id(i, place.distance(i, j)));
  });
  return ids;
}

}  // namespace

Var spread_by_distance(Ctx& ctx, const Var& x, const ReferencePlace& place, const DistanceRange& range) {
  const Var ids =
      ids_by_distance(ctx, place, [&](int64_t i, int64_t distance) { return i * range.rows() + range.row(distance); });
  const Var each = ctx.reshape(x, Shape{x.shape().size(), 1});
  return ctx.reshape(gather_rows(ctx, each, ids), Shape{place.queries, place.keys});
}

Var sum_by_distance(Ctx& ctx, const Var& w, const ReferencePlace& place, const DistanceRange& range) {
  const Var ids =
      ids_by_distance(ctx, place, [&](int64_t i, int64_t distance) { return i * range.rows() + range.row(distance); });
  const Var each = ctx.reshape(w, Shape{w.shape().size(), 1});
  return ctx.reshape(scatter_add_rows(ctx, each, ids, place.queries * range.rows()),
                     Shape{place.queries, range.rows()});
}

Var bias_by_distance(Ctx& ctx, const Var& bias, const ReferencePlace& place,
                     FunctionRef<int64_t(int64_t distance)> row_of) {
  const Var ids = ids_by_distance(ctx, place, [&](int64_t, int64_t distance) { return row_of(distance); });
  return ctx.reshape(gather_rows(ctx, bias, ids), Shape{place.queries, place.keys});
}

void check_table(const char* scheme, const char* what, const Var& table, const Shape& wanted) {
  check(static_cast<bool>(table), scheme, "{} is missing", what);
  check(table.shape() == wanted, scheme, "{} is {}, not {}", what, table.shape().text(), wanted.text());
}

}  // namespace attune
