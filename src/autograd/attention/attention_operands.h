// Queries, keys and values as operations of attention take them: Vars of their own, or ranges of columns of one that a
// joined projection made. For whoever writes such an operation.
#pragma once
#include <span>

#include "autograd/operands.h"
#include "kernels/attention/attention.h"

namespace attune {

inline kernels::Rows rows_of(const Tensor& t, int64_t column) { return {t.as<float>() + column, t.stride}; }

/// Checks what all of them demand of their fields q, k, v, their columns, segments and heads. heads_kv is set where it
/// was left to be as many as there are heads.
template <class Op>
void check_attention(const char* op, Op& a, int64_t value_dim) {
  check_real(op, "queries", a.q);
  check_real(op, "keys", a.k);
  check_real(op, "values", a.v);
  check_same_type(op, a.q, a.k);
  check_same_type(op, a.q, a.v);
  check(a.k.rows() == a.v.rows(), op, "keys have {} rows, values have {}", a.k.rows(), a.v.rows());
  check(a.queries && a.keys, op, "segments are missing");
  check(a.queries->rows() == a.q.rows(), op, "segments have {} rows, queries have {}", a.queries->rows(), a.q.rows());
  check(a.keys->rows() == a.k.rows(), op, "segments have {} rows, keys have {}", a.keys->rows(), a.k.rows());
  check(a.queries->count() == a.keys->count(), op, "{} segments of queries, {} of keys", a.queries->count(),
        a.keys->count());
  if (a.heads_kv == 0) a.heads_kv = a.heads;
  check(a.heads > 0 && a.heads_kv > 0 && a.heads % a.heads_kv == 0, op, "{} heads can't share {} key-value heads",
        a.heads, a.heads_kv);
  check(a.dim > 0 && value_dim > 0, op, "a head has {} columns", a.dim > 0 ? value_dim : a.dim);
  const auto check_columns = [&](const char* what, const Var& x, int64_t column, int64_t heads, int64_t dim) {
    check(column >= 0 && column + heads * dim <= x.cols(), op,
          "{} of {} heads of {} need columns {} to {}, rows have {}", what, heads, dim, column, column + heads * dim,
          x.cols());
  };
  check_columns("queries", a.q, a.q_column, a.heads, a.dim);
  check_columns("keys", a.k, a.k_column, a.heads_kv, a.dim);
  check_columns("values", a.v, a.v_column, a.heads_kv, value_dim);
}

/// A range of columns of one gradient, and how to write it. Absent (rows.data == nullptr) where none is wanted.
struct Part {
  kernels::Rows rows;
  bool add = false;
};
struct PartOf {
  const Sink* sink;
  int64_t column, width;
  Part* part;
};

/// In a backward function: finds the memory of gradients that may be parts of one matrix. The first writer stores if
/// the parts cover all of it, each column once; else it is cleared first and all add.
void place_parts(Ctx& ctx, std::span<PartOf> all);

/// The gradients of an operation's queries, keys and values.
struct QkvGradients {
  Part q, k, v;

  /// Into the fields of a kernel's arguments.
  template <class Backward>
  void give(Backward& b) const {
    b.dq = q.rows;
    b.dk = k.rows;
    b.dv = v.rows;
    b.add_dq = q.add;
    b.add_dk = k.add;
    b.add_dv = v.add;
  }
};
template <class Op>
QkvGradients place_qkv(Ctx& ctx, const Op& a, int64_t value_dim) {
  QkvGradients d;
  PartOf parts[]{{&a.q.sink(), a.q_column, a.heads * a.dim, &d.q},
                 {&a.k.sink(), a.k_column, a.heads_kv * a.dim, &d.k},
                 {&a.v.sink(), a.v_column, a.heads_kv * value_dim, &d.v}};
  place_parts(ctx, parts);
  return d;
}

/// Queries, keys and values into the fields of a kernel's arguments.
template <class Op, class Kernel>
void give_qkv(const Op& a, Kernel& to) {
  to.q = rows_of(a.q.value(), a.q_column);
  to.k = rows_of(a.k.value(), a.k_column);
  to.v = rows_of(a.v.value(), a.v_column);
}

}  // namespace attune
