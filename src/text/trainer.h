// Makes a tokenizer from text. The result depends on the lines and the options alone, not on the machine or its
// threads.
#pragma once
#include <cstdint>
#include <string>

#include "base/function_ref.h"
#include "text/tokenizer.h"

namespace attune::text {

/// Puts the next line in `line`; false at the end. Several files, or both sides of a corpus, come one after another.
using LineSource = FunctionRef<bool(std::string& line)>;

struct TrainedTokenizer {
  Tokenizer tokenizer;
  int64_t lines = 0, words = 0, distinct_words = 0;  // that were read
  std::string note;                                  // "" when the size is what was asked for; else a sentence about it
};

/// Memory grows with the distinct words, not with the lines (unigram: with 64 MB of the lines too, chosen evenly).
/// Throws ErrorKind::data when there is no text, or when it has more characters than the size can hold.
TrainedTokenizer train_tokenizer(LineSource next_line, TokenizerOptions options = {});

}  // namespace attune::text
