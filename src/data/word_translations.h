// Which words of one language are said by which of the other, learned from pairs of sentences: IBM Model 1 (Brown et
// al. 1993, "The Mathematics of Statistical Machine Translation: Parameter Estimation", section 4.1). Every word of
// the target comes from one word of the source, or from none, whatever their places; t(f | e) and what came from what
// are estimated by turns (EM).
#pragma once
#include <cstdint>
#include <vector>

#include "data/corpus/corpus.h"

namespace attune {

struct WordTranslation {
  int32_t word = 0;       // f, of the target
  float probability = 0;  // t(f | e)
};

struct WordTranslations {
  std::vector<std::vector<WordTranslation>> of;  // each word e of the source: most probable first, then the lower word
  std::vector<int64_t> counts;                   // how often each word of the target is said
};

struct WordTranslationOptions {
  int64_t source_words = 0, target_words = 0;  // ids are below these
  int64_t rounds = 5;                          // of EM
  /// Words that can be translations of e: so many that are found most often where it is, and seldom elsewhere (by the
  /// Dice coefficient). Memory is at most 24 bytes for each of them, times the source's words, whatever the corpus.
  int64_t candidates = 500;
  /// What is less probable is left out.
  double least = 1e-4;
};

/// The same bits for any pool.
WordTranslations learn_translations(const Sentences& source, const Sentences& target,
                                    const WordTranslationOptions& options, ThreadPool* pool);

/// Pairs out of a corpus of any size, spread evenly: of all, every second, every fourth, ... so that what is kept has
/// at most `tokens` of both sides.
class PairSample : public CorpusSink {
 public:
  explicit PairSample(int64_t tokens) : most_(tokens) {}
  void add(const Example& example) override;
  void begin_text() override {}
  void extend(std::span<const int32_t>) override {}
  Sentences source, target;
  /// Of so many pairs one is kept.
  int64_t stride() const { return stride_; }

 private:
  int64_t most_, stride_ = 1, seen_ = 0;
};

}  // namespace attune
