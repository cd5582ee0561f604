// How a tokenizer is to be made: the section [tokenizer] of a recipe.
#pragma once
#include <cstdint>

#include "base/fields.h"
#include "text/vocabulary.h"

namespace attune::text {

struct TokenizerOptions {
  TokenizerKind kind = TokenizerKind::bpe;
  int64_t size = 8000;
  bool lowercase = false, joint = true;
  double character_coverage = 1;

  template <class V>
  void fields(V& v) {
    v("kind", kind, "what text is cut into: subwords, words or characters", one_of(tokenizer_kinds()));
    v("size", size, "pieces at most, the four marks included", between(kMarks + 1, 16e6));
    v("lowercase", lowercase, "whether all text is lower-cased");
    v("joint", joint, "one vocabulary for both sides");
    v("character_coverage", character_coverage,
      "share of the text's characters that must be known, the most frequent first (bpe, char)",
      FieldRule{.least = 0, .most = 1, .least_open = true});
  }
};

}  // namespace attune::text
