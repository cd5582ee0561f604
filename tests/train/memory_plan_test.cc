#include "train/memory_plan.h"

#include <gtest/gtest.h>

#include "checks.h"
#include "model/tiny_model.h"
#include "train/learner.h"

namespace attune {
namespace {

TrainOptions in(int64_t megabytes, int64_t tokens = 0) {
  TrainOptions o;
  o.memory.bytes = megabytes << 20;
  o.batch_tokens.tokens = tokens;
  return o;
}

int64_t kilobytes_each(TokenBudget b) { return b.tokens << 10; }

TEST(MemoryPlan, TheLargestBudgetThatFits) {
  EXPECT_EQ(budget_in(in(10), 100, kilobytes_each).tokens, 10240);
  EXPECT_EQ(budget_in(in(1), 1000, kilobytes_each).tokens, 1024);
  EXPECT_EQ(budget_in(in(1 << 20), 100, kilobytes_each).tokens, 65536) << "no more than makes sense";
  EXPECT_EQ(budget_in(in(10, 777), 100, kilobytes_each).tokens, 777) << "one that is given stays";
  EXPECT_EQ(budget_in(in(0, 1 << 30), 100, kilobytes_each).tokens, 1 << 30) << "and without a limit any will do";
}

TEST(MemoryPlan, Messages) {
  EXPECT_EQ(error_of([] { budget_in(in(10, 20480), 100, kilobytes_each); }, ErrorKind::memory),
            "training with train.batch_tokens = 20480 needs 20 MB, and train.memory = \"10M\" is 10 MB\n"
            "  fix: set train.batch_tokens = 10240, which fits, or train.recompute = true, or raise train.memory");
  EXPECT_EQ(error_of([] { budget_in(in(1), 2000, kilobytes_each); }, ErrorKind::memory),
            "train.memory = \"1M\": training needs 2 MB even with batches of 2,048 tokens\n"
            "  fix: raise train.memory, set train.recompute = true, or make the model smaller");
}

TEST(MemoryPlan, IsThatOfTheLearner) {
  auto model = tiny_model();
  TrainOptions o;
  o.ema = 0.9;
  ThreadPool pool(2);
  const auto memory = memory_by_budget(*model, o, 20, 2);
  int64_t before = 0;
  for (const int64_t tokens : {4096, 8192, 16384}) {
    o.batch_tokens.tokens = tokens;
    const Learner learner(*model, o, 20, pool);
    EXPECT_EQ(memory({tokens}).total(), learner.memory().total());
    EXPECT_GT(memory({tokens}).activations, before);
    before = memory({tokens}).activations;
  }
}

/// Logits are made in chunks, and batches are cut in shards: fewer rows may make larger ones.
TEST(MemoryPlan, HoldsForShardsOfAnySize) {
  ModelOptions m = tiny_options();
  m.encoder_layers = m.decoder_layers = 1;
  Model model(m, {.source_vocabulary = 8000, .target_vocabulary = 8000, .longest = 100});
  model.initialize(1);
  TrainOptions o;
  ThreadPool pool(1);
  for (const auto& [tokens, shards] : {std::pair{1024, 1}, {1100, 1}, {1024, 8}, {1024, 16}}) {
    o.batch_tokens.tokens = tokens;
    o.shards = shards;
    Learner learner(model, o, 20, pool);
    for (const int32_t rows : {60, 300, 515, 1020}) {
      Batch b;
      b.source.ids.own().assign(static_cast<size_t>(rows), 5);
      b.read.ids = b.target().right.ids = b.source.ids;
      std::vector<int32_t> lengths(static_cast<size_t>(rows / 20), 20);
      if (rows % 20) lengths.push_back(rows % 20);
      b.source.segments = b.read.segments = b.target().right.segments = Segments::of_lengths(lengths);
      b.examples.own().resize(lengths.size());
      const Batch* one = &b;
      learner.update({&one, 1});
    }
    EXPECT_EQ(learner.overflows(), 0) << tokens << " in " << shards;
  }
}

/// Six layers: what is saved is most of what layers hold.
TEST(MemoryPlan, ComputingLayersTwiceSavesMostOfThem) {
  ModelOptions m = tiny_options();
  m.encoder_layers = m.decoder_layers = 6;
  Model model(m, {.source_vocabulary = 20, .target_vocabulary = 20, .longest = 100});
  TrainOptions o;
  const int64_t whole = memory_by_budget(model, o, 30, 1)({8192}).activations;
  o.recompute = true;
  const int64_t less = memory_by_budget(model, o, 30, 1)({8192}).activations;
  EXPECT_LT(3 * less, whole) << less << " of " << whole;
}

}  // namespace
}  // namespace attune
