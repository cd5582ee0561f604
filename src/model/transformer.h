// The Transformer (Vaswani et al. 2017, "Attention Is All You Need"), in the order and the letters of the paper.
// Encoder and decoder are stacks of the same parts; a model has both, or one of them.
//
//   Transformer model(options, {.source_vocabulary = 8000, .target_vocabulary = 8000, .longest = 257});
//   model.initialize(seed);
//   Pass pass{ctx, model.parameters(), &gradients};
//   Var loss = model.loss(pass, example, {.smoothing = 0.1f, .scale = 1.0f / tokens});
#pragma once
#include <algorithm>
#include <array>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "model/decoder_state.h"
#include "model/heads/head.h"
#include "model/layers/feed_forward.h"
#include "model/layers/multi_head.h"
#include "model/layers/residual.h"
#include "model/position/scheme.h"

namespace attune {

/// Sizes that come from the data, not from the recipe.
struct Vocabularies {
  int64_t source_vocabulary = 0, target_vocabulary = 0;
  int64_t longest = 257;                   // positions of the longest sequence, its mark counted
  std::vector<int64_t> label_groups = {};  // where several heads answer: how many labels each of them has
};

/// Source and target of a batch or of a shard of it.
struct Examples {
  Tokens source;        // tokens + end
  Tokens target_in;     // begin + tokens
  Tensor target_out;    // tokens + end: what is to be said, [m]
  Tensor weights = {};  // f32 [m] or missing: of the loss of each row
  RowLinks words = {};  // of answers to words: the source rows of each (model/heads/head.h)
};

class Transformer {
 public:
  /// ErrorKind::recipe for what can't be built. `frozen`: parts that no update changes (model/parts.h).
  Transformer(const ModelOptions& options, const Vocabularies& sizes, const std::vector<std::string>& frozen = {});
  Transformer(const Transformer&) = delete;
  Transformer& operator=(const Transformer&) = delete;

  const ModelOptions& options() const { return options_; }
  const Vocabularies& sizes() const { return sizes_; }
  Parameters& parameters() { return parameters_; }
  const Parameters& parameters() const { return parameters_; }
  /// First values, by the seed.
  void initialize(uint64_t seed);
  /// How many positions a source, and a target, may have.
  int64_t longest_source() const {
    return source_ ? source_->position->longest() : options_.shape == ModelShape::prefix ? longest_target() / 2 : 0;
  }
  int64_t longest_target() const { return target_ ? target_->position->longest() : 0; }

  /// Lets the mechanisms move their buffers: after each update, with the gradients it was made by.
  void after_update(const Gradients& gathered);
  /// How many operations all mechanisms do on such a batch going forward; the matrix products around them not counted.
  /// `streams`: the targets go on texts, whose past mechanisms remember in full.
  double mixing_operations(const Segments* sources, const Segments& targets, bool streams = false) const;
  /// What layers remember of texts from batch to batch: a StreamMemory is made of it.
  const std::vector<MemorySlot>& memories() const { return memories_; }

  /// The decoder's layer whose cross-attention tells best which word came from which: the last but one (Garg et al.
  /// 2019, "Jointly Learning to Align and Translate with Transformer Models", section 4.1: its alignments have far
  /// fewer errors than those of the last, which is busy choosing the next word).
  int64_t alignment_layer() const { return std::max<int64_t>(0, options_.decoder_layers - 2); }
  /// Whether the cross-attention of a layer has weights that a loss can be made of.
  bool can_be_guided(int64_t layer) const;
  /// Heads from decoder to encoder.
  int64_t cross_heads() const { return options_.cross_heads ? options_.cross_heads : options_.heads; }

  /// The encoder's rows, [n, d_model].
  Var encode(Pass& pass, const Tokens& source) const;
  /// The decoder's rows, all positions at once, [m, d_model]. `encoded` is missing where there is no encoder.
  Var decode(Pass& pass, const Tokens& target, const Var& encoded, const Segments* sources) const;
  /// The same of a decoder that reads the sources too (model.shape = "prefix"): the targets' rows, [m, d_model].
  Var decode_after(Pass& pass, const Tokens& source, const Tokens& target) const;
  /// Section 5.4: cross entropy with label smoothing of all that is to be said, scaled, [1]. While learning, plus what
  /// the mechanisms add to it.
  Var loss(Pass& pass, const Examples& examples, const LossOptions& options) const;

