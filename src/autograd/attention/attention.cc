#include "autograd/attention/attention.h"

#include <cmath>
#include <vector>

#include "autograd/attention/attention_operands.h"
#include "autograd/attention/attention_reference.h"
#include "autograd/operations/arrange.h"
#include "autograd/operations/elementwise.h"
#include "autograd/operations/matmul.h"
#include "autograd/operations/reduce.h"
#include "kernels/rows/arrange.h"

namespace attune {

namespace {

void check_places(const Attention& a) {
  check(!a.query_places == !a.key_places, "attention", "places of queries and of keys come together");
  const auto fits = [](const char* what, const Tensor& places, int64_t rows) {
    check(places.dtype == DType::i32 && places.contiguous(), "attention", "places of {} are not i32 side by side",
          what);
    check(placed_rows(places) == rows, "attention", "{} places for {} rows of {}", placed_rows(places), rows, what);
  };
  if (a.query_places) {
    fits("queries", a.query_places, a.q.rows());
    fits("keys", a.key_places, a.k.rows());
  }
  if (a.segment_heads.empty()) return;
  check(a.heads == 1 && std::ssize(a.segment_heads) == a.queries->count(), "attention",
        "{} segments of {} heads have {} heads of their own", a.queries->count(), a.heads, a.segment_heads.size());
  for (const int32_t head : a.segment_heads)
    check(head >= 0 && head < a.hook_heads, "attention", "a segment is head {} of {}", head, a.hook_heads);
}

/// Checks everything and fills in what was left to the default.
Attention checked(Attention a) {
  check_attention("attention", a, a.dim);
  if (a.scale == 0) a.scale = 1 / std::sqrt(static_cast<float>(a.dim));
  check(!a.pattern || (a.queries->start == a.keys->start && a.queries->count() == std::ssize(a.pattern->segments)),
        "attention", "a pattern of {} segments is for rows that are their own keys",
        a.pattern ? std::ssize(a.pattern->segments) : 0);
  for (int64_t i = 0; a.pattern && i < a.queries->count(); ++i)
    check(a.pattern->segments[static_cast<size_t>(i)]->length() == a.queries->length(i), "attention",
          "a pattern for {} rows, the segment has {}", a.pattern->segments[static_cast<size_t>(i)]->length(),
          a.queries->length(i));
  check(!a.pattern || !a.query_places || a.query_places.cols() <= kPatternAxes, "attention",
        "rows of a pattern have at most {} axes", kPatternAxes);
  check(a.scale > 0, "attention", "the scale is {}, not above 0", a.scale);
  for (const Var& table : a.tables) {
    check(!table || a.hook, "attention", "a table of relative positions is given, but nothing that reads it");
    if (table) check_same_type("attention", a.q, table);
  }
  check_places(a);
  if (a.hook) a.hook->check_tables(a.tables, a.segment_heads.empty() ? a.heads : a.hook_heads, a.dim);
  return a;
}

kernels::AttentionShape shape_of(const Attention& a) {
  kernels::AttentionShape x{a.queries, a.keys, a.heads, a.heads_kv, a.dim, a.scale, a.mask, a.dropout, a.hook};
  x.pattern = a.pattern;
  for (size_t i = 0; i < a.tables.size(); ++i)
    if (a.tables[i]) x.tables.values[i] = a.tables[i].value();
  x.query_places = RowPlaces(a.query_places);
  x.key_places = RowPlaces(a.key_places);
  if (!a.segment_heads.empty()) x.segment_heads = a.segment_heads.data();
  return x;
}

/// A gradient that everybody may add to.
Grad cleared(Ctx& ctx, const Grad& g) {
  if (g && !g.add) ctx.run([&] { kernels::fill_zero(g.tensor, ctx.pool); });
  return {g.tensor, true};
}

/// What the backward pass reads.
kernels::AttentionBackward way_back(const Attention& a, const Var& y, const Var& log_sum, const Tensor& dy) {
  kernels::AttentionBackward b;
  b.shape = shape_of(a);
  give_qkv(a, b);
  b.out = rows_of(y.value(), 0);
  b.dout = rows_of(dy, 0);
  b.log_sum = log_sum.value().as<float>();
  return b;
}

}  // namespace

Var attention(Ctx& ctx, const Attention& given) {
  const Attention a = checked(given);
  if (a.q.dtype() == DType::f64) return attention_reference(ctx, a);
  const kernels::AttentionShape shape = shape_of(a);
  Var y = ctx.make(Shape{a.q.rows(), a.heads * a.dim}, DType::f32, {&a.q, &a.k, &a.v, &a.tables[0], &a.tables[1]});
  Var log_sum = ctx.make(Shape{a.heads, a.q.rows()}, DType::f32, {});
  {
    Scratch scratch(ctx.arena, kernels::attention_scratch(shape, workers_of(ctx.pool), false));
    ctx.run([&] {
      kernels::attention_forward(
          {shape, rows_of(a.q.value(), a.q_column), rows_of(a.k.value(), a.k_column), rows_of(a.v.value(), a.v_column),
           rows_of(y.value(), 0), log_sum.value().as<float>(), scratch.as<void>()},
          ctx.pool);
    });
  }
  if (y.needs_grad())
    ctx.tape->push(y, [a, y, log_sum](Ctx& ctx) {
      const QkvGradients d = place_qkv(ctx, a, a.dim);
      std::array<Grad, 2> tables;
      for (size_t i = 0; i < tables.size(); ++i) tables[i] = cleared(ctx, ctx.grad(a.tables[i]));
      const Tensor dy = ctx.grad_of(y.sink());
      Scratch scratch(ctx.arena, kernels::attention_scratch(shape_of(a), workers_of(ctx.pool), true));
      ctx.run([&] {
        kernels::AttentionBackward b = way_back(a, y, log_sum, dy);
        for (size_t i = 0; i < tables.size(); ++i) b.shape.tables.gradients[i] = tables[i].tensor;
        d.give(b);
        b.scratch = scratch.as<void>();
        kernels::attention_backward(b, ctx.pool);
      });
    });
  return y;
}

namespace reference {

Var mask_scores(Ctx& ctx, const Attention& a, int64_t segment) {
  const int64_t n = a.queries->length(segment), m = a.keys->length(segment);
  const Var s = ctx.make(Shape{n, m}, a.q.dtype(), {});
  ctx.run([&] {
    by_type(a.q.dtype(), [&](auto type) {
      std::vector<int32_t> keys;
      for (int64_t i = 0; i < n; ++i) {
        auto* row = s.value().row<decltype(type)>(i);
        if (a.pattern) {
          std::fill_n(row, m, -INFINITY);
          a.pattern->keys_of(segment, i, keys);
          for (const int32_t j : keys) row[j] = 0;
          continue;
        }
        const Mask::Range range = a.mask.keys_of(i, n, m, segment);
        for (int64_t j = 0; j < m; ++j) row[j] = j >= range.from && j < range.to ? 0 : -INFINITY;
      }
    });
  });
  return s;
}

Var dropout_factors(Ctx& ctx, const Attention& a, int64_t segment, int64_t head) {
  const int64_t n = a.queries->length(segment), m = a.keys->length(segment);
  Dropout d = a.dropout;
  d.key = mix(d.key, static_cast<uint64_t>(head));
  const Var f = ctx.make(Shape{n, m}, a.q.dtype(), {});
  ctx.run([&] {
    by_type(a.q.dtype(), [&](auto type) {
      for (int64_t i = 0; i < n; ++i)
        for (int64_t j = 0; j < m; ++j)
          f.value().row<decltype(type)>(i)[j] =
              dropped(d, a.queries->begin(segment) + i, static_cast<uint32_t>(j)) ? 0 : dropout_scale(d.rate);
    });
  });
  return f;
}

}  // namespace reference

Var attention_reference(Ctx& ctx, const Attention& given) {
  const Attention a = checked(given);
  return reference::head_by_head(ctx, a, a.dim, [&](const reference::OneHead& one) {
    ReferencePlace place{one.head, one.q.rows(), one.k.rows(), a.scale, a.tables};
    place.query_places = RowPlaces(a.query_places).from(a.queries->begin(one.segment));
    place.key_places = RowPlaces(a.key_places).from(a.keys->begin(one.segment));
    if (!a.segment_heads.empty()) place.head = a.segment_heads[static_cast<size_t>(one.segment)];
    const bool hooked = a.hook && one.q.rows() > 0 && one.k.rows() > 0;
    Var scores = scale(ctx, matmul(ctx, one.q, one.k, {.right = true}), static_cast<double>(a.scale));
    if (hooked) scores = add(ctx, scores, a.hook->scores_reference(ctx, one.q, place));
    Var weights = softmax(ctx, add(ctx, scores, reference::mask_scores(ctx, a, one.segment)));
    if (a.dropout.on()) weights = multiply(ctx, weights, reference::dropout_factors(ctx, a, one.segment, one.head));
    Var out = matmul(ctx, weights, one.v);
    if (hooked)
      if (const Var more = a.hook->values_reference(ctx, weights, place)) out = add(ctx, out, more);
    return out;
  });
}

namespace {

void check_pair(const Attention& a, const Attention& b) {
  check(a.q.slot() == b.q.slot() && a.q_column == b.q_column && a.heads == b.heads && a.dim == b.dim, "joint_attention",
        "the queries of both sides differ");
  check(!a.hook && !b.hook, "joint_attention", "it takes no hook");
  check(!a.pattern && !b.pattern, "joint_attention", "it takes no pattern");
}

/// [n, m] scores of all heads would be one matrix: here a head at a time, the keys of both sides side by side.
Var joint_attention_reference(Ctx& ctx, const Attention& a, const Attention& b) {
  const auto head_of = [&](const Attention& x, const Var& rows, int64_t column, int64_t h) {
    return slice_columns(ctx, rows, column + h / (x.heads / x.heads_kv) * x.dim, x.dim);
  };
  // Sequences of a and of b are cut differently: every query's own piece of both is looked up.
  std::vector<Var> rows;
  for (int64_t r = 0, sa = 0, sb = 0; r < a.q.rows(); ++r) {
    while (r >= a.queries->begin(sa) + a.queries->length(sa)) ++sa;
    while (r >= b.queries->begin(sb) + b.queries->length(sb)) ++sb;
    std::vector<Var> heads;
    for (int64_t h = 0; h < a.heads; ++h) {
      const Var q = slice_columns(ctx, slice_rows(ctx, a.q, r, 1), a.q_column + h * a.dim, a.dim);
      std::vector<Var> scores, values;
      for (const auto& [x, s] : {std::pair{&a, sa}, std::pair{&b, sb}}) {
        const Mask::Range seen =
            x->mask.keys_of(r - x->queries->begin(s), x->queries->length(s), x->keys->length(s), s);
        const int64_t from = x->keys->begin(s) + seen.from, count = seen.to - seen.from;
        const Var k = head_of(*x, slice_rows(ctx, x->k, from, count), x->k_column, h);
        values.push_back(head_of(*x, slice_rows(ctx, x->v, from, count), x->v_column, h));
        scores.push_back(scale(ctx, matmul(ctx, q, k, {.right = true}), static_cast<double>(x->scale)));
      }
      heads.push_back(matmul(ctx, softmax(ctx, concatenate_columns(ctx, scores)), concatenate_rows(ctx, values)));
    }
    rows.push_back(concatenate_columns(ctx, heads));
  }
  return concatenate_rows(ctx, rows);
}

}  // namespace

Var joint_attention(Ctx& ctx, const Attention& first, const Attention& second) {
  const Attention a = checked(first), b = checked(second);
  check_pair(a, b);
  if (a.q.dtype() == DType::f64) return joint_attention_reference(ctx, a, b);
  const int64_t rows = a.q.rows(), width = a.heads * a.dim;
  Var y = ctx.make(Shape{rows, width}, DType::f32, {&a.q, &a.k, &a.v, &b.k, &b.v});
  Var log_sum = ctx.make(Shape{a.heads, rows}, DType::f32, {});
  const auto scratch_of = [&](bool backward) {
    return std::max(kernels::attention_scratch(shape_of(a), workers_of(ctx.pool), backward),
                    kernels::attention_scratch(shape_of(b), workers_of(ctx.pool), backward));
  };
  {
    const Scratch other(ctx.arena, rows * width * 4), other_sum(ctx.arena, a.heads * rows * 4);
    const Scratch scratch(ctx.arena, scratch_of(false));
    const auto forward = [&](const Attention& x, kernels::Rows out, float* sums) {
      kernels::attention_forward({shape_of(x), rows_of(x.q.value(), x.q_column), rows_of(x.k.value(), x.k_column),
                                  rows_of(x.v.value(), x.v_column), out, sums, scratch.as<void>()},
                                 ctx.pool);
    };
    ctx.run([&] {
      const kernels::Rows out = rows_of(y.value(), 0), more{other.as<float>(), width};
      forward(a, out, log_sum.value().as<float>());
      forward(b, more, other_sum.as<float>());
      kernels::attention_merge({rows, a.heads, a.dim, out, more, log_sum.value().as<float>(), other_sum.as<float>()},
                               ctx.pool);
    });
  }
  if (y.needs_grad())
    ctx.tape->push(y, [a, b, y, log_sum, bytes = scratch_of(true)](Ctx& ctx) {
      const Tensor dy = ctx.grad_of(y.sink());
      const QkvGradients d = place_qkv(ctx, a, a.dim);
      QkvGradients d_b{{d.q.rows, true}, {}, {}};
      PartOf parts_b[]{{&b.k.sink(), b.k_column, b.heads_kv * b.dim, &d_b.k},
                       {&b.v.sink(), b.v_column, b.heads_kv * b.dim, &d_b.v}};
      place_parts(ctx, parts_b);
      const Scratch scratch(ctx.arena, bytes);
      ctx.run([&] {
        const auto back = [&](const Attention& x, const QkvGradients& to) {
          kernels::AttentionBackward g = way_back(x, y, log_sum, dy);
          g.part = true;
          to.give(g);
          g.scratch = scratch.as<void>();
          kernels::attention_backward(g, ctx.pool);
        };
        back(a, d);
        back(b, d_b);
      });
    });
  return y;
}

}  // namespace attune
