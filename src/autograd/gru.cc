#include "autograd/gru.h"

#include "autograd/operands.h"
#include "autograd/products.h"
#include "autograd/steps.h"
#include "kernels/gru.h"
#include "kernels/rows/arrange.h"
#include "kernels/rows/reduce.h"

namespace attune {

Var gru_cell(Ctx& ctx, const Var& gates, const Var& hidden, const Var& before) {
  check_real("gru_cell", "gates", gates);
  check_same_type("gru_cell", gates, hidden);
  check_same_type("gru_cell", gates, before);
  const int64_t rows = gates.rows(), d = before.cols();
  check(gates.cols() == 3 * d && hidden.cols() == 3 * d, "gru_cell", "{} and {} gates for states of {} numbers",
        gates.cols(), hidden.cols(), d);
  check(hidden.rows() == rows && before.rows() >= rows, "gru_cell", "{} rows of inputs, {} of gates, {} of states",
        rows, hidden.rows(), before.rows());
  Var after = ctx.make({rows, d}, gates.dtype(), {&gates, &hidden, &before});
  Var kept = after.needs_grad() ? ctx.make({rows, 4 * d}, gates.dtype(), {}) : Var();
  ctx.run([&] {
    kernels::GruCell c{rows, gates.value(), nullptr, hidden.value(), before.value(), after.value()};
    if (kept) c.kept = kept.value();
    kernels::gru_cell(c);
  });
  if (after.needs_grad())
    ctx.tape->push(after, [=, gates = gates.sink(), hidden = hidden.sink(), after = after.sink()](Ctx& ctx) {
      const Grad dgates = ctx.grad(gates), dhidden = ctx.grad(hidden), dbefore = ctx.grad(before);
      ctx.run([&] {
        clear_rows_beyond(dbefore, rows);
        kernels::GruCellBackward b{rows, kept.value(), before.value(), ctx.grad_of(after)};
        b.dgates = dgates.tensor;
        b.add_gates = dgates.add;
        b.dhidden = dhidden.tensor;
        b.add_hidden = dhidden.add;
        b.dbefore = dbefore.tensor;
        b.add_before = dbefore.add;
        kernels::gru_cell_backward(b);
      });
    });
  return after;
}

namespace {

// States and what belongs to them lie step after step: the states before the first step, then those after each. The
// state that row i of a step goes on from is row i of the block before, for only the last sequences of a block end.

/// Where the block of states before a step begins: so many rows of all.
struct StateBlocks {
  const StepOrder& order;
  int64_t count(int64_t step) const {
    return step == 0 ? std::ssize(order.order) : order.active[static_cast<size_t>(step - 1)];
  }
  int64_t rows() const { return std::ssize(order.order) + order.rows(); }
};

void check_sequence(const GruSequence& g) {
  check_real("gru_sequence", "gates", g.gates);
  check_same_type("gru_sequence", g.gates, g.weight);
  check_same_type("gru_sequence", g.gates, g.bias);
  const int64_t d = g.weight.cols();
  check(g.weight.rows() == 3 * d && g.gates.cols() == 3 * d && g.bias.shape().size() == 3 * d, "gru_sequence",
        "weights {}, {} biases and {} gates do not go together", g.weight.shape().text(), g.bias.shape().size(),
        g.gates.cols());
  check(g.order && g.order->rows() == g.gates.rows(), "gru_sequence", "steps over {} rows, there are {}",
        g.order ? g.order->rows() : 0, g.gates.rows());
  if (!g.first) return;
  check_same_type("gru_sequence", g.gates, g.first);
  check(g.first.rows() == std::ssize(g.order->order) && g.first.cols() == d, "gru_sequence",
        "first states {} for {} sequences of {} numbers", g.first.shape().text(), g.order->order.size(), d);
}

void gru_forward(Ctx& ctx, const GruSequence& g, const Tensor& states, const Tensor& kept, const Tensor& hidden) {
  const StateBlocks blocks{*g.order};
  const int64_t count = blocks.count(0);
  const Tensor first = states.row_range(0, count);
  if (g.first)
    kernels::gather_rows(g.first.value(), id_tensor(g.order->order), first, false, ctx.pool);
  else
    kernels::fill_zero(first, ctx.pool);
  int64_t at = 0, done = 0;  // the block of states before this step; rows of the steps before
  for (int64_t t = 0; t < g.order->steps(); ++t) {
    const int64_t rows = g.order->active[static_cast<size_t>(t)], next = at + blocks.count(t);
    kernels::GruCell c{rows, g.gates.value(), g.order->row.data() + done};
    c.hidden = hidden.row_range(0, rows);
    c.before = states.row_range(at, rows);
    c.after = states.row_range(next, rows);
    if (kept) c.kept = kept.row_range(done, rows);
    multiply_by_weight(ctx, {c.before, g.weight, g.bias.value(), c.hidden});
    kernels::gru_cell(c);
    at = next;
    done += rows;
  }
}

/// What goes back: `dhidden` has a row for each state, zeros for those that nothing goes on from.
struct GruBack {
  Tensor states, kept, dy;
  Tensor carried = {}, dhidden = {};
  Grad gates = {};
};

void gru_backward(Ctx& ctx, const GruSequence& g, const GruBack& b) {
  const StateBlocks blocks{*g.order};
  kernels::fill_zero(b.carried, ctx.pool);
  kernels::fill_zero(b.dhidden, ctx.pool);
  int64_t done = g.order->rows(), at = blocks.rows();
  if (g.order->steps() > 0) at -= g.order->active.back();
  for (int64_t t = g.order->steps() - 1; t >= 0; --t) {
    const int64_t rows = g.order->active[static_cast<size_t>(t)];
    at -= blocks.count(t);
    done -= rows;
    const Tensor carried = b.carried.row_range(0, rows);
    const int32_t* index = g.order->row.data() + done;
    kernels::gather_rows(b.dy, Tensor(index, Shape{rows}), carried, true, ctx.pool);
    kernels::GruCellBackward c{rows, b.kept.row_range(done, rows), b.states.row_range(at, rows), carried};
    c.dgates = b.gates.tensor;
    c.index = index;
    c.add_gates = b.gates.add;
    c.dhidden = b.dhidden.row_range(at, rows);
    c.dbefore = carried;
    kernels::gru_cell_backward(c);
    input_gradient(c.dhidden, g.weight, carried, true, ctx.pool);
  }
}

}  // namespace

Var gru_sequence(Ctx& ctx, const GruSequence& g) {
  check_sequence(g);
  const StateBlocks blocks{*g.order};
  const int64_t n = g.gates.rows(), d = g.weight.cols(), count = blocks.count(0);
  const DType type = g.gates.dtype();
  Var y = ctx.make({n, d}, type, {&g.gates, &g.weight, &g.bias, &g.first});
  const Var states = ctx.make({blocks.rows(), d}, type, {});
  const Var kept = y.needs_grad() ? ctx.make({n, 4 * d}, type, {}) : Var();
  {
    const Var hidden = ctx.make({count, 3 * d}, type, {});
    ctx.run([&] {
      gru_forward(ctx, g, states.value(), kept ? kept.value() : Tensor(), hidden.value());
      const Tensor after = states.value().row_range(count, n);
      for (int64_t i = 0; i < n; ++i)
        kernels::copy(after.row_range(i, 1), y.value().row_range(g.order->row[static_cast<size_t>(i)], 1), false,
                      nullptr);
    });
  }
  if (!y.needs_grad()) return y;
  ctx.tape->push(y, [g, y = y.sink(), states, kept, count, d](Ctx& ctx) {
    const Grad dgates = ctx.grad(g.gates), dw = ctx.grad(g.weight), db = ctx.grad(g.bias), dfirst = ctx.grad(g.first);
    const Tensor dy = ctx.grad_of(y);
    const int64_t bytes = bytes_of(dy.dtype), all = states.rows();
    const Scratch carried(ctx.arena, count * d * bytes), dhidden(ctx.arena, all * 3 * d * bytes);
    ctx.run([&] {
      GruBack b{states.value(), kept.value(), dy};
      b.carried = Tensor(carried.as<void>(), dy.dtype, Shape{count, d});
      b.dhidden = Tensor(dhidden.as<void>(), dy.dtype, Shape{all, 3 * d});
      b.gates = dgates;
      gru_backward(ctx, g, b);
      if (dw) weight_gradient(b.dhidden, b.states, dw.tensor, dw.add, ctx.pool);
      if (db) kernels::column_sum(b.dhidden, 1, db.tensor, db.add, ctx.pool);
      if (!dfirst) return;
      if (!dfirst.add) kernels::fill_zero(dfirst.tensor, ctx.pool);
      kernels::scatter_add_rows(b.carried, id_tensor(g.order->order), dfirst.tensor, ctx.pool);
    });
  });
  return y;
}

}  // namespace attune
