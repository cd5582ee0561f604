// One piece of a batch through a model: its loss in absolute numbers, and gradients that add up.
#include "train/shard_pass.h"

#include <gtest/gtest.h>

#include <cmath>

#include "model/tiny_model.h"

namespace attune {
namespace {

constexpr int64_t kShardVocabulary = 20;

/// Two pairs of sentences, of 3 and 5 target tokens.
Batch two_pairs() {
  Batch b;
  b.source = TinyBatch::of({{4, 5, 2}, {6, 2}});
  b.read = TinyBatch::of({{1, 7, 8}, {1, 9, 10, 11, 12}});
  b.target().right = TinyBatch::of({{7, 8, 2}, {9, 10, 11, 12, 2}});
  b.examples = {0, 1};
  return b;
}

/// Sentences [from, to) of it, copied one by one.
Batch piece(const Batch& b, int64_t from, int64_t to) {
  const auto rows = [&](const Rows& all) {
    Rows some;
    for (int64_t i = from; i < to; ++i) {
      some.ids.append(all.ids.part(all.segments.begin(i), all.segments.length(i)));
      some.segments.add(all.segments.length(i));
    }
    some.first_row = all.segments.begin(from);
    return some;
  };
  Batch s;
  s.source = rows(b.source);
  s.read = rows(b.read);
  s.target().right = rows(b.target().right);
  const Column<float>& weights = b.target().weights;
  if (!weights.empty()) s.target().weights = weights.part(s.read.first_row, s.read.rows());
  return s;
}

std::unique_ptr<Model> scaled_model(float scale) {
  ModelOptions o = tiny_options({.vocabulary = kShardVocabulary});
  o.dropout = 0;
  auto m = std::make_unique<Model>(
      o, ModelSizes{.source_vocabulary = kShardVocabulary, .target_vocabulary = kShardVocabulary, .longest = 100});
  m->initialize(1);
  for (int64_t i = 0; i < m->parameters().size(); ++i) m->parameters().data()[i] *= scale;
  m->parameters().repack();
  return m;
}

struct Learning {
  Worker worker;
  StreamMemory streams;
  explicit Learning(const Model& m) : streams(m.memories()) { worker.learn({}, streams); }
};

/// A model of zeros says every token with probability 1 / 20, so a row costs log 20, smoothed or not.
TEST(ShardPass, ALossIsAsLargeAsItsRows) {
  const auto m = scaled_model(0);
  Batch b = two_pairs();
  Worker worker;
  const double row = std::log(20.0);
  EXPECT_NEAR(run_shard(worker, *m, piece(b, 0, 2), nullptr, {}).loss, 8 * row, 1e-4);
  EXPECT_NEAR(run_shard(worker, *m, piece(b, 0, 1), nullptr, {}).loss, 3 * row, 1e-4);
  EXPECT_NEAR(run_shard(worker, *m, piece(b, 1, 2), nullptr, {.smoothing = 0.1f, .scale = 0.5f}).loss, 2.5 * row, 1e-4);
  EXPECT_EQ(run_shard(worker, *m, piece(b, 0, 1), nullptr, {}).guide, 0);
  b.target().weights = {2, 2, 2, 0, 0, 1, 0.5f, 0};
  EXPECT_NEAR(run_shard(worker, *m, piece(b, 0, 2), nullptr, {}).loss, 7.5 * row, 1e-4);
  EXPECT_NEAR(run_shard(worker, *m, piece(b, 1, 2), nullptr, {}).loss, 1.5 * row, 1e-4);
}

TEST(ShardPass, GradientsOfPiecesAddUpToThoseOfTheWhole) {
  const auto m = scaled_model(1);
  const Batch b = two_pairs();
  Learning l(*m);
  const int64_t size = m->parameters().size();
  const auto learned = [&](std::initializer_list<Batch> pieces, double& loss) {
    Gradients g(m->parameters());
    g.start();
    loss = 0;
    for (const Batch& p : pieces) loss += run_shard(l.worker, *m, p, &g, {.scale = 0.125f}).loss;
    g.finish();
    return std::vector<float>(g.data(), g.data() + size);
  };
  double whole_loss = 0, parts_loss = 0, once_more = 0;
  const auto whole = learned({piece(b, 0, 2)}, whole_loss),
             parts = learned({piece(b, 0, 1), piece(b, 1, 2)}, parts_loss);
  EXPECT_NEAR(whole_loss, parts_loss, 1e-6);
  double most = 0;
  for (size_t i = 0; i < whole.size(); ++i) {
    ASSERT_NEAR(whole[i], parts[i], 1e-6) << i;
    most = std::max(most, std::abs(static_cast<double>(whole[i])));
  }
  EXPECT_GT(most, 0.01);
  EXPECT_TRUE(learned({piece(b, 0, 2)}, once_more) == whole) << "the second time as the first";

  // Along the gradient the loss falls as fast as it says.
  double square = 0;
  for (const float g : whole) square += static_cast<double>(g) * static_cast<double>(g);
  const double step = 1e-3 / std::sqrt(square);
  for (int64_t i = 0; i < size; ++i)
    m->parameters().data()[i] -= static_cast<float>(step * static_cast<double>(whole[static_cast<size_t>(i)]));
  m->parameters().repack();
  Worker looks;
  const double after = run_shard(looks, *m, piece(b, 0, 2), nullptr, {.scale = 0.125f}).loss;
  EXPECT_NEAR((whole_loss - after) / (step * square), 1, 0.02);
}

/// A batch of sentences leaves the memory of texts alone; one of windows says how many streams there are.
TEST(ShardPass, BatchesOfTextsBeginTheirStreams) {
  StreamMemory memory({{"layer", 3, 2}});
  begin_batch(memory, two_pairs());
  EXPECT_EQ(memory.streams(), 0);
  Batch b;
  b.read.streams = {0, 1, 2};
  begin_batch(memory, b);
  EXPECT_EQ(memory.streams(), 3);
  std::vector<float> rows(4, 1.0f);
  memory.remember(0, 2, Tensor(rows.data(), Shape{2, 2}));
  b.first = false;
  begin_batch(memory, b);
  EXPECT_EQ(memory.count(0, 2), 2);
  b.first = true;
  begin_batch(memory, b);
  EXPECT_EQ(memory.count(0, 2), 0);
}

}  // namespace
}  // namespace attune
