// Gated recurrent units (Cho et al. 2014, "Learning Phrase Representations using RNN Encoder-Decoder"), differentiable:
// one step, and whole packed sequences in one operation.
//
//   r = sigmoid(W_r x + U_r h)    z = sigmoid(W_z x + U_z h)    n = tanh(W_n x + r (U_n h))    h' = (1 - z) n + z h
//
// with a bias beside each matrix. Where the paper has U_n (r h), the reset gate works on the product: then all of U is
// one product a step. Gates stand side by side, [r | z | n], as in other libraries.
#pragma once
#include "autograd/tape.h"
#include "tensor/step_order.h"

namespace attune {

/// One step of some rows: `gates` [m, 3 d] of the inputs, `hidden` [m, 3 d] of the state before, `before` [m or more
/// rows, d], whose first m rows go on: [m, d].
Var gru_cell(Ctx& ctx, const Var& gates, const Var& hidden, const Var& before);

/// All rows of packed sequences.
struct GruSequence {
  Var gates;         // [n, 3 d]: of the inputs, W x + b
  Var weight, bias;  // U [3 d, d], [3 d]
  Var first = {};    // [sequences, d]: the states before their first rows; missing: zeros
  std::shared_ptr<const StepOrder> order = {};
};

/// The states after each row, [n, d]. One product a step, of the sequences that are still going on; on the way back the
/// gradient of U is one product for all steps.
Var gru_sequence(Ctx& ctx, const GruSequence& g);

}  // namespace attune
