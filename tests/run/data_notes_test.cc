// What a run says about its data before it begins.
#include <gtest/gtest.h>

#include <algorithm>

#include "run/answer_run.h"
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

TEST(DataNotes, SmoothingThatHasNothingToSmooth) {
  const auto notes = [](const std::string& task, const std::string& head) {
    const AnswerRun run(task, [&](const std::string& letters) {
      if (task == "classify") return "x\t" + letters + "\n";
      std::string words;
      for (const char c : letters)
        if (c != ' ') words += std::string(1, c) + "\tO\n";
      return words + "\n";
    });
    std::string all;
    TrainingEvents events;
    events.on_plan = [&](const TrainingPlan& p) { all = join(p.notes, "\n"); };
    Trainer({.recipe = run.folder / "recipe.toml",
             .out = run.folder / "out",
             .sets = {"train.stop=1u", "train.validate=1u", "train.label_smoothing=0.1", "train.average=1",
                      "model.head=" + head, task == "tag" ? "data.columns=[1,2]" : "data.max_length=16"},
             .threads = 1})
        .run(events);
    return all.find("train.label_smoothing has no effect: model.head = ") != all.npos;
  };
  EXPECT_TRUE(notes("tag", "{kind=\"tags\",crf=true}"));
  EXPECT_FALSE(notes("tag", "\"tags\""));
  EXPECT_TRUE(notes("classify", "\"labels\""));
  EXPECT_FALSE(notes("classify", "\"label\""));
}

}  // namespace
}  // namespace attune::test
