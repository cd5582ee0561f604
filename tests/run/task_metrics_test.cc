#include "run/task_metrics.h"

#include "attune/model.h"
#include "attune/test.h"
#include "run/small_run.h"

namespace attune::test {
namespace {

TEST(TaskMetrics, ToldAsFarAsAMetricCanBe) {
  const std::vector<std::string> said{"A dog.", "x"}, right{"a dog .", "y"};
  const auto names = [&](const std::string& metric) {
    std::string out;
    Recipe recipe;
    recipe.train.metric = metric;
    for (const MetricResult& r : judge_texts(said, right, recipe, 1)) out += r.name + " ";
    return out;
  };
  EXPECT_EQ(names("bleu"), "bleu exact ");
  EXPECT_EQ(names("loss"), "bleu exact ");
  EXPECT_EQ(names("chrf"), "bleu exact chrf ");
  Recipe recipe;
  recipe.train.metric = "ter";
  recipe.train.metric_options.lowercase = true;
  recipe.train.metric_options.tokenize = "none";
  const auto scores = judge_texts(said, right, recipe, 2);
  EXPECT_NE(scores[0].signature.find("case:lc|eff:no|tok:none"), std::string::npos) << scores[0].signature;
  EXPECT_NE(scores[2].signature.find("case:lc|tok:tercom"), std::string::npos) << scores[2].signature;
}

/// Every metric that a recipe may name decides which model is the best, whichever way it counts.
TEST(TaskMetrics, DecideWhatIsBest) {
  const SmallRun run;
  for (const std::string metric : {"chrf", "ter"}) {
    const auto r =
        run.train(metric, {"train.metric=" + metric, "train.validate=2u", "train.stop=8u", "train.average=1"});
    EXPECT_EQ(r.outcome.metric, metric);
    double best = metric == "ter" ? 1e9 : -1;
    std::istringstream lines(slurp(run.folder / (metric + "/metrics.jsonl")));
    int validations = 0;
    for (std::string line; std::getline(lines, line);) {
      const auto j = nlohmann::json::parse(line);
      if (!j.contains("best")) continue;
      ++validations;
      const double score = j["valid_" + metric];
      const bool better = metric == "ter" ? score < best : score > best;
      EXPECT_EQ(j["best"].get<bool>(), better) << line;
      if (better) best = score;
    }
    EXPECT_EQ(validations, 4);
    EXPECT_DOUBLE_EQ(r.outcome.best_score, best);
    const Sets test{"data.test=[\"" + (run.folder / "valid.in") + "\", \"" + (run.folder / "valid.out") + "\"]"};
    const TestReport report = test_model(run.folder / metric, test, {}, 1);
    ASSERT_EQ(report.scores.size(), 3u);
    EXPECT_EQ(report.scores[2].name, metric);
  }
}

}  // namespace
}  // namespace attune::test
