// Model folders as a whole: what one holds, and the average of several.
#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace attune {

struct ModelFile {
  std::string name;  // relative to the folder
  int64_t bytes = 0;
};

/// One line of metrics.jsonl that tells scores of a validation.
struct ModelScore {
  int64_t step = 0;
  std::vector<std::pair<std::string, double>> values;  // {"bleu", 38.2}, {"valid_loss", 1.7}
};

/// How a run goes or went, as its metrics.jsonl tells.
struct RunDescription {
  enum class State { training, stopped, finished };
  State state = State::stopped;
  std::string stop;  // the end, as the recipe has it: "8000u"
  int64_t updates = 0;
  double epochs = 0, seconds = 0;
  double share_done = 0;  // 0 to 1; 0 where the end is not in updates, epochs or minutes
  double loss = 0, learning_rate = 0, target_tokens_per_s = 0, memory_mb = 0;  // tokens: the median; memory: the most
  int64_t skipped = 0, rolled_back = 0;
  std::string trouble;                // why it was rolled back last
  std::vector<std::string> settings;  // of the recipe, where it is not the default: "model.d_model = 256"
};

struct ModelDescription {
  std::string folder;
  std::string task, source_language, target_language;
  std::string shape;  // "encoder-decoder"
  std::string kind;   // the families of its sides: "transformer", "rnn + transformer"
  int64_t encoder_layers = 0, decoder_layers = 0, d_model = 0, d_ff = 0, heads = 0;
  std::string norm, position, attention, tie;
  std::string tokenizer;                                 // "bpe", ...
  int64_t source_vocabulary = 0, target_vocabulary = 0;  // pieces; 0 when there is no such side

  bool shortlist = false;                                      // the folder has one (attune quantize --shortlist)
  int64_t shortlist_translations = 0, shortlist_frequent = 0;  // words it has of the source's, and those of any line

  int64_t parameters = 0, tensors = 0;
  std::string stored_as;  // the types of the weights: "F32"
  std::vector<ModelFile> files;
  int64_t bytes = 0;                                          // of all of them
  std::vector<std::pair<std::string, std::string>> metadata;  // of the weights
  std::string
      weights;  // which they are: "the best, update 1,900 of 2,000: bleu 18.2"; "" when the folder does not tell
  std::vector<std::string> told_by_weights;  // keys of the metadata that this tells

  int64_t step = -1;                 // updates done, when the folder tells
  std::vector<int64_t> checkpoints;  // steps, oldest first
  std::string metric;                // what "best" means
  std::vector<ModelScore> scores;    // all validations, oldest first
  int64_t best = -1;                 // which of scores is the best by `metric`; -1: none tells

  bool is_run = false;  // there is a metrics.jsonl
  RunDescription run;

  bool verified = false;  // every file is what the manifest says
  std::string trouble;    // when it is not: which file, and what to do
};

/// Describes a model folder; damage is described too (`trouble`) as far as files can be read. Reads every byte, to
/// verify. A run that has no model yet is described by its last checkpoint. ErrorKind::model when there is none either.
ModelDescription describe_model(const std::string& folder);

struct AverageOptions {
  int64_t last = 0;    // how many checkpoints of a run at most, the newest ones; 0: 10
  bool early = false;  // those of the first half of the run too
  bool judge = true;   // of a run: compare with the model it has, on its validation set
  bool replace = false;
  int threads = 0;  // that judge; 0: all cores
};
struct AverageReport {
  std::vector<std::string> models;  // what was averaged
  int64_t parameters = 0;
  std::vector<std::string> notes;  // a sentence each
  /// Where it was judged: by train.metric, beside the model of the run, or where that has none its last checkpoint.
  bool judged = false, better = false;
  std::string metric, against;  // against: that model's folder
  double score = 0, against_score = 0;
  std::string verdict;  // the same in a sentence, or why it was not judged; "" where nobody asked
};
/// The mean weights of several models as a model in `out`, with their recipe and tokenizer. `models` are model folders,
/// or one run whose checkpoints are meant. It is written whatever it is worth; `verdict` says that. Throws when models
/// are of different kinds, and says how they differ; when `out` holds a model already, unless `replace`.
AverageReport average(const std::vector<std::string>& models, const std::string& out,
                      const AverageOptions& options = {});

}  // namespace attune
