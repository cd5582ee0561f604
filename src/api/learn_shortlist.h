// The shortlist of a model, learned from the data it was trained with: for `attune quantize --shortlist`.
#pragma once
#include <string>
#include <vector>

#include "attune/quantize.h"
#include "inference/model_files.h"

namespace attune {

/// The words that source words are most often translated by (data/word_translations.h), the words that are said most
/// often, and the end mark; where the target has the same piece, a source word may also stay as it is. `recipe` is the
/// model's as load_recipe_for_run reads it. ErrorKind::data where the training files are gone, ErrorKind::usage for a
/// model that does not translate. Tells in `notes` what there is to tell.
Shortlist learn_shortlist(const OpenedModel& model, const Recipe& recipe, const QuantizeOptions& options,
                          ThreadPool& pool, std::vector<std::string>& notes);

}  // namespace attune
