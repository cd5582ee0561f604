// The model a run starts from (train.start): its weights are taken at update 0, with them the tokenizer where the
// recipe has none of its own. Once a checkpoint is there, nobody needs it any more.
#pragma once
#include <string>
#include <vector>

#include "data/tokenizers.h"
#include "model/model.h"

namespace attune {

class StartModel {
 public:
  /// Verifies the folder. ErrorKind::model when it is no model, or damaged.
  explicit StartModel(const Recipe& recipe);

  /// Its tokenizers, for a recipe without a [tokenizer]. ErrorKind::recipe where they don't go with the recipe.
  Tokenizers tokenizers() const;
  /// Copies the weights that train.start_parts names, or all of them. Rows of vocabularies are matched by the text of
  /// their pieces where `now` is another one. ErrorKind::recipe when models don't match.
  void give(Model& model, const Tokenizers& now, ThreadPool* pool);
  /// What it was, for the run's records: the hash of its weights.
  const std::string& hash() const { return hash_; }
  /// What give() did, in sentences.
  const std::vector<std::string>& notes() const { return notes_; }

  /// The hash of the weights in a model folder, or "" when there is none to be read.
  static std::string hash_of(const std::string& dir);

 private:
  std::string dir_, hash_;
  const Recipe& recipe_;
  std::vector<std::string> notes_;
};

}  // namespace attune
