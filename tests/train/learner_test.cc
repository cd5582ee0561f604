// Updates of the weights: the same bits whatever computes them, and no memory beyond what was foreseen.
#include "train/learner.h"

#include <gtest/gtest.h>

#include "allocations.h"
#include "kernels/isa.h"
#include "model/tiny_model.h"

namespace attune {
namespace {

/// Sentences that translate into themselves.
Batch copies(int sentences, int seed) {
  Batch b;
  std::vector<int32_t> lengths;
  for (const auto& s : random_sentences(sentences, 20, 20, seed)) {
    b.source.ids.append(s.begin(), s.end());
    b.target().right.ids.append(s.begin(), s.end());
    b.read.ids.push_back(1);
    b.read.ids.append(s.begin(), s.end() - 1);
    lengths.push_back(static_cast<int32_t>(s.size()));
  }
  b.source.segments = b.read.segments = b.target().right.segments = Segments::of_lengths(lengths);
  b.examples.own().resize(lengths.size());
  return b;
}

TrainOptions options() {
  TrainOptions o;
  o.batch_tokens = TokenBudget{2048};
  o.shards = 4;
  o.slices = 2;
  o.schedule = Schedule::inverse_sqrt;
  o.learning_rate = 5e-3;
  o.warmup = 10;
  return o;
}

struct Learned {
  std::vector<double> losses;
  std::vector<float> weights;
};

Learned three_updates(int threads) {
  auto model = tiny_model({}, 1, 1);
  ThreadPool pool(threads);
  Learner learner(*model, options(), 20, pool);
  Learned run;
  for (int i = 0; i < 3; ++i) {
    const Batch batch = copies(150, i);
    const Batch* one = &batch;
    run.losses.push_back(learner.update({&one, 1}).loss);
  }
  const Parameters& p = model->parameters();
  run.weights.assign(p.data(), p.data() + p.size());
  return run;
}

TEST(Learner, SameBitsForAnyThreads) {
  ASSERT_GE(shard_count(copies(150, 0), options().shards), 4);
  const Learned expected = three_updates(1);
  EXPECT_LT(expected.losses.back(), expected.losses.front());
  for (int threads : {2, 3, 4}) {
    const Learned run = three_updates(threads);
    EXPECT_EQ(run.losses, expected.losses) << threads;
    EXPECT_TRUE(run.weights == expected.weights) << threads;
  }
}

/// The weights after an update with a batch, without dropout.
std::vector<float> after_update(const Batch& batch) {
  ModelOptions model_options = tiny_options({});
  model_options.dropout = 0;
  Model model(model_options, tiny_model()->sizes());
  model.initialize(1);
  ThreadPool pool(1);
  TrainOptions o = options();
  o.optimizer = Choice{"sgd"};
  o.learning_rate = 0.2;
  Learner learner(model, o, 20, pool);
  const Batch* one = &batch;
  learner.update({&one, 1});
  return {model.parameters().data(), model.parameters().data() + model.parameters().size()};
}

/// Sentences [from, end) of a batch, `times` each.
Batch part(const Batch& b, int64_t from, int64_t end, int times) {
  Batch out;
  std::vector<int32_t> lengths;
  for (int64_t i = from; i < end; ++i)
    for (int k = 0; k < times; ++k) {
      const auto copy = [&](const Column<int32_t>& ids, Column<int32_t>& to) {
        const Segments& s = b.target().right.segments;
        to.append(ids.part(s.begin(i), s.length(i)));
      };
      copy(b.source.ids, out.source.ids);
      copy(b.read.ids, out.read.ids);
      copy(b.target().right.ids, out.target().right.ids);
      lengths.push_back(static_cast<int32_t>(b.target().right.segments.length(i)));
    }
  out.source.segments = out.read.segments = out.target().right.segments = Segments::of_lengths(lengths);
  out.examples.own().resize(lengths.size());
  return out;
}

void append(Batch& to, const Batch& more) {
  std::vector<int32_t> lengths;
  for (const Batch* b : {static_cast<const Batch*>(&to), &more})
    for (int64_t i = 0; i < b->size(); ++i)
      lengths.push_back(static_cast<int32_t>(b->target().right.segments.length(i)));
  to.source.ids.append(more.source.ids);
  to.read.ids.append(more.read.ids.begin(), more.read.ids.end());
  to.target().right.ids.append(more.target().right.ids.begin(), more.target().right.ids.end());
  to.source.segments = to.read.segments = to.target().right.segments = Segments::of_lengths(lengths);
  to.examples.own().resize(lengths.size());
}

double difference(const std::vector<float>& a, const std::vector<float>& b) {
  double most = 0;
  for (size_t i = 0; i < a.size(); ++i)
    most = std::max(most, std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i])));
  return most;
}

