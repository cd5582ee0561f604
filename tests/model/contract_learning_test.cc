// What every attention mechanism must do while it learns; see contract_test.cc for the rest.
#include <gtest/gtest.h>

#include <map>

#include "checkpoint/tensors.h"
#include "checks.h"
#include "model/contract.h"
#include "model/parts.h"
#include "run_program.h"
#include "train/learner.h"

namespace attune {
namespace {

class LearningContract : public Contract {};

/// Gradient checkpointing: two updates of the same bits, buffers and all, in the memory that was foreseen.
TEST_P(LearningContract, ComputingLayersTwiceChangesNothing) {
  for (const NormPlace norm : {NormPlace::post, NormPlace::pre}) {
    ModelOptions o = options();
    o.dropout = o.attention_dropout = o.activation_dropout = 0.1;
    o.norm = norm;
    TrainOptions train;
    train.batch_tokens = TokenBudget{1024};
    train.shards = 4;
    const Batch batch = copies_of(random_sentences(40, 20, 20, 12));
    const Batch* one = &batch;
    ThreadPool pool(2);
    std::vector<float> weights[2];
    double losses[2];
    int64_t activations[2];
    for (const bool twice : {false, true}) {
      train.recompute = twice;
      const auto m = model(o, 1);
      Learner learner(*m, train, 21, pool);
      learner.update({&one, 1});
      losses[twice] = learner.update({&one, 1}).loss;
      weights[twice].assign(m->parameters().data(), m->parameters().data() + m->parameters().size());
      activations[twice] = learner.memory().activations;
      EXPECT_EQ(learner.overflows(), 0) << twice;
    }
    EXPECT_EQ(losses[0], losses[1]);
    EXPECT_TRUE(same_bits(weights[0], weights[1]));
    if (GetParam().attention.kind == "transformer-xl")  // a text's memory can't be read twice
      EXPECT_LE(activations[1], activations[0]);
    else
      EXPECT_LT(activations[1], activations[0]);
  }
}

/// Sentences of some tiles beside short ones: no more memory than was foreseen.
TEST_P(LearningContract, LongSentencesAreForeseenToo) {
  TrainOptions train;
  train.batch_tokens = TokenBudget{1024};
  train.shards = 2;
  auto sentences = random_sentences(30, 20, 20, 12);
  sentences.insert(sentences.begin(), sentences[0]);
  sentences[0].resize(97, 5);
  const Batch batch = copies_of(sentences);
  const Batch* one = &batch;
  ThreadPool pool(2);
  const auto m = model(options(), 1);
  Learner learner(*m, train, 98, pool);
  for (int i = 0; i < 2; ++i) learner.update({&one, 1});
  EXPECT_EQ(learner.overflows(), 0);
}

/// An update with a part of it frozen: that part keeps its bits, all others get those they get anyway.
TEST_P(LearningContract, FreezingAPartChangesNothingElse) {
  ModelOptions o = options();
  o.dropout = 0.1;
  TrainOptions train;
  train.batch_tokens = TokenBudget{1024};
  train.shards = 4;
  train.schedule = Schedule::constant;
  train.clip = 0;  // a frozen part has no share in the norm
  train.weight_decay = 0.1;
  train.ema = 0.9;
  const Batch batch = copies_of(random_sentences(40, 20, 20, 11));
  const Batch* one = &batch;
  ThreadPool pool(2);
  using ByName = std::map<std::string, std::vector<float>>;
  const auto by_name = [](const Parameters& p, const float* data) {
    ByName all;
    for (const NamedParameter& n : p.named()) all[n.name].assign(data + n.offset, data + n.offset + n.shape.size());
    return all;
  };
  const auto learned = [&](const std::vector<std::string>& frozen, ByName* before) {
    Model m(o, {.source_vocabulary = 20, .target_vocabulary = 20, .longest = 100}, frozen);
    m.initialize(3);
    *before = by_name(m.parameters(), m.parameters().data());
    Learner learner(m, train, 21, pool);
    EXPECT_FALSE(learner.update({&one, 1}).skipped());
    EXPECT_EQ(learner.overflows(), 0);
    ByName after = by_name(m.parameters(), m.parameters().data());
    for (const auto& [name, values] : by_name(m.parameters(), learner.kept_weights())) after["kept " + name] = values;
    return after;
  };
  ByName first;
  const ByName whole = learned({}, &first);
  const std::vector<std::vector<std::string>> all{
      {"encoder", "embedding"}, {"decoder.0", "encoder.1"}, {"decoder"}, {"decoder", "embedding"}};
  for (const std::vector<std::string>& frozen : all)
    for (const bool recompute : {false, true}) {
      train.recompute = recompute;
      ByName before;
      for (const auto& [name, values] : learned(frozen, &before)) {
        const std::string bare = name.starts_with("kept ") ? name.substr(5) : name;
        const bool stays = in_any_part(bare, frozen);
        EXPECT_TRUE(same_bits(values, stays ? first.at(bare) : whole.at(name)))
            << name << (stays ? " moved" : "") << (recompute ? ", recomputed" : "");
      }
      EXPECT_TRUE(before == first);
    }
}

/// Two updates: the same bits for 1 and 3 threads, buffers and all; saved and loaded it says the same.
TEST_P(LearningContract, LearnsTheSameForAnyThreadsAndIsSavedWhole) {
  ModelOptions o = options();
  o.dropout = 0.1;
  TrainOptions train;
  train.batch_tokens = TokenBudget{1024};
  train.shards = 4;
  const Batch batch = copies_of(random_sentences(60, 20, 20, 10));
  const Batch* one = &batch;
  std::vector<std::vector<float>> weights;
  std::unique_ptr<Model> last;
  for (const int threads : {1, 3}) {
    last = model(o, 1);
    const std::vector<float> before(last->parameters().data(), last->parameters().data() + last->parameters().size());
    ThreadPool pool(threads);
    Learner learner(*last, train, 21, pool);
    for (int i = 0; i < 2; ++i) {
      const UpdateResult r = learner.update({&one, 1});
      EXPECT_FALSE(r.skipped());
      EXPECT_GT(r.flops, 0);
    }
    EXPECT_EQ(learner.overflows(), 0);
    const Parameters& p = last->parameters();
    weights.emplace_back(p.data(), p.data() + p.size());
    for (int i = 0; i < p.count(); ++i) {
      const auto from = static_cast<size_t>(p.offset(i)), n = static_cast<size_t>(p.value(i).size());
      EXPECT_FALSE(std::equal(before.begin() + static_cast<std::ptrdiff_t>(from),
                              before.begin() + static_cast<std::ptrdiff_t>(from + n),
                              weights.back().begin() + static_cast<std::ptrdiff_t>(from)))
          << p.name(i) << " does not learn";
    }
  }
  EXPECT_TRUE(same_bits(weights[0], weights[1]));

  const test::TempFolder dir;
  const std::string path = dir / "model.safetensors";
  write_safetensors(path, tensors_of(last->parameters()), {});
  const auto again = model(o, 1);
  load_parameters(path, again->parameters());
  const IdLists x = random_sentences(3, 20, 20, 11);
  EXPECT_TRUE(same_bits(encoded(*again, x), encoded(*last, x)));
}

INSTANTIATE_TEST_SUITE_P(All, LearningContract, testing::ValuesIn(all_pairs()), name_of_pair);

}  // namespace
}  // namespace attune
