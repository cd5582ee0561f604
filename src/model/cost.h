// What a model costs: floating point operations of a training step, counted from its products. Estimates and shares of
// the machine's peak are made of this.
#pragma once
#include "model/model.h"

namespace attune {

/// Of one forward and backward pass over a batch: matrix products (2 m n k each, three of them per weight) and the
/// pairs of positions that see each other (4 dim operations forward and 10 backward).
double training_flops(const Model& model, const DecodedRows& rows);

/// Of a Transformer that is not there yet, on a batch about which nothing is known but its sizes: attention within
/// sentences of that length.
double training_flops(const ModelOptions& model, const ModelSizes& sizes, int64_t source_tokens, int64_t target_tokens,
                      int64_t length);

}  // namespace attune
