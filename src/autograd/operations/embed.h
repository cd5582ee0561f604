// Embedding: ids to vectors, with positions and dropout, in one operation.
#pragma once
#include "autograd/tape.h"
#include "kernels/vocabulary/embed.h"

namespace attune {

/// What is embedded, and by what. Ids, segments and offsets belong to the batch, which must outlive the tape.
struct EmbedArgs {
  Var table = {};           // [V, d]; may be the output projection's too: its gradient is then added to
  Tensor ids = {};          // [n], i32
  float scale = 1;          // the paper's sqrt(d_model)
  Var positions = {};       // [max, d]: a constant (fill_sinusoidal), a parameter, or missing
  RowPositions where = {};  // which of them a row takes
  Dropout words = {};       // drops whole words: all columns of a row, the position not
};

/// dropout(words(table[id] * scale) + positions[position of the row]): [n, d]. In f64 it runs as the reference does.
Var embed(Ctx& ctx, const EmbedArgs& e, const Dropout& dropout = {});

/// The same by naive loops, in f32 or f64: what the fused one is checked against.
Var embed_reference(Ctx& ctx, const EmbedArgs& e, const Dropout& dropout = {});

}  // namespace attune
