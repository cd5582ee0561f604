// What words say for labels by themselves, whatever an encoder makes of them: the word, how it begins, ends and is
// written (capitals, digits), the words beside it and words in a row of which it is one, as taggers had it before they
// had encoders (Ratnaparkhi 1996, "A maximum entropy model for part-of-speech tagging"; Lafferty et al. 2001,
// "Conditional random fields"). Each has a number for each label, found by a hash (Weinberger et al. 2009).
#pragma once
#include <array>
#include <span>

#include "model/heads/head.h"

namespace attune {

/// How a word is written, as hashes.
struct Spelling {
  uint64_t word = 0, lower = 0, shape = 0;
  std::array<uint64_t, 3> begins = {};  // by its first letters, one to three
  std::array<uint64_t, 4> ends = {};    // by its last ones, one to four
};
Spelling spelling_of(const Spelled& word);

/// So many numbers are there for each label; a few features share one.
constexpr int64_t kWordFeatureIds = 1 << 17;
/// How many features a word has where `most` in a row count, and those of a text's words, one word after another.
int64_t word_features_of(int64_t most);
void word_feature_ids(std::span<const Spelled> words, int64_t most, int32_t* to);

class WordFeatures {
 public:
  /// `most` words in a row, at least 1; `rate`: the share of features that is dropped in training.
  WordFeatures(int64_t most, float rate, const HeadSetup& setup, const Blueprint& b);
  /// The sum of what a word's features say, over the square root of their number: [answers, labels].
  Var operator()(const Pass& pass, const HeadInput& in) const;

 private:
  int64_t most_, count_;  // words in a row; features of each word
  float rate_, scale_;
  uint64_t site_;
  Letters letters_;
  int table_;
};

}  // namespace attune
