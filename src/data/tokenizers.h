// The tokenizers of a model's two sides: one vocabulary for both, or one each. Kept in the folder `tokenizer/` of a
// model: vocabulary.txt, or source/vocabulary.txt and target/vocabulary.txt.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "data/corpus/training_data.h"
#include "recipe/settings.h"
#include "text/labels.h"
#include "text/tokenizer.h"

namespace attune {

struct Tokenizers {
  std::shared_ptr<const text::Tokenizer> source, target;  // the same one when joint
  std::vector<std::string> notes = {};                    // what training them had to say
  std::shared_ptr<const text::Labels> labels = {};        // of models that give such; then `target` is the source's
  std::shared_ptr<const RowShape> rows = {};              // of sources that are no texts: there are no tokenizers

  bool joint() const { return source == target; }
  void save(const std::string& folder) const;
  static Tokenizers load(const std::string& folder);
  /// Text to ids, for reading a corpus. What it returns outlives the Tokenizers.
  Encoders encoders(Sides sides = Sides::two) const;
};

/// Tells a corpus what its pieces fall apart into, where train.piece_dropout asks for that. ErrorKind::recipe where
/// they never do.
void let_pieces_drop(const Tokenizers& tokenizers, const TrainOptions& options, Corpus& corpus);

/// Where a run in `folder` keeps training data that is too large for memory.
CorpusPlace corpus_place(const std::string& folder, const Tokenizers& tokenizers, bool numbers = false);

/// For tests: how many tokens may stay in memory at such places from now on; 0: as many as usual.
void limit_corpus_in_memory(int64_t tokens);

/// Learns them from the training files. Of one side, the source's is the target's.
Tokenizers train_tokenizers(const DataSettings& data, const text::TokenizerOptions& options, Sides sides = Sides::two);
/// The same for a recipe's task, and the labels where there are such.
Tokenizers learn_tokenizers(const Recipe& recipe);
/// The labels alone; none where the task has none.
std::shared_ptr<const text::Labels> learn_labels_of(const Recipe& recipe);

}  // namespace attune
