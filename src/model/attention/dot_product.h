// What mechanisms share in which queries meet keys one by one: the fused operation over a whole batch, single rows that
// read cached keys or a finished memory, and the weights for people to look at. They differ in which keys a query sees.
#pragma once
#include "kernels/attention/score_attention.h"
#include "model/attention/key_cache.h"
#include "model/attention/mechanism.h"

namespace attune {

/// The operation for these rows, ready to run: `attention(pass.ctx, dot_attention(...))`.
Attention dot_attention(const Pass& pass, const AttentionSetup& setup, const Projected& p, const Mask& mask);

/// The numbers that the position scheme learns, as its hook reads them.
HookTables hook_tables(const Projected& p);

/// How single rows make weights. By default, and where it is fused, a softmax of dot products.
struct StepRule {
  float scale = 0;  // 0: 1 / sqrt(dim)
  bool fused = true;
  ScoreKind score = ScoreKind::dot;
  Normaliser normaliser = {};
  Var vector = {}, bias = {};  // of additive scores
};

/// What of a cache a step reads.
struct CachedKeys {
  const KeyCache& cache;
  int64_t last = KeyCache::kEverything;          // only so many of the last positions ...
  int64_t stride = 1;                            // ... every so many of them, counted back from the last
  int64_t head_kv = 0;                           // the first of the heads it reads
  const std::vector<int32_t>* chosen = nullptr;  // or the positions it reads, in order, perhaps none
};
Var step_dot(const Pass& pass, const AttentionSetup& setup, const Projected& p, const CachedKeys& keys,
             const StepRule& rule = {});
/// Row i against segment memory_of[i] of the keys.
Var read_dot(const Pass& pass, const AttentionSetup& setup, const Projected& p, std::span<const int32_t> memory_of,
             const StepRule& rule = {});
void dot_weights(const Pass& pass, const AttentionSetup& setup, const Projected& p, const Mask& mask, float* out,
                 const StepRule& rule = {}, const BatchPattern* pattern = nullptr);
/// Two products over each pair of positions that see each other.
double dot_operations(const AttentionSetup& setup, const Mask& mask, const Segments& queries, const Segments& keys);

}  // namespace attune
