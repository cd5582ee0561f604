#include "train/learner.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/denormals.h"
#include "base/error.h"
#include "kernels/adam.h"
#include "model/cost.h"
#include "train/schedule.h"

namespace attune {

bool UpdateResult::finite() const { return std::isfinite(loss) && std::isfinite(gradient_norm); }

Learner::Learner(Transformer& model, const TrainOptions& options, int64_t longest, ThreadPool& pool)
    : model_(model),
      options_(options),
      pool_(pool),
      tree_(model.parameters()),
      streams_(model.memories()),
      first_(model.parameters().size()),
      second_(model.parameters().size()) {
  if (streams_.in_use() && options.accumulate > 1)
    fail(ErrorKind::recipe,
         "train.accumulate = {}: a model that remembers the text before reads one batch after another\n"
         "  fix: train.accumulate = 1, with larger train.batch_tokens",
         options.accumulate);
  for (int i = 0; i < pool.threads(); ++i) {
    Worker& w = *workers_.emplace_back(std::make_unique<Worker>());
    w.ctx.tape = &w.tape;
    w.ctx.training = true;
    w.ctx.seed = options.seed;
    w.memory = &streams_;
  }
  const Plan plan = rehearse(longest);
  for (const auto& w : workers_) w->arena.adopt(plan);

  const int64_t threads = pool.threads(), numbers = model.parameters().size() * static_cast<int64_t>(sizeof(float));
  memory_.parameters = 3 * numbers;  // the weights, and their panels for both directions
  memory_.moments = 2 * numbers;
  memory_.gradients = GradientTree::most(threads, options.shards * options.accumulate) * numbers;
  memory_.activations = threads * plan.peak;
  memory_.streams = streams_.bytes(options.batch_tokens.tokens / longest + 1);
}

Plan Learner::rehearse(int64_t longest) {
  const TrainOptions& o = options_;
  // The cut is by tokens of both sides, to the nearest end of a sentence. The sentences of a language model are often
  // all of one length: then no more pieces can be made than there are sentences.
  const bool two_sides = model_.options().shape == ModelShape::encoder_decoder;
  int64_t pieces = o.shards * o.slices;
  while (pieces > 1 && (two_sides ? 2 * o.batch_tokens.tokens < pieces * kLeastShardTokens
                                  : o.batch_tokens.tokens < pieces * std::max(kLeastShardTokens, longest)))
    pieces /= 2;
  const int64_t rows = o.batch_tokens.tokens / pieces + longest;
  const std::vector<int32_t> ids(static_cast<size_t>(rows), 0);
  Shard s;
  s.source = s.target_in = s.target_out = ids;
  std::vector<int32_t> lengths(static_cast<size_t>(rows / longest), static_cast<int32_t>(longest));
  if (rows % longest) lengths.push_back(static_cast<int32_t>(rows % longest));
  s.source_segments = s.target_segments = Segments::of_lengths(lengths);
  std::vector<int32_t> streams(streams_.in_use() ? lengths.size() : 0);
  std::iota(streams.begin(), streams.end(), 0);
  s.streams = streams;
  streams_.pretend_full(std::ssize(streams));
  // With dropout and all: where it is on, a step asks for other memory.
  Worker& w = *workers_.front();
  w.arena.start_rehearsal();
  run_shard(w, model_, s, tree_.take(), {.smoothing = static_cast<float>(o.label_smoothing)});
  streams_.begin(0, true);
  return w.arena.finish_rehearsal();
}

int64_t Learner::overflows() const {
  int64_t sum = 0;
  for (const auto& w : workers_) sum += w->arena.overflows();
  return sum;
}

UpdateResult Learner::update(std::span<const Batch* const> batches, int64_t last) {
  const FlushDenormals flushed;
  UpdateResult result;
  pieces_.resize(batches.size());
  leaves_.clear();
  size_t pieces = 0;
  for (size_t b = 0; b < batches.size(); ++b) {
    const Batch& batch = *batches[b];
    begin_batch(streams_, batch);
    cut(batch, options_.shards * options_.slices, pieces_[b]);
    const size_t count = pieces_[b].size(), leaves = std::min(count, static_cast<size_t>(options_.shards));
    for (size_t i = 0; i < leaves; ++i)
      leaves_.push_back({b, count * i / leaves, count * (i + 1) / leaves, pieces + count * i / leaves});
    pieces += count;
    result.source_tokens += batch.source_tokens();
    result.target_tokens += batch.target_tokens();
    result.sentences += batch.size();
    result.flops += training_flops(model_, batch.has_source() ? &batch.source_segments : nullptr, batch.target_segments,
                                   !batch.streams.empty());
  }
  losses_.assign(pieces, 0);
  const auto step = static_cast<uint64_t>(updates_) * batches.size();
  const LossOptions loss{.smoothing = static_cast<float>(options_.label_smoothing),
                         .scale = 1 / static_cast<float>(result.target_tokens)};

  tree_.start(static_cast<int64_t>(leaves_.size()));
  parallel_for(&pool_, static_cast<int64_t>(leaves_.size()), [&](int64_t i, int worker) {
    const Leaf& leaf = leaves_[static_cast<size_t>(i)];
    Worker& w = *workers_[static_cast<size_t>(worker)];
    w.ctx.step = step + leaf.batch;
    Gradients* gradients = tree_.take();
    for (size_t p = leaf.from; p < leaf.to; ++p)
      losses_[leaf.first_loss + p - leaf.from] = run_shard(w, model_, pieces_[leaf.batch][p], gradients, loss);
    tree_.give(i, gradients);
  });
  const Gradients& gradients = tree_.sum(&pool_);

  for (const double l : losses_) result.loss += l;
  kernels::AdamStep adam;
  adam.step = updates_ + 1;
  adam.rate = result.rate = learning_rate(options_, adam.step, last);
  adam.beta1 = options_.beta1;
  adam.beta2 = options_.beta2;
  adam.epsilon = options_.epsilon;
  adam.decay = options_.weight_decay;
  Parameters& weights = model_.parameters();
  if (options_.clip > 0) {
    result.gradient_norm = std::sqrt(kernels::square_norm(gradients.data(), weights.trained(), &pool_));
    if (result.gradient_norm > options_.clip) adam.grad_factor = options_.clip / result.gradient_norm;
  }
  if (!result.finite()) return result;  // the weights stay as they were: the caller tells the user
  kernels::adam(adam, {weights.data(), gradients.data(), first_.data(), second_.data(), weights.trained()}, &pool_);
  model_.after_update(gradients);
  weights.repack(&pool_);
  ++updates_;
  return result;
}

bool Learner::weights_finite() const {
  const float* w = model_.parameters().data();
  return std::all_of(w, w + model_.parameters().size(), [](float x) { return std::isfinite(x); });
}

}  // namespace attune
