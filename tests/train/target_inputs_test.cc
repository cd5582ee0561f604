// What the decoder reads where it is not the truth: how much of it, where, by what, and the same whatever computes it.
#include "train/target_inputs.h"

#include <gtest/gtest.h>

#include "model/tiny_model.h"
#include "text/vocabulary.h"
#include "train/learner.h"

namespace attune {
namespace {

constexpr int64_t kVocabulary = 40;

/// Sentences that translate into themselves, of any lengths.
Batch target_inputs_copies(int sentences, int seed) {
  Batch b;
  std::vector<int32_t> lengths;
  for (const auto& s : random_sentences(sentences, 20, kVocabulary, seed)) {
    b.source.ids.append(s.begin(), s.end());
    b.target().right.ids.append(s.begin(), s.end());
    b.read.ids.push_back(text::kBegin);
    b.read.ids.append(s.begin(), s.end() - 1);
    lengths.push_back(static_cast<int32_t>(s.size()));
  }
  b.source.segments = b.read.segments = b.target().right.segments = Segments::of_lengths(lengths);
  b.examples.own().resize(lengths.size());
  return b;
}

struct Replaced : testing::Test {
  std::unique_ptr<Model> model = tiny_model({.vocabulary = kVocabulary});
  StreamMemory memory{model->memories()};
  TrainOptions options;

