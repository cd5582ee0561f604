#include "attune/demo.h"

#include <algorithm>

#include "api/reverser.h"
#include "base/clock.h"
#include "base/error.h"
#include "kernels/adam.h"

namespace attune {

namespace {

constexpr int64_t kRows = 64;  // rows of a batch

std::string letters(const std::vector<int32_t>& ids, int64_t from, int64_t count) {
  std::string s;
  for (int64_t i = from; i < from + count; ++i) s += static_cast<char>('a' + ids[static_cast<size_t>(i)]);
  return s;
}

/// Trains in place; the arena's plan comes from a rehearsal of the largest batch.
class Training {
 public:
  Training(Reverser& model, ThreadPool& pool)
      : model_(model),
        pool_(pool),
        gradients_(model.parameters()),
        first_(model.parameters().size()),
        second_(model.parameters().size()) {
    ctx_.tape = &tape_;
    ctx_.pool = &pool_;
    ctx_.training = true;
    const ReverserBatch largest = model.batch(kRows, 0, true);
    arena_.start_rehearsal();
    step_of(largest);
    arena_.adopt(arena_.finish_rehearsal());
  }
  double tokens() const { return tokens_; }
  double memory_mb() const { return static_cast<double>(arena_.reserved()) / (1 << 20); }

  double step(int64_t number, int64_t of, uint64_t seed) {
    const ReverserBatch batch = model_.batch(kRows, mix(seed, static_cast<uint64_t>(number)));
    tokens_ += static_cast<double>(batch.ids.size());
    Parameters& p = model_.parameters();
    p.repack(&pool_);
    gradients_.start();
    const double loss = step_of(batch);
    gradients_.finish();
    kernels::AdamStep adam;
    adam.step = number;
    const auto done = static_cast<double>(number), all = static_cast<double>(of);
    adam.rate = 4e-3 * std::min(done / 50, (all - done + 1) / all);  // warm-up, then down to nothing
    kernels::adam(adam, {p.data(), gradients_.data(), first_.data(), second_.data(), p.size()}, &pool_);
    return loss;
  }

 private:
  double step_of(const ReverserBatch& batch) {
    arena_.begin_step();
    const Var loss = model_.loss(ctx_, batch, &gradients_);
    double value = 0;
    ctx_.run([&] { value = static_cast<double>(*loss.value().as<float>()); });
    tape_.backward(ctx_, loss);
    return value;
  }

  Reverser& model_;
  ThreadPool& pool_;
  Arena arena_;
  Ctx ctx_{arena_};
  Tape tape_;
  Gradients gradients_;
  Aligned<float> first_, second_;
  double tokens_ = 0;
};

/// What the trained model makes of rows it never saw.
void examine(const Reverser& model, uint64_t seed, DemoResult& result) {
  Arena arena;
  Ctx ctx(arena);
  const ReverserBatch unseen = model.batch(500, mix(seed, 1'000'000));
  const std::vector<int32_t> answer = model.answer(ctx, unseen);
  int64_t right = 0;
  for (int64_t s = 0; s < unseen.segments.count(); ++s) {
    const int64_t from = unseen.segments.begin(s), count = unseen.segments.length(s);
    const DemoExample e{letters(unseen.ids, from, count), letters(unseen.targets, from, count),
                        letters(answer, from, count)};
    right += e.answer == e.expected;
    if (result.examples.size() < 5) result.examples.push_back(e);
  }
  result.accuracy = static_cast<double>(right) / static_cast<double>(unseen.segments.count());

  ReverserBatch first;
  const int64_t n = unseen.segments.length(0);
  first.ids.assign(unseen.ids.begin(), unseen.ids.begin() + n);
  first.segments = Segments::single(n);
  double most = -1;
  for (int64_t l = 0; l < model.size().layers; ++l)
    for (int64_t h = 0; h < model.size().heads; ++h) {
      std::vector<float> w = model.weights(ctx, first, l, h);
      double mirrored = 0;
      for (int64_t i = 0; i < n; ++i) mirrored += static_cast<double>(w[static_cast<size_t>(i * n + n - 1 - i)]);
      if (mirrored <= most) continue;
      most = mirrored;
      result.layer = l;
      result.head = h;
      result.attention = std::move(w);
    }
}

}  // namespace

DemoResult run_demo(const DemoOptions& options, const std::function<void(const DemoProgress&)>& on_progress) {
  check(options.steps >= 1, "demo", "{} steps", options.steps);
  ThreadPool pool(options.threads);
  Reverser model({}, options.seed);
  DemoResult result;
  for (int i = 0; i < model.parameters().count(); ++i) result.parameters += model.parameters().value(i).size();
  Training training(model, pool);
  result.memory_mb = training.memory_mb();
  const Stopwatch watch;
  for (int step = 1; step <= options.steps; ++step) {
    const double loss = training.step(step, options.steps, options.seed);
    if (step == 1) result.first_loss = loss;
    result.last_loss = loss;
    if (on_progress && (step == 1 || step % 10 == 0 || step == options.steps))
      on_progress({step, options.steps, loss, training.tokens() / watch.seconds()});
  }
  result.seconds = watch.seconds();
  model.parameters().repack(&pool);
  examine(model, options.seed, result);
  return result;
}

}  // namespace attune
