// Smaller copies of trained models: int8, which is also faster, or f16; with a report of what that costs.
//
//   const auto report = attune::quantize("model", "model-int8", {.max_loss = 0.3});
//   std::cout << report.score_before - report.score_after << " BLEU lost\n";
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "attune/translator.h"

namespace attune {

struct QuantizeOptions {
  /// Or "f16": storage only, computed in f32; or "f32", which makes sense with a shortlist.
  std::string type = "int8";
  std::vector<std::string> dev = {};    // what to measure on, as data.valid of a recipe; none: the recipe's data.valid
  std::optional<double> max_loss = {};  // points of the metric that may be lost; more: nothing is written
  bool replace = false;                 // a model that is in the folder already
  TranslateOptions search = {};         // how the dev set is translated
  /// Learn which words lines can be translated by, so that only these are looked at.
  bool shortlist = false;
  std::vector<std::string> shortlist_data = {};  // from these, as data.train of a recipe; none: the recipe's data.train
  int64_t shortlist_translations = 50;           // of each word of a line, at most
  int64_t shortlist_frequent = 100;              // words that may be said of any line
};

/// What a shortlist brings and costs on the dev set.
struct ShortlistReport {
  int64_t bytes = 0;  // of its file
  double words = 0;   // that may be said of a line, in the mean
  double recall = 0;  // share of the dev set's target tokens that may be said of their line
  double score_without = 0, tokens_per_s_without = 0;  // of the same weights without it
};

struct QuantizeReport {
  std::string type;
  int64_t bytes_before = 0, bytes_after = 0;  // of model.safetensors
  bool measured = false;                      // there was a dev set; what follows is of it
  int64_t lines = 0, tokens = 0;              // tokens of the targets, end marks counted
  int64_t answers = 0;                        // of models that give labels or numbers: so many were given, of words too
  int64_t changed_answers = 0;                // of these, those that the copy gives otherwise
  std::string metric;                         // "bleu", "accuracy", or "perplexity" where nothing is judged
  double score_before = 0, score_after = 0;
  double loss = 0;  // how much worse that is; negative: better
  double perplexity_before = 0, perplexity_after = 0;
  bool compared = false;                                   // what both say was held side by side, as follows
  double divergence = 0;                                   // KL of the next token from the model it was made of, nats
  double same_best = 0;                                    // share of positions where both find the same token best ...
                                                           // ... or of answers that stayed the same, without divergence
  double tokens_per_s_before = 0, tokens_per_s_after = 0;  // said, or read where nothing is translated
  std::optional<ShortlistReport> shortlist = {};           // where one was made; all above is with it
  std::vector<std::string> notes = {};                     // a sentence each
};

/// Makes `out` a model folder with the weights of `model` as smaller numbers, or with a shortlist, or both; all
/// commands but training use it as any other. ErrorKind::model, and nothing written, when more than max_loss is lost;
/// ErrorKind::usage when `out` holds a model already, unless `replace`. `threads` 0: one per core.
QuantizeReport quantize(const std::string& model, const std::string& out, const QuantizeOptions& options = {},
                        int threads = 0);

}  // namespace attune
