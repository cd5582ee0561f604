// The seam of what stands in the first sublayer of a block: rows that read one another. Attention is one kind
// (model/attention/multi_head.h); a recurrence or a convolution may stand in its place.
#pragma once
#include <memory>
#include <span>

#include "kernels/row_positions.h"
#include "model/own_rows.h"
#include "model/pass.h"

namespace attune {

/// What a mixer remembers between two steps of decoding: a cache, a ring, a running sum, a hidden state.
class AttentionState {
 public:
  virtual ~AttentionState() = default;
  /// Row i goes on from what row parents[i] (which exists) remembered; there may be fewer rows than before, or more.
  virtual void reorder(std::span<const int32_t> parents) = 0;
  /// Memory it takes, all rows together.
  virtual int64_t bytes() const = 0;
  /// Before the first step: where to take memory that grows with the steps. The arena outlives the state, and keeps
  /// what it gives back for the next.
  virtual void use(Arena& /*arena*/) {}
};

/// What is remembered of some of the rows of a step: so many, which follow those of the share before it.
struct StateShare {
  AttentionState* state = nullptr;
  int64_t rows = 0;
};

class Mixer {
 public:
  virtual ~Mixer() = default;
  /// All rows at once, [n, d_model] to [n, d_model]; pass.rows tells what is known of them.
  virtual Var operator()(const Pass& pass, const Var& x, const Segments& segments, Carried& carried) const = 0;
  /// What step() needs to remember of so many rows.
  virtual std::unique_ptr<AttentionState> state(int64_t rows) const = 0;
  /// One row more of each sequence, at the positions `where`: [rows, d_model].
  virtual Var step(const Pass& pass, const Var& x, const RowPositions& where,
                   std::span<const StateShare> states) const = 0;
  /// The rows of one prefix, all at once, are taken up as if by as many steps. What they become, or nothing where that
  /// is not wanted.
  virtual Var prefill(const Pass& pass, const Var& x, const Segments& segments, AttentionState& state,
                      bool wanted) const = 0;

  /// Whether a feed-forward sublayer follows.
  virtual bool feed_forward() const { return true; }
  /// Rows of the past that are remembered of each stream of a text, beside those of the window at hand.
  virtual int64_t memory() const { return 0; }
  /// Rows of its own that go through the stack with the sequences'; null: none.
  virtual const OwnRows* own_rows() const { return nullptr; }
  /// How many operations it does going forward, its projections not counted, a multiply-add counted twice.
  virtual double operations(const Parameters& parameters, const Segments& queries, const Segments& keys) const = 0;
  /// Weights that its projections multiply a row by.
  virtual double multiplied_weights() const = 0;
  /// Moves buffers after an update, by what was gathered in their place.
  virtual void after_update(Parameters& /*parameters*/, const Gradients& /*gathered*/) const {}
};

}  // namespace attune
