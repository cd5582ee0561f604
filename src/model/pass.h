// One pass through a model: the context its operations run in, its weights, where their gradients go, and what layers
// tell each other on the way.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "autograd/attention/guide.h"
#include "autograd/parameters.h"
#include "tensor/rows.h"

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
  std::span<const Var> substitutes = {};  // in place of the parameters, of another type: gradient checks in f64
  const Rows* rows = nullptr;             // that go through the layers at hand, where they are whole sequences
  StreamMemory* memory = nullptr;         // what layers remember of the streams that these go on, if any
  bool remembers = true;                  // what passes by is taken up into the memory; false: it is only recalled

  bool recompute = false;    // layers keep nothing but what enters them (autograd/recompute.h) ...
  bool recomputing = false;  // ... and this is the second time: what happens beside the result has happened

  Var operator[](int i) const {
    return substitutes.empty() ? parameters.var(ctx, i, gradients) : substitutes[static_cast<size_t>(i)];
  }
  /// Which stream each sequence at hand goes on; none of sentences.
  std::span<const int32_t> streams() const {
    return rows ? std::span<const int32_t>(rows->streams) : std::span<const int32_t>();
  }
  /// Where the rows at hand stand, where that is not their index: i32 [rows, axes].
  Tensor places() const { return rows && rows->axes > 0 ? rows->place_tensor() : Tensor(); }
  /// Of each sequence at hand: so many rows, its first, that all its rows see; null: none.
  const int32_t* prefix() const { return rows && !rows->prefix.empty() ? rows->prefix.data() : nullptr; }
  /// The type it computes in.
  DType dtype() const { return substitutes.empty() ? DType::f32 : substitutes[0].dtype(); }
  /// Adds a term, [1], to the loss of the whole batch; each shard takes its share of it.
  void add_loss(const Var& term) const;
};

/// Sets what is known of the rows at hand, for the length of a scope.
class RowsAtHand {
 public:
  RowsAtHand(Pass& pass, const Rows& rows) : pass_(pass) {
    pass.ctx.first_row = rows.first_row;
    pass.rows = &rows;
  }
  ~RowsAtHand() { pass_.rows = nullptr; }
  RowsAtHand(const RowsAtHand&) = delete;
  RowsAtHand& operator=(const RowsAtHand&) = delete;

 private:
  Pass& pass_;
};

/// Some of it dropped, while training.
Var dropped(const Pass& pass, const Var& x, float rate, uint64_t site);

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

}  // namespace attune
