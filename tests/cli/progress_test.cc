// How a run of `attune train` looks: the status line, the samples, JSON lines, and the end.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "attune/text.h"
#include "cli/progress_text.h"
#include "data/files.h"
#include "run_program.h"

namespace attune::cli {
namespace {

TrainingStatus half_way() {
  TrainingStatus s;
  s.update = 3680;
  s.last_update = 8000;
  s.share_done = 0.46;
  s.epoch = 12.345;
  s.loss = 2.914;
  s.target_tokens_per_s = 15432;
  s.share_of_peak = 0.61;
  s.seconds_left = 1080;
  s.memory = 173 << 20;
  return s;
}

TEST(StatusLine, TellsAllWhereThereIsRoom) {
  EXPECT_EQ(
      status_line(half_way(), 110),
      "[######---------]  46 %  up 3,680/8,000  ep 12.35  loss 2.914  15.4k tok/s  61 % of peak  18 min left  173 MB");
}

TEST(StatusLine, DropsTheLeastImportantFirst) {
  EXPECT_EQ(status_line(half_way(), 80),
            "[####-----]  46 %  up 3,680/8,000  loss 2.914  15.4k tok/s  18 min left  173 MB");
  EXPECT_EQ(status_line(half_way(), 40), "[########-----------]  46 %  loss 2.914");
  EXPECT_EQ(status_line(half_way(), 16), "[###----]  46 %");
  EXPECT_EQ(status_line(half_way(), 6), "46 %");
}

TEST(StatusLine, NeverReachesTheLastColumn) {
  TrainingStatus extreme = half_way();
  extreme.update = extreme.last_update = 1234567890123;
  extreme.target_tokens_per_s = 9.9e8;
  extreme.memory = int64_t{1} << 62;
  extreme.seconds_left = 1e12;
  extreme.loss = 123456;
  TrainingStatus begin;
  for (const TrainingStatus& s : {half_way(), extreme, begin})
    for (int width = 1; width < 250; ++width)
      EXPECT_LT(static_cast<int>(status_line(s, width).size()), std::max(width, 1)) << width;
}

TEST(LinesLine, TellsHowManyAreDone) {
  EXPECT_EQ(lines_line(1380, 3000, 10, 80), "[#############-----------------]  46 %  1,380/3,000 lines  12 s left");
  EXPECT_EQ(lines_line(1380, 3000, 10, 30), "46 %  1,380/3,000 lines");
  EXPECT_EQ(lines_line(3000, 3000, 10, 80), "[##############################]  100 %  3,000/3,000 lines");
  EXPECT_EQ(lines_line(0, 10, 0, 80), "[------------------------------]   0 %  0/10 lines");
}

TEST(StatusLine, GrowsWithTheRun) {
  TrainingStatus s = half_way();
  int before = -1;
  for (double share : {0.0, 0.2, 0.5, 0.999, 1.0}) {
    s.share_done = share;
    const std::string line = status_line(s, 140);
    const int full = static_cast<int>(std::count(line.begin(), line.end(), '#'));
    EXPECT_GT(full, before);
    EXPECT_EQ(line.find('-') == std::string::npos, share == 1.0) << line;  // full at the end, and no sooner
    EXPECT_EQ(line.find("100 %") != std::string::npos, share == 1.0) << line;
    before = full;
  }
}

TEST(StatusLine, ARunWithoutAnEndHasNoBar) {
  TrainingStatus s = half_way();
  s.last_update = 0;
  s.share_done = s.seconds_left = 0;
  EXPECT_EQ(status_line(s, 100), "up 3,680  ep 12.35  loss 2.914  15.4k tok/s  61 % of peak  173 MB");
}

TEST(StatusLine, PaintsTheBarAlone) {
  EXPECT_EQ(painted("[##--]  50 %", {.on = true}), "[\x1b[32m##\x1b[0m--]  50 %");
  EXPECT_EQ(painted("[##--]  50 %", {.on = false}), "[##--]  50 %");
  EXPECT_EQ(painted("loss 1", {.on = true}), "loss 1");
}

TEST(ValidationText, CutsSamplesByColumnsNotBytes) {
  ValidationResult v;
  v.update = 1000;
  v.metric = "bleu";
  v.best = true;
  v.scores = {{"bleu", 31.25}, {"exact", 12.5}};
  v.samples = {{"a\x1b[2Jb", "日本語の文章はとても長いです", std::string(200, 'x')}};
  const std::string text = validation_text(v, 30, {});
  EXPECT_NE(text.find("source       a␛[2Jb\n"), std::string::npos) << text;
  EXPECT_NE(text.find("reference    日本語の文章…\n"), std::string::npos) << text;
  EXPECT_NE(text.find("output       xxxxxxxxxxxxx…\n"), std::string::npos) << text;
  const std::string wide = validation_text(v, 200, {});
  EXPECT_NE(wide.find("update 1,000  BLEU 31.25  exact 12.5 %  best so far  loss "), std::string::npos) << wide;
}

TEST(BaselinesText, TellsWhatThereIsToBeat) {
  const std::vector<BaselineScore> all{{"copy", {{"bleu", 1.25}, {"exact", 0}}}, {"word by word", {{"bleu", 11.5}}}};
  EXPECT_EQ(baselines_text(all, 80, {}),
            "  baseline     copy: BLEU 1.25, exact 0.0 %\n  baseline     word by word: BLEU 11.50\n\n");
}

TEST(OutcomeText, WarnsOfAModelThatIsNoBetterThanABaseline) {
  TrainingOutcome o;
  EXPECT_EQ(outcome_text(o, {}).find("warning"), std::string::npos);
  o.baseline_warning = "the model is no better than \"copy\"";
  EXPECT_NE(outcome_text(o, {}).find("\nwarning: the model is no better than \"copy\"\n"), std::string::npos);
}

TEST(PlanText, ShowsNotesWhole) {
  TrainingPlan p;
  p.parameters = 816640;
  p.memory = 55 << 20;
  p.seconds = 75;
  p.threads = 2;
  p.notes = {"training data: 12 pairs were left out, because they are too long for data.max_length"};
  const std::string text = plan_text(p, 40, {});
  EXPECT_NE(text.find("816,640 parameters"), std::string::npos) << text;
  EXPECT_NE(plan_text(p, 100, {}).find("about 1 min 15 s, up to 55.0 MB of memory, 2 threads\n"), std::string::npos);
  EXPECT_NE(text.find(p.notes[0] + "\n"), std::string::npos) << text;
}

TEST(NextText, QuotesWhatAShellWouldTakeApart) {
  TrainingOutcome o;
  o.model = "my model's";
  EXPECT_NE(next_text(o).find("attune translate 'my model'\\''s' FILE\n"), std::string::npos) << next_text(o);
  o.reason = TrainingOutcome::Reason::interrupted;
  o.updates = 3680;
  EXPECT_EQ(next_text(o), "saved at update 3,680; the same command goes on\n");
}

}  // namespace
}  // namespace attune::cli
