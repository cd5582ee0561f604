// How many characters the tokens of a corpus stand for: what makes models of other tokenizers comparable.
#pragma once
#include <string>

#include "data/corpus/corpus.h"
#include "text/tokenizer.h"

namespace attune {

/// Characters of the targets' texts as the tokenizer reads them, a line's end being one.
int64_t characters_of(const text::Tokenizer& tokenizer, const Corpus& corpus);

/// What a loss is told by, beside tokens.
struct TextUnit {
  std::string name;  // bits_per_character, bits_per_byte; none where the loss is not that of a text
  double per_token = 1;
  /// What a loss in nats a token comes to.
  double bits(double loss) const;
};
TextUnit text_unit(const text::Tokenizer& tokenizer, const Corpus& corpus);

}  // namespace attune
