#include "train/learner.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/denormals.h"
#include "base/error.h"
#include "kernels/adam.h"  // square_norm
#include "model/cost.h"
#include "train/schedule.h"

namespace attune {

namespace {

GradientFault fault;

/// Writes the fault that a test asked for.
void spoil(const Parameters& parameters, const Gradients& gradients, int64_t update, double scale) {
  if (update < fault.from || update >= fault.to || scale < fault.least_scale) return;
  for (const NamedParameter& p : parameters.named())
    if (p.name == fault.parameter) gradients.data()[p.offset] = NAN;
}

}  // namespace

std::string UpdateResult::why_skipped() const {
  return (bad.starts_with("the ") ? bad : "the gradient of " + bad) + " is not a number";
}

void inject_gradient_fault(const GradientFault& f) { fault = f; }

Learner::Learner(Transformer& model, const TrainOptions& options, int64_t longest, ThreadPool& pool)
    : model_(model),
      options_(options),
      pool_(pool),
      tree_(model.parameters()),
      streams_(model.memories()),
      optimizer_(make_optimizer(options, model.parameters())) {
  if (options.ema > 0) average_.emplace(model.parameters(), options.ema);
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
  // Steps that skip sublayers do not follow a plan; they take what they need, which is less.
  if (model.options().layer_dropout == 0)
    for (const auto& w : workers_) w->arena.adopt(plan);

  const int64_t threads = pool.threads(), numbers = model.parameters().size() * static_cast<int64_t>(sizeof(float));
  memory_.parameters = 3 * numbers;  // the weights, and their panels for both directions
  memory_.moments = optimizer_->bytes() + (average_ ? numbers : 0);
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

UpdateResult Learner::update(std::span<const Batch* const> batches, const Pace& pace) {
  const FlushDenormals flushed;
  UpdateResult result;
  if (average_ && updates_ == 0) average_->begin();
  pieces_.resize(batches.size());
  leaves_.clear();
  size_t pieces = 0;
  double weight = 0;
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
    weight += batch.weights.empty() ? static_cast<double>(batch.target_tokens())
                                    : std::accumulate(batch.weights.begin(), batch.weights.end(), 0.0);
    result.flops += training_flops(model_, batch.has_source() ? &batch.source_segments : nullptr, batch.target_segments,
                                   !batch.streams.empty());
  }
  losses_.assign(pieces, 0);
  const auto step = static_cast<uint64_t>(updates_) * batches.size();
  const LossOptions loss{.smoothing = static_cast<float>(options_.label_smoothing),
                         .scale = weight > 0 ? 1 / static_cast<float>(weight) : 0};

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
  ++updates_;
  result.rate = pace.scale * learning_rate(options_, updates_, pace.last);
  Parameters& weights = model_.parameters();
  spoil(weights, gradients, updates_, pace.scale);
  result.gradient_norm = std::sqrt(kernels::square_norm(gradients.data(), weights.trained(), &pool_));
  if (!std::isfinite(result.loss) || !std::isfinite(result.gradient_norm)) {
    result.bad = first_bad(gradients);
    streams_.begin(streams_.streams(), true);  // what was remembered of this batch may not be numbers either
    return result;
  }
  ++steps_;
  const bool clips = options_.clip > 0 && result.gradient_norm > options_.clip;
  optimizer_->step({steps_, result.rate, clips ? options_.clip / result.gradient_norm : 1}, gradients.data(), &pool_);
  model_.after_update(gradients);
  if (average_) average_->follow(steps_, &pool_);
  weights.repack(&pool_);
  return result;
}

std::string Learner::first_bad(const Gradients& gradients) const {
  const Parameters& parameters = model_.parameters();
  for (const NamedParameter& p : parameters.named()) {
    const float* g = gradients.data() + p.offset;
    if (p.offset < parameters.trained() &&
        !std::all_of(g, g + p.shape.size(), [](float x) { return std::isfinite(x); }))
      return p.name;
  }
  return std::isfinite(kernels::square_norm(gradients.data(), parameters.trained(), &pool_)) ? "the loss"
                                                                                             : "the gradient's norm";
}

void Learner::restart() {
  for (const Remembered& r : optimizer_->remembered()) std::fill_n(r.data, r.shape.size(), 0.0f);
  streams_.begin(0, true);
  set_updates(0, 0);
}

std::vector<Remembered> Learner::remembered() const {
  std::vector<Remembered> all = optimizer_->remembered();
  const Parameters& parameters = model_.parameters();
  if (average_)
    for (Remembered& r : remembered_block(parameters, parameters.data(), ".trained")) all.push_back(std::move(r));
  return all;
}

bool Learner::weights_finite() const {
  const float* w = model_.parameters().data();
  return std::all_of(w, w + model_.parameters().size(), [](float x) { return std::isfinite(x); });
}

}  // namespace attune
