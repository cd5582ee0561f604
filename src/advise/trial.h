// How long training takes on this machine: a few updates of the recipe's model, on made-up texts as long as the real
// ones.
#pragma once
#include "advise/corpus_look.h"
#include "recipe/settings.h"

namespace attune {

/// Seconds of an update, of about a second's worth of them: a share of a batch where a whole one takes longer. Of texts
/// that are answered, `labels` can be said.
double seconds_of_update(const Recipe& recipe, const CorpusLook& look, int64_t labels, int threads);

/// Numbers that the recipe's model learns.
int64_t numbers_of_model(const Recipe& recipe, int64_t labels);

}  // namespace attune
