// A model folder opened for use: recipe, tokenizers and the network with its weights.
#pragma once
#include <memory>
#include <string>

#include "data/tokenizers.h"
#include "model/transformer.h"

namespace attune {

struct OpenedModel {
  Recipe recipe;
  Tokenizers tokenizers;
  std::unique_ptr<Transformer> model;
};

/// The sizes a recipe's network gets with these tokenizers.
Vocabularies vocabularies_of(const Recipe& recipe, const Tokenizers& tokenizers);

/// As far as its recipe can be read: what is wrong with a model is told by those who open it.
bool is_language_model(const std::string& dir);
/// Whether it says something about texts: labels, numbers. Likewise.
bool gives_answers(const std::string& dir);

/// Verifies the folder and reads everything. ErrorKind::model when something is missing, changed or does not fit.
OpenedModel open_model_files(const std::string& dir, ThreadPool* pool = nullptr);

}  // namespace attune
