// Several things said about each text by heads side by side on one encoder; the answers of a text stand one after
// another, one of each head.
#pragma once
#include "model/heads/head.h"

namespace attune {

class SeveralHead : public Head {
 public:
  static constexpr HeadKind kKind{
      .name = "several",
      .sentence = "several labels or numbers for each text, each by a head of its own",
      .cite = "Caruana 1997, Multitask Learning",
  };
  struct Options {
    std::string heads = "label number", weights;
    template <class V>
    void fields(V& v) {
      v("heads", heads, "what they are, in the order of the columns: label or number, with blanks between them");
      v("weights", weights, "of each one's loss, with blanks between them; \"\": 1 each");
    }
  };
  SeveralHead(const Options& o, const HeadSetup& setup, const Blueprint& b);
  Var scores(const Pass& pass, const HeadInput& in) const override;
  Var loss(const Pass& pass, const HeadInput& in, const LossOptions& options) const override;
  Segments most_answers(const Segments& texts) const override;
  std::vector<int32_t> answers(const Pass& pass, const Tensor& scores, const Tensor& moves) const override;

 private:
  struct Part {
    std::unique_ptr<Head> head;
    double weight = 1;
    int64_t width = 1;  // columns of its scores
  };
  std::vector<Part> parts_;
};

}  // namespace attune
