// Attention of single rows to whole sequences, part by part, differentiably: scores, weights, and what is read. This is
// how recurrent decoders attend, one step after another; the weights of a step are there for the next. Numbers of
// pairs, [pairs, 1], lie row after row. What `reads` points to outlives the backward pass.
#pragma once
#include "autograd/tape.h"
#include "kernels/row_attention.h"

namespace attune {

/// v . tanh(query + key) of each pair (Bahdanau et al. 2014, appendix A.1.2); query [rows, d], keys [n, d], v [d].
Var additive_energies(Ctx& ctx, const RowReads& reads, const Var& query, const Var& keys, const Var& vector);
/// Their softmax over what each row reads.
Var row_softmax(Ctx& ctx, const RowReads& reads, const Var& energies);
/// The sum of values [n, d] by these weights: [rows, d]. A row that reads nothing gets zeros.
Var row_mix(Ctx& ctx, const RowReads& reads, const Var& weights, const Var& values);

}  // namespace attune