  /// What is read of a batch cut into so many shards.
  std::vector<int32_t> read(const Batch& batch, int64_t shards = 4, uint64_t step = 3, int64_t update = 4) {
    TargetInputs inputs(*model, options, memory, 1);
    EXPECT_TRUE(inputs.on());
    inputs.begin(batch, step, update);
    Shards pieces;
    cut(batch, shards, pieces);
    std::vector<int32_t> all;
    for (Batch& piece : pieces) {
      inputs.replace(0, piece);
      all.insert(all.end(), piece.read.ids.begin(), piece.read.ids.end());
    }
    return all;
  }
};

double share_of_difference(const std::vector<int32_t>& a, const std::vector<int32_t>& b) {
  int64_t different = 0;
  for (size_t i = 0; i < a.size(); ++i) different += a[i] != b[i];
  return static_cast<double>(different) / static_cast<double>(a.size());
}

TEST_F(Replaced, NoiseReplacesItsShareByAnyOtherPiece) {
  options.target_noise = 0.3;
  const Batch batch = target_inputs_copies(1000, 1);
  const std::vector<int32_t> noised = read(batch);
  ASSERT_EQ(noised.size(), batch.read.ids.size());
  std::vector<int> drawn(kVocabulary);
  int64_t tokens = 0, replaced = 0;
  for (size_t i = 0; i < noised.size(); ++i) {
    if (batch.read.ids[i] == text::kBegin) {
      EXPECT_EQ(noised[i], text::kBegin);
      continue;
    }
    ++tokens;
    if (noised[i] == batch.read.ids[i]) continue;
    ++replaced;
    ++drawn.at(static_cast<size_t>(noised[i]));
  }
  EXPECT_NEAR(static_cast<double>(replaced) / static_cast<double>(tokens), 0.3, 0.02);
  for (int32_t id = 0; id < text::kMarks; ++id) EXPECT_EQ(drawn[static_cast<size_t>(id)], 0);
  const double even = static_cast<double>(replaced) / (kVocabulary - text::kMarks);
  for (size_t id = text::kMarks; id < drawn.size(); ++id) EXPECT_NEAR(drawn[id], even, 6 * std::sqrt(even)) << id;
}

TEST_F(Replaced, NoiseIsAFunctionOfSeedStepAndPlace) {
  options.target_noise = 0.2;
  const Batch batch = target_inputs_copies(200, 1);
  const auto first = read(batch, 1, 3);
  for (const int64_t shards : {1, 2, 8}) EXPECT_EQ(read(batch, shards, 3), first);
  EXPECT_NEAR(share_of_difference(read(batch, 1, 4), first), 0.35, 0.1) << "another step, other tokens";
  options.seed = 2;
  EXPECT_NEAR(share_of_difference(read(batch, 1, 3), first), 0.35, 0.1);
}

TEST_F(Replaced, AVocabularyOfOnePieceHasNoOther) {
  model = tiny_model({.vocabulary = text::kMarks + 1});
  options.target_noise = 0.5;
  Batch batch = target_inputs_copies(5, 1);
  for (auto* ids : {&batch.source.ids, &batch.read.ids, &batch.target().right.ids})
    for (int32_t& id : ids->own()) id = std::min(id, text::kMarks);
  EXPECT_EQ(read(batch), batch.read.ids);
}

TEST(SamplingShare, IsALine) {
  const SamplingSettings s{.share = 0.4, .from = 100, .over = 200};
  EXPECT_EQ(sampling_share(s, 1), 0);
  EXPECT_EQ(sampling_share(s, 100), 0);
  EXPECT_DOUBLE_EQ(sampling_share(s, 101), 0.4 / 200);
  EXPECT_DOUBLE_EQ(sampling_share(s, 200), 0.2);
  EXPECT_DOUBLE_EQ(sampling_share(s, 300), 0.4);
  EXPECT_DOUBLE_EQ(sampling_share(s, 100000), 0.4);
  EXPECT_DOUBLE_EQ(sampling_share({.share = 0.4}, 1), 0.4) << "at once";
}

/// What the model says after each row of a batch, sentence by sentence, in plain steps.
std::vector<int32_t> said_after(const Model& model, const Batch& b) {
  std::vector<int32_t> said;
  for (int64_t s = 0; s < b.size(); ++s) {
    Arena arena;
    Ctx ctx(arena);
    Pass pass{ctx, model.parameters()};
    Rows source, target;
    slice(b.source, s, s + 1, source);
    slice(b.read, s, s + 1, target);
    const Var logits = model.logits(pass, model.decode(pass, source, target));
    for (int64_t i = 0; i < logits.rows(); ++i) {
      const float* row = logits.value().row<float>(i);
      said.push_back(static_cast<int32_t>(std::max_element(row + text::kMarks, row + logits.cols()) - row));
    }
  }
  return said;
}

TEST_F(Replaced, SamplingPutsInWhatTheModelSaysAfterWhatIsRight) {
  options.sampling = {.share = 0.5, .from = 2, .over = 2};
  const Batch batch = target_inputs_copies(200, 2);
  EXPECT_EQ(read(batch, 4, 1, 2), batch.read.ids) << "not yet";
  const std::vector<int32_t> sampled = read(batch), said = said_after(*model, batch);
  int64_t tokens = 0, replaced = 0;
  for (size_t i = 0; i < sampled.size(); ++i) {
    if (batch.read.ids[i] == text::kBegin) {
      ASSERT_EQ(sampled[i], text::kBegin);
      continue;
    }
    ++tokens;
    if (sampled[i] == batch.read.ids[i]) continue;
    ++replaced;
    EXPECT_EQ(sampled[i], said[i - 1]) << i;
  }
  EXPECT_NEAR(static_cast<double>(replaced) / static_cast<double>(tokens), 0.5, 0.06);
  for (const int64_t shards : {1, 2, 8}) EXPECT_EQ(read(batch, shards), sampled);
}

TEST_F(Replaced, ASampledTokenIsNotNoisedToo) {
  options.sampling = {.share = 1};
  const Batch batch = target_inputs_copies(50, 2);
  const auto alone = read(batch);
  options.target_noise = 0.3;
  EXPECT_EQ(read(batch), alone);
}

struct TargetInputsLearned {
  std::vector<double> losses;
  std::vector<float> weights;
  int64_t overflows = 0;
};

TargetInputsLearned target_inputs_three_updates(const TrainOptions& o, int threads, double dropout = 0.1) {
  ModelOptions m = tiny_options({});
  m.dropout = dropout;
  Model model(m, {.source_vocabulary = kVocabulary, .target_vocabulary = kVocabulary, .longest = 100});
  model.initialize(1);
  ThreadPool pool(threads);
  Learner learner(model, o, 20, pool);
  TargetInputsLearned run;
  for (int i = 0; i < 3; ++i) {
    const Batch batch = target_inputs_copies(150, i);
    const Batch* one = &batch;
    run.losses.push_back(learner.update({&one, 1}).loss);
  }
  run.weights.assign(model.parameters().data(), model.parameters().data() + model.parameters().size());
  run.overflows = learner.overflows();
  return run;
}

TEST(TargetInputs, UpdatesHaveTheSameBitsOnAnyThreads) {
  TrainOptions o;
  o.batch_tokens = TokenBudget{2048};
  o.shards = 4;
  o.slices = 2;
  o.warmup = 10;
  const TargetInputsLearned plain = target_inputs_three_updates(o, 1);
  for (const bool sampling : {false, true}) {
    TrainOptions own = o;
    sampling ? void(own.sampling = {.share = 0.6, .from = 1, .over = 1}) : void(own.target_noise = 0.2);
    const TargetInputsLearned expected = target_inputs_three_updates(own, 1);
    EXPECT_EQ(expected.losses[0] == plain.losses[0], sampling) << "sampling begins with the second update";
    EXPECT_NE(expected.losses[1], plain.losses[1]);
    EXPECT_EQ(expected.overflows, 0);
    for (const int threads : {2, 3}) {
      const TargetInputsLearned run = target_inputs_three_updates(own, threads);
      EXPECT_EQ(run.losses, expected.losses) << threads;
      EXPECT_TRUE(run.weights == expected.weights) << threads;
    }
  }
}

}  // namespace
}  // namespace attune
