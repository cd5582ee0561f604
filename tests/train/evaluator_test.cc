#include "train/evaluator.h"

#include <gtest/gtest.h>

#include <cmath>

#include "model/tiny_model.h"
#include "train/learner.h"

namespace attune {
namespace {

/// A decoder on its own, and a text for it.
struct Reader {
  std::unique_ptr<Model> model;
  Corpus text;
  TrainOptions options;

  explicit Reader(int64_t window, double dropout = 0, const Choice& attention = {"softmax"}) {
    ModelOptions o = tiny_options();
    o.shape = ModelShape::decoder;
    o.dropout = o.attention_dropout = dropout;
    o.attention = {attention};
    model = std::make_unique<Model>(o, ModelSizes{.target_vocabulary = 20, .longest = 200});
    model->initialize(1);
    text.target.add({});
    for (const auto& s : random_sentences(600, 20, 20, 1)) text.target.extend(s);
    text.window = window;
    options.batch_tokens = TokenBudget{1500};
    options.shards = 4;
    options.slices = 2;
  }
};

TEST(Evaluator, SameBitsForAnyThreads) {
  const Reader reader(50);
  ThreadPool one(1);
  const Likelihood expected = Evaluator(*reader.model, reader.options, one)(reader.text);
  EXPECT_EQ(expected.tokens, reader.text.size());
  EXPECT_NEAR(expected.loss(), std::log(20), 1);
  EXPECT_DOUBLE_EQ(expected.perplexity(), std::exp(expected.loss()));
  for (const int threads : {2, 3, 4}) {
    ThreadPool pool(threads);
    EXPECT_EQ(Evaluator(*reader.model, reader.options, pool)(reader.text).nats, expected.nats) << threads;
  }
}

/// Of sets of labels texts are counted, those without a label too.
TEST(Evaluator, SetsOfLabelsCountTexts) {
  ModelOptions o = tiny_options();
  o.shape = ModelShape::encoder;
  o.head = {"labels"};
  Model m(o, {.source_vocabulary = 20, .target_vocabulary = 3, .longest = 100});
  m.initialize(1);
  Corpus c;
  c.answers = true;
  const std::vector<int32_t> sets[] = {{2, 0, 1}, {}, {1}};
  const auto texts = random_sentences(3, 9, 20, 1);
  for (size_t i = 0; i < 3; ++i) {
    c.source.add(texts[i]);
    c.target.add(sets[i]);
  }
  ThreadPool pool(1);
  const Likelihood l = Evaluator(m, TrainOptions{}, pool)(c);
  EXPECT_EQ(l.tokens, 3);
  EXPECT_GT(l.loss(), 0.1);
}

TEST(Evaluator, ALongerWindowThanTheBudgetIsRead) {
  const Reader reader(120);
  ThreadPool pool(2);
  TrainOptions small = reader.options;
  small.batch_tokens = TokenBudget{20};
  const Likelihood expected = Evaluator(*reader.model, reader.options, pool)(reader.text);
  const Likelihood one_by_one = Evaluator(*reader.model, small, pool)(reader.text);
  EXPECT_EQ(one_by_one.tokens, expected.tokens);
  EXPECT_NEAR(one_by_one.loss(), expected.loss(), 0.02) << "windows begin elsewhere";
}

const Choice kRemembering{"transformer-xl", {{"memory", int64_t{70}}}};

TEST(Evaluator, ItsMemoryBeginsWithTheText) {
  const Reader reader(50, 0, kRemembering), plain(50);
  ThreadPool pool(3);
  Evaluator evaluator(*reader.model, reader.options, pool);
  const Likelihood once = evaluator(reader.text), again = evaluator(reader.text);
  EXPECT_EQ(once.nats, again.nats);
  EXPECT_NE(once.nats, Evaluator(*plain.model, plain.options, pool)(plain.text).nats);
}

TEST(Evaluator, TheRehearsalForeseesWindows) {
  for (const auto& [window, attention] :
       {std::pair{50, Choice{"softmax"}}, {150, {"softmax"}}, {50, kRemembering}, {150, kRemembering}}) {
    const Reader reader(window, 0.1, attention);
    ThreadPool pool(2);
    Learner learner(*reader.model, reader.options, reader.text.longest(), pool);
    Batches batches(reader.text, {.tokens = reader.options.batch_tokens.tokens});
    Batch batch;
    for (int i = 0; i < 3; ++i) {
      batches.next(batch);
      const Batch* one = &batch;
      EXPECT_GT(learner.update({&one, 1}).flops, 0);
    }
    EXPECT_EQ(learner.overflows(), 0) << window;
  }
}

}  // namespace
}  // namespace attune
