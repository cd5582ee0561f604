// The seam of what writes: what was read, and what was said so far, to rows from which the next word is told.
#pragma once
#include <algorithm>
#include <limits>
#include <memory>
#include <span>

#include "model/encoder.h"

namespace attune {

/// What decoding remembers between two steps. A row is a hypothesis.
class DecoderState {
 public:
  virtual ~DecoderState() = default;
  /// Row i goes on from what row parents[i] was; there may be fewer rows than before, or more.
  virtual void reorder(std::span<const int32_t> parents) = 0;
  virtual int64_t rows() const = 0;
  /// All that is held: what layers remember, and what they keep of the sources.
  virtual int64_t bytes() const = 0;
};

/// Numbers of weights that a row of the source, and a row of the target, is multiplied by going forward.
struct MultipliedWeights {
  double source = 0, target = 0;
};

/// The rows of a decoding batch. `sources` are missing where nothing is read.
struct DecodedRows {
  const Segments* sources = nullptr;
  const Segments& targets;
  bool streams = false;  // the targets go on texts, whose past mechanisms remember in full
};

class Decoder {
 public:
  virtual ~Decoder() = default;
  /// All positions at once, [rows of read, width]. What is given outlives the backward pass.
  virtual Var decode(Pass& pass, const Rows& source, const Encoded& encoded, const Rows& read) const = 0;
  /// A row for each sequence of the source, before its first step. Everything lives in the pass's arena; `longest` is
  /// how many steps there will be at most.
  virtual std::unique_ptr<DecoderState> start(Pass& pass, const Rows& source, const Encoded& encoded,
                                              int64_t longest) const = 0;
  /// One position more for the rows of several states, one state after another, which may be at different positions:
  /// [rows, width]. Each row's numbers are the same bits as in a step of its state alone.
  virtual Var step(Pass& pass, std::span<DecoderState* const> states, std::span<const int32_t> ids) const = 0;

  virtual int64_t width() const = 0;
  /// The parameter of the vectors of its words, [V, width].
  virtual int embedding() const = 0;
  virtual int64_t longest() const { return std::numeric_limits<int32_t>::max(); }
  /// Layers whose rows attend to each other ("decoder.0.self"), and to the source's ("decoder.0.cross").
  virtual int64_t attention_layers() const { return 0; }
  virtual int64_t cross_layers() const { return 0; }
  virtual int64_t cross_heads() const { return 1; }
  /// The layer whose cross-attention tells best which word came from which.
  virtual int64_t alignment_layer() const { return std::max<int64_t>(0, cross_layers() - 1); }
  /// Whether the cross-attention of a layer has weights that a loss can be made of.
  virtual bool can_be_guided(int64_t /*layer*/) const { return false; }

  /// Whether every batch asks for the same blocks of memory in the same order, whatever its lengths: else no plan of
  /// them fits (tensor/arena.h).
  virtual bool same_requests() const { return true; }

  virtual double mixing_operations(const Parameters&, const DecodedRows&) const { return 0; }
  /// Without those of the words that are told.
  virtual MultipliedWeights multiplied_weights(double share) const = 0;
  virtual void after_update(Parameters& /*parameters*/, const Gradients& /*gathered*/) const {}
};

}  // namespace attune
