#include "train/learner.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/denormals.h"
#include "base/error.h"
#include "kernels/optimizer/adam.h"  // square_norm
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

Learner::Learner(Model& model, const TrainOptions& options, const Largest& largest, ThreadPool& pool)
    : model_(model),
      options_(options),
      pool_(pool),
      tree_(model.parameters()),
      streams_(model.memories()),
      inputs_(model, options_, streams_, pool.threads()),
      guidance_(model, options.guide),
      optimizer_(make_optimizer(options, model.parameters())) {
  if (options.ema > 0) average_.emplace(model.parameters(), options.ema);
  if (streams_.in_use() && options.accumulate > 1)
    fail(ErrorKind::recipe,
         "train.accumulate = {}: a model that remembers the text before reads one batch after another\n"
         "  fix: train.accumulate = 1, with larger train.batch_tokens",
         options.accumulate);
  for (int i = 0; i < pool.threads(); ++i) workers_.emplace_back(std::make_unique<Worker>())->learn(options, streams_);
  const Rehearsed plan = rehearse(*workers_.front(), model, options, largest, tree_.take());
  // Steps that skip sublayers, or have as many parts as words, do not follow a plan; they take what they need, which is
  // less.
  if (model.same_requests())
    for (const auto& w : workers_) w->arena.adopt(plan.worker);
  memory_ = estimate_memory(model, options, plan, {pool.threads(), largest.rows, optimizer_->bytes()});
}

int64_t Learner::overflows() const {
  int64_t sum = 0;
  for (const auto& w : workers_) sum += w->arena.overflows();
  return sum;
}

double Learner::weight_of(const Batch& batch) const {
  const Column<float>& weights = batch.target().weights;
  return counts_texts(model_) ? static_cast<double>(batch.size())
         : weights.empty()    ? static_cast<double>(batch.target_tokens())
                              : std::accumulate(weights.begin(), weights.end(), 0.0);
}

void Learner::foresee(const Batch& batch, UpdateBatches& batches) const {
  ++batches.batches;
  batches.leaves += std::min(shard_count(batch, options_.shards * options_.slices), options_.shards);
  if (guidance_.on()) batches.guided_rows += guidance_.rows(batch);
  batches.weight += weight_of(batch);
}

UpdateResult Learner::update(std::span<const Batch* const> batches, const Pace& pace) {
  UpdateBatches foreseen;
  for (const Batch* b : batches) foresee(*b, foreseen);
  begin_update(foreseen);
  for (const Batch* b : batches) add(*b);
  return finish_update(pace);
}

void Learner::begin_update(const UpdateBatches& foreseen) {
  if (updates_ == 0) begin();
  foreseen_ = foreseen;
  added_ = {};
  result_ = {};
  tree_.start(foreseen.leaves);
}

void Learner::add(const Batch& batch) {
  const FlushDenormals flushed;
  begin_batch(streams_, batch);
  cut(batch, options_.shards * options_.slices, pieces_);
  const size_t count = pieces_.size(), leaves = std::min(count, static_cast<size_t>(options_.shards));
  leaves_.clear();
  for (size_t i = 0; i < leaves; ++i) leaves_.push_back({count * i / leaves, count * (i + 1) / leaves});
  losses_.assign(count, {});
  result_.source_tokens += batch.source_tokens();
  result_.target_tokens += batch.target_tokens();
  result_.sentences += batch.size();
  result_.flops += training_flops(model_, {batch.has_source() ? &batch.source.segments : nullptr,
                                           batch.target().right.segments, !batch.read.streams.empty()});
  const auto step = static_cast<uint64_t>(updates_) * static_cast<uint64_t>(foreseen_.batches) +
                    static_cast<uint64_t>(added_.batches);
  if (inputs_.on()) inputs_.begin(batch, step, updates_ + 1);
  const LossOptions loss{.smoothing = static_cast<float>(options_.label_smoothing),
                         .scale = foreseen_.weight > 0 ? 1 / static_cast<float>(foreseen_.weight) : 0};

  parallel_for(&pool_, static_cast<int64_t>(leaves), [&](int64_t i, int worker) {
    const Leaf& leaf = leaves_[static_cast<size_t>(i)];
    Worker& w = *workers_[static_cast<size_t>(worker)];
    w.ctx.step = step;
    Gradients* gradients = tree_.take();
    for (size_t p = leaf.from; p < leaf.to; ++p) {
      Batch& piece = pieces_[p];
      if (inputs_.on()) inputs_.replace(worker, piece);
      const GuidedLayer guided = guidance_.of(piece, foreseen_.guided_rows);
      losses_[p] = run_shard(w, model_, piece, gradients, loss, guidance_.on() ? &guided : nullptr);
    }
    tree_.give(added_.leaves + i, gradients);
  });
  foresee(batch, added_);
  for (const ShardLoss& l : losses_) {
    result_.loss += l.loss;
    result_.guide_loss += guidance_.on() ? l.guide / guidance_.weight() : 0;
  }
}

UpdateResult Learner::finish_update(const Pace& pace) {
  check(added_.batches == foreseen_.batches && added_.leaves == foreseen_.leaves, "update",
        "{} batches in {} leaves, {} in {} were foreseen", added_.batches, added_.leaves, foreseen_.batches,
        foreseen_.leaves);
  const FlushDenormals flushed;
  UpdateResult result = result_;
  const Gradients& gradients = tree_.sum(&pool_);
  ++updates_;
  result.rate = pace.scale * learning_rate(options_, updates_, pace.last);
  Parameters& weights = model_.parameters();
  spoil(weights, gradients, updates_, pace.scale);
  result.gradient_norm = std::sqrt(kernels::square_norm(gradients.data(), weights.trained(), &pool_));
  if (!std::isfinite(result.loss) || !std::isfinite(result.guide_loss) || !std::isfinite(result.gradient_norm)) {
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
    for (const NamedParameter& p : parameters.named())
      all.push_back({p.name + ".trained", p.shape, parameters.data() + p.offset});
  return all;
}

bool Learner::weights_finite() const {
  const float* w = model_.parameters().data();
  return std::all_of(w, w + model_.parameters().size(), [](float x) { return std::isfinite(x); });
}

}  // namespace attune
