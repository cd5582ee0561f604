// All that a run trains and validates on.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "data/corpus.h"

namespace attune {

struct TrainingData {
  Corpus train, valid;
  std::vector<std::string> valid_source, valid_target;  // the text of `valid`: what BLEU compares with
  PairReport train_report, valid_report;
  bool held_out = false;     // valid was taken out of train
  std::string content_hash;  // of the text of both: a resumed run compares it
};

/// Reads train and valid. Without valid files, 2 % of the different pairs of train (at least 1, at most 1,000) are held
/// out: which ones depends on the seed and their text alone, and every copy of them leaves the training. A corpus
/// of a single different pair holds out none. Of texts that are read on and on, the last 2 % (at most 100,000 tokens)
/// are held out, from the begin of a line where one begins; ErrorKind::data when less than a window is left.
TrainingData read_training_data(const DataSettings& options, const Encoders& encoders, uint64_t seed, ThreadPool* pool);

}  // namespace attune
