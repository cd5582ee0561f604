// How a tokenizer is to be made: the section [tokenizer] of a recipe.
#pragma once
#include <cstdint>

#include "base/fields.h"
#include "text/vocabulary.h"

namespace attune::text {

struct TokenizerOptions {
  TokenizerKind kind = TokenizerKind::bpe;
  int64_t size = 8000;
  bool lowercase = false, joint = true, byte_fallback = false;
  double character_coverage = 1;

  template <class V>
  void fields(V& v) {
    v("kind", kind, "what text is cut into: subwords, bytes, characters or words", one_of(tokenizer_kinds()));
    v("size", size, "pieces at most, the four marks included", between(kMarks + 1, 16e6));
    v("lowercase", lowercase, "whether all text is lower-cased");
    v("joint", joint, "one vocabulary for both sides");
    v("byte_fallback", byte_fallback,
      "256 of the pieces are bytes, for characters that are no piece: nothing is unknown (bpe, unigram, char)");
    v("character_coverage", character_coverage,
      "share of the text's characters that must be known, the most frequent first (not byte, word)",
      FieldRule{.least = 0, .most = 1, .least_open = true});
  }
  /// A word that is no piece is unknown as a whole: it has no bytes to fall back on.
  bool can_fall_back() const { return kind != TokenizerKind::word && kind != TokenizerKind::wordpiece; }
};

}  // namespace attune::text
