// Translation with a trained model: lines in, lines out.
//
//   attune::Translator t("model-dir");
//   for (auto& r : t.translate(lines, {.beam = 5})) std::cout << r.text << "\n";
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "attune/look.h"
#include "attune/streamed_token.h"

namespace attune {

/// Which attention from decoder to encoder tells what came from what.
struct AlignmentChoice {
  int layer = -1;  // from 0 at the bottom; -1: what was guided in training (train.guide), else the last but one
  std::vector<int> heads = {};  // the mean of these; none: of the head that was guided, else of all
};

struct TranslateOptions {
  int beam = 5;                 // hypotheses kept at each step; 1: the most probable word, step by step
  double length_penalty = 0.6;  // Wu et al. 2016: score = log p / ((5 + length) / 6)^this
  double coverage_penalty = 0;  // Wu et al. 2016: what nothing attended to costs so much
  int n_best = 1;               // translations a line, at most the beam
  int64_t min_length = 0;       // tokens of a translation at least
  int64_t max_length = 0;       // tokens of a translation; 0: by the recipe: twice those of the line, plus 10
  int64_t batch_tokens = 4096;  // tokens translated at the same time, times the beam: more is faster and takes memory
  bool cut = true;              // what is longer than the model learned to read is translated in pieces; else as it is
  bool shortlist = true;        // say only what the model's shortlist has for a line; without one: anything
  bool alignment = false;       // which word came from which
  bool attention = false;       // how much each piece of the translation looked at each of the line
  AlignmentChoice align_by = {};

  /// Tokens drawn at random, n_best times, instead of the most probable translation.
  bool sample = false;
  double temperature = 1;   // below 1: more often what is probable; above: more often what is not
  int64_t top_k = 0;        // only of so many most probable ones; 0: of all
  double top_p = 1;         // only of the fewest that have this share together
  uint64_t seed = 1;        // the same seed, the same draws
  uint64_t first_line = 0;  // the number of the first line, for those that are translated in parts

  double repetition_penalty = 1;             // Keskar et al. 2019: above 1, what was said is less probable
  int64_t no_repeat_ngram = 0;               // so many tokens in a row are not said twice; 0: they may be
  std::vector<std::string> suppressed = {};  // pieces that are never said
  /// How translations begin, one for each line; none: as they like.
  std::vector<std::string> prefixes = {};
  OnToken on_token = {};  // who watches the translations come into being
  /// Called when some lines are done, with how many: one call at a time, whatever the threads.
  std::function<void(int64_t lines)> on_lines = {};
};

/// Which words go together: (word of the line, word of its translation), counted from 0, words being what stands
/// between white space.
using WordPairs = std::vector<std::pair<int, int>>;

struct Translation {
  std::string text;
  double score = 0;                 // log-probability over the length penalty; 0 for an empty line
  std::vector<std::string> tokens;  // the pieces of the text
  /// The log-probability of each of them, and of the end after them where it is not cut off.
  std::vector<double> token_scores;
  /// With TranslateOptions::alignment: for each piece of the text, the piece of the line it attended to most.
  WordPairs alignment;
  /// With TranslateOptions::attention: the pieces of the line, the end mark included, and how much each piece of the
  /// text looked at each of them, [tokens, source_tokens].
  std::vector<std::string> source_tokens;
  std::vector<float> attention;
  bool cropped = false;  // the line was longer than the model can read: its end was left out
  /// Above 0: the line had more tokens than the model learned to read, and was translated in so many pieces, each with
  /// an end of its own in token_scores: its sentences, or runs of their words. There is no attention of such a line.
  int64_t cut = 0;
  bool cut_off = false;             // the text reached its greatest length before its end
  std::vector<Translation> others;  // with n_best > 1: the second best, the third ...
};

/// Never changes once made; safe to share between threads.
class Translator {
 public:
  /// Reads a model folder, or several, separated by commas: an ensemble, which finds probable what its models do in
  /// the mean; they must share their vocabulary. `threads` 0: one per core.
  explicit Translator(const std::string& model, int threads = 0);
  Translator(Translator&&) noexcept;
  Translator& operator=(Translator&&) noexcept;
  ~Translator();

  /// A Translation for each line, in order. Any bytes will do; an empty line stays empty. A line's translation does not
  /// depend on the other lines or the threads.
  std::vector<Translation> translate(const std::vector<std::string>& lines, const TranslateOptions& options = {}) const;
  Translation translate(const std::string& line, const TranslateOptions& options = {}) const;

  /// The same for translations that are there already, one for each line: the model is made to say them.
  std::vector<WordPairs> align(const std::vector<std::string>& lines, const std::vector<std::string>& translations,
                               const AlignmentChoice& by = {}) const;

  /// What a translation of the line attends to.
  AttentionLook attention(const std::string& line, const AttentionChoice& choice = {}) const;

  /// What the two sides are called: {"en", "de"}.
  std::pair<std::string, std::string> languages() const;
  /// The most tokens a line may have.
  int64_t longest() const;
  /// The most that the model learned to read (data.max_length): lines that have more are cut.
  int64_t longest_whole() const;

 private:
  struct Body;
  std::unique_ptr<Body> body_;
};

}  // namespace attune
