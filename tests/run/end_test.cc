// How a run ends: never worse than its best moment, and it says which weights it kept.
#include <gtest/gtest.h>

#include <algorithm>

#include "attune/model.h"
#include "base/text.h"
#include "checks.h"
#include "run/judge_models.h"
#include "run/small_run.h"

namespace attune::test {
namespace {

using Kind = FinalWeights::Kind;

/// Milestones 1 to 22, and whatever was averaged is still there.
const Sets kMany{"train.validate=1u", "train.metric=loss", "train.average=20", "train.keep=22"};

Sets joined_sets(Sets sets, const Sets& more) {
  sets.insert(sets.end(), more.begin(), more.end());
  return sets;
}

struct RunEnd : testing::Test {
  SmallRun run;
  std::string out(const std::string& name) const { return run.folder / name; }
  /// Whether the model in a folder has exactly the mean weights of these updates.
  bool is_mean(const std::string& name, const std::vector<int64_t>& updates) const {
    std::vector<std::string> folders;
    for (const int64_t u : updates) folders.push_back(checkpoint_path(out(name), u));
    const Weights mean = average_models(folders), own = average_models({out(name)});
    return std::ranges::all_of(mean.by_name,
                               [&](const auto& t) { return t.second.values == own.by_name.at(t.first).values; });
  }
  nlohmann::json last_metrics(const std::string& name) const {
    nlohmann::json last;
    std::istringstream lines(slurp(out(name) + "/metrics.jsonl"));
    for (std::string line; std::getline(lines, line);) last = nlohmann::json::parse(line);
    return last;
  }
  std::string metadata(const std::string& name, const std::string& key) const {
    const Metadata m = SafetensorsFile(out(name) + "/" + kModelName).metadata();
    return m.contains(key) ? m.at(key) : "";
  }
};

/// What was told is what the weights in the folder are and have, whatever was chosen.
TEST_F(RunEnd, TheScoreIsThatOfTheWeightsInTheFolder) {
  const std::vector<Sets> some{{},
                               kMany,
                               joined_sets(kMany, {"train.ema=0.9"}),
                               joined_sets(kMany, {"train.average_of=best", "train.average=4"}),
                               joined_sets(kMany, {"train.learning_rate=3"}),
                               {"train.average=1", "train.metric=loss", "train.validate=2u"},
                               {"train.validate=0u", "train.metric=loss"}};
  for (size_t i = 0; i < some.size(); ++i) {
    const std::string name = std::to_string(i);
    const auto r = run.train(name, some[i]);
    const TrainingOutcome& o = r.outcome;
    ASSERT_FALSE(o.judged.empty());
    const FinalWeights& kept = o.judged[0];
    EXPECT_EQ(o.final_score, kept.score);
    EXPECT_EQ(judge_models({out(name)}, 1).scores[0], o.final_score) << name;
    for (const FinalWeights& w : o.judged) {
      const double ahead = o.metric == "loss" ? w.score - kept.score : kept.score - w.score;
      EXPECT_GE(ahead, 0) << name;
    }
    EXPECT_TRUE(kept.kind == Kind::trained || is_mean(name, kept.updates)) << name;
    EXPECT_EQ(o.averaged, kept.kind == Kind::mean ? std::ssize(kept.updates) : 0);
    EXPECT_NE(r.log.find("the model is " + kept.text() + ": " + o.metric), std::string::npos) << r.log;
    const nlohmann::json last = last_metrics(name);
    EXPECT_EQ(last["of_updates"].get<std::vector<int64_t>>(), kept.updates);
    EXPECT_EQ(last["judged"].size(), o.judged.size());
    EXPECT_EQ(last["valid_" + o.metric], o.final_score);
    EXPECT_EQ(metadata(name, "weights"), last["weights"].get<std::string>());
    EXPECT_EQ(metadata(name, "update"), std::to_string(kept.updates.back()));
    EXPECT_EQ(metadata(name, "ended"), "22");
    EXPECT_TRUE(run.train(name, some[i]).outcome.was_over) << name;
  }
}

TEST_F(RunEnd, AMeanTakesLateCheckpointsAlone) {
  const TrainingOutcome o = run.train("out", kMany).outcome;
  std::vector<size_t> sizes;
  for (const FinalWeights& w : o.judged) {
    if (w.kind != Kind::mean) continue;
    sizes.push_back(w.updates.size());
    EXPECT_GE(w.updates.front(), 11);
    EXPECT_EQ(w.updates.back(), 22);
  }
  std::ranges::sort(sizes);
  EXPECT_EQ(sizes, (std::vector<size_t>{6, 12})) << "all of the later half, and half as many";
}

/// The rate is far too high after the first updates, so that the last ones are bad, and their means too.
TEST_F(RunEnd, AMeanThatIsWorseIsNotKept) {
  const auto r = run.train("out", joined_sets(kMany, {"train.warmup=10", "train.learning_rate=3", "train.stop=16u"}));
  const TrainingOutcome& o = r.outcome;
  EXPECT_EQ(o.judged[0].kind, Kind::best);
  EXPECT_EQ(o.judged[0].updates, (std::vector<int64_t>{o.best_update}));
  EXPECT_LT(o.best_update, 8);
  EXPECT_EQ(o.averaged, 0);
  EXPECT_EQ(o.final_score, o.best_score);
  EXPECT_EQ(o.judged.size(), 3u);
  EXPECT_NE(r.log.find(fmt::format("the model is the best one, update {}: loss ", o.best_update)), std::string::npos);
  EXPECT_NE(r.log.find("; the mean of updates 8 to 16 (9 checkpoints) had "), std::string::npos) << r.log;
}

/// Small batches at a constant rate: each checkpoint is beside the valley in another direction. Not for every seed.
TEST_F(RunEnd, AMeanThatIsBetterIsKeptAndNamed) {
  const Sets noisy{"train.batch_tokens=64", "train.schedule=constant", "train.stop=80u", "train.validate=4u",
                   "train.metric=loss",     "train.average=6",         "train.keep=6"};
  for (const char* seed : {"1", "2", "3", "4", "5"}) {
    const auto r = run.train(seed, joined_sets(noisy, {std::string("train.seed=") + seed}));
    const TrainingOutcome& o = r.outcome;
    if (o.judged[0].kind != Kind::mean) continue;
    EXPECT_LT(o.final_score, o.best_score);
    EXPECT_EQ(o.averaged, std::ssize(o.judged[0].updates));
    EXPECT_TRUE(is_mean(seed, o.judged[0].updates));
    EXPECT_NE(r.log.find(fmt::format("; the best one alone, update {}, had {:.4g}", o.best_update, o.best_score)),
              std::string::npos)
        << r.log;
    EXPECT_TRUE(metadata(seed, "average_of").ends_with(" step-00000076 step-00000080"));
    EXPECT_TRUE(describe_model(out(seed)).weights.starts_with("the mean of ")) << describe_model(out(seed)).weights;
    return;
  }
  FAIL() << "no mean was better than the best one";
}

/// Weights that never move: all that could be kept is the same, and nothing is mixed without a reason.
TEST_F(RunEnd, OfEqualsTheBestOneAloneIsKept) {
  const TrainingOutcome o = run.train("out", joined_sets(kMany, {"train.learning_rate=1e-30"})).outcome;
  ASSERT_EQ(o.judged.size(), 3u);
  EXPECT_EQ(o.judged[0].kind, Kind::best);
  EXPECT_EQ(o.judged[0].score, o.judged[1].score);
}

/// A moving average that is far behind is compared with the weights it follows.
TEST_F(RunEnd, WithAMovingAverageTheTrainedWeightsAreJudgedToo) {
  const Sets sets = joined_sets(kMany, {"train.ema=0.9999", "train.learning_rate=3e-3"});
  const auto r = run.train("out", sets);
  const auto trained = std::ranges::find(r.outcome.judged, Kind::trained, &FinalWeights::kind);
  ASSERT_NE(trained, r.outcome.judged.end());
  EXPECT_EQ(trained->updates, (std::vector<int64_t>{22}));
  ASSERT_EQ(r.outcome.judged[0].kind, Kind::trained) << r.log;
  EXPECT_NE(r.log.find("the model is that of update 22 without its moving average: loss "), std::string::npos) << r.log;
  // The same bits after stops.
  for (const int64_t stop : {3, 21}) run.train("pieces", sets, stop);
  run.train("pieces", sets);
  expect_same_bits(run.bits("out"), run.bits("pieces"));
}

TEST_F(RunEnd, EarlyEndsAreJudgedAlike) {
  const TrainingOutcome patience =
      run.train("patience", joined_sets(kMany, {"train.patience=2", "train.warmup=10", "train.learning_rate=3"}))
          .outcome;
  EXPECT_EQ(patience.reason, TrainingOutcome::Reason::out_of_patience);
  EXPECT_EQ(patience.judged[0].updates.back() <= patience.updates, true);
  EXPECT_LE(patience.final_score, patience.best_score);
  run.train("lowered", kMany, 15);
  const TrainingOutcome lowered = run.train("lowered", joined_sets(kMany, {"train.stop=9u"})).outcome;
  EXPECT_EQ(lowered.updates, 15);
  EXPECT_LE(lowered.final_score, lowered.best_score);
  EXPECT_EQ(judge_models({out("lowered")}, 1).scores[0], lowered.final_score);
}

/// What a run ended with is not what it goes on with: the best one alone is still there for a later end.
TEST_F(RunEnd, ALongerRunStillKnowsItsBestOne) {
  const Sets steep{"train.validate=1u", "train.metric=loss", "train.keep=2",
                   "train.average=2",   "train.warmup=10",   "train.learning_rate=3"};
  run.train("out", joined_sets(steep, {"train.stop=8u"}));
  const TrainingOutcome o = run.train("out", steep).outcome;
  EXPECT_LE(o.final_score, o.best_score);
  EXPECT_EQ(judge_models({out("out")}, 1).scores[0], o.final_score);
}

/// The best one's checkpoint is gone, and the run's own model is another: the best of what is left is kept.
TEST_F(RunEnd, WhereTheBestIsGoneTheNextIsKept) {
  const Sets sets = joined_sets(kMany, {"train.warmup=10", "train.learning_rate=3", "train.stop=12u"});
  const TrainingOutcome before = run.train("out", sets).outcome;
  ASSERT_EQ(before.judged[0].kind, Kind::best);
  std::filesystem::remove_all(checkpoint_path(out("out"), before.best_update));
  put(out("out") + "/model.safetensors", "broken");
  const TrainingOutcome after = run.train("out", sets).outcome;
  EXPECT_NE(after.judged[0].updates, before.judged[0].updates);
  EXPECT_EQ(judge_models({out("out")}, 1).scores[0], after.final_score);
}

TEST_F(RunEnd, WithoutValidationTheMeanOfLateOnesIsSaid) {
  put(run.folder / "train.in", "a b c\n");
  put(run.folder / "train.out", "a b c\n");
  const auto r = run.train("out", {"data.valid=[]", "train.stop=8u", "train.validate=1u"});
  EXPECT_FALSE(r.outcome.has_score);
  EXPECT_NE(r.log.find("the model is the mean of updates 6 to 8 (3 checkpoints); there was nothing to validate on"),
            std::string::npos)
      << r.log;
  EXPECT_TRUE(is_mean("out", {6, 7, 8}));
}

TEST_F(RunEnd, InfoSaysWhichWeightsAFolderHolds) {
  run.train("out", {"train.average=1", "train.metric=loss"}, 14);
  EXPECT_EQ(describe_model(out("out")).weights, "the best so far, update 12");
  EXPECT_EQ(describe_model(checkpoint_path(out("out"), 14)).weights, "update 14");
  const TrainingOutcome o = run.train("out", {"train.average=1", "train.metric=loss"}).outcome;
  EXPECT_EQ(describe_model(out("out")).weights,
            fmt::format("the best, update {} of 22: loss {:.6g}", o.best_update, o.final_score));
  const AverageReport r = average({out("out")}, out("mean"), {.threads = 1});
  EXPECT_EQ(describe_model(out("mean")).weights,
            fmt::format("the mean of {} checkpoints, updates {} to 22", r.models.size(),
                        checkpoint_step(std::filesystem::path(r.models[0]).filename().string())));
}

/// What is asked for is written, and what it is worth is said.
TEST_F(RunEnd, AnAverageIsComparedWithTheRunsOwnModel) {
  const TrainingOutcome o = run.train("out", joined_sets(kMany, {"train.warmup=10", "train.learning_rate=3"})).outcome;
  const AverageReport r = average({out("out")}, out("mean"), {.last = 5, .threads = 1});
  EXPECT_EQ(r.models.size(), 5u);
  ASSERT_TRUE(r.judged);
  EXPECT_EQ(r.against, out("out"));
  EXPECT_EQ(r.against_score, o.final_score);
  EXPECT_EQ(r.score, judge_models({out("mean")}, 1).scores[0]);
  EXPECT_FALSE(r.better);
  EXPECT_TRUE(r.verdict.starts_with("on the validation set it has loss ")) << r.verdict;
  EXPECT_TRUE(r.verdict.ends_with("the average is no better")) << r.verdict;
  EXPECT_EQ(average({out("out")}, out("unjudged"), {.judge = false}).verdict, "");
  std::filesystem::remove(run.folder / "valid.in");
  EXPECT_TRUE(average({out("out")}, out("again"), {.threads = 1}).verdict.starts_with("not judged: ")) << r.verdict;
}

}  // namespace
}  // namespace attune::test