  /// Starts decoding: row i will translate sequence source_of[i] of `sources`. Everything lives in the pass's arena.
  DecoderState start(Pass& pass, const Var& encoded, const Segments& sources, std::vector<int32_t> source_of,
                     int64_t longest) const;
  /// The same for a decoder that reads the source too, one sequence: one row.
  DecoderState start_after(Pass& pass, const Tokens& source, int64_t longest) const;
  /// One position more for each row: the decoder's rows, [rows, d_model].
  Var step(Pass& pass, DecoderState& state, std::span<const int32_t> ids) const;
  /// The same for the rows of several states, one state after another, which may be at different positions: products
  /// are of all rows at once, and each row's numbers are the same bits as in a step of its state alone.
  Var step(Pass& pass, std::span<DecoderState* const> states, std::span<const int32_t> ids) const;
  /// Scores of every word of the target vocabulary, [rows, V].
  Var logits(const Pass& pass, const Var& hidden) const;
  /// Which parameter logits() multiplies by, [V, d_model].
  int output() const { return output_; }

  /// What an encoder on its own says about texts; none where there is a decoder.
  const Head* head() const { return head_.get(); }
  /// What it reads, and the answers as far as `examples` has them.
  HeadInput head_input(Pass& pass, const Examples& examples) const;

 private:
  /// Section 3.4 and 3.5: embeddings times sqrt(d_model), plus positions.
  struct Input {
    Input(const Blueprint& b, const ModelOptions& o, const Choice& position, int64_t longest, const std::string& key);
    int table = -1;
    std::string position_name;
    std::unique_ptr<PositionScheme> position;
    float scale, rate, word_rate;
    uint64_t site;
  };
  /// Section 3.1. Encoder: self-attention, feed-forward. Decoder: self-attention that sees no future, attention to the
  /// encoder (none in a decoder on its own), feed-forward.
  struct Layer {
    Layer(const Blueprint& b, const ModelOptions& o, int layer, const Input& input, bool decoder);
    SelfAttention self;
    Residual self_residual;
    std::unique_ptr<CrossAttention> cross;
    std::unique_ptr<Residual> cross_residual;
    std::unique_ptr<FeedForward> feed_forward;  // none where the mechanism does without
    std::unique_ptr<Residual> feed_forward_residual;
  };
  /// What runs through the layers of a stack.
  struct Flow {
    explicit Flow(Var x) : stream(std::move(x)) {}
    std::array<Var*, 4> vars() { return {stream.vars()[0], stream.vars()[1], &carried.stream, &terms}; }
    Stream stream;
    Carried carried;
    Var terms;  // of the loss, while it is a layer's to add to them
  };
  /// What a layer reads beside it.
  struct Around {
    const Segments* segments;
    Var encoded;
    const Segments* sources;
  };
  /// The loss of what the decoder is to say.
  Var said_loss(Pass& pass, const Examples& examples, const LossOptions& options) const;
  static void run(const Pass& pass, const Layer& layer, const Around& around, Flow& flow);
  /// The same, keeping as little as the pass wants.
  static void through(const Pass& pass, const Layer& layer, const Around& around, Flow& flow);
  Var embed_rows(const Pass& pass, const Input& input, const Tokens& tokens, std::span<const int32_t> offsets) const;

  ModelOptions options_;
  Vocabularies sizes_;
  Parameters parameters_;
  std::vector<Init> inits_;
  std::vector<MemorySlot> memories_;
  std::unique_ptr<Input> source_, target_;
  std::vector<Layer> encoder_, decoder_;
  std::unique_ptr<LayerNorm> encoder_norm_, decoder_norm_;  // at the ends of pre-norm stacks
  int output_ = -1;                                         // [V, d_model]
  std::unique_ptr<Head> head_;
};

}  // namespace attune
