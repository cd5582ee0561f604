// One decoder that reads the source, all of it at once, and goes on with the target (model.shape = "prefix").
#include <gtest/gtest.h>

#include "autograd/op_checks.h"
#include "checks.h"
#include "model/contract.h"
#include "train/learner.h"

namespace attune {
namespace {

ModelOptions options_of(const char* position, NormPlace norm = NormPlace::post) {
  ModelOptions o = tiny_options({.norm = norm});
  o.shape = ModelShape::prefix;
  o.position = {position};
  o.dropout = 0;
  return o;
}

std::unique_ptr<Model> prefix_model(const ModelOptions& o) {
  auto m = std::make_unique<Model>(o, ModelSizes{20, 20, 100});
  m->initialize(3);
  for (int64_t i = 0; i < m->parameters().size(); ++i) m->parameters().data()[i] *= 1.5f;
  m->parameters().repack();
  return m;
}

/// The targets' rows, all at once.
std::vector<float> at_once(const Model& m, const IdLists& sources, const IdLists& targets) {
  Arena arena;
  Ctx ctx(arena);
  Pass pass{ctx, m.parameters()};
  const TinyBatch x = TinyBatch::of(sources), y = TinyBatch::of(targets);
  return numbers(m.decode(pass, x, y));
}

/// Its rows of a source are those of an encoder that has its weights.
TEST(Prefix, TheSourceIsReadAsAnEncoderReadsIt) {
  ModelOptions o = options_of("sinusoidal");
  const auto prefix = prefix_model(o);
  o.shape = ModelShape::encoder;
  const auto encoder = prefix_model(o);
  for (const NamedParameter& p : encoder->parameters().named())
    for (const NamedParameter& q : prefix->parameters().named())
      if (q.name.substr(2) == p.name.substr(2))  // "decoder.0.self" and "encoder.0.self"
        std::copy_n(prefix->parameters().data() + q.offset, p.shape.size(), encoder->parameters().data() + p.offset);
  encoder->parameters().repack();
  const IdLists sources{{5, 6, 7, 8, 9, 2}, {11, 2}};
  Arena arena;
  Ctx ctx(arena);
  Pass pass{ctx, prefix->parameters()};
  TinyBatch x = TinyBatch::of(sources);
  x.prefix = {6, 2};
  const std::vector<float> own = numbers(prefix->decode(pass, Rows(), x));
  EXPECT_TRUE(same_bits(own, encoded(*encoder, sources)));
  x.prefix.clear();  // and not as one that sees no later word
  EXPECT_FALSE(same_bits(own, numbers(prefix->decode(pass, Rows(), x))));
}

TEST(Prefix, TheTargetSeesTheSourceAndItsOwnPast) {
  const auto m = prefix_model(options_of("rope"));
  const size_t d = 32;
  const std::vector<float> all = at_once(*m, {{5, 6, 7, 2}}, {{1, 8, 9, 10}});
  const std::vector<float> other = at_once(*m, {{5, 6, 7, 2}}, {{1, 8, 12, 10}});
  EXPECT_TRUE(std::equal(all.begin(), all.begin() + 2 * d, other.begin()));
  EXPECT_FALSE(std::equal(all.begin() + 2 * d, all.begin() + 3 * d, other.begin() + 2 * d));
  EXPECT_FALSE(std::equal(all.begin() + 3 * d, all.end(), other.begin() + 3 * d));
  EXPECT_FALSE(same_bits(all, at_once(*m, {{5, 6, 13, 2}}, {{1, 8, 9, 10}})));
}

TEST(Prefix, StepsSayTheSame) {
  for (const char* position : {"none", "sinusoidal", "learned", "rope"})
    for (const NormPlace norm : {NormPlace::post, NormPlace::pre}) {
      const auto m = prefix_model(options_of(position, norm));
      const IdLists sources{{5, 6, 7, 8, 2}, {2}, {9, 10, 2}}, targets{{1, 4, 5, 6}, {1, 7, 8, 9}, {1, 10, 11, 12}};
      const std::vector<float> all = at_once(*m, sources, targets);
      Arena arena;
      Ctx ctx(arena);
      Pass pass{ctx, m->parameters()};
      std::vector<std::unique_ptr<DecoderState>> states;
      std::vector<DecoderState*> each;
      for (const auto& s : sources) each.push_back(states.emplace_back(m->start(pass, TinyBatch::of({s}), 10)).get());
      for (size_t t = 0; t < 4; ++t) {
        const std::vector<int32_t> ids{targets[0][t], targets[1][t], targets[2][t]};
        const std::vector<float> rows = numbers(m->step(pass, each, ids));
        for (size_t s = 0; s < 3; ++s)
          for (size_t j = 0; j < 32; ++j)
            EXPECT_NEAR(rows[s * 32 + j], all[(s * 4 + t) * 32 + j], 2e-5) << position << " " << s << " " << t;
      }
    }
}

TEST(Prefix, GradientsAreRight) {
  ModelOptions o = options_of("rope");
  o.d_model = 8;
  o.d_ff = 6;
  o.heads = 2;
  o.activation = "gelu";  // no kinks for a difference to step over
  const Model m(o, {9, 9, 30});
  const TinyBatch source = TinyBatch::of({{5, 6, 2}, {2}}), in = TinyBatch::of({{1, 4, 5}, {1, 7}}),
                  out = TinyBatch::of({{4, 5, 2}, {7, 2}});
  const Batch batch = batch_of(source, in, out);
  std::vector<CheckInput> inputs;
  for (int i = 0; i < m.parameters().count(); ++i)
    inputs.push_back(random_input(m.parameters().value(i).shape, static_cast<uint64_t>(i) + 1));
  const CheckedOp loss = [&](Ctx& ctx, const std::vector<Var>& v) {
    Pass pass{ctx, m.parameters()};
    pass.substitutes = v;
    return m.loss(pass, batch, {.smoothing = 0.1f, .scale = 0.2f});
  };
  EXPECT_LT(gradient_error(loss, inputs), 1e-6);
}

/// Updates with dropout: the same bits for any threads and with layers computed twice, in the memory that was foreseen.
TEST(Prefix, LearnsTheSameForAnyThreads) {
  ModelOptions o = options_of("sinusoidal");
  o.dropout = o.attention_dropout = 0.1;
  const Batch batch = copies_of(random_sentences(40, 20, 20, 12));
  const Batch* one = &batch;
  TrainOptions train;
  train.batch_tokens = TokenBudget{1024};
  train.shards = 4;
  std::vector<std::vector<float>> weights;
  for (const auto& [threads, twice] : {std::pair{1, false}, {3, false}, {2, true}}) {
    ThreadPool pool(threads);
    train.recompute = twice;
    const auto m = prefix_model(o);
    Learner learner(*m, train, 21, pool);
    for (int i = 0; i < 2; ++i) EXPECT_FALSE(learner.update({&one, 1}).skipped());
    EXPECT_EQ(learner.overflows(), 0);
    weights.emplace_back(m->parameters().data(), m->parameters().data() + m->parameters().size());
    EXPECT_TRUE(same_bits(weights[0], weights.back())) << threads;
  }
}

}  // namespace
}  // namespace attune