TEST(Learner, WeightsOfLinesAreCopiesOfThem) {
  const Batch batch = copies(40, 1);
  const auto weighted = [&](float first, float rest) {
    Batch b = batch;
    std::vector<float>& weights = b.target().weights.own();
    weights.resize(b.target().right.ids.size(), rest);
    std::fill_n(weights.begin(), b.target().right.segments.begin(20), first);
    return after_update(b);
  };
  const std::vector<float> plain = after_update(batch), without = after_update(part(batch, 20, 40, 1));
  EXPECT_TRUE(weighted(1, 1) == plain);  // the same bits
  EXPECT_LT(difference(weighted(0, 1), without), 2e-6);
  EXPECT_LT(difference(weighted(0, 3), without), 2e-6);  // only ratios matter
  Batch twice = part(batch, 0, 20, 2);
  append(twice, part(batch, 20, 40, 1));
  EXPECT_LT(difference(weighted(2, 1), after_update(twice)), 2e-6);
  EXPECT_GT(difference(plain, without), 1e-4);
  EXPECT_GT(difference(weighted(2, 1), plain), 1e-4);
  const std::vector<float> none = weighted(0, 0);
  EXPECT_TRUE(std::all_of(none.begin(), none.end(), [](float x) { return std::isfinite(x); }));
}

/// For the scope, updates [from, to) have a gradient that is not a number.
struct Fault {
  Fault(int64_t from, int64_t to, const std::string& parameter) { inject_gradient_fault({from, to, parameter}); }
  ~Fault() { inject_gradient_fault({}); }
};

/// Adam's first step moves every weight by the rate, whatever its gradient: m / (1 - b1) over the root of v / (1 - b2)
/// is 1. A skipped update is none of the steps that b1 and b2 are raised to.
/// Where answers are sets of labels, the loss is the mean over texts; from one without labels is learned too.
TEST(Learner, ATextCountsOnceHoweverManyLabelsItHas) {
  ModelOptions o = tiny_options();
  o.shape = ModelShape::encoder;
  o.head = {"labels"};
  o.dropout = 0;
  const auto sentences = random_sentences(3, 9, 20, 1);
  const auto loss = [&](const std::vector<std::vector<int32_t>>& texts, const std::vector<std::vector<int32_t>>& sets) {
    Model m(o, {.source_vocabulary = 20, .target_vocabulary = 3, .longest = 100});
    m.initialize(1);
    Batch b = batch_of(TinyBatch::of(texts), {}, TinyBatch::of(sets));
    b.examples.own().resize(texts.size());
    ThreadPool pool(1);
    TrainOptions train;
    train.shards = 1;
    const Batch* one = &b;
    return Learner(m, train, 21, pool).update({&one, 1}).loss;
  };
  const std::vector<int32_t> many{2, 0}, none;
  const double of_many = loss({sentences[0]}, {many}), of_none = loss({sentences[1]}, {none});
  EXPECT_GT(of_none, 0.1);
  EXPECT_NEAR(loss({sentences[0], sentences[1]}, {many, none}), (of_many + of_none) / 2, 1e-5);
}

TEST(Learner, SkippedUpdatesAreNoneOfAdams) {
  for (const int64_t skipped : {0, 1, 5}) {
    ModelOptions m = tiny_options({});
    m.dropout = 0;
    Model model(m, tiny_model()->sizes());
    model.initialize(1);
    TrainOptions o = options();
    o.schedule = Schedule::constant;
    o.warmup = 0;
    o.learning_rate = 1e-3;
    ThreadPool pool(1);
    Learner learner(model, o, 20, pool);
    const Parameters& p = model.parameters();
    const std::vector<float> before(p.data(), p.data() + p.size());
    const Batch batch = copies(150, 1);
    const Batch* one = &batch;
    const Fault fault(0, skipped + 1, "decoder.0.self.key.weight");
    for (int64_t i = 0; i < skipped; ++i) EXPECT_TRUE(learner.update({&one, 1}).skipped());
    EXPECT_TRUE(std::equal(before.begin(), before.end(), p.data()));
    EXPECT_FALSE(learner.update({&one, 1}).skipped());
    EXPECT_EQ(learner.updates(), skipped + 1);
    EXPECT_EQ(learner.steps(), 1);
    const double most = difference(before, {p.data(), p.data() + p.size()});
    EXPECT_NEAR(most, 1e-3, 1e-6) << skipped << " skipped";
  }
}

