// Gradient checkpointing (Chen et al. 2016, "Training deep nets with sublinear memory cost"): a part of a network that
// keeps nothing but what enters it, and is computed again when the gradients come back. It costs a second forward pass
// of that part; the bits are the same, for operations repeat themselves exactly, dropout too.
#pragma once
#include <algorithm>
#include <array>

#include "autograd/tape.h"

namespace attune {

/// Puts a tape in place of a context's for the length of a scope.
class OtherTape {
 public:
  OtherTape(Ctx& ctx, Tape* tape) : ctx_(ctx), tape_(ctx.tape), first_row_(ctx.first_row) { ctx.tape = tape; }
  ~OtherTape() {
    ctx_.tape = tape_;
    ctx_.first_row = first_row_;
  }
  OtherTape(const OtherTape&) = delete;
  OtherTape& operator=(const OtherTape&) = delete;

 private:
  Ctx& ctx_;
  Tape* tape_;
  int64_t first_row_;
};

/// Runs f(state, false) now, and f(state, true) on the state of now once gradients of what it made are there. A State
/// is a few Vars that f replaces: `std::array<Var*, N> vars()`, N at most 4. What f captures must outlive the backward
/// pass.
template <class State, class F>
void recomputed(Ctx& ctx, State& state, const F& f) {
  if (!ctx.tape) return f(state, false);
  State before = state;
  {
    const OtherTape none(ctx, nullptr);
    ctx.wants_gradients = false;
    f(state, false);
  }
  const auto in = before.vars(), out = state.vars();
  if (!ctx.wants_gradients && std::none_of(in.begin(), in.end(), [](const Var* v) { return *v && v->needs_grad(); }))
    return;  // all of it is frozen
  std::array<Sink, 4> made;
  const Var nothing;
  std::array<const Var*, 4> outs{&nothing, &nothing, &nothing, &nothing};
  for (size_t i = 0; i < out.size(); ++i) {
    Slot* slot = out[i]->slot();
    if (!slot || std::any_of(in.begin(), in.end(), [&](const Var* v) { return v->slot() == slot; })) continue;
    slot->needs_grad = true;
    made[i] = out[i]->sink();
    outs[i] = out[i];
  }
  const auto back = [before, made, f, first_row = ctx.first_row](Ctx& ctx) {
    Tape& tape = ctx.tape->recomputation();
    const OtherTape other(ctx, &tape);
    ctx.first_row = first_row;
    {
      State now = before;
      f(now, true);
      const auto out = now.vars();
      for (size_t i = 0; i < out.size(); ++i)
        if (made[i].has_grad()) ctx.hand_grad(made[i], *out[i]);
    }
    tape.run_back(ctx);
  };
  ctx.tape->push({outs[0], outs[1], outs[2], outs[3]}, back);
}

}  // namespace attune
