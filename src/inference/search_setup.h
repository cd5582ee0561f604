// From the options people give to those of a search, for whatever says something.
#pragma once
#include "attune/translator.h"
#include "decode/search.h"
#include "text/tokenizer.h"

namespace attune {

/// ErrorKind::usage for options that are out of range or do not go together.
void check_options(const TranslateOptions& options);
/// What a search is asked for. ErrorKind::usage for a suppressed piece that the tokenizer does not have.
/// `end`: the mark; -1 where texts go on.
SearchOptions search_options(const TranslateOptions& options, const text::Tokenizer& tokenizer,
                             int32_t end = text::kEnd);

}  // namespace attune
