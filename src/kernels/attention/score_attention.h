// Attention with any score and any normaliser over packed sequences. Of the matrix of weights a strip of a few queries
// times the keys they see is all that ever exists; the backward pass computes the strips anew, and nothing is kept. For
// scaled dot products and the softmax kernels/attention/attention.h is faster.
#pragma once
#include <cstdint>

#include "kernels/attention/attention.h"
#include "kernels/attention/attention_step.h"

namespace attune {

/// How well a key fits a query.
enum class ScoreKind : uint8_t {
  dot,       // scale q . k
  additive,  // scale v . tanh(q + k + b), v and b of the head's own (Bahdanau et al. 2014)
  l2,        // -scale |q - k|^2 (Kim, Papamakarios and Mnih 2021)
};

/// How a row of scores becomes weights.
enum class NormaliserKind : uint8_t {
  softmax,
  top_k,      // the softmax of the k largest scores, the others 0; of equal ones the first keys
  sparsemax,  // the nearest point of the simplex (Martins and Astudillo 2016)
  entmax15,   // half way between softmax and sparsemax (Peters, Niculae and Martins 2019)
};

struct Normaliser {
  NormaliserKind kind = NormaliserKind::softmax;
  int64_t k = 0;  // of top_k
};

namespace kernels {

struct ScoreRule {
  ScoreKind score = ScoreKind::dot;
  Normaliser normaliser = {};
  const float* vector = nullptr;  // [heads, dim]: v of additive scores ...
  const float* bias = nullptr;    // ... and b, which may be absent
};

/// What forward and backward share; there is no hook.
struct ScoreShape {
  AttentionShape attention;
  ScoreRule rule;
};

struct ScoreForward {
  ScoreShape shape;
  Rows q, k, v, out;
  void* scratch = nullptr;  // score_attention_scratch bytes
};
/// A query that sees no key gives zeros.
void score_attention_forward(const ScoreForward& a, ThreadPool* pool);

struct ScoreBackward {
  ScoreShape shape;
  Rows q, k, v, dout;
  Rows dq, dk, dv;  // any may be absent (data == nullptr)
  bool add_dq = false, add_dk = false, add_dv = false;
  float *dvector = nullptr, *dbias = nullptr;  // [heads, dim], either may be absent
  bool add_dvector = false, add_dbias = false;
  void* scratch = nullptr;
};
void score_attention_backward(const ScoreBackward& a, ThreadPool* pool);

/// Bytes of scratch: linear in the longest sequence, times the workers.
int64_t score_attention_scratch(const ScoreShape& shape, int workers, bool backward);

/// The same for single rows, for decoding: what attention_step does, by this rule. It needs as much scratch as that.
void score_attention_step(const AttentionStep& a, const ScoreRule& rule, ThreadPool* pool = nullptr);

/// The weights themselves, for people to look at: one head of one segment into w[queries, keys]. Slow.
void score_attention_weights(const ScoreShape& shape, Rows q, Rows k, int64_t segment, int64_t head, float* w);

}  // namespace kernels
}  // namespace attune
