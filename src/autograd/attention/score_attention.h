// Multi-head attention over packed sequences with any score and any normaliser in one operation. Where it is scaled dot
// products and the softmax, autograd/attention/attention.h does the same faster.
#pragma once
#include "autograd/attention/attention.h"
#include "kernels/attention/score_attention.h"

namespace attune {

/// Attention's fields (without a hook), and how scores and weights are made. scale 0 is 1 / sqrt(dim) for dot and l2,
/// and 1 for additive scores.
struct ScoreAttention : Attention {
  ScoreKind score = ScoreKind::dot;
  Normaliser normaliser = {};
  Var vector, bias;  // heads * dim numbers, head by head: v and b of additive scores; the bias may be absent
};

/// normalise(scores) V per head and segment, [rows of q, heads * dim]:
///
///   dot  scale q . k      additive  scale v . tanh(q + k + b)      l2  -scale |q - k|^2
///
/// A query that sees no key gives zeros. Time is quadratic in a sequence's length, memory linear: nothing is kept but
/// the operands, and of the weights only a strip of a few queries exists at a time. In f64 it runs as the reference
/// does.
///
/// Other scores are these on rows changed before (autograd/attention/heads.h): general is dot of q_h W_h, cosine dot
/// with scale 1 of normalised rows with a gain, normed additive has a normalised vector with a gain.
Var score_attention(Ctx& ctx, const ScoreAttention& a);

/// The same composed of plain operations, one head of one segment at a time, in f32 or f64.
Var score_attention_reference(Ctx& ctx, const ScoreAttention& a);

}  // namespace attune
