// Embeddings: a learned vector for each word, times sqrt(d_model) (Vaswani et al. 2017, section 3.4).
#pragma once
#include "model/input/input.h"

namespace attune {

class EmbedInput : public Input {
 public:
  static constexpr InputKind kKind{
      .name = "embed",
      .sentence = "a learned vector for each word",
      .formula = "sqrt(d_model) E[id]",
      .cite = "Vaswani et al. 2017, Attention Is All You Need",
      .words = true,
  };
  struct Options {
    template <class V>
    void fields(V&) {}
  };
  EmbedInput(const Options&, const InputSetup& setup, const Blueprint& b);
  Encoded operator()(const Pass& pass, const Rows& rows, std::span<const int32_t> offsets) const override;
  int embedding() const override { return table_; }

 private:
  int table_;
  float scale_;
};

}  // namespace attune
