// What a run has to beat is told when it begins and when it ends.
#include "attune/trainer.h"
#include "run/answer_run.h"
#include "run/language_run.h"
#include "run/metrics_file.h"

namespace attune::test {
namespace {

struct BaselineRun {
  TrainingOutcome outcome;
  std::string log;
  std::vector<BaselineScore> baselines;
  int64_t looked = 0;  // for baselines
};

BaselineRun train_with_baselines(const std::string& recipe, const std::string& out, const Sets& sets = {},
                                 int64_t stop_at = 0) {
  Trainer trainer({.recipe = recipe, .out = out, .sets = sets, .threads = 1});
  BaselineRun run;
  TrainingEvents events;
  events.on_log = [&](const std::string& line) { run.log += line + "\n"; };
  events.on_baselines = [&](const std::vector<BaselineScore>& all) { run.baselines = all; };
  events.on_phase = [&](const char* what) { run.looked += std::string(what) == "looking for what is to beat"; };
  events.on_update = [&](const TrainingStatus& s) {
    if (s.update == stop_at) trainer.stop();
  };
  run.outcome = trainer.run(events);
  return run;
}

/// A line of metrics.jsonl that has a key.
nlohmann::json line_with(const std::string& folder, const std::string& key) {
  for (const std::string& line : split(slurp(folder + "/metrics.jsonl"), '\n'))
    if (const auto j = nlohmann::json::parse(line, nullptr, false); j.is_object() && j.contains(key)) return j;
  return {};
}

std::string tag_of_letter(const std::string& letters) {
  std::string lines;
  for (const std::string_view letter : words_of(letters))
    lines += std::string(letter) + "\t" + (letter < "c" ? "A" : "B") + "\n";
  return lines + "\n";
}

/// Each letter has the tag of the one before it.
std::string tag_of_last_letter(const std::string& letters) {
  std::string lines, last = "B";
  for (const std::string_view letter : words_of(letters)) {
    lines += std::string(letter) + "\t" + last + "\n";
    last = letter < "c" ? "A" : "B";
  }
  return lines + "\n";
}

/// Of a word and its tag; the first tells when to stop.
Sets tag_sets(const std::string& stop) { return {"train.stop=" + stop, "data.columns=[1,2]", "data.max_length=16"}; }

TEST(BaselineNote, AModelThatIsNoBetterIsWarnedOf) {
  const AnswerRun run("tag", tag_of_letter);
  const std::string out = run.folder / "out";
  const BaselineRun r = train_with_baselines(run.folder / "recipe.toml", out, tag_sets("1u"));
  ASSERT_EQ(r.baselines.size(), 1u);
  EXPECT_EQ(r.baselines[0].name, "most frequent tag per word");
  EXPECT_EQ(r.baselines[0].scores[0], (std::pair<std::string, double>{"accuracy", 100}));
  EXPECT_NE(r.log.find("baseline: most frequent tag per word: accuracy 100\n"), std::string::npos) << r.log;
  EXPECT_EQ(r.outcome.baseline, "most frequent tag per word");
  EXPECT_EQ(r.outcome.baseline_score, 100);
  EXPECT_FALSE(r.outcome.beats_baseline);
  EXPECT_NE(r.log.find("warning: the model is no better than \"most frequent tag per word\" (accuracy "),
            std::string::npos);
  EXPECT_NE(r.outcome.baseline_warning.find(" against 100)\n  fix: train longer (train.stop)"), std::string::npos)
      << r.outcome.baseline_warning;
  const auto found = line_with(out, "baselines"), end = line_with(out, "finished");
  EXPECT_EQ(found["update"], 0);
  EXPECT_EQ(found["baselines"][0]["name"], "most frequent tag per word");
  EXPECT_EQ(found["baselines"][0]["accuracy"], 100);
  EXPECT_EQ(end["baseline"], "most frequent tag per word");
  EXPECT_EQ(end["baseline_score"], 100);
  EXPECT_EQ(end["beats_baseline"], false);
}

TEST(BaselineNote, AModelThatIsBetterIsNot) {
  const AnswerRun run("tag", tag_of_last_letter);
  const BaselineRun r = train_with_baselines(run.folder / "recipe.toml", run.folder / "out", tag_sets("120u"));
  EXPECT_LT(r.outcome.baseline_score, 80);
  EXPECT_GT(r.outcome.final_score, r.outcome.baseline_score);
  EXPECT_TRUE(r.outcome.beats_baseline);
  EXPECT_EQ(r.outcome.baseline_warning, "");
  EXPECT_EQ(r.log.find("warning"), std::string::npos);
  EXPECT_EQ(line_with(run.folder / "out", "finished")["beats_baseline"], true);
}

TEST(BaselineNote, TheBestOfSeveralCounts) {
  const AnswerRun run("classify", first_label);
  const BaselineRun r = train_with_baselines(run.folder / "recipe.toml", run.folder / "out", {"train.stop=\"1u\""});
  ASSERT_EQ(r.baselines.size(), 2u);
  EXPECT_EQ(r.outcome.baseline, "bag of words");
  EXPECT_GT(r.outcome.baseline_score, 95);
  EXPECT_NE(r.outcome.baseline_warning.find("--set model.shape=bag --set model.head=label"), std::string::npos);
}

TEST(BaselineNote, LessIsBetterOfLosses) {
  const LanguageRun run;
  const BaselineRun r = train_with_baselines(run.recipe(), run.folder / "out");
  EXPECT_EQ(r.outcome.baseline, "n-grams");
  EXPECT_LT(r.outcome.baseline_score, 2);  // perplexity: all but which word comes first is known
  EXPECT_GT(r.outcome.final_score, r.outcome.baseline_score);
  EXPECT_FALSE(r.outcome.beats_baseline);
  ASSERT_EQ(r.baselines[0].scores.size(), 3u);
  EXPECT_EQ(r.baselines[0].scores[2].first, "bits_per_character");
}

TEST(BaselineNote, NothingIsComparedWithALossThatNoneHas) {
  const SmallRun run;
  const BaselineRun r = train_with_baselines(run.recipe(), run.folder / "out", {"train.metric=loss", "train.stop=4u"});
  ASSERT_EQ(r.baselines.size(), 2u);
  EXPECT_EQ(r.baselines[0].name, "copy");
  EXPECT_EQ(r.baselines[0].scores[1], (std::pair<std::string, double>{"exact", 100}));
  EXPECT_EQ(r.outcome.baseline, "");
  EXPECT_EQ(r.outcome.baseline_warning, "");
}

TEST(BaselineNote, IsKeptWhenARunGoesOn) {
  const SmallRun run;
  const std::string whole = run.folder / "whole", parts = run.folder / "parts";
  EXPECT_EQ(train_with_baselines(run.recipe(), whole).looked, 1);
  train_with_baselines(run.recipe(), parts, {}, 4);
  const BaselineRun again = train_with_baselines(run.recipe(), parts);
  EXPECT_EQ(again.looked, 0);
  EXPECT_EQ(again.baselines.size(), 2u);
  EXPECT_EQ(again.outcome.baseline, "copy");
  EXPECT_EQ(line_with(parts, "baselines"), line_with(whole, "baselines"));
  const std::string all = slurp(parts + "/metrics.jsonl");
  EXPECT_EQ(all.find("baselines"), all.rfind("baselines")) << all;
  expect_same_bits(run.bits("whole"), run.bits("parts"));
}

TEST(BaselineNote, CanBeLeftOutAndChangesNoWeight) {
  const SmallRun run;
  const std::string with = run.folder / "with", without = run.folder / "without";
  train_with_baselines(run.recipe(), with, {"train.stop=4u"});
  const BaselineRun r = train_with_baselines(run.recipe(), without, {"train.stop=4u", "train.baseline=false"});
  EXPECT_EQ(r.looked, 0);
  EXPECT_TRUE(r.baselines.empty());
  EXPECT_EQ(r.outcome.baseline, "");
  EXPECT_TRUE(line_with(without, "baselines").is_null());
  EXPECT_TRUE(slurp(with + "/model.safetensors") == slurp(without + "/model.safetensors"));
  // A run that was begun without them may go on with them.
  const BaselineRun later = train_with_baselines(run.recipe(), without, {"train.stop=6u"});
  EXPECT_EQ(later.looked, 1);
  EXPECT_EQ(line_with(without, "baselines")["update"], 4);
}

TEST(BaselineNote, LinesThatAreNoneArePassedOver) {
  const TempFolder folder{memory_folder()};
  const std::string path = folder / "metrics.jsonl";
  EXPECT_TRUE(read_baselines(path).empty());
  put(path,
      "{\"update\":0,\"baselines\":[{\"name\":\"copy\",\"bleu\":2.5,\"note\":\"x\"},{\"bleu\":1},7]}\n"
      "{\"update\":1,\"baselines\":3}\n{\"upd");
  const auto all = read_baselines(path);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].name, "copy");
  ASSERT_EQ(all[0].scores.size(), 1u);
  EXPECT_EQ(all[0].scores[0], (std::pair<std::string, double>{"bleu", 2.5}));
}

}  // namespace
}  // namespace attune::test
