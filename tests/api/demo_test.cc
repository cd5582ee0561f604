#include "attune/demo.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "allocations.h"
#include "api/reverser.h"
#include "kernels/adam.h"
#include "kernels/isa.h"

namespace attune {
namespace {

TEST(Demo, LearnsToReverse) {
  int reports = 0;
  const DemoResult r = run_demo({.threads = 2, .steps = 300}, [&](const DemoProgress& p) {
    ++reports;
    EXPECT_EQ(p.steps, 300);
  });
  EXPECT_NEAR(r.first_loss, std::log(26.0), 0.7);
  EXPECT_LT(r.last_loss, 0.3 * r.first_loss);
  EXPECT_GT(r.accuracy, 0.3);
  EXPECT_EQ(reports, 31);
  EXPECT_EQ(r.examples.size(), 5u);
  EXPECT_EQ(r.attention.size(), r.examples[0].input.size() * r.examples[0].input.size());
}

TEST(Demo, SameBitsForAnyThreadsAndInstructionSet) {
  const auto loss = [](int threads) { return run_demo({.threads = threads, .steps = 12}).last_loss; };
  const double expected = loss(1);
  for (int threads : {2, 3}) EXPECT_EQ(loss(threads), expected) << threads;
  for (const auto& isa : available_isas()) {
    force_isa(isa);
    if (isa_has_fma(isa) && isa_has_fma(available_isas().front()))
      EXPECT_EQ(loss(1), expected) << isa;
    else
      EXPECT_NEAR(loss(1), expected, 0.1) << isa;
    force_isa("auto");
  }
}

/// One whole step of training: forward, backward, update.
struct Step {
  Reverser model{{}, 1};
  Arena arena;
  Ctx ctx{arena};
  Tape tape;
  Gradients gradients{model.parameters()};
  Aligned<float> first{model.parameters().size()}, second{model.parameters().size()};
  ReverserBatch batch = model.batch(32, 5, true);

  void run(ThreadPool* pool, bool update = true) {
    arena.begin_step();
    ctx.tape = &tape;
    ctx.pool = pool;
    ctx.training = true;
    Parameters& p = model.parameters();
    p.repack(pool);
    gradients.start();
    tape.backward(ctx, model.loss(ctx, batch, &gradients));
    if (!update) return;
    gradients.finish();
    kernels::adam({}, {p.data(), gradients.data(), first.data(), second.data(), p.size()}, pool);
  }
};

TEST(Step, ASecondIdenticalStepAllocatesNothing) {
  for (int threads : {1, 2}) {
    ThreadPool pool(threads);
    Step step;
    step.run(&pool);
    step.run(&pool);  // pool threads take their packing space on their first block, which may come late
    const int64_t reserved = step.arena.reserved();
    int64_t fewest = INT64_MAX;
    for (int i = 0; i < 5; ++i) {
      const int64_t before = allocation_count();
      step.run(&pool);
      fewest = std::min(fewest, allocation_count() - before);
    }
    EXPECT_EQ(fewest, 0);
    EXPECT_EQ(step.arena.reserved(), reserved);
  }
}

TEST(Step, ARehearsalForeseesAllMemory) {
  Step step;
  const int64_t before = allocation_count();
  step.arena.start_rehearsal();
  step.run(nullptr, false);
  const Plan plan = step.arena.finish_rehearsal();
  EXPECT_LT(allocation_count() - before, 2000);
  step.arena.adopt(plan);
  for (int i = 0; i < 2; ++i) step.run(nullptr);
  EXPECT_EQ(step.arena.overflows(), 0);
  EXPECT_LE(step.arena.peak(), plan.peak);
  EXPECT_GT(step.arena.peak(), plan.peak * 8 / 10);  // the plan wastes little
  step.batch = step.model.batch(20, 6);              // a smaller batch fits it too
  step.run(nullptr);
  EXPECT_EQ(step.arena.overflows(), 0);
}

}  // namespace
}  // namespace attune
