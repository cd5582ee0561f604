// Texts from a trained language model: it goes on with what it is given, or begins by itself.
//
//   attune::Generator g("model-dir");
//   std::cout << g.generate("ROMEO:", {.temperature = 0.8}).text << "\n";
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "attune/streamed_token.h"

namespace attune {

struct GenerateOptions {
  /// Tokens drawn at random, n_best texts for each prompt. Otherwise the most probable texts of a beam.
  bool sample = true;
  double temperature = 1;   // below 1: more often what is probable; above: more often what is not
  int64_t top_k = 0;        // only of so many most probable ones; 0: of all
  double top_p = 1;         // only of the fewest that have this share together
  uint64_t seed = 1;        // the same seed, the same draws
  uint64_t first_line = 0;  // the number of the first prompt, for those that come in parts

  int beam = 1;  // without sample: hypotheses kept at each step; 1: the most probable token, step by step
  double length_penalty = 0.6;    // of scores: log p / ((5 + length) / 6)^this
  int n_best = 1;                 // texts for each prompt
  int64_t min_length = 0;         // tokens after the prompt, at least
  int64_t max_length = 0;         // tokens after the prompt; 0: 256
  int64_t batch_tokens = 4096;    // tokens of texts that are said at the same time: more is faster and takes memory
  double repetition_penalty = 1;  // Keskar et al. 2019: above 1, what was said is less probable
  int64_t no_repeat_ngram = 0;    // so many tokens in a row are not said twice; 0: they may be
  std::vector<std::string> suppressed = {};  // pieces that are never said
  std::string stop = {};                     // a text ends before this, where it comes to it; "": nothing
  OnToken on_token = {};
};

struct GeneratedText {
  std::string text;                   // the prompt, as the model reads it, and what follows
  std::string continuation;           // what follows
  double score = 0;                   // its log-probability over the length penalty
  std::vector<std::string> tokens;    // pieces of what follows, line ends too ("</s>")
  std::vector<double> token_scores;   // the log-probability of each, and of the end after them where it came to it
  bool cut_off = false;               // it reached its greatest length
  bool cropped = false;               // the prompt was longer than the model can see: it did not see its begin
  std::vector<GeneratedText> others;  // with n_best > 1
  int64_t unknown = 0;                // pieces of the prompt that the model does not know; they read as U+2047
};

/// Never changes once made; safe to share between threads.
class Generator {
 public:
  /// Reads a model folder, or several, separated by commas: an ensemble. `threads` 0: one per core.
  explicit Generator(const std::string& model, int threads = 0);
  Generator(Generator&&) noexcept;
  Generator& operator=(Generator&&) noexcept;
  ~Generator();

  /// A text for each prompt, in order; what it says does not depend on the other prompts or the threads. Any bytes will
  /// do, and nothing too. A model of lines ends where it finds that a line does. One of whole texts (data.stream) goes
  /// on to the greatest length, over line ends; where it has said as much as it saw at a time when it learned, it goes
  /// on from the second half of that.
  std::vector<GeneratedText> generate(const std::vector<std::string>& prompts,
                                      const GenerateOptions& options = {}) const;
  GeneratedText generate(const std::string& prompt, const GenerateOptions& options = {}) const;

  /// Whether its texts have several lines.
  bool says_lines() const;

 private:
  struct Body;
  std::unique_ptr<Body> body_;
};

}  // namespace attune
