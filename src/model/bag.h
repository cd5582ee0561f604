// A bag of words: logistic regression on the words of a text and, by model.ngrams, on words in a row, each of which has
// a say in each label. No order, no layers: the honest baseline of classifiers (Joachims 1998; Joulin et al. 2016, "Bag
// of Tricks for Efficient Text Classification").
#pragma once
#include "autograd/operations/embed.h"
#include "model/family.h"
#include "model/input/input.h"

namespace attune {

class BagEncoder : public Encoder {
 public:
  BagEncoder(const SideSetup& s, const Blueprint& b)
      : labels_(s.sizes.target_vocabulary),
        word_rate_(static_cast<float>(s.options.word_dropout)),
        site_(b.site()),
        table_(b.table("embedding.weight", s.sizes.source_vocabulary, labels_, Init::zeros())) {}

  /// What each word says for each label, [n, labels].
  Encoded encode(Pass& pass, const Rows& source) const override {
    pass.ctx.first_row = source.first_row;
    EmbedArgs e;
    e.table = pass[table_];
    e.ids = source.id_tensor();
    e.where = {&source.segments, {}};
    e.words = pass.ctx.dropout(word_rate_, whole_words(site_));
    return {embed(pass.ctx, e), &source};
  }
  int64_t width() const override { return labels_; }
  int embedding() const override { return table_; }
  const char* pooling() const override { return "bag"; }
  double multiplied_weights(double) const override { return 0; }

 private:
  int64_t labels_;
  float word_rate_;
  uint64_t site_;
  int table_;
};

/// It has words, and a number for each label and each of them.
inline constexpr const char* kNotOfBag[] = {"d_model",
                                            "d_ff",
                                            "heads",
                                            "heads_kv",
                                            "input",
                                            "mixer",
                                            "dropout",
                                            "attention_dropout",
                                            "activation_dropout",
                                            "layer_dropout",
                                            "norm",
                                            "residual",
                                            "feed_forward",
                                            "activation",
                                            "position",
                                            "attention",
                                            "recompute",
                                            "pool",
                                            "vectors"};

struct BagFamily {
  static constexpr ModelKind kKind{
      .name = "bag",
      .sentence = "classify: words, and words in a row, without order: each has a say in each label",
      .path = "none: words do not meet",
      .cost = "n",
      .cite = "Joachims 1998, Text Categorization with Support Vector Machines",
      .decodes = false,
      .ignores = kNotOfBag,
  };
  struct Options {
    template <class V>
    void fields(V&) {}
  };
  static std::unique_ptr<Encoder> encoder(const Options&, const SideSetup& s, const Blueprint& b) {
    return std::make_unique<BagEncoder>(s, b);
  }
};

}  // namespace attune
