// Sizes of tokenizer, model and training that suit a corpus, and the memory and time there are.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "advise/columns_look.h"
#include "advise/corpus_look.h"
#include "recipe/settings.h"

namespace attune {

/// Settings and, by key, why they are what they are.
struct SizedRecipe {
  Recipe recipe;
  std::map<std::string, std::string> reasons;
  std::string name;                // of the model: "small"
  double tokens = 1;               // of an epoch, on the side that fills a batch
  double seconds = 0;              // that training takes, validations counted; 0: nobody measured it
  std::vector<std::string> notes;  // a sentence each: what memory or time did not allow
  double epochs() const {
    return recipe.train.stop.count * static_cast<double>(recipe.train.batch_tokens.tokens) / tokens;
  }
};

/// What a recipe must do with.
struct Room {
  int64_t memory = INT64_MAX;                                   // bytes that training may take
  int threads = 1;                                              // that work at once, each with its own gradients
  double seconds = 0;                                           // that training may take; 0: as many as are of use
  double validated = 0;                                         // tokens of a validation
  std::function<double(const Recipe&)> seconds_of_update = {};  // on this machine; none: time is not foreseen
};

/// For translation.
SizedRecipe choose_sizes(const CorpusLook& look, const Room& room);
/// For a language model that reads the target of `look` as a stream.
SizedRecipe choose_language_sizes(const CorpusLook& look, const Room& room);
/// For labels of texts, or of words, in such columns.
SizedRecipe choose_answer_sizes(Task task, const CorpusLook& look, const ColumnsLook& columns, const Room& room);

/// Of recipes for the same corpus, largest model first, the first that fits in memory and, in the time there is, sees
/// enough of the corpus; the last where none does. The end of its training is fitted to the time.
SizedRecipe fit_to_room(const std::vector<SizedRecipe>& sizes, const Room& room);

/// Pieces for a text: as many as wanted, but all its characters, and no more than its words give. `reason`: if not.
int64_t fitting_vocabulary(int64_t wanted, const CorpusLook& look, std::string& reason);

/// How many parts a batch is cut into, and how many of them are worked on at once.
void choose_shares(SizedRecipe& sized, int threads);

/// As far as the sizes tell.
int64_t parameters_of(const Recipe& recipe);
/// Bytes of weights, gradients, moments and activations.
int64_t training_memory(const Recipe& recipe, int threads);

}  // namespace attune
