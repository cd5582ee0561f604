// Twenty updates against PyTorch's Adam: the loss of each, and the weights in the end.
#include "checkpoint/tensors.h"
#include "checks.h"
#include "golden/transformer.h"
#include "train/learner.h"

namespace attune {
namespace {

/// The batch so many times over. A mean over target tokens does not see that, but there is enough for several shards.
Batch repeated(const Golden& golden, int copies) {
  Batch batch;
  std::vector<int32_t> source_lengths, target_lengths;
  const auto append = [&](auto& to, const char* name) {
    const std::vector<int32_t> more = golden.numbers<int32_t>(name);
    for (const int32_t x : more) to.push_back(x);
  };
  for (int i = 0; i < copies; ++i) {
    append(batch.source.ids, "source");
    append(batch.read.ids, "target_in");
    append(batch.target().right.ids, "target_out");
    append(source_lengths, "source_lengths");
    append(target_lengths, "target_lengths");
  }
  batch.source.segments = Segments::of_lengths(source_lengths);
  batch.read.segments = batch.target().right.segments = Segments::of_lengths(target_lengths);
  batch.examples.own().resize(source_lengths.size());
  return batch;
}

TrainOptions options_of(const Golden& golden) {
  TrainOptions o;
  o.schedule = Schedule::inverse_sqrt;
  o.learning_rate = golden.real("learning_rate");
  o.warmup = golden.integer("warmup");
  o.beta1 = golden.real("beta1");
  o.beta2 = golden.real("beta2");
  o.epsilon = golden.real("epsilon");
  o.label_smoothing = golden.real("label_smoothing");
  o.clip = 0;
  return o;
}

class GoldenTraining : public testing::TestWithParam<const char*> {
 protected:
  void expect_pytorchs(int copies) {
    const Golden golden(GetParam());
    Model model(golden.options(), golden.sizes());
    Parameters& parameters = model.parameters();
    load_parameters(golden_path(GetParam(), "weights"), parameters);
    const std::vector<float> before(parameters.data(), parameters.data() + parameters.size());
    const Batch batch = repeated(golden, copies);
    ThreadPool pool(2);
    Learner learner(model, options_of(golden), golden.integer("longest"), pool);

    const std::vector<float> losses = golden.floats("losses");
    ASSERT_EQ(static_cast<int64_t>(losses.size()), golden.integer("steps"));
    for (size_t i = 0; i < losses.size(); ++i) {
      const Batch* one = &batch;
      EXPECT_NEAR(learner.update({&one, 1}).loss, losses[i], kLossBound * losses[i]) << "update " << i + 1;
    }
    for (const NamedParameter& p : parameters.named()) {
      if (is_key_bias(p.name)) continue;
      const auto n = static_cast<size_t>(p.shape.size());
      const std::vector<float> after = golden.floats("after/" + p.name);
      ASSERT_EQ(after.size(), n) << p.name;
      const double moved = distance(after.data(), before.data() + p.offset, n);
      EXPECT_LE(distance(parameters.data() + p.offset, after.data(), n), kMovedBound * moved) << p.name;
    }
  }
};

TEST_P(GoldenTraining, TwentyUpdatesArePyTorchs) { expect_pytorchs(1); }

TEST_P(GoldenTraining, SoAreThoseOfABatchInShards) {
  ASSERT_EQ(shard_count(repeated(Golden(GetParam()), 32), TrainOptions().shards), 4);
  expect_pytorchs(32);
}

INSTANTIATE_TEST_SUITE_P(Variants, GoldenTraining, testing::Values("post", "pre"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace attune
