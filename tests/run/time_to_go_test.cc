// How long a run will take, as it is foreseen.
#include "run/time_to_go.h"

#include <gtest/gtest.h>

#include "run/small_run.h"

namespace attune::test {
namespace {

Progress state_at(int64_t updates, double seconds, int64_t tokens = 0) {
  Progress p;
  p.updates = updates;
  p.seconds = seconds;
  p.target_tokens = tokens;
  return p;
}

TrainOptions ends_at(const char* stop, const char* validate) {
  TrainOptions o;
  Period::parse(stop, o.stop);
  Period::parse(validate, o.validate);
  return o;
}

TEST(TimeToGo, GoesByWhatWasTriedThenByItsOwn) {
  TimeToGo time(ends_at("1000u", "0u"), 100, {}, state_at(10, 1.0, 1000), 7);
  time.begin({});
  EXPECT_DOUBLE_EQ(time.seconds({}), 100);
  EXPECT_DOUBLE_EQ(time.seconds(state_at(10, 1.9, 1000)), 99) << "too little to be sure";
  EXPECT_DOUBLE_EQ(time.seconds(state_at(10, 2.0, 1000)), 198);
  EXPECT_DOUBLE_EQ(time.seconds(state_at(1000, 50)), 0);
  // A run that goes on is not judged by what it took elsewhere.
  time.begin(state_at(500, 1e6, 50000));
  EXPECT_DOUBLE_EQ(time.seconds(state_at(500, 1e6, 50000)), 50);
  EXPECT_NEAR(time.seconds(state_at(510, 1e6 + 4, 51000)), 196, 1e-9);
}

TEST(TimeToGo, CountsValidations) {
  // Ten updates of 100 tokens a second; 600 rows to validate on.
  TimeToGo time(ends_at("1000u", "100u"), 100, {.rows = 600, .translated = false, .at_end = 2}, state_at(10, 1, 1000),
                0);
  time.begin({});
  const double guessed = time.seconds({});
  EXPECT_NEAR(guessed, 100 + 12 * 0.6 * 0.66, 0.1);
  time.validated(10);
  EXPECT_DOUBLE_EQ(time.seconds({}), 100 + 12 * 10);
  EXPECT_DOUBLE_EQ(time.seconds(state_at(100, 1.5, 10000)), 90 + 11 * 10);
  time.validated(20);
  EXPECT_DOUBLE_EQ(time.seconds({}), 100 + 12 * 20);
}

TEST(TimeToGo, KnowsEveryUnitOfAnEnd) {
  Progress tried = state_at(10, 1, 1000);
  tried.data.example = 50;
  const auto left = [&](const char* stop) {
    TimeToGo time(ends_at(stop, "0u"), 100, {}, tried, 7);
    return time.seconds({});
  };
  EXPECT_DOUBLE_EQ(left("20e"), 40);
  EXPECT_DOUBLE_EQ(left("50000t"), 50);
  EXPECT_DOUBLE_EQ(left("3m"), 180);
  EXPECT_DOUBLE_EQ(left("0u"), 0) << "nobody knows";
  EXPECT_DOUBLE_EQ(TimeToGo(ends_at("30u", "0u"), 100, {}, std::nullopt, 7).seconds({}), 7) << "nothing was tried";
}

/// Long runs try a few updates first, short ones do not; both are one course.
TEST(TimeToGo, WhatIsTriedLeavesNoTrace) {
  const SmallRun run;
  const Sets more[] = {{},
                       {"train.ema=0.9", "train.accumulate=2"},
                       {"train.optimizer=adafactor"},
                       {"train.schedule=cosine", "train.stop=120u"},
                       {"model.attention={ kind = \"routing\", clusters = 2 }"}};
  for (size_t i = 0; i < std::size(more); ++i) {
    const std::string n = std::to_string(i);
    Sets whole{"train.stop=120u", "train.validate=40u", "train.save=40u", "train.average=1"}, part = whole;
    for (const std::string& s : more[i]) whole.push_back(s), part.push_back(s);
    const bool slope = i == 3;  // its end must stay where it is
    if (!slope) part.push_back("train.stop=40u");
    run.train("short" + n, part, slope ? 40 : 0);
    run.train("short" + n, part, slope ? 81 : 0);
    run.train("short" + n, whole);
    run.train("long" + n, whole);
    EXPECT_TRUE(run.bits("long" + n).at("last checkpoint model.safetensors") ==
                run.bits("short" + n).at("last checkpoint model.safetensors"))
        << n;
    EXPECT_TRUE(run.bits("long" + n).at("last checkpoint optimizer.safetensors") ==
                run.bits("short" + n).at("last checkpoint optimizer.safetensors"))
        << n;
  }
}

}  // namespace
}  // namespace attune::test
