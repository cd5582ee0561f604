// One pass through a model: the context its operations run in, its weights, where their gradients go, and what layers
// tell each other on the way.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "autograd/guide.h"
#include "autograd/parameters.h"

namespace attune {

class StreamMemory;

/// A request to see what one attention layer attended to, while a pass over a single sentence goes by it, or a step of
/// decoding by a cross-attention.
struct AttentionTap {
  std::string place;  // "decoder.3.cross", "encoder.0.self"
  int64_t heads = 0, queries = 0, keys = 0;
  /// [heads, queries, keys], filled by the pass; none where the mechanism has none. Of a step of decoding: such a block
  /// for each source whose rows follow each other.
  std::vector<float> weights = {};
};

/// A request to say how far one cross-attention is from looking where it should, and to let it learn from that.
struct GuidedLayer {
  std::string_view place;  // "decoder.3.cross"
  Guide guide;
  Var loss = {};  // filled by the pass, [1]; missing where that sublayer was skipped
};

struct Pass {
  Ctx& ctx;
  const Parameters& parameters;
  Gradients* gradients = nullptr;  // none: nothing is learned
  AttentionTap* tap = nullptr;
  GuidedLayer* guided = nullptr;
  Var* loss_terms = nullptr;              // where layers may add to the loss; none: nobody asks
  std::span<const Var> instead = {};      // in place of the parameters, of another type: gradient checks in f64
  StreamMemory* memory = nullptr;         // what layers remember of the streams that the rows at hand go on, if any ...
  std::span<const int32_t> streams = {};  // ... one per segment
  bool remembers = true;                  // what passes by is taken up into the memory; false: it is only recalled

  const int32_t* prefix = nullptr;  // of each segment: so many rows, its first, that all its rows see

  bool recompute = false;  // layers keep nothing but what enters them (autograd/recompute.h) ...
  bool again = false;      // ... and this is the second time: what happens beside the result has happened

  Var operator[](int i) const {
    return instead.empty() ? parameters.var(ctx, i, gradients) : instead[static_cast<size_t>(i)];
  }
  /// The type it computes in.
  DType dtype() const { return instead.empty() ? DType::f32 : instead[0].dtype(); }
  /// Adds a term, [1], to the loss of the whole batch; each shard takes its share of it.
  void add_loss(const Var& term) const;
};

/// How the losses of all that is to be said are summed up.
struct LossOptions {
  float smoothing = 0;    // Vaswani et al. 2017, section 5.4
  float scale = 1;        // one over the target tokens of the whole batch, or over their weights
  Tensor log_probs = {};  // f32 [m] or missing: receives log p of each target token, where it has one
};

/// What one attention layer hands to the next of its stack, in mechanisms that have such a stream (Luna).
struct Carried {
  Var stream;
};

/// Tokens of a packed batch or of a shard of it. What it points to outlives the pass and its backward.
struct Tokens {
  Tensor ids = {};  // [n], i32
  const Segments* segments = nullptr;
  int64_t first_row = 0;                  // the place of its first row in the whole batch
  std::span<const int32_t> streams = {};  // of texts: which stream each segment goes on
};

}  // namespace attune
