#include "train/evaluator.h"

#include <algorithm>
#include <cmath>

#include "base/denormals.h"

namespace attune {

double Likelihood::perplexity() const { return std::exp(loss()); }

BatchOptions in_order(const TrainOptions& options, const Corpus& corpus) {
  BatchOptions o;
  o.tokens = std::max<int64_t>(options.batch_tokens.tokens, corpus.longest());
  o.shuffle = false;
  o.mask = options.mask;
  return o;
}

namespace {

/// Rows that weigh nothing are not judged.
int64_t counted_rows(const Wanted& wanted) {
  const Column<float>& w = wanted.weights;
  return w.empty() ? wanted.right.rows() : std::ssize(w) - std::count(w.begin(), w.end(), 0.0f);
}

}  // namespace

Evaluator::Evaluator(const Model& model, const TrainOptions& options, ThreadPool& pool)
    : model_(model), options_(options), pool_(pool), memory_(model.memories()) {
  for (int i = 0; i < pool.threads(); ++i) workers_.emplace_back(std::make_unique<Worker>())->memory = &memory_;
}

Likelihood Evaluator::operator()(const Corpus& corpus) {
  Batches batches(corpus, in_order(options_, corpus));
  Batch batch;
  Likelihood sum;
  do {
    batches.next(batch);
    sum.nats += negative_log_likelihood(batch);
    sum.tokens += counts_texts(model_) ? batch.size() : counted_rows(batch.target());
  } while (batch.next.epoch == 0);
  return sum;
}

double Evaluator::negative_log_likelihood(const Batch& batch) {
  const FlushDenormals flushed;
  begin_batch(memory_, batch);
  cut(batch, options_.shards * options_.slices, shards_);
  losses_.assign(shards_.size(), 0);
  parallel_for(&pool_, static_cast<int64_t>(shards_.size()), [&](int64_t i, int worker) {
    Worker& w = *workers_[static_cast<size_t>(worker)];
    losses_[static_cast<size_t>(i)] = run_shard(w, model_, shards_[static_cast<size_t>(i)], nullptr, {}).loss;
  });
  double sum = 0;
  for (const double l : losses_) sum += l;
  return sum;
}

}  // namespace attune
