// How probable a trained model finds texts that are there already: translations of lines, or the lines themselves.
//
//   attune::Scorer s("model-dir");
//   for (auto& r : s.score(lines, translations)) std::cout << r.log_prob << "\n";
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace attune {

struct ScoreOptions {
  double length_penalty = 0;    // score = log p / ((5 + length) / 6)^this: 0.6 as translations have it; 0: log p itself
  int64_t batch_tokens = 4096;  // tokens read at the same time: more is faster and takes memory
};

struct LineScore {
  double log_prob = 0;  // the sum of token_scores
  double score = 0;     // over the length penalty
  std::vector<std::string> tokens;
  /// The log-probability of each of them, and of the end after them where the line is not cropped.
  std::vector<double> token_scores;
  int64_t characters = 0;  // of what was scored, the end of the line counted
  bool cropped = false;    // one of the texts was longer than the model can read: its end was left out
  bool beyond = false;     // or than any that it learned from: what is said of it is worth little
};

/// Many lines together.
struct ScoreTotals {
  int64_t lines = 0, tokens = 0, characters = 0;  // the ends of lines counted
  double nats = 0;                                // minus the log-probability of all of them
  void add(const LineScore& line);
  double perplexity() const;  // these are 0 where there is nothing
  double bits_per_token() const;
  double bits_per_character() const;
};

/// Never changes once made; safe to share between threads.
class Scorer {
 public:
  /// Reads a model folder, or several, separated by commas: an ensemble. `threads` 0: one per core.
  explicit Scorer(const std::string& model, int threads = 0);
  Scorer(Scorer&&) noexcept;
  Scorer& operator=(Scorer&&) noexcept;
  ~Scorer();

  /// Whether it scores translations, which have a source; a language model scores lines.
  bool wants_sources() const;

  /// log p(target | source), as many targets as sources. Any bytes will do. A score does not depend on the other lines
  /// or the threads. Where both are empty, it is 0: an empty line has nothing to translate.
  std::vector<LineScore> score(const std::vector<std::string>& sources, const std::vector<std::string>& targets,
                               const ScoreOptions& options = {}) const;
  /// log p(line), each by itself, for language models. One that was trained on whole texts (data.stream) reads it as
  /// the next line of one.
  std::vector<LineScore> score_lines(const std::vector<std::string>& lines, const ScoreOptions& options = {}) const;
  /// The most tokens a line may have.
  int64_t longest() const;
  /// The most tokens a text had that the model learned from.
  int64_t learned() const;

 private:
  struct Body;
  std::unique_ptr<Body> body_;
};

}  // namespace attune
