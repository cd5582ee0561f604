#include "autograd/row_attention.h"

#include "autograd/operands.h"
#include "kernels/rows/arrange.h"

namespace attune {

namespace {

void check_reads(const char* op, const RowReads& reads, const Var& read) {
  check_segments(op, *reads.sources, read);
  for (const int32_t s : reads.source_of)
    check(s >= 0 && s < reads.sources->count(), op, "a row reads sequence {} of {}", s, reads.sources->count());
}

void check_pairs(const char* op, const RowReads& reads, const Var& x) {
  check_real(op, "pairs", x);
  check(x.shape().size() == reads.pairs() && x.value().contiguous(), op, "{} for {} pairs", x.shape().text(),
        reads.pairs());
}

/// All rows may be added to from now on.
void clear_to_add_to(const Grad& g) {
  if (g && !g.add) kernels::fill_zero(g.tensor, nullptr);
}

}  // namespace

Var additive_energies(Ctx& ctx, const RowReads& reads, const Var& query, const Var& keys, const Var& vector) {
  check_real("additive_energies", "query", query);
  check_same_type("additive_energies", query, keys);
  check_same_type("additive_energies", query, vector);
  check_reads("additive_energies", reads, keys);
  check(query.rows() == reads.rows() && query.cols() == keys.cols() && vector.shape().size() == keys.cols(),
        "additive_energies", "query {}, keys {} and vector {} for {} rows", query.shape().text(), keys.shape().text(),
        vector.shape().text(), reads.rows());
  Var e = ctx.make({reads.pairs(), 1}, query.dtype(), {&query, &keys, &vector});
  ctx.run([&] { kernels::additive_energies({reads, query.value(), keys.value(), vector.value(), e.value()}); });
  if (e.needs_grad())
    ctx.tape->push(e, [=, e = e.sink()](Ctx& ctx) {
      const Grad dq = ctx.grad(query), dk = ctx.grad(keys), dv = ctx.grad(vector);
      ctx.run([&] {
        clear_to_add_to(dk);
        clear_to_add_to(dv);
        kernels::AdditiveEnergiesBackward b{reads, query.value(), keys.value(), vector.value(), ctx.grad_of(e)};
        b.dquery = dq.tensor;
        b.add_query = dq.add;
        b.dkeys = dk.tensor;
        b.dvector = dv.tensor;
        kernels::additive_energies_backward(b);
      });
    });
  return e;
}

Var row_softmax(Ctx& ctx, const RowReads& reads, const Var& energies) {
  check_pairs("row_softmax", reads, energies);
  Var w = ctx.make({reads.pairs(), 1}, energies.dtype(), {&energies});
  ctx.run([&] { kernels::row_softmax(reads, energies.value(), w.value()); });
  if (w.needs_grad())
    ctx.tape->push(w, [reads, energies = energies.sink(), w](Ctx& ctx) {
      const Grad de = ctx.grad(energies);
      ctx.run([&] { kernels::row_softmax_backward({reads, w.value(), ctx.grad_of(w.sink()), de.tensor, de.add}); });
    });
  return w;
}

Var row_mix(Ctx& ctx, const RowReads& reads, const Var& weights, const Var& values) {
  check_pairs("row_mix", reads, weights);
  check_same_type("row_mix", weights, values);
  check_reads("row_mix", reads, values);
  Var y = ctx.make({reads.rows(), values.cols()}, values.dtype(), {&weights, &values});
  ctx.run([&] { kernels::row_mix(reads, weights.value(), values.value(), y.value()); });
  if (y.needs_grad())
    ctx.tape->push(y, [=, y = y.sink()](Ctx& ctx) {
      const Grad dw = ctx.grad(weights), dv = ctx.grad(values);
      ctx.run([&] {
        clear_to_add_to(dv);
        kernels::RowMixBackward b{reads, weights.value(), values.value(), ctx.grad_of(y)};
        b.dweights = dw.tensor;
        b.add_weights = dw.add;
        b.dvalues = dv.tensor;
        kernels::row_mix_backward(b);
      });
    });
  return y;
}

}  // namespace attune
