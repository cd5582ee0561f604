// Sublayers that training skips (model.layer_dropout) and words it does not read (model.word_dropout).
#include <gtest/gtest.h>

#include <set>

#include "model/layers/residual.h"
#include "model/tiny_model.h"

namespace attune {
namespace {

TEST(LayerDropout, SkipsTheShareItSays) {
  ModelOptions o = tiny_options();
  o.layer_dropout = 0.3;
  Parameters parameters;
  Blueprint::Shared shared{parameters};
  const Blueprint top(shared);
  const Residual a(top.at("a"), o), b(top.at("b"), o);
  Arena arena;
  Ctx ctx(arena);
  EXPECT_FALSE(a.skipped(ctx)) << "only training skips";
  ctx.training = true;
  int both = 0, one = 0;
  for (ctx.step = 0; ctx.step < 5000; ++ctx.step) {
    one += a.skipped(ctx);
    both += a.skipped(ctx) && b.skipped(ctx);
    EXPECT_EQ(a.skipped(ctx), a.skipped(ctx));
  }
  EXPECT_NEAR(one / 5000.0, 0.3, 0.03);
  EXPECT_NEAR(both / 5000.0, 0.09, 0.02) << "each decides by itself";
}

/// The loss of a batch without other dropout, at some steps.
std::vector<float> losses(const ModelOptions& options, bool training) {
  Model model(options, {.source_vocabulary = 20, .target_vocabulary = 20, .longest = 100});
  model.initialize(1);
  const TinyBatch batch = TinyBatch::of(random_sentences(5, 9, 20, 1));
  std::vector<float> all;
  for (uint64_t step = 0; step < 20; ++step) {
    Arena arena;
    Ctx ctx(arena);
    ctx.training = training;
    ctx.step = step;
    Pass pass{ctx, model.parameters()};
    const Var loss = model.loss(pass, batch_of(batch, batch, batch), {});
    all.push_back(*loss.value().as<float>());
  }
  return all;
}

TEST(LayerDropout, ChangesTrainingAlone) {
  for (const NormPlace norm : {NormPlace::post, NormPlace::pre})
    for (const bool words : {false, true}) {
      ModelOptions o = tiny_options({.norm = norm});
      o.dropout = 0;
      const std::vector<float> plain = losses(o, true);
      (words ? o.word_dropout : o.layer_dropout) = 0.4;
      const std::vector<float> dropped = losses(o, true);
      EXPECT_EQ(losses(o, false), plain);
      EXPECT_GT(std::set<float>(dropped.begin(), dropped.end()).size(), words ? 18u : 12u);
      for (const float l : dropped) EXPECT_TRUE(std::isfinite(l));
    }
}

/// A text has no gaps: what remembers it reads all of it.
TEST(LayerDropout, LayersThatRememberStay) {
  ModelOptions o = tiny_options();
  o.shape = ModelShape::decoder;
  o.dropout = 0;
  o.layer_dropout = 0.9;
  o.attention = {{"transformer-xl", {{"memory", int64_t{8}}}}};
  o.position = {"transformer-xl"};
  Model model(o, {.target_vocabulary = 20, .longest = 100});
  model.initialize(1);
  const TinyBatch batch = TinyBatch::of(random_sentences(1, 9, 20, 1));
  StreamMemory memory(model.memories());
  memory.begin(1, true);
  Arena arena;
  Ctx ctx(arena);
  ctx.training = true;
  Pass pass{ctx, model.parameters()};
  pass.memory = &memory;
  Batch text = batch_of({}, batch, batch);
  text.read.streams = {0};
  model.loss(pass, text, {});
  for (int i = 0; i < std::ssize(memory.slots()); ++i)
    EXPECT_EQ(memory.count(i, 0), std::min<int64_t>(8, batch.segments.rows())) << i;
}

}  // namespace
}  // namespace attune
