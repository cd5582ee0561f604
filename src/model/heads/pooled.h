// A text as one vector, and a linear layer on it: what heads for whole texts have in common. Where rows are scores
// already, the layer is a bias. Words and words in a row may have a say of their own beside it: what little data has to
// tell about single words is then learned as fast as by a bag of words, and the encoder is left with the rest (Cheng et
// al. 2016, "Wide & deep learning for recommender systems").
#pragma once
#include "model/heads/head.h"
#include "model/pooling/pooling.h"

namespace attune {

/// What all heads of whole texts can be told.
struct PooledOptions {
  int64_t ngrams = 0;
  template <class V>
  void fields(V& v) {
    v("ngrams", ngrams,
      "beside the encoder, each word has a say of its own, and so have so many in a row, as in a bag; 0: none",
      between(0, 8));
  }
};

struct Pooled {
  Pooled(const PooledOptions& options, const HeadSetup& setup, int64_t out, const Blueprint& b);
  /// What the last layer reads: the vectors, [texts, width]; with n-grams the scores but for the bias, [texts, out].
  Var vectors(const Pass& pass, const HeadInput& in) const;
  /// [texts, out]
  Var operator()(const Pass& pass, const HeadInput& in) const;
  /// What that is multiplied by, [out, width].
  Var weight(const Pass& pass) const;
  Var bias(const Pass& pass) const { return pass[bias_]; }

  std::unique_ptr<Pooling> pooling;
  int64_t out;
  int weight_ = -1, bias_;  // no weight: vectors are scores already
  float rate;
  uint64_t site;
  int64_t ngrams, vocabulary;
  int said_ = -1;    // what each word or n-gram says for each label
  float said_scale;  // as that of embeddings, so that the same steps suit both

 private:
  /// The sum of what a text's words and n-grams say, over the square root of their number: [texts, out].
  Var said(const Pass& pass, const HeadInput& in) const;
};

}  // namespace attune
