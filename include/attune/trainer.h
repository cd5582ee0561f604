// Trains what a recipe describes, or goes on with what a folder holds.
//
//   attune::Trainer trainer({.recipe = "translate.toml", .out = "model"});
//   trainer.run({.on_log = [](const std::string& line) { std::cerr << line << "\n"; }});
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "attune/show.h"

namespace attune {

struct TrainerOptions {
  std::string recipe;             // or the folder of a run, to go on with that
  std::string out;                // the run's folder; "": beside the recipe, translate.toml -> translate-model
  std::vector<std::string> sets;  // "key=value" on top of the recipe
  bool fresh = false;             // start anew, whatever the folder holds
  int threads = 0;                // 0: all cores. The result does not depend on it.
};

/// What is known before the first update.
struct TrainingPlan {
  std::string out;
  int64_t parameters = 0, source_vocabulary = 0, target_vocabulary = 0;  // no vocabulary where no text is read
  int64_t labels = 0;                                                    // that can be given
  int64_t training_pairs = 0, validation_pairs = 0;
  std::string unit = "pairs";    // what these two count: "pairs"; of language models "lines", or "tokens" of texts
  int64_t tokens_per_epoch = 0;  // of the target side
  int64_t resumed_at = 0;        // the update a run goes on from; 0: a new one
  int64_t memory = 0;            // bytes at the most
  double seconds = 0;            // about how long the rest will take; 0: nobody knows
  int threads = 0;
  std::vector<std::string> notes;  // what happened to the data, what was chosen
};

/// Where a run stands, after every update.
struct TrainingStatus {
  int64_t update = 0, last_update = 0;  // last_update 0: not known
  double share_done = 0, epoch = 0;
  double loss = 0;                   // per target token, a mean over the last updates
  std::optional<double> guide_loss;  // of train.guide, per row that is guided, its weight not counted
  double rate = 0;
  double target_tokens_per_s = 0, share_of_peak = 0;
  double seconds = 0, seconds_left = 0;
  int64_t memory = 0;   // bytes in use now
  int64_t skipped = 0;  // updates so far whose gradients were not numbers
};

struct SampleTranslation {
  std::string source, reference, translation;
};

struct ValidationResult {
  int64_t update = 0;
  double epoch = 0, loss = 0, perplexity = 0;  // loss: per target token, without smoothing
  double loss_by_frequency = 0;                // the least that guessing by frequency alone can have; 0: not known
  std::string metric;                          // what decides: "bleu"
  double score = 0;
  bool best = false;
  int64_t best_update = 0;
  double best_score = 0, seconds = 0;
  std::vector<std::pair<std::string, double>> scores;  // all that was measured
  std::vector<SampleTranslation> samples;
  AttentionPicture attention;  // of the first sample, or of how the text begins; empty where there are no weights
};

/// What can be had on the validation set without a model: "most frequent tag per word", "word by word", "n-grams".
struct BaselineScore {
  std::string name;
  std::vector<std::pair<std::string, double>> scores;  // all that was measured, as of a ValidationResult
};

/// Weights that a run may end with.
struct FinalWeights {
  /// trained: with train.ema, those of the last update without their moving average. last: where nothing is validated.
  enum class Kind { best, last, mean, trained } kind = Kind::best;
  std::vector<int64_t> updates;  // of its checkpoint, or of all those that it is the mean of, oldest first
  double score = 0;              // on the validation set, by train.metric

  /// "the mean of updates 1,200 to 2,000 (5 checkpoints)"
  std::string text() const;
};

struct TrainingOutcome {
  enum class Reason { finished, out_of_patience, interrupted } reason = Reason::finished;
  std::string model;  // the folder to translate with
  std::string task;   // of the recipe; "missing words" of language with model.shape = "encoder"
  int64_t updates = 0, best_update = 0;
  std::string metric;
  double best_score = 0;
  int64_t averaged = 0;  // checkpoints the model is the mean of; 0: it is the best one
  double final_score = 0;
  bool has_score = false;
  std::vector<FinalWeights> judged;  // what the run could end with: the model's own weights first
  bool was_over = false;             // the run had ended before: nothing was done, the model is as it was ...
  std::string to_go_on = {};         // ... and what makes it go on: "raise train.stop"
  double seconds = 0;
  std::string baseline;          // the best of those that are judged by the metric; "": there is none
  double baseline_score = 0;     // by the metric
  bool beats_baseline = true;    // the final score is better
  std::string baseline_warning;  // what to do where it is not

  /// What the model is, and what else it could have been: "the mean of updates 1,200 to 2,000 (5 checkpoints): bleu
  /// 18.20; the best one alone, update 1,900, had 17.60".
  std::string model_text() const;
};

/// Any of them may be missing. They are called by the thread that runs run().
struct TrainingEvents {
  std::function<void(const TrainingPlan&)> on_plan;
  std::function<void(const std::vector<BaselineScore>&)> on_baselines;  // before the first update; none: not called
  std::function<void(const TrainingStatus&)> on_update;
  std::function<void(const ValidationResult&)> on_validation;
  std::function<void(const std::string& line)> on_log;      // the lines of train.log as they are written
  std::function<void(const std::string& line)> on_metrics;  // those of metrics.jsonl
  std::function<void(const char* what)> on_phase;           // what is done beside updates: "validating"
};

class Trainer {
 public:
  /// Reads the recipe; nothing is written yet.
  explicit Trainer(const TrainerOptions& options);
  ~Trainer();
  Trainer(const Trainer&) = delete;
  Trainer& operator=(const Trainer&) = delete;

  /// The folder of the run.
  const std::string& out() const;
  TrainingOutcome run(const TrainingEvents& events = {});
  /// Asks run() to save and return after the update at hand. May be called from a signal handler.
  void stop() noexcept;

 private:
  struct Body;
  std::unique_ptr<Body> body_;
};

}  // namespace attune
