// A model: what reads, what writes, and what it says, by the recipe. Training, search, checkpoints and all that people
// look at know this alone; which family reads and writes is behind model/family.h, what is said about rows behind
// model/heads/head.h.
//
//   Model model(options, {.source_vocabulary = 8000, .target_vocabulary = 8000, .longest = 257});
//   model.initialize(seed);
//   Pass pass{ctx, model.parameters(), &gradients};
//   Var loss = model.loss(pass, batch, {.smoothing = 0.1f, .scale = 1.0f / tokens});
#pragma once
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "model/family.h"
#include "model/heads/head.h"

namespace attune {

class Model {
 public:
  /// ErrorKind::recipe for what can't be built. `frozen`: parts that no update changes (model/parts.h). `on_declared`
  /// sees the parameters before memory is taken for them.
  Model(const ModelOptions& options, const ModelSizes& sizes, const std::vector<std::string>& frozen = {},
        const std::function<void(const Parameters&)>& on_declared = {});
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  const ModelOptions& options() const { return options_; }
  const ModelSizes& sizes() const { return sizes_; }
  Parameters& parameters() { return parameters_; }
  const Parameters& parameters() const { return parameters_; }
  /// First values, by the seed.
  void initialize(uint64_t seed);

  /// Its sides; none where the shape has none. A decoder that only reads is an encoder (model/causal_encoder.h).
  const Encoder* encoder() const { return encoder_.get(); }
  const Decoder* decoder() const { return decoder_.get(); }
  /// How many positions a source, and a target, may have.
  int64_t longest_source() const;
  int64_t longest_target() const { return decoder_ ? decoder_->longest() : 0; }
  /// The parameter of the words' vectors of the side that reads, or of the only one.
  int embedding() const { return encoder_ ? encoder_->embedding() : decoder_->embedding(); }

  /// The encoder's rows; nothing where there is none.
  Encoded encode(Pass& pass, const Rows& source) const;
  /// The decoder's rows, all positions at once, [m, width].
  Var decode(Pass& pass, const Rows& source, const Encoded& encoded, const Rows& read) const {
    return decoder_->decode(pass, source, encoded, read);
  }
  Var decode(Pass& pass, const Rows& source, const Rows& read) const {
    return decode(pass, source, encode(pass, source), read);
  }
  /// What all that is wanted costs, scaled, [1]. While learning, plus what layers add to it.
  Var loss(Pass& pass, const Batch& batch, const LossOptions& options) const;

  /// Starts decoding: a row for each sequence of the source.
  std::unique_ptr<DecoderState> start(Pass& pass, const Rows& source, int64_t longest) const {
    return decoder_->start(pass, source, encode(pass, source), longest);
  }
  Var step(Pass& pass, std::span<DecoderState* const> states, std::span<const int32_t> ids) const {
    return decoder_->step(pass, states, ids);
  }
  Var step(Pass& pass, DecoderState& state, std::span<const int32_t> ids) const {
    DecoderState* one = &state;
    return step(pass, {&one, 1}, ids);
  }
  /// Scores of every word of the target vocabulary, [rows, V].
  Var logits(const Pass& pass, const Var& hidden) const;
  /// Which parameter logits() multiplies by, [V, width].
  int output() const { return output_; }

  /// What is said about rows instead of the next word; none: words.
  const Head* head() const { return head_.get(); }
  /// What it reads, and the answers as far as the batch has them.
  HeadInput head_input(Pass& pass, const Batch& batch) const;

  /// Lets layers move their buffers: after each update, with the gradients it was made by.
  void after_update(const Gradients& gathered);
  /// Whether the memory of every training step is asked for as in any other: then one plan fits all.
  bool same_requests() const { return options_.layer_dropout == 0 && (!decoder_ || decoder_->same_requests()); }
  /// How many operations all that mixes rows does on such a batch going forward; the matrix products around it not
  /// counted. `sources` are missing where nothing is read.
  double mixing_operations(const DecodedRows& rows) const;
  /// Of the layers, and of the words that are told.
  MultipliedWeights multiplied_weights(double share = 1) const;
  /// What layers remember of texts from batch to batch: a StreamMemory is made of it.
  const std::vector<MemorySlot>& memories() const { return memories_; }

 private:
  /// The loss of the next words.
  Var token_loss(const Pass& pass, const Var& hidden, const Wanted& wanted, const LossOptions& options) const;

  ModelOptions options_;
  ModelSizes sizes_;
  Parameters parameters_;
  std::vector<Init> inits_;
  std::vector<MemorySlot> memories_;
  std::unique_ptr<Encoder> encoder_;
  std::unique_ptr<Decoder> decoder_;
  int output_ = -1;  // [V, width]
  std::unique_ptr<Head> head_;
};

/// Whether losses are means over texts, not over answers or words.
inline bool counts_texts(const Model& model) { return model.head() && model.head()->counts_texts(); }

}  // namespace attune
