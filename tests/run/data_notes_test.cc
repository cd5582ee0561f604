// What a run says about its data before it begins.
#include <gtest/gtest.h>

#include <algorithm>

#include "run/small_run.h"

namespace attune::test {
namespace {

TEST(DataNotes, ValidationAndTestThatAreTrainedOn) {
  const SmallRun run;
  const auto list = [&](const char* key, const std::string& name) {
    return fmt::format("data.{}=[\"{}.in\", \"{}.out\"]", key, run.folder / name, run.folder / name);
  };
  const auto notes = [&](const Sets& more) {
    Sets sets{"train.stop=1u", "train.validate=1u", "train.save=1u"};
    sets.insert(sets.end(), more.begin(), more.end());
    Trainer trainer({.recipe = run.recipe(), .out = run.folder / "out", .sets = sets, .fresh = true, .threads = 1});
    std::vector<std::string> all;
    TrainingEvents events;
    events.on_plan = [&](const TrainingPlan& p) { all = p.notes; };
    trainer.run(events);
    return all;
  };
  const auto says = [](const std::vector<std::string>& all, const std::string& begin) {
    return std::any_of(all.begin(), all.end(), [&](const std::string& note) { return note.starts_with(begin); });
  };
  EXPECT_FALSE(says(notes({}), "WARNING: all"));
  const auto both = notes({list("valid", "train"), list("test", "train")});
  EXPECT_TRUE(says(both, "WARNING: all 600 validation sources stand in the training files too: "));
  EXPECT_TRUE(says(both, "WARNING: all 600 test sources stand in the training files too: "));
  const auto later = notes({list("valid", "train"), list("test", "not-there-yet")});
  EXPECT_TRUE(says(later, "WARNING: all 600 validation sources stand")) << "test files may come later";
}

}  // namespace
}  // namespace attune::test
