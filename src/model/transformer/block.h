// One block of a Transformer (Vaswani et al. 2017, section 3.1): what mixes rows, attention to the encoder's where
// there is one, and a feed-forward network, each in a residual connection.
#pragma once
#include <array>
#include <memory>
#include <utility>

#include "model/attention/multi_head.h"
#include "model/family.h"
#include "model/input/input.h"
#include "model/layers/feed_forward.h"
#include "model/layers/residual.h"

namespace attune {

/// What runs through the blocks of a stack.
struct StackRows {
  explicit StackRows(Var x) : stream(std::move(x)) {}
  std::array<Var*, 4> vars() { return {stream.vars()[0], stream.vars()[1], &carried.stream, &terms}; }
  Stream stream;
  Carried carried;
  Var terms;  // of the loss, while it is a block's to add to them
};

/// What a block reads beside them.
struct BlockContext {
  const Segments& segments;
  const Encoded* encoded = nullptr;
};

struct Block {
  Block(const SideSetup& setup, const Blueprint& b, int layer, const Input& input, bool decoder);
  void operator()(const Pass& pass, const BlockContext& context, StackRows& x) const;
  /// The same, keeping as little as the pass wants: gradient checkpointing.
  void recomputed(const Pass& pass, const BlockContext& context, StackRows& x) const;
  void feed(const Pass& pass, Stream& x) const;
  double multiplied_weights() const;

  std::unique_ptr<Mixer> self;
  Residual self_residual;
  std::unique_ptr<CrossAttention> cross;
  std::unique_ptr<Residual> cross_residual;
  std::unique_ptr<FeedForward> feed_forward;  // none where the mixer does without
  std::unique_ptr<Residual> feed_forward_residual;
};

}  // namespace attune
