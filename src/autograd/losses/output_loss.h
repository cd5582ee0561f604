// The end of a model in one operation: projection to the vocabulary, softmax and cross entropy with label smoothing.
// The logits exist for a chunk of rows at a time only, and their gradient is formed while the chunk is at hand.
#pragma once
#include "autograd/tape.h"

namespace attune {

struct OutputLoss {
  Var x;                  // [n, d]
  Var weight;             // [classes, d]; often the embedding itself
  Var bias = {};          // [classes] or missing
  Tensor targets = {};    // i32 [n]; a negative one: the row does not count
  float smoothing = 0;    // e of q = (1 - e) onehot + e / classes
  float scale = 1;        // what the sum is multiplied by: one over the tokens of the whole batch, a head's weight
  Tensor log_probs = {};  // f32 [n] or missing: receives log p(target) of each row
  Tensor weights = {};    // f32 [n] or missing: what each row's loss is multiplied by
};

/// scale times the sum of all rows' losses, [1]. With a tape, gradients go to x, weight and bias at once, in this call:
/// so it must be at the end of the tape, with nothing after it but sums of losses. A backward pass that arrives with
/// another gradient than 1 is an error (use `scale`). In f64 it runs as the reference does.
Var output_loss(Ctx& ctx, const OutputLoss& a);

/// The same composed of plain operations, all logits at once, in f32 or f64: what the fused one is checked against.
Var output_loss_reference(Ctx& ctx, const OutputLoss& a);

}  // namespace attune
