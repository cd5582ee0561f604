// A label for each word, read off the row of its first piece; with moves from label to label that count, or without.
#pragma once
#include <optional>

#include "model/heads/word_features.h"
#include "model/layers/linear.h"

namespace attune {

class TagsHead : public Head {
 public:
  static constexpr HeadKind kKind{
      .name = "tags",
      .sentence = "a label for each word, read off the row of its first piece",
      .cite =
          "Devlin et al. 2019, section 5.3; crf: Lample et al. 2016, Neural Architectures for Named Entity "
          "Recognition",
  };
  struct Options {
    bool crf = false;
    int64_t ngrams = 0;
    template <class V>
    void fields(V& v) {
      v("crf", crf, "a conditional random field: moves from label to label have scores of their own");
      v("ngrams", ngrams,
        "beside the encoder, each word has a say of its own, and so have so many in a row, as in a CRF by hand; 0: "
        "none",
        between(0, 4));
    }
  };
  TagsHead(const Options& o, const HeadSetup& setup, const Blueprint& b);
  Var scores(const Pass& pass, const HeadInput& in) const override;
  Var loss(const Pass& pass, const HeadInput& in, const LossOptions& options) const override;
  Segments most_answers(const Segments& texts) const override { return texts; }
  std::vector<int32_t> answers(const Pass& pass, const Tensor& scores, const Tensor& moves) const override;
  std::vector<float> shown_scores(const Pass& pass, const Tensor& scores, const Tensor& moves) const override;

 private:
  /// Moves that were learned and those that are possible, in one; `both` has them where there are two.
  Tensor all_moves(const Pass& pass, const Tensor& moves, std::vector<float>& both) const;
  /// The row of each word, [answers, d_model].
  Var words(const Pass& pass, const HeadInput& in) const;

  Linear output_;
  std::optional<WordFeatures> said_;  // with ngrams
  int moves_ = -1;                    // with crf
  float rate_;
  uint64_t site_;
};

}  // namespace attune
