// Sizes of tokenizer, model and training that suit a corpus and the memory there is.
#pragma once
#include <cstdint>
#include <map>
#include <string>

#include "advise/corpus_look.h"
#include "recipe/settings.h"

namespace attune {

/// Settings and, by key, why they are what they are.
struct SizedRecipe {
  Recipe recipe;
  std::map<std::string, std::string> reasons;
  std::string memory_note;  // a sentence when memory, not the corpus, limits the model
};
/// `memory`: bytes that training may take. `threads` work at once, each with its own gradients.
SizedRecipe choose_sizes(const CorpusLook& look, int64_t memory, int threads);

/// The same for a language model that reads the target of `look` as a stream.
SizedRecipe choose_language_sizes(const CorpusLook& look, int64_t memory, int threads);
/// The same for labels of texts, or of words.
SizedRecipe choose_answer_sizes(Task task, const CorpusLook& look, int64_t memory, int threads);
/// Looks into a file of texts and labels, or of words and labels: which format it has and which columns are what.
/// True: there are two texts to a label.
bool describe_columns(const std::string& file, Task task, DataSettings& data);
/// Pieces for a text: as many as wanted, but all its characters, and no more than its words give. `reason`: if not.
int64_t fitting_vocabulary(int64_t wanted, const CorpusLook& look, std::string& reason);

/// How many parts a batch is cut into, and how many of them are worked on at once.
void choose_shares(SizedRecipe& sized, int threads);

/// As far as the sizes tell.
int64_t parameters_of(const Recipe& recipe);
/// Floating-point operations of a whole training run that ends after so many updates.
double training_operations(const Recipe& recipe, const CorpusLook& look);
double language_operations(const Recipe& recipe);
double answer_operations(const Recipe& recipe);
/// Bytes of weights, gradients, moments and activations.
int64_t training_memory(const Recipe& recipe, int threads);

}  // namespace attune
