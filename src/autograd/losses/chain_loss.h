// Conditional random fields over a chain (Lafferty et al. 2001; as the last layer of a tagger: Lample et al. 2016,
// "Neural Architectures for Named Entity Recognition"): a sequence of labels scores the sum of its rows' scores and of
// its moves from label to label, and its probability is the softmax over all sequences. The best one:
// kernels/vocabulary/viterbi.h.
#pragma once
#include "autograd/tape.h"

namespace attune {

struct ChainLoss {
  Var scores;                          // [n, labels]
  Var moves;                           // [labels + 2, labels]: from a label to a label; from the begin; to the end
  Tensor targets = {};                 // i32 [n]; -1: any label may stand there
  const Segments* segments = nullptr;  // must live until the backward pass is over
  float scale = 1;
  Tensor weights = {};  // f32 [n] or missing: of a sequence, its first row's counts
};

/// scale times the sum of -log p(targets) of all sequences, [1].
Var chain_loss(Ctx& ctx, const ChainLoss& a);

}  // namespace attune