/// What was read with gradients that are no numbers may itself be none: after it, a text is read as from its begin.
TEST(Learner, ASkippedUpdateForgetsTheTexts) {
  ModelOptions m = tiny_options({});
  m.shape = ModelShape::decoder;
  m.position = {"none"};
  m.attention = {{"transformer-xl", {{"memory", int64_t{8}}}}};
  Model model(m, {.target_vocabulary = 20, .longest = 20});
  model.initialize(1);
  ThreadPool pool(1);
  Learner learner(model, options(), 20, pool);
  Batch b;
  b.read = b.target().right = TinyBatch::of({{4, 5, 6, 7, 8}, {9, 10, 11, 12, 13}});
  b.read.streams = {0, 1};
  const Batch* one = &b;
  const auto remembered = [&] {
    std::vector<int64_t> rows;
    for (int slot = 0; slot < std::ssize(learner.streams().slots()); ++slot)
      for (int32_t s = 0; s < 2; ++s) rows.push_back(learner.streams().count(slot, s));
    return rows;
  };
  using Counts = std::vector<int64_t>;
  const Fault fault(3, 4, "decoder.0.self.key.weight");
  EXPECT_FALSE(learner.update({&one, 1}).skipped());
  EXPECT_EQ(remembered(), (Counts{5, 5, 5, 5}));
  b.first = false;
  EXPECT_FALSE(learner.update({&one, 1}).skipped());
  EXPECT_EQ(remembered(), (Counts{8, 8, 8, 8}));
  EXPECT_TRUE(learner.update({&one, 1}).skipped());
  EXPECT_EQ(remembered(), (Counts{0, 0, 0, 0}));
  EXPECT_FALSE(learner.update({&one, 1}).skipped());
  EXPECT_EQ(remembered(), (Counts{5, 5, 5, 5}));
}

TEST(Learner, SameBitsForAnyInstructionSetWithFma) {
  const Learned expected = three_updates(2);
  for (const auto& isa : available_isas()) {
    force_isa(isa);
    const Learned run = three_updates(2);
    force_isa("auto");
    if (isa_has_fma(isa) && isa_has_fma(available_isas().front()))
      EXPECT_TRUE(run.weights == expected.weights) << isa;
    else
      EXPECT_NEAR(run.losses.back(), expected.losses.back(), 0.1) << isa;
  }
}

TEST(Learner, TheRehearsalForeseesDropoutToo) {
  ModelOptions model_options = tiny_options({});
  model_options.dropout = model_options.attention_dropout = model_options.activation_dropout = 0.1;
  Model model(model_options, tiny_model()->sizes());
  model.initialize(1);
  ThreadPool pool(2);
  Learner learner(model, options(), 20, pool);
  const Batch batch = copies(100, 1);
  ASSERT_LE(batch.target_tokens(), options().batch_tokens.tokens);
  const Batch* one = &batch;
  for (int i = 0; i < 3; ++i) learner.update({&one, 1});
  EXPECT_EQ(learner.overflows(), 0);
}

TEST(Learner, UpdatesTakeNoMemoryButForAFewHandles) {
  constexpr int64_t kPerPiece = 3;  // none of them grows with the batch or the model: those were taken before
  for (int threads : {1, 2}) {
    auto model = tiny_model();
    ThreadPool pool(threads);
    Learner learner(*model, options(), 20, pool);
    const Batch large = copies(150, 1), small = copies(90, 2);
    const Batch* batches[] = {&large, &small};
    int64_t fewest = INT64_MAX;
    for (int i = 0; i < 7; ++i) {  // a thread takes its packing space on its first block, which may come late
      const int64_t before = allocation_count();
      for (const Batch*& b : batches) learner.update({&b, 1});
      fewest = std::min(fewest, allocation_count() - before);
    }
    EXPECT_LE(fewest, kPerPiece * 2 * options().shards * options().slices) << threads << " threads";
  }
}

}  // namespace
}  // namespace attune
