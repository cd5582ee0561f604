#include "autograd/attention/list_attention.h"

#include <cmath>

#include "autograd/attention/attention_operands.h"
#include "autograd/attention/heads.h"
#include "autograd/operations/arrange.h"
#include "autograd/operations/elementwise.h"
#include "autograd/operations/pool.h"

namespace attune {

namespace {

constexpr const char* kListAttentionOp = "list_attention";

/// Checks everything and fills in what was left to the default.
ListAttention checked(ListAttention a) {
  check_real(kListAttentionOp, "queries", a.q);
  check_same_type(kListAttentionOp, a.q, a.k);
  check_same_type(kListAttentionOp, a.q, a.v);
  if (a.heads_kv == 0) a.heads_kv = a.heads;
  if (a.scale == 0) a.scale = 1 / std::sqrt(static_cast<double>(a.dim));
  check(a.lists && a.lists->rows() == a.q.rows(), kListAttentionOp, "lists of {} rows, queries have {}",
        a.lists ? a.lists->rows() : 0, a.q.rows());
  const int64_t keys = a.k.rows() + (a.more ? a.more.rows() : 0);
  check(a.lists->key_rows() == keys && a.k.rows() == a.v.rows(), kListAttentionOp,
        "lists of {} keys, there are {} and {} values", a.lists->key_rows(), keys, keys - a.k.rows() + a.v.rows());
  check(a.heads > 0 && a.heads_kv > 0 && a.heads % a.heads_kv == 0 && a.dim > 0, kListAttentionOp,
        "{} heads of {}, {} of keys", a.heads, a.dim, a.heads_kv);
  check(a.q_column + a.heads * a.dim <= a.q.cols() && a.k_column + a.heads_kv * a.dim <= a.k.cols() &&
            a.v_column + a.heads_kv * a.dim <= a.v.cols(),
        kListAttentionOp, "{} heads of {} do not fit rows of {}", a.heads, a.dim, a.q.cols());
  if (a.more) {
    check_same_type(kListAttentionOp, a.q, a.more);
    check(a.more.cols() == 2 * a.heads_kv * a.dim, kListAttentionOp, "more keys and values have {} columns, not {}",
          a.more.cols(), 2 * a.heads_kv * a.dim);
  }
  return a;
}

kernels::ListShape shape_of(const ListAttention& a) {
  return {a.lists, a.k.rows(), a.heads, a.heads_kv, a.dim, static_cast<float>(a.scale), a.dropout};
}

template <class Kernel>
void give_rows(const ListAttention& a, Kernel& to) {
  give_qkv(a, to);
  if (!a.more) return;
  to.k2 = rows_of(a.more.value(), 0);
  to.v2 = rows_of(a.more.value(), a.heads_kv * a.dim);
}

struct ListKept {
  ListAttention a;
  Var out, log_sum;
  Sink y;
  void operator()(Ctx& ctx) const {
    const int64_t width = a.heads * a.dim, width_kv = a.heads_kv * a.dim;
    Part dq, dk, dv, dk2, dv2;
    std::vector<PartOf> parts{{&a.q.sink(), a.q_column, width, &dq},
                              {&a.k.sink(), a.k_column, width_kv, &dk},
                              {&a.v.sink(), a.v_column, width_kv, &dv}};
    if (a.more) {
      parts.push_back({&a.more.sink(), 0, width_kv, &dk2});
      parts.push_back({&a.more.sink(), width_kv, width_kv, &dv2});
    }
    place_parts(ctx, parts);
    const Tensor dy = ctx.grad_of(y);
    const kernels::ListShape shape = shape_of(a);
    Scratch scratch(ctx.arena, kernels::list_attention_scratch(shape, workers_of(ctx.pool), true));
    ctx.run([&] {
      kernels::ListBackward b;
      b.shape = shape;
      give_rows(a, b);
      b.out = rows_of(out.value(), 0);
      b.dout = rows_of(dy, 0);
      b.log_sum = log_sum.value().as<float>();
      b.dq = dq.rows;
      b.add_dq = dq.add;
      b.d = {dk.rows, dv.rows, dk.add, dv.add};
      b.d2 = {dk2.rows, dv2.rows, dk2.add, dv2.add};
      b.scratch = scratch.as<void>();
      kernels::list_attention_backward(b, ctx.pool);
    });
  }
};

Var ids_of(Ctx& ctx, const std::vector<int32_t>& ids) { return ctx.input(Tensor(ids.data(), Shape{std::ssize(ids)})); }

/// Keys or values of both sources, [rows, heads * dim]: heads that share them have copies.
Var for_each_head(Ctx& ctx, const Var& x, int64_t column, int64_t more, const ListAttention& a) {
  const int64_t width = a.heads_kv * a.dim;
  Var all = slice_columns(ctx, x, column, width);
  if (a.more) all = concatenate_rows(ctx, {all, slice_columns(ctx, a.more, more, width)});
  std::vector<Var> heads;
  for (int64_t h = 0; h < a.heads; ++h)
    heads.push_back(slice_columns(ctx, all, h / (a.heads / a.heads_kv) * a.dim, a.dim));
  return heads.size() == 1 ? heads[0] : concatenate_columns(ctx, heads);
}

/// The pairs of each row.
std::shared_ptr<const Segments> pairs_of(Ctx& ctx, const KeyLists& lists) {
  Segments s;
  for (int64_t i = 0; i < lists.rows(); ++i)
    s.add(lists.start[static_cast<size_t>(i) + 1] - lists.start[static_cast<size_t>(i)]);
  return keep(ctx, std::move(s));
}

Var weights_by(Ctx& ctx, const ListAttention& a, const Segments& pairs) {
  const Var ones = ctx.make({a.heads * a.dim, 1}, a.q.dtype(), {});
  ctx.run([&] {
    by_type(ones.dtype(), [&](auto t) { std::fill_n(ones.value().template as<decltype(t)>(), a.heads * a.dim, 1); });
  });
  const Var q = slice_columns(ctx, a.q, a.q_column, a.heads * a.dim), k = for_each_head(ctx, a.k, a.k_column, 0, a);
  const Var products =
      multiply(ctx, gather_rows(ctx, q, ids_of(ctx, a.lists->query)), gather_rows(ctx, k, ids_of(ctx, a.lists->keys)));
  const Var scores = scale(ctx, multiply_heads(ctx, products, 0, a.heads, ones), a.scale);
  return segment_softmax(ctx, scores, pairs);
}

}  // namespace

Var list_attention(Ctx& ctx, const ListAttention& given) {
  const ListAttention a = checked(given);
  if (a.q.dtype() == DType::f64) return list_attention_reference(ctx, a);
  const kernels::ListShape shape = shape_of(a);
  const Var& more = a.more ? a.more : a.k;
  Var y = ctx.make(Shape{a.q.rows(), a.heads * a.dim}, DType::f32, {&a.q, &a.k, &a.v, &more});
  const Var log_sum = ctx.make(Shape{a.q.rows(), a.heads}, DType::f32, {});
  {
    Scratch scratch(ctx.arena, kernels::list_attention_scratch(shape, workers_of(ctx.pool), false));
    ctx.run([&] {
      kernels::ListForward f;
      f.shape = shape;
      give_rows(a, f);
      f.out = rows_of(y.value(), 0);
      f.log_sum = log_sum.value().as<float>();
      f.scratch = scratch.as<void>();
      kernels::list_attention_forward(f, ctx.pool);
    });
  }
  if (y.needs_grad()) ctx.tape->push(y, ListKept{a, y, log_sum, y.sink()});
  return y;
}

Var list_weights(Ctx& ctx, const ListAttention& given) {
  const ListAttention a = checked(given);
  return weights_by(ctx, a, *pairs_of(ctx, *a.lists));
}

Var list_attention_reference(Ctx& ctx, const ListAttention& given) {
  const ListAttention a = checked(given);
  const auto pairs = pairs_of(ctx, *a.lists);
  Var weights = weights_by(ctx, a, *pairs);
  if (a.dropout.on()) {
    const Var kept = ctx.make(weights.shape(), weights.dtype(), {});
    ctx.run([&] {
      by_type(kept.dtype(), [&](auto t) {
        using T = decltype(t);
        for (int64_t h = 0; h < a.heads; ++h) {
          Dropout d = a.dropout;
          d.key = mix(d.key, static_cast<uint64_t>(h));
          for (int64_t e = 0; e < a.lists->pairs(); ++e) {
            const int64_t row = a.lists->query[static_cast<size_t>(e)];
            const auto slot = static_cast<uint32_t>(e - a.lists->start[static_cast<size_t>(row)]);
            kept.value().row<T>(e)[h] = dropped(d, row, slot) ? T{0} : static_cast<T>(dropout_scale(d.rate));
          }
        }
      });
    });
    weights = multiply(ctx, weights, kept);
  }
  const Var values = gather_rows(ctx, for_each_head(ctx, a.v, a.v_column, a.heads_kv * a.dim, a), ids_of(ctx, a.lists->keys));
  std::vector<Var> heads;
  for (int64_t h = 0; h < a.heads; ++h)
    heads.push_back(
        segment_mix(ctx, slice_columns(ctx, values, h * a.dim, a.dim), slice_columns(ctx, weights, h, 1), *pairs));
  return heads.size() == 1 ? heads[0] : concatenate_columns(ctx, heads);
}

}  // namespace attune
