#include "api/validator.h"

#include <algorithm>
#include <cmath>

#include "attune/metric.h"
#include "base/clock.h"
#include "decode/search.h"
#include "train/loop.h"

namespace attune {

namespace {

constexpr size_t kSamples = 3;

/// A validation sentence may be longer than any of the training and than its budget.
BatchOptions in_order(const Recipe& recipe, const Corpus& corpus) {
  BatchOptions o;
  o.tokens =
      std::max<int64_t>(recipe.train.batch_tokens.tokens, std::max(corpus.source.longest, corpus.target.longest) + 1);
  o.shuffle = false;
  return o;
}

}  // namespace

Validator::Validator(Learner& learner, const TrainingData& data, const Tokenizers& tokenizers, const Recipe& recipe,
                     ThreadPool& pool)
    : learner_(learner), data_(data), tokenizers_(tokenizers), recipe_(recipe), pool_(pool) {}

double Validator::loss() {
  Batches batches(data_.valid, in_order(recipe_, data_.valid));
  Batch batch;
  double sum = 0;
  int64_t tokens = 0;
  for (batches.next(batch);; batches.next(batch)) {
    sum += learner_.negative_log_likelihood(batch);
    tokens += batch.target_tokens();
    if (batch.next.epoch > 0) return sum / static_cast<double>(tokens);
  }
}

std::vector<std::string> Validator::translations() {
  Batches batches(data_.valid, in_order(recipe_, data_.valid));
  Batch batch;
  std::vector<std::string> lines(static_cast<size_t>(data_.valid.size()));
  Arena arena;
  for (batches.next(batch);; batches.next(batch)) {
    const Tokens sources{Tensor(batch.source.data(), Shape{batch.source_tokens()}), &batch.source_segments};
    const auto found = search(learner_.model(), sources, {.beam = 1}, &pool_, arena);
    for (size_t i = 0; i < found.size(); ++i)
      lines[static_cast<size_t>(batch.examples[i])] = tokenizers_.target->decode(found[i][0].ids);
    if (batch.next.epoch > 0) return lines;
  }
}

ValidationResult Validator::operator()(const Progress& progress, double* score) {
  const Stopwatch watch;
  ValidationResult v;
  v.update = progress.updates;
  v.epoch = epochs_done(progress, data_.train.size());
  v.loss = loss();
  v.perplexity = std::exp(v.loss);
  v.metric = recipe_.train.metric;
  const std::vector<std::string> lines = translations();
  MetricOptions options;
  options.tokenize = recipe_.train.metric_options.tokenize;
  options.lowercase = recipe_.train.metric_options.lowercase;
  v.scores.emplace_back("bleu", measure("bleu", lines, {data_.valid_target}, options).score);
  v.scores.emplace_back("exact", measure("exact", lines, {data_.valid_target}).score);
  v.score = v.metric == "loss"         ? v.loss
            : v.metric == "perplexity" ? v.perplexity
                                       : v.scores[v.metric == "bleu" ? 0 : 1].second;
  *score = v.metric == "loss" || v.metric == "perplexity" ? -v.score : v.score;
  for (size_t i = 0; i < std::min(kSamples, lines.size()); ++i)
    v.samples.push_back({data_.valid_source[i], data_.valid_target[i], lines[i]});
  v.seconds = watch.seconds();
  return v;
}

}  // namespace attune
