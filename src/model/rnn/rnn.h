// Recurrent networks: an encoder that reads in both directions, and a decoder that asks it before each word (Bahdanau
// et al. 2014, "Neural Machine Translation by Jointly Learning to Align and Translate"). Cells and attention are behind
// seams of their own: cell.h, attention.h. The decoder is trained through the very steps that it decodes by.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "model/family.h"
#include "model/input/input.h"
#include "model/rnn/attention.h"
#include "model/rnn/cell.h"

namespace attune {

struct RnnOptions {
  std::string cell = "gru";
  bool bidirectional = true;
  template <class V>
  void fields(V& v) {
    v("cell", cell, "what goes from step to step", one_of({"gru"}));
    v("bidirectional", bidirectional, "an encoder that reads from both ends");
  }
};

/// Layers of cells, of d_model numbers in each direction.
class RnnEncoder : public Encoder {
 public:
  RnnEncoder(const RnnOptions& options, const SideSetup& setup, const Blueprint& b);
  Encoded encode(Pass& pass, const Rows& source) const override;
  int64_t width() const override { return width_; }
  int embedding() const override { return input_->embedding(); }
  double multiplied_weights(double share) const override;

 private:
  struct Layer {
    std::unique_ptr<Cell> forward, backward;  // the second may be missing
    uint64_t site;
  };
  int64_t width_;
  float rate_;
  std::unique_ptr<Input> input_;
  std::vector<Layer> layers_;
};

/// Layers of cells. The first one reads the source before each of its steps; what it read, its input and the state of
/// the last layer say the word: t_i = tanh(W [s_i, y_{i-1}, c_i]).
class RnnDecoder : public Decoder {
 public:
  RnnDecoder(const RnnOptions& options, const SideSetup& setup, const Blueprint& b);
  Var decode(Pass& pass, const Rows& source, const Encoded& encoded, const Rows& read) const override;
  std::unique_ptr<DecoderState> start(Pass& pass, const Rows& source, const Encoded& encoded,
                                      int64_t longest) const override;
  Var step(Pass& pass, std::span<DecoderState* const> states, std::span<const int32_t> ids) const override;
  int64_t width() const override { return width_; }
  int embedding() const override { return input_->embedding(); }
  int64_t cross_layers() const override { return attention_ ? 1 : 0; }
  /// Steps ask for memory, as many times as there are words.
  bool same_requests() const override { return !attention_; }
  double mixing_operations(const Parameters& parameters, const DecodedRows& rows) const override;
  MultipliedWeights multiplied_weights(double share) const override;

 private:
  struct Layer {
    std::unique_ptr<Cell> cell;
    std::unique_ptr<Linear> first;  // of its first state; none where nothing is read
    uint64_t site;
  };
  /// What the first layer puts out, and what it read.
  struct Attended {
    Var x, context;
  };
  Attended attend(const Pass& pass, const Rows& read, const Encoded& encoded, const Var& gates,
                  const std::shared_ptr<const StepOrder>& order) const;
  /// The states before the first word, [sequences, state], by the mean of what was read; none: zeros.
  Var first_state(const Pass& pass, const Layer& layer, const Encoded& encoded) const;
  Var readout(const Pass& pass, const Var& state, const Var& input, const Var& context) const;

  int64_t width_, read_width_;
  float rate_;
  std::string place_;  // of the attention: "decoder.0.cross"
  std::unique_ptr<Input> input_;
  std::vector<Layer> layers_;
  int context_ = -1;  // [gates, read width]
  std::unique_ptr<RecurrentAttention> attention_;
  std::unique_ptr<Linear> readout_;
  uint64_t readout_site_;
};

/// What no recurrent network has: heads, norms, positions.
inline constexpr const char* kNotOfRnn[] = {
    "d_ff",          "heads",     "heads_kv", "mixer",        "attention_dropout", "activation_dropout",
    "layer_dropout", "norm",      "residual", "feed_forward", "activation",        "position",
    "attention",     "recompute", "guide"};

struct RnnFamily {
  static constexpr ModelKind kKind{
      .name = "rnn",
      .sentence = "recurrent cells, and a decoder that asks the source before each word",
      .path = "n",
      .cost = "n d^2",
      .cite = "Bahdanau et al. 2014, Neural Machine Translation by Jointly Learning to Align and Translate",
      .ignores = kNotOfRnn,
  };
  using Options = RnnOptions;
  static std::unique_ptr<Encoder> encoder(const Options& o, const SideSetup& s, const Blueprint& b) {
    return std::make_unique<RnnEncoder>(o, s, b);
  }
  static std::unique_ptr<Decoder> decoder(const Options& o, const SideSetup& s, const Blueprint& b) {
    return std::make_unique<RnnDecoder>(o, s, b);
  }
};

/// The input of a recurrent side: rows come one after another, so nothing has to tell them where they stand.
std::unique_ptr<Input> recurrent_input(const InputSetup& setup, const Blueprint& b);

}  // namespace attune
