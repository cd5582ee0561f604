// The guide while a model learns: same bits whatever computes it, memory foreseen, and what can't be guided.
#include "train/guidance.h"

#include <gtest/gtest.h>

#include "checks.h"
#include "model/tiny_model.h"
#include "text/vocabulary.h"
#include "train/learner.h"

namespace attune {
namespace {

/// Sentences whose translation is themselves from the end to the beginning, aligned but for the first word.
Batch reversed(int sentences, int seed) {
  Batch b;
  std::vector<int32_t> lengths;
  b.target().right.edges.start.push_back(0);
  for (const auto& s : random_sentences(sentences, 20, 20, seed)) {
    b.source.ids.append(s.begin(), s.end());
    b.read.ids.push_back(text::kBegin);
    b.read.ids.append(s.rbegin() + 1, s.rend());
    b.target().right.ids.append(s.rbegin() + 1, s.rend());
    b.target().right.ids.push_back(text::kEnd);
    const auto words = static_cast<int32_t>(s.size()) - 1;
    for (int32_t i = 0; i <= words; ++i) {
      if (i > 0 && i < words) b.target().right.edges.to.push_back(words - 1 - i);
      b.target().right.edges.start.push_back(static_cast<int32_t>(b.target().right.edges.to.size()));
    }
    lengths.push_back(static_cast<int32_t>(s.size()));
  }
  b.source.segments = b.read.segments = b.target().right.segments = Segments::of_lengths(lengths);
  b.examples.own().resize(lengths.size());
  return b;
}

TrainOptions guidance_options(GuideKind kind) {
  TrainOptions o;
  o.batch_tokens = TokenBudget{2048};
  o.shards = 4;
  o.slices = 2;
  o.schedule = Schedule::inverse_sqrt;
  o.learning_rate = 5e-3;
  o.warmup = 10;
  o.guide.weight = 0.5;
  o.guide.kind = kind;
  return o;
}

struct GuidanceLearned {
  std::vector<double> losses, guide_losses;
  std::vector<float> weights;
  int64_t overflows = 0;
};

GuidanceLearned updates(const TrainOptions& o, int threads, int count = 3) {
  auto model = tiny_model({}, 1, 1);
  ThreadPool pool(threads);
  Learner learner(*model, o, 20, pool);
  GuidanceLearned run;
  for (int i = 0; i < count; ++i) {
    const Batch batch = reversed(150, i);
    const Batch* one = &batch;
    const UpdateResult r = learner.update({&one, 1});
    run.losses.push_back(r.loss);
    run.guide_losses.push_back(r.guide_loss);
  }
  run.weights.assign(model->parameters().data(), model->parameters().data() + model->parameters().size());
  run.overflows = learner.overflows();
  return run;
}

TEST(Guidance, SameBitsOnAnyThreads) {
  for (const GuideKind kind : {GuideKind::diagonal, GuideKind::alignment}) {
    const GuidanceLearned expected = updates(guidance_options(kind), 1);
    EXPECT_EQ(expected.overflows, 0);
    EXPECT_GT(expected.guide_losses[0], 0);
    for (const int threads : {2, 3}) {
      const GuidanceLearned run = updates(guidance_options(kind), threads);
      EXPECT_EQ(run.losses, expected.losses) << threads;
      EXPECT_EQ(run.guide_losses, expected.guide_losses) << threads;
      EXPECT_TRUE(run.weights == expected.weights) << threads;
    }
  }
}

TEST(Guidance, TheLossIsToldWithoutIt) {
  const GuidanceLearned guided = updates(guidance_options(GuideKind::alignment), 1);
  TrainOptions o = guidance_options(GuideKind::alignment);
  o.guide.weight = 0;
  const GuidanceLearned plain = updates(o, 1);
  EXPECT_EQ(guided.losses[0], plain.losses[0]);
  EXPECT_NE(guided.losses[1], plain.losses[1]);
  EXPECT_EQ(plain.guide_losses, std::vector<double>(3, 0.0));
}

TEST(Guidance, TheLossIsAMeanOfTheRowsThatCount) {
  // of all shards together, and without its weight
  TrainOptions one = guidance_options(GuideKind::alignment), many = one;
  one.shards = one.slices = 1;
  many.guide.weight = 3;
  const double whole = updates(one, 1, 1).guide_losses[0];
  EXPECT_NEAR(updates(many, 1, 1).guide_losses[0], whole, 1e-5);
  EXPECT_NEAR(whole, std::log(10), 0.6) << "about even weights over about ten words";
}

TEST(Guidance, IsLearned) {
  TrainOptions o = guidance_options(GuideKind::diagonal);
  o.guide.weight = 5;
  o.guide.head = 2;
  o.learning_rate = 5e-3;
  const GuidanceLearned run = updates(o, 2, 60);
  EXPECT_LT(run.guide_losses.back(), 0.5 * run.guide_losses.front());
}

TEST(Guidance, ABatchWithoutLinksIsNoTrouble) {
  auto model = tiny_model({}, 1, 1);
  ThreadPool pool(1);
  Learner learner(*model, guidance_options(GuideKind::alignment), 20, pool);
  Batch batch = reversed(20, 1);
  Edges& links = batch.target().right.edges;
  links.to.clear();
  std::ranges::fill(links.start.own(), 0);
  const Batch* one = &batch;
  const UpdateResult r = learner.update({&one, 1});
  EXPECT_EQ(r.guide_loss, 0);
  EXPECT_FALSE(r.skipped());
}

TEST(Guidance, WhatCanNotBeGuided) {
  const auto error = [](const ModelOptions& m, const GuideSettings& g) {
    return error_of(
        [&] {
          const Model model(m, {.source_vocabulary = 20, .target_vocabulary = 20, .longest = 100});
          Guidance(model, g);
        },
        ErrorKind::recipe);
  };
  ModelOptions m = tiny_options();
  EXPECT_EQ(error(m, {.weight = 1}), "no error");
  const std::string says =
      "train.guide: the cross-attention of layer 0 has no weights that can be guided\n"
      "  fix: set model.cross_attention = \"softmax\", with a score that is a dot product and the softmax as its "
      "normalizer";
  for (const Choice& c : {Choice{"linear"}, Choice{"softmax", {{"normalizer", "sparsemax"}}},
                          Choice{"softmax", {{"score", "additive"}}}}) {
    m.cross_attention = {c, {"softmax"}};
    EXPECT_EQ(error(m, {.weight = 1}), says) << c.text();
    EXPECT_EQ(error(m, {.weight = 1, .layer = 1}), "no error");
    EXPECT_EQ(error(m, {.weight = 0}), "no error");
  }
  m.cross_attention = {{"softmax", {{"score", "cosine"}}}};
  EXPECT_EQ(error(m, {.weight = 1}), "no error") << "a softmax of dot products of something";
}

}  // namespace
}  // namespace attune
