// A small encoder that learns to read a row of symbols backwards: the whole engine at work in a few lines.
#pragma once
#include <vector>

#include "autograd/attention.h"
#include "autograd/parameters.h"

namespace attune {

/// Rows of symbols, packed; `targets` holds each row reversed.
struct ReverserBatch {
  std::vector<int32_t> ids, targets;
  Segments segments;
};

/// Embedding and sinusoids, then per layer self-attention and feed-forward, each with residual and norm (post-norm, as
/// in Vaswani et al. 2017), and a projection tied to the embedding.
class Reverser {
 public:
  struct Size {
    int64_t symbols = 26, d_model = 64, d_ff = 128, heads = 4, layers = 2, longest = 16;
  };
  Reverser(const Size& size, uint64_t seed);

  Parameters& parameters() { return parameters_; }
  const Size& size() const { return size_; }

  /// `count` rows of random length and content, fixed by the seed; `whole`: all of the longest.
  ReverserBatch batch(int64_t count, uint64_t seed, bool whole = false) const;
  /// The mean loss; gradients go to `to` when the context has a tape. `log_probs`, if given, gets log p of each target.
  Var loss(Ctx& ctx, const ReverserBatch& batch, Gradients* to, float* log_probs = nullptr) const;
  /// The symbol it thinks most likely at every position.
  std::vector<int32_t> answer(Ctx& ctx, const ReverserBatch& batch) const;
  /// Attention weights [length, length] of one head on a single row.
  std::vector<float> weights(Ctx& ctx, const ReverserBatch& row, int64_t layer, int64_t head) const;

 private:
  struct Layer {
    int qkv, qkv_bias, out, out_bias, gamma1, beta1, up, up_bias, down, down_bias, gamma2, beta2;
  };
  Attention attention_of(const Var& qkv, const ReverserBatch& batch) const;
  /// The hidden rows after the first `layers` layers.
  Var encode(Ctx& ctx, const ReverserBatch& batch, Gradients* to, int64_t layers) const;

  Size size_;
  Parameters parameters_;
  int embedding_;
  std::vector<Layer> layers_;
  std::vector<float> sinusoids_;
};

}  // namespace attune
