// The loss of attention that does not look where it should: a cross-attention's weights are made once more, a pair of
// sentences at a time, and what is wrong with them flows back into queries and keys. It costs about as much as that
// layer's attention, and memory for two matrices of a single pair.
#pragma once
#include <cstdint>
#include <span>

#include "autograd/attention/attention.h"
#include "tensor/rows.h"

namespace attune {

struct Guide {
  double sigma = 0;   // above 0: the diagonal; 0: the links
  Edges links = {};   // or where each row of packed queries should look; a row without any does not count
  int64_t head = -1;  // which head is guided; -1: the mean of all
  double scale = 1;   // what the sum over rows is multiplied by
};

/// scale times a sum over the rows i of queries, [1]. With A the weights softmax(a.scale Q K^T) of one head or their
/// mean, I queries and J keys in the sequence,
///   diagonal: sum_j A_ij (1 - exp(-(i/I - j/J)^2 / (2 sigma^2)))     (Tachibana et al. 2017, section 4.1)
///   links:    - sum_j log(A_ij) / |links of i|, j in them             (Garg et al. 2019, equation 4)
/// Every query sees all keys; dropout is not looked at. In f64 it runs as the reference does.
Var guide_loss(Ctx& ctx, const Attention& a, const Guide& guide);

/// The same composed of plain operations, in f32 or f64.
Var guide_loss_reference(Ctx& ctx, const Attention& a, const Guide& guide);

}  // namespace attune
