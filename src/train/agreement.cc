#include "train/agreement.h"

#include <algorithm>

#include "autograd/operations/elementwise.h"
#include "autograd/operations/reduce.h"
#include "base/denormals.h"
#include "base/error.h"
#include "train/evaluator.h"

namespace attune {

namespace {

constexpr int64_t kRows = 64;  // logits at a time

/// A model at work on a shard.
struct Side {
  const Model& model;
  Pass pass;
  Var hidden = {};

  Side(const Model& m, Worker& w, StreamMemory& memory, const Batch& shard) : model(m), pass{w.ctx, m.parameters()} {
    pass.memory = &memory;
    hidden = m.decode(pass, shard.source, shard.read);
  }
  /// log p of all words at some positions.
  Var log_probs(int64_t from, int64_t rows) {
    Ctx& ctx = pass.ctx;
    return log_softmax(ctx, model.logits(pass, ctx.input(hidden.value().row_range(from, rows))));
  }
};

int64_t best_of(const float* x, int64_t n) { return std::max_element(x, x + n) - x; }

/// Sums, not means.
Agreement of_shard(Worker& w, Side first, Side second, const Batch& shard) {
  Agreement sum;
  const Column<int32_t>& right = shard.target().right.ids;
  sum.tokens = std::ssize(right);
  for (int64_t from = 0; from < sum.tokens; from += kRows) {
    const int64_t rows = std::min(kRows, sum.tokens - from);
    const Var a = first.log_probs(from, rows), b = second.log_probs(from, rows), p = exp(w.ctx, a);
    const int64_t words = a.cols();
    for (int64_t r = 0; r < rows; ++r) {
      const float *la = a.value().row<float>(r), *lb = b.value().row<float>(r), *pa = p.value().row<float>(r);
      double kl = 0;
      for (int64_t j = 0; j < words; ++j) kl += static_cast<double>(pa[j]) * static_cast<double>(la[j] - lb[j]);
      const auto said = static_cast<size_t>(from + r);
      sum.divergence += kl;
      sum.same_best += best_of(la, words) == best_of(lb, words);
      sum.first_loss -= static_cast<double>(la[right[said]]);
      sum.second_loss -= static_cast<double>(lb[right[said]]);
    }
  }
  return sum;
}

}  // namespace

Agreement agreement(const Model& first, const Model& second, const Corpus& corpus, const TrainOptions& options,
                    ThreadPool& pool) {
  check(first.sizes().target_vocabulary == second.sizes().target_vocabulary, "agreement",
        "vocabularies of {} and {} words", first.sizes().target_vocabulary, second.sizes().target_vocabulary);
  StreamMemory first_memory(first.memories()), second_memory(second.memories());
  std::vector<std::unique_ptr<Worker>> workers;
  for (int i = 0; i < pool.threads(); ++i) workers.emplace_back(std::make_unique<Worker>());
  Batches batches(corpus, in_order(options, corpus));
  Batch batch;
  Shards shards;
  std::vector<Agreement> parts;
  Agreement sum;
  do {
    batches.next(batch);
    begin_batch(first_memory, batch);
    begin_batch(second_memory, batch);
    cut(batch, options.shards * options.slices, shards);
    parts.assign(shards.size(), {});
    parallel_for(&pool, std::ssize(shards), [&](int64_t i, int worker) {
      const FlushDenormals flushed;
      Worker& w = *workers[static_cast<size_t>(worker)];
      const Batch& shard = shards[static_cast<size_t>(i)];
      w.arena.begin_step();
      parts[static_cast<size_t>(i)] =
          of_shard(w, Side(first, w, first_memory, shard), Side(second, w, second_memory, shard), shard);
    });
    for (const Agreement& a : parts) {
      sum.tokens += a.tokens;
      sum.divergence += a.divergence;
      sum.same_best += a.same_best;
      sum.first_loss += a.first_loss;
      sum.second_loss += a.second_loss;
    }
  } while (batch.next.epoch == 0);
  for (double* x : {&sum.divergence, &sum.same_best, &sum.first_loss, &sum.second_loss})
    *x /= static_cast<double>(std::max<int64_t>(1, sum.tokens));
  return sum;
}

}  // namespace attune
