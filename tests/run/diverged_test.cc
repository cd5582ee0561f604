// A loss that stays a number and explodes: noticed, gone back from at half the rate, and when that does not help, the
// end.
#include <gtest/gtest.h>

#include "checks.h"
#include "run/small_run.h"

namespace attune::test {
namespace {

const Sets kLong{"train.stop=400u", "train.batch_tokens=256", "train.validate=0u", "train.save=50u", "train.average=1"};

Sets with(const Sets& more) {
  Sets all = kLong;
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

TEST(Diverged, AFarTooHighRateEndsWithAdvice) {
  const SmallRun run;
  const std::string text = error_of(
      [&] {
        run.train("out", with({"train.learning_rate=4", "train.schedule=constant"}));
      },
      ErrorKind::diverged);
  EXPECT_NE(text.find("the loss is "), std::string::npos) << text;
  EXPECT_NE(text.find(": the run has diverged\n  fix: lower train.learning_rate"), std::string::npos) << text;
}

TEST(Diverged, RunsThatLearnGoOn) {
  const SmallRun run;
  for (const Sets& more : {Sets{}, Sets{"train.warmup=0"}, Sets{"train.learning_rate=3e-2", "model.norm=pre"},
                           Sets{"train.label_smoothing=0.3", "model.dropout=0.5", "train.batch_tokens=32"}}) {
    const auto r = run.train("out", with(more), 0, 1, true);
    EXPECT_EQ(r.outcome.updates, 400);
    EXPECT_EQ(r.log.find("back to update"), std::string::npos) << r.log;
  }
}

/// Stops on the way change nothing of it.
TEST(Diverged, GoesBackAtHalfTheRateAndSameBits) {
  const SmallRun run;
  const Sets sets = with({"train.learning_rate=1", "train.warmup=200"});
  const auto r = run.train("whole", sets);
  EXPECT_EQ(r.outcome.updates, 400);
  const size_t at = r.log.find("the loss is ");
  ASSERT_NE(at, std::string::npos) << r.log;
  EXPECT_NE(r.log.find(", from there on at 0.5 of the learning rate", at), std::string::npos) << r.log.substr(at, 200);
  for (const int64_t stop : {90, 180, 230}) run.train("pieces", sets, stop, 2);
  run.train("pieces", sets);
  expect_same_bits(run.bits("whole"), run.bits("pieces"));
}

/// Neither diverged nor learning: said, from update 1,000 on, and the run goes on.
TEST(Diverged, SaysThatNothingButFrequenciesIsLearned) {
  const SmallRun run;
  const std::string note = "nothing but how frequent words are has been learned (that alone has a loss of ";
  const Sets sets{"train.stop=1000u", "train.batch_tokens=32", "train.validate=500u"};
  Sets stuck = sets;
  stuck.push_back("train.learning_rate=1e-9");
  const std::string log = run.train("stuck", stuck).log;
  const size_t at = log.find(note);
  ASSERT_NE(at, std::string::npos) << log;
  EXPECT_GT(at, log.find("Up. 1000 : valid"));
  EXPECT_EQ(log.find(note, at + 1), std::string::npos);
  std::map<char, double> counts;
  double all = 0, entropy = 0;
  for (const char c : slurp(run.folder / "valid.out"))
    if (c != ' ') ++counts[c], ++all;
  for (const auto& [c, n] : counts) entropy -= n / all * std::log(n / all);
  EXPECT_NEAR(std::stod(log.substr(at + note.size())), entropy, 1e-4);
  EXPECT_EQ(run.train("learns", sets).log.find(note), std::string::npos);
}

}  // namespace
}  // namespace attune::test
