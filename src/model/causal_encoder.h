// A decoder that only reads: what it makes of a text, each row by what came before it, is what a head speaks of. So a
// language model can be trained on to classify (Radford et al. 2018, "Improving Language Understanding by Generative
// Pre-Training"), and its parameters keep their names.
#pragma once
#include <utility>

#include "model/decoder.h"

namespace attune {

class CausalEncoder : public Encoder {
 public:
  explicit CausalEncoder(std::unique_ptr<Decoder> decoder) : decoder_(std::move(decoder)) {}
  Encoded encode(Pass& pass, const Rows& source) const override {
    return {decoder_->decode(pass, nothing_, {}, source), &source};
  }
  int64_t width() const override { return decoder_->width(); }
  int embedding() const override { return decoder_->embedding(); }
  int64_t longest() const override { return decoder_->longest(); }
  const char* stack() const override { return "decoder"; }
  int64_t attention_layers() const override { return decoder_->attention_layers(); }
  double mixing_operations(const Parameters& parameters, const Segments& sources) const override {
    return decoder_->mixing_operations(parameters, {nullptr, sources});
  }
  double multiplied_weights(double share) const override { return decoder_->multiplied_weights(share).target; }
  void after_update(Parameters& parameters, const Gradients& gathered) const override {
    decoder_->after_update(parameters, gathered);
  }

 private:
  std::unique_ptr<Decoder> decoder_;
  Rows nothing_;  // it reads beside the text
};

}  // namespace attune
