// Trains variants of a recipe, one after another, and judges them side by side: quality, speed, memory, how work grows
// with length, what they attend to.
//
//   attune::Comparer comparer({.recipe = "translate.toml", .over = {"model.attention=softmax,band"}});
//   const attune::Comparison c = comparer.run();          // and translate.compare/compare.html to look at
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "attune/machine.h"
#include "attune/show.h"
#include "attune/trainer.h"

namespace attune {

struct CompareOptions {
  std::string recipe;
  /// "key=a,b,c" each: the values to try. They are TOML, a bare word is a text, and commas within brackets or quotes
  /// belong to a value. Several keys make the product.
  std::vector<std::string> over;
  std::string out = {};                // "": beside the recipe, translate.toml -> translate.compare
  std::vector<std::string> sets = {};  // "key=value" on top of the recipe, for all variants
  bool fresh = false;                  // start anew, whatever the folder holds
  int threads = 0;                     // 0: all cores
};

/// Operations, a multiply-add counted twice, of one update on one pair of sequences of that length, forward and
/// backward.
struct WorkAtLength {
  int64_t length = 0;
  double self_attention = 0;  // of encoder and decoder: what model.attention names
  double attention = 0;       // with that from decoder to encoder
  double update = 0;          // all of it
};

/// One validation on the way.
struct CurvePoint {
  int64_t update = 0;
  double loss = 0;
};

/// What one layer attended to in a sentence of the validation set.
struct VariantPicture {
  std::string place;  // "encoder, last layer, head 2 of 4"
  AttentionPicture picture;
};

/// What was measured on a run that came to its end.
struct VariantFigures {
  int64_t parameters = 0, updates = 0;
  double train_seconds = 0;         // spent on updates
  std::optional<double> loss = {};  // per target token of the validation set, without smoothing
  std::vector<std::pair<std::string, double>> valid = {}, test = {};  // {"bleu", 38.2}; none where there is no such set
  double train_tokens_per_s = 0, ms_per_update = 0;                   // medians of the run's own log
  double decode_tokens_per_s = 0;  // greedy, all threads: lines of the validation set; texts from their begin
  int64_t decode_lines = 0;
  int64_t memory = 0;    // bytes that weights, moments, gradients and activations take at most: counted
  int64_t resident = 0;  // bytes of the whole process, its corpora too, at most while it trained: measured
  std::vector<WorkAtLength> work = {};
  double growth = 0;  // self-attention's work grows as length^this between the two longest
  std::vector<VariantPicture> pictures = {};
  Load load = {};  // what other work took of the machine while this was trained and timed
};

struct ComparedVariant {
  enum class State { waiting, refused, failed, interrupted, finished };
  std::string name;                                           // of its folder and its row
  std::vector<std::pair<std::string, std::string>> settings;  // {"model.attention", "softmax"}: as they were given
  std::string folder;
  State state = State::waiting;
  std::string reason = {};  // of a refusal or a failure, in one line
  uint64_t seed = 0;
  std::vector<CurvePoint> curve = {};
  VariantFigures figures = {};
};
/// "waiting", "refused" ...
const char* name_of(ComparedVariant::State state);

struct Comparison {
  std::string recipe, out, command, machine;
  std::string metric;  // what "best" means: "bleu"
  int threads = 0;
  std::vector<ComparedVariant> variants;  // in the order of the product, the last key changing first
  bool interrupted = false;               // the same call goes on
  std::vector<std::string> notes = {};    // a sentence each: what was chosen for all variants
};

/// Any of them may be missing. They are called by the thread that runs run().
struct CompareEvents {
  /// Before a variant is trained, or looked at once more: what to call meanwhile.
  std::function<TrainingEvents(const ComparedVariant& variant, int64_t number, int64_t of)> on_start;
  std::function<void(const ComparedVariant&, const TrainingOutcome&)> on_trained;
  std::function<void(const ComparedVariant&)> on_trouble;  // failed: the others go on
  std::function<void(const char* what)> on_phase;          // what is measured: "timing its decoder"
};

class Comparer {
 public:
  /// Reads the recipe and checks every variant; nothing is written yet. What a variant can't be is told in its reason.
  /// Throws when none can be trained, and where the folder of one holds another run.
  explicit Comparer(const CompareOptions& options);
  ~Comparer();
  Comparer(const Comparer&) = delete;
  Comparer& operator=(const Comparer&) = delete;

  /// As they are before the first one is trained.
  const Comparison& plan() const;
  /// Trains each in OUT/NAME, measures it, and writes OUT/compare.html, .json and .md after each. What is finished
  /// there is not done again; what was interrupted goes on.
  Comparison run(const CompareEvents& events = {});
  /// Asks run() to save and return. May be called from a signal handler.
  void stop() noexcept;

 private:
  struct Body;
  std::unique_ptr<Body> body_;
};

/// The table that the files have: a headline, and a row per variant.
struct CompareTable {
  std::vector<std::string> head;
  std::vector<std::vector<std::string>> rows;
  std::string note = {};  // what "~" before a time or a speed means, where there is one
};
CompareTable table_of(const Comparison& comparison);
/// A variant as a line of JSON, without its pictures.
std::string json_of(const ComparedVariant& variant);

}  // namespace attune
