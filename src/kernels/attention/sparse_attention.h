// Attention by a pattern (tensor/pattern.h): what attention_forward and attention_backward do where their shape has
// one. Only tiles that meet are computed. A query's keys may come from several places, rows that lie apart gathered
// into tiles of their own: its softmax runs along all of them.
#pragma once
#include "kernels/attention/attention.h"

namespace attune::kernels {

void sparse_attention_forward(const AttentionForward& a, ThreadPool* pool);
void sparse_attention_backward(const AttentionBackward& a, ThreadPool* pool);
int64_t sparse_attention_scratch(const AttentionShape& shape, int workers, bool backward);

}  // namespace attune::kernels
