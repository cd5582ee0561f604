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

/// Verifies the folder and reads everything. ErrorKind::model when something is missing, changed or does not fit.
OpenedModel open_model_files(const std::string& dir, ThreadPool* pool = nullptr);

}  // namespace attune
