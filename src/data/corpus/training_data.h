// All that a run trains and validates on.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "data/corpus/corpus.h"
#include "data/files/overlap.h"

namespace attune {

struct TrainingData {
  Corpus train, valid;
  std::vector<std::string> valid_source, valid_target;  // the text of `valid`: what BLEU compares with
  PairReport train_report, valid_report;
  Overlaps overlaps;         // counted where the training text was read
  bool held_out = false;     // valid was taken out of train
  std::string content_hash;  // of the text of both: a resumed run compares it

  /// Memory it takes, with the order of an epoch.
  int64_t bytes() const;
};

/// Where training data that is too large for memory is kept, encoded, so that a later run need not read the text again.
struct CorpusPlace {
  /// The folder it is, or will be, in; its own folder there is called kName.
  std::string folder;
  /// Called before the first byte is written: makes the folder.
  std::function<void()> open = [] {};
  int64_t vocabulary = 0;       // above 0: ids are below this
  uint64_t tokenizer = 0;       // a hash of what makes ids of text
  bool read_again = false;      // whatever is there already
  int64_t in_memory = 8 << 20;  // as many tokens, of both sides, may stay there

  static constexpr const char* kName = "corpus";
};

/// Reads train and valid. Without valid files, 2 % of the different pairs of train (at least 1, at most 1,000) are held
/// out: which ones depends on the seed and their text alone, and every copy of them leaves the training. A corpus
/// of a single different pair holds out none. Of texts that are read on and on, the last 2 % (at most 100,000 tokens)
/// are held out, from the begin of a line where one begins; ErrorKind::data when less than a window is left.
///
/// Where there is a place, training data of more tokens than may be in memory goes to the disk, with the same result;
/// and where it is there already, made of the same files by the same settings, no training text is read at all.
TrainingData read_training_data(const DataSettings& options, const Encoders& encoders, uint64_t seed, ThreadPool* pool,
                                const CorpusPlace* place = nullptr);

}  // namespace attune
