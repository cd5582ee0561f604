// Search for translations: the most probable ones by beam search, which is greedy with a beam of 1, or some drawn at
// random.
//
//   Arena arena;
//   auto best = search({model}, {.sources = sources}, {.beam = 5}, &pool, arena);   // best[s][0].ids
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "decode/logits_processor.h"
#include "model/model.h"

namespace attune {

class Shortlist;

/// How tokens are drawn: see kernels/vocabulary/candidates.h.
struct SamplingOptions {
  double temperature = 1;
  int64_t top_k = 0;
  double top_p = 1;
  uint64_t seed = 1;
};

struct SearchOptions {
  int64_t beam = 5;
  /// The exponent of Wu et al. 2016 (GNMT), equation 14: score = log p / ((5 + |Y|) / 6)^a, |Y| counting the end mark.
  double length_penalty = 0.6;
  /// Wu et al. 2016, equation 14 too: score += b sum over source tokens of log(min(sum of attention to it, 1)), by the
  /// cross-attention that tells alignments best.
  double coverage_penalty = 0;
  int64_t n_best = 1;          // at most so many hypotheses a sentence; no more than the beam
  int64_t longest = 0;         // tokens of a hypothesis, end mark counted; 0: by the source
  double expansion = 2;        // then so many for each token of the source, plus 10
  int32_t begin = 1, end = 2;  // end -1: hypotheses go on to the longest
  /// Never said. Padding and begin marks mean nothing in a sentence; an unknown piece can't be written.
  std::vector<int32_t> hidden{0, 1, 3};
  /// What changes logits, and what may be said, by what was said: decode/logits_processor.h.
  LogitsProcessors processors = {};
  /// What may be said, by what is to be translated; none: everything. Probabilities are those among these words.
  const Shortlist* shortlist = nullptr;
  bool sample = false;  // n_best drawn at random, instead of a beam
  SamplingOptions sampling = {};
  /// Prefixes are prompts: they are said, but count neither in lengths nor in scores.
  bool prompts = false;
  /// Called with each token that is certain: of which sentence (of a queue its name), and which of its samples. Of a
  /// beam those that all begin with that may still win; at its end the rest of the winner. False: that sentence says no
  /// more.
  std::function<bool(int64_t sentence, int64_t number, int32_t token)> on_token = {};
};

/// What is to be translated: sentences of a packed batch, and what may be said of each of them, if anything.
struct SearchInput {
  Rows sources;  // of a decoder on its own nothing but segments, which are empty: one for each text
  std::span<const std::vector<int32_t>> prefixes = {};  // the first tokens of each sentence's hypotheses
  std::span<const uint64_t> keys = {};                  // for what is drawn; none: 0, 1, 2 ...
  std::span<const int32_t> begins = {};                 // what each reads first; none: the mark
  std::span<const int64_t> longest = {};                // tokens of each after its prefix; none: by the options
};

struct Hypothesis {
  std::vector<int32_t> ids;  // without marks
  double score = 0;          // log-probability over the length penalty, and the coverage penalty
  double log_prob = 0;
  bool finished = true;                      // false: cut off at the longest
  std::vector<double> token_log_probs = {};  // of the ids, and of the end mark where it is finished
};

/// Translates all sources at once: result[s] has at least one hypothesis and at most n_best, best first. Each step
/// keeps the `beam` best continuations of a sentence; those that end are collected, when they are among the best `beam`
/// of all. A hypothesis is given up as soon as nothing it can become beats the n_best collected, so the result is that
/// of a search up to the longest. With a beam of 1, the most probable token is said until that is the end mark. Equal
/// hypotheses: the one of the earlier parent, then of the lower token, comes first.
///
/// Several models are an ensemble: a token's probability is the mean of theirs. They share the target's vocabulary.
///
/// Sentences do not influence each other: ids and scores are the same bits alone or in any batch, with any number of
/// threads.
std::vector<std::vector<Hypothesis>> search(std::span<const Model* const> models, const SearchInput& input,
                                            const SearchOptions& options, ThreadPool* pool, Arena& arena);
/// Of one model.
std::vector<std::vector<Hypothesis>> search(const Model& model, const SearchInput& input, const SearchOptions& options,
                                            ThreadPool* pool, Arena& arena);

/// A sentence that waits for its translation.
struct SearchSentence {
  std::span<const int32_t> source;       // with its end mark; of a decoder on its own nothing
  std::span<const int32_t> prefix = {};  // the first tokens of its hypotheses
  uint64_t key = 0;                      // for what is drawn
  int32_t begin = -1;                    // what it reads first; -1: the mark
  int64_t longest = 0;                   // tokens after its prefix; 0: by the options
};

/// Sentences that wait, and where their translations go. Searches of several threads may share one: all of it may be
/// called from any of them.
class SearchQueue {
 public:
  virtual ~SearchQueue() = default;
  /// Takes the next sentences out: as many as have up to `together` source tokens, or a single one that has up to
  /// `alone`. None: nothing waits, or the next is longer.
  virtual std::vector<int64_t> take(int64_t together, int64_t alone) = 0;
  /// One that was taken. What it points to stays until it is found.
  virtual SearchSentence sentence(int64_t id) const = 0;
  /// Best first, at least one.
  virtual void found(int64_t id, std::vector<Hypothesis> best) = 0;
};

/// Translates all that waits, some of it at a time: where sentences are done others enter, while the rest goes on. So
/// the matrix products have many rows from the first step to nearly the last. Sentences under way have up to `tokens`
/// source tokens, or it is a single one; and what is kept, together with those that are done and entered with others
/// that are not, has up to twice as many.
void search(std::span<const Model* const> models, SearchQueue& queue, const SearchOptions& options, int64_t tokens,
            ThreadPool* pool, Arena& arena);

/// ((5 + length) / 6)^exponent.
double length_penalty(int64_t length, double exponent);

}  // namespace attune
