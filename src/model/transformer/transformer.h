// The Transformer (Vaswani et al. 2017, "Attention Is All You Need"): stacks of blocks, one that reads and one that
// writes. transformer.cc says where each section of the paper is.
#pragma once
#include <memory>
#include <vector>

#include "model/family.h"
#include "model/transformer/block.h"
#include "model/transformer/own_rows.h"

namespace attune {

/// Section 3.1: blocks of self-attention and feed-forward.
class TransformerEncoder : public Encoder {
 public:
  TransformerEncoder(const SideSetup& setup, const Blueprint& b);
  Encoded encode(Pass& pass, const Rows& source) const override;
  int64_t width() const override { return d_model_; }
  int embedding() const override { return input_->embedding(); }
  int64_t longest() const override { return input_->position().longest(); }
  int64_t attention_layers() const override { return std::ssize(blocks_); }
  double mixing_operations(const Parameters& parameters, const Segments& sources) const override;
  double multiplied_weights(double share) const override;
  void after_update(Parameters& parameters, const Gradients& gathered) const override;

 private:
  double operations_of(const Parameters& parameters, const Segments& sequences) const;

  int64_t d_model_;
  std::unique_ptr<Input> input_;
  std::vector<Block> blocks_;
  std::unique_ptr<StackOwnRows> own_rows_;  // none where attention has none
  std::unique_ptr<LayerNorm> norm_;         // at the end of a pre-norm stack
};

/// Section 3.1: blocks of self-attention that sees no future, attention to the encoder's rows (none in a decoder on its
/// own), and feed-forward. With model.shape = "prefix" it reads the source too: prefix.cc.
class TransformerDecoder : public Decoder {
 public:
  TransformerDecoder(const SideSetup& setup, const Blueprint& b);
  Var decode(Pass& pass, const Rows& source, const Encoded& encoded, const Rows& read) const override;
  std::unique_ptr<DecoderState> start(Pass& pass, const Rows& source, const Encoded& encoded,
                                      int64_t longest) const override;
  Var step(Pass& pass, std::span<DecoderState* const> states, std::span<const int32_t> ids) const override;
  int64_t width() const override { return d_model_; }
  int embedding() const override { return input_->embedding(); }
  int64_t longest() const override { return input_->position().longest(); }
  int64_t attention_layers() const override { return std::ssize(blocks_); }
  int64_t cross_layers() const override { return reads_ ? std::ssize(blocks_) : 0; }
  int64_t cross_heads() const override { return cross_heads_; }
  /// The last but one (Garg et al. 2019, "Jointly Learning to Align and Translate with Transformer Models",
  /// section 4.1: its alignments have far fewer errors than those of the last, which is busy choosing the next word).
  int64_t alignment_layer() const override { return std::max<int64_t>(0, std::ssize(blocks_) - 2); }
  bool can_be_guided(int64_t layer) const override;
  double mixing_operations(const Parameters& parameters, const DecodedRows& rows) const override;
  MultipliedWeights multiplied_weights(double share) const override;
  void after_update(Parameters& parameters, const Gradients& gathered) const override;

 private:
  /// All rows of `read`, which attend to those of `encoded`.
  Var run(Pass& pass, const Rows& read, const Encoded& encoded) const;
  /// prefix.cc: of each example the source, then the target.
  Var decode_prefixed(Pass& pass, const Rows& source, const Rows& read) const;
  std::unique_ptr<DecoderState> start_prefixed(Pass& pass, const Rows& source) const;

  int64_t d_model_, cross_heads_;
  bool prefixed_, reads_;  // the source comes before what is said; there is a source
  std::unique_ptr<Input> input_;
  std::vector<Block> blocks_;
  std::unique_ptr<LayerNorm> norm_;
};

struct TransformerFamily {
  static constexpr ModelKind kKind{
      .name = "transformer",
      .sentence = "blocks of attention and feed-forward layers, as published",
      .path = "1",
      .cost = "n^2 d",
      .cite = "Vaswani et al. 2017, Attention Is All You Need",
  };
  struct Options {
    template <class V>
    void fields(V&) {}
  };
  static std::unique_ptr<Encoder> encoder(const Options&, const SideSetup& s, const Blueprint& b) {
    return std::make_unique<TransformerEncoder>(s, b);
  }
  static std::unique_ptr<Decoder> decoder(const Options&, const SideSetup& s, const Blueprint& b) {
    return std::make_unique<TransformerDecoder>(s, b);
  }
};

}  // namespace attune
