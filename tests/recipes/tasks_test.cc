// A miniature of recipes/tasks: a model learns to turn short lines round, from nothing, in a few seconds.
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "run/small_run.h"

namespace attune::test {
namespace {

TEST(Tasks, ShortLinesAreTurnedRound) {
  const SmallRun run;
  std::mt19937 random(3);
  std::set<std::string> seen;  // what is validated was never trained on
  for (const auto& [stem, count] : {std::pair{"train", 3000}, {"valid", 3100}}) {
    std::string source, target;
    while (std::ssize(seen) < count) {
      std::string line(3 + random() % 4, ' ');
      for (char& c : line) c = static_cast<char>('a' + random() % 8);
      if (!seen.insert(line).second) continue;
      source += line + "\n";
      target += std::string(line.rbegin(), line.rend()) + "\n";
    }
    put(run.folder / stem + ".in", source);
    put(run.folder / stem + ".out", target);
  }
  const auto o = run.train(
      "out",
      {"tokenizer.kind=char", "model.d_model=32", "model.d_ff=64", "model.dropout=0.0", "model.norm=pre",
       "train.stop=300u", "train.validate=300u", "train.save=300u", "train.warmup=40", "train.schedule=linear",
       "train.learning_rate=1e-2", "train.label_smoothing=0.0", "train.metric=exact", "train.average=1"},
      0, 2);
  EXPECT_GE(o.outcome.final_score, 95) << o.log;
}

}  // namespace
}  // namespace attune::test
