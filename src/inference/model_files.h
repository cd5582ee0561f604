// A model folder opened for use: recipe, tokenizers and the network with its weights.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "data/tokenizers.h"
#include "decode/shortlist.h"
#include "model/model.h"

namespace attune {

struct OpenedModel {
  Recipe recipe;
  Tokenizers tokenizers;
  std::unique_ptr<Model> model;
  std::unique_ptr<const Shortlist> shortlist = {};  // where the folder has one
};

/// The sizes a recipe's network gets with these tokenizers.
ModelSizes sizes_of(const Recipe& recipe, const Tokenizers& tokenizers);

/// How many positions a source, and a target, of this model may have: as many as it has, but where it would go on for
/// ever no more than 4,096 or what it was trained with. Whatever a line holds, the memory for it has a bound.
int64_t longest_source(const Model& model);
int64_t longest_target(const Model& model);

/// As far as its recipe can be read: what is wrong with a model is told by those who open it.
bool is_language_model(const std::string& dir);
/// Whether it reads texts and writes none. Likewise.
bool encodes_alone(const std::string& dir);
/// Whether it says something about texts: labels, numbers. Likewise.
bool gives_answers(const std::string& dir);

/// Verifies the folder and reads everything. ErrorKind::model when something is missing, changed or does not fit.
OpenedModel open_model_files(const std::string& dir, ThreadPool* pool = nullptr);

/// Says what it is for, to those who wanted something else of it. ErrorKind::model.
[[noreturn]] void refuse_model(const Recipe& recipe, const std::string& name);

/// A model, or several, separated by commas, that share their vocabularies: an ensemble. `check` may refuse each.
std::vector<OpenedModel> open_ensemble(const std::string& models, ThreadPool* pool,
                                       const std::function<void(const OpenedModel&, const std::string& name)>& check);

}  // namespace attune
