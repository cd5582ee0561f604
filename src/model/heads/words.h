// The words that are missing from a text (masked language models): what stood in each gap, by the embeddings
// themselves.
#pragma once
#include "model/heads/head.h"
#include "model/layers/linear.h"

namespace attune {

class WordsHead : public Head {
 public:
  static constexpr HeadKind kKind{
      .name = "words",
      .sentence = "the words that are missing from a text, by their embeddings",
      .cite = "Devlin et al. 2019, BERT, section 3.1",
  };
  struct Options {
    template <class V>
    void fields(V&) {}
  };
  WordsHead(const Options&, const HeadSetup& setup, const Blueprint& b);
  Var scores(const Pass& pass, const HeadInput& in) const override;
  Var loss(const Pass& pass, const HeadInput& in, const LossOptions& options) const override;
  Segments most_answers(const Segments& texts) const override { return texts; }
  std::vector<int32_t> answers(const Pass& pass, const Tensor& scores, const Tensor& moves) const override;

 private:
  /// What is compared with the embeddings, [answers, d_model].
  Var guesses(const Pass& pass, const HeadInput& in) const;

  Linear inner_;
  int words_, bias_;
};

}  // namespace attune
