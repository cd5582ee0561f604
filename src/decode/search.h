// Search for the most probable translations: beam search, which is greedy with a beam of 1.
//
//   Arena arena;
//   auto best = search(model, sources, {.beam = 5}, &pool, arena);   // best[s][0].ids
#pragma once
#include <cstdint>
#include <vector>

#include "model/transformer.h"

namespace attune {

struct SearchOptions {
  int64_t beam = 5;
  /// The exponent of Wu et al. 2016 (GNMT), equation 14: score = log p / ((5 + |Y|) / 6)^a, |Y| counting the end mark.
  double length_penalty = 0.6;
  int64_t n_best = 1;   // at most so many hypotheses a sentence; no more than the beam
  int64_t longest = 0;  // tokens of a hypothesis, end mark counted; 0: twice those of the source, plus 10
  int32_t begin = 1, end = 2;
  /// Never said. Padding and begin marks mean nothing in a sentence; an unknown piece can't be written.
  std::vector<int32_t> hidden{0, 1, 3};
};

struct Hypothesis {
  std::vector<int32_t> ids;  // without marks
  double score = 0;          // log-probability over the length penalty
  double log_prob = 0;
  bool finished = true;  // false: cut off at the longest
};

/// Translates all sources of a packed batch at once: result[s] has at least one hypothesis and at most n_best, best
/// first. Each step keeps the `beam` best continuations of a sentence; those that end are collected, when they are
/// among the best `beam` of all. A hypothesis is given up as soon as nothing it can become beats the n_best collected,
/// so the result is that of a search up to the longest. With a beam of 1, the most probable token is said until that is
/// the end mark. Equal hypotheses: the one of the earlier parent, then of the lower token, comes first.
///
/// Sentences do not influence each other: ids and scores are the same bits alone or in any batch, with any number of
/// threads.
std::vector<std::vector<Hypothesis>> search(const Transformer& model, const Tokens& sources,
                                            const SearchOptions& options, ThreadPool* pool, Arena& arena);

/// ((5 + length) / 6)^exponent.
double length_penalty(int64_t length, double exponent);

}  // namespace attune
