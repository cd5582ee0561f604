// The course of a run, by counters: when it validates, saves and ends, told by what it hands to plain callbacks.
#include "train/loop.h"

#include <gtest/gtest.h>

#include <cmath>

#include "checks.h"
#include "model/tiny_model.h"

namespace attune {
namespace {

using Updates = std::vector<int64_t>;

Period every(double count, Period::Unit unit = Period::Unit::updates) { return {count, unit}; }

/// A tiny model over eight pairs of sentences, of which every update takes two: four updates an epoch.
struct Course {
  TrainOptions options;
  Progress progress;
  std::vector<double> scores{1};         // of the validations; the last of them goes on
  int64_t stop_at = -1, stop_asked = 0;  // in that update, once it was asked so often
  GradientFault fault;
  // what happened, by the update in which it did
  Updates updates, validated, best, saved, milestones, restored;
  std::vector<double> rates;
  int64_t tokens = 0;

  Course() {
    options.batch_tokens.tokens = 8;
    options.schedule = Schedule::constant;
    options.warmup = 0;
    options.learning_rate = 1e-3;
    options.stop = every(10);
    options.validate = options.save = {};
  }

  static const Corpus& corpus() {
    static const Corpus c = [] {
      Corpus eight;
      for (int32_t i = 0; i < 8; ++i) {
        const int32_t ids[] = {4 + i, 5 + i, 6 + i};
        eight.source.add(ids);
        eight.target.add(ids);
      }
      return eight;
    }();
    return c;
  }

  Ended run() {
    ModelOptions m = tiny_options({.d_model = 8});
    m.encoder_layers = m.decoder_layers = 1;
    m.d_ff = 8;
    Model model(m, {.source_vocabulary = 20, .target_vocabulary = 20, .longest = 20});
    model.initialize(1);
    ThreadPool pool(1);
    Learner learner(model, options, 4, pool);
    learner.set_updates(progress.updates, progress.steps);
    const Progress beginning = progress;
    LoopEvents e;
    e.on_update = [&](const UpdateResult& r, const Progress& p) {
      updates.push_back(p.updates);
      rates.push_back(r.rate);
      tokens += r.target_tokens;
    };
    e.validate = [&](const Progress& p) {
      const size_t number = validated.size();
      validated.push_back(p.updates);
      return scores[std::min(number, scores.size() - 1)];
    };
    e.on_validated = [&](double, bool is_best, const Progress& p) {
      if (is_best) best.push_back(p.updates);
    };
    e.save = [&](const Progress& p, bool milestone) { (milestone ? milestones : saved).push_back(p.updates); };
    e.restore = [&](int64_t good) {
      restored.push_back(good);
      Progress p = beginning;
      learner.set_updates(p.updates, p.steps);
      return p;
    };
    e.on_rolled_back = [](const std::string&, const Progress&) {};
    e.stop_asked = [&, asked = int64_t{0}]() mutable { return progress.updates == stop_at && ++asked > stop_asked; };
    inject_gradient_fault(fault);
    struct Clean {
      ~Clean() { inject_gradient_fault({}); }
    } clean;
    return run_updates(learner, corpus(), options, progress, e);
  }
};

TEST(Loop, CountsUpdatesEpochsAndTokens) {
  Course c;
  EXPECT_EQ(c.run(), Ended::finished);
  EXPECT_EQ(c.updates, (Updates{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}));
  EXPECT_EQ(c.tokens, 10 * 8);
  EXPECT_EQ(c.progress.target_tokens, 10 * 8);
  EXPECT_EQ(c.progress.source_tokens, 10 * 8);
  EXPECT_EQ(c.progress.sentences, 10 * 2);
  EXPECT_EQ(c.progress.batches, 10);
  EXPECT_EQ(c.progress.steps, 10);
  EXPECT_EQ(c.progress.data, (DataPosition{2, 4}));
  EXPECT_EQ(epochs_done(c.progress, 8), 2.5);
  EXPECT_EQ(c.rates, std::vector<double>(10, 1e-3));
  EXPECT_EQ(c.validated, (Updates{10})) << "a run ends with a validation";
  EXPECT_EQ(c.milestones, (Updates{10}));
  EXPECT_TRUE(c.saved.empty());
}

TEST(Loop, EndsWhereItsPeriodSays) {
  for (const auto& [stop, last] : {std::pair{every(1.5, Period::Unit::epochs), 6},
                                   {every(41, Period::Unit::tokens), 6},
                                   {every(40, Period::Unit::tokens), 5},
                                   {every(3), 3}}) {
    Course c;
    c.options.stop = stop;
    EXPECT_EQ(c.run(), Ended::finished);
    EXPECT_EQ(c.progress.updates, last) << stop.text();
  }
}

/// Several batches an update: the place in the data is behind the last of them.
TEST(Loop, AccumulatesBatches) {
  Course c;
  c.options.accumulate = 3;
  c.options.stop = every(3);
  EXPECT_EQ(c.run(), Ended::finished);
  EXPECT_EQ(c.updates, (Updates{1, 2, 3}));
  EXPECT_EQ(c.progress.batches, 9);
  EXPECT_EQ(c.progress.sentences, 18);
  EXPECT_EQ(c.progress.data, (DataPosition{2, 2}));
}

/// It is as if that update had not been begun: what goes on from there draws its batches anew.
TEST(Loop, AStopWithinAnUpdateGivesItUp) {
  Course whole;
  whole.options.accumulate = 3;
  whole.options.stop = every(4);
  whole.run();
  for (const int64_t asked : {1, 3, 4, 5}) {  // while batches are counted, and between them
    Course c;
    c.options = whole.options;
    c.options.save = every(1);
    c.stop_at = 2;
    c.stop_asked = asked;
    EXPECT_EQ(c.run(), Ended::asked);
    EXPECT_EQ(c.updates, (Updates{1, 2})) << asked;
    EXPECT_EQ(c.milestones, (Updates{1, 2}));
    EXPECT_TRUE(c.saved.empty()) << "there is nothing new to save";
    EXPECT_EQ(c.progress.batches, 6);
    c.stop_at = -1;
    EXPECT_EQ(c.run(), Ended::finished);
    EXPECT_EQ(c.progress.data, whole.progress.data);
    EXPECT_EQ(c.progress.target_tokens, whole.progress.target_tokens);
  }
  Course unsaved;
  unsaved.options = whole.options;
  unsaved.stop_at = 2;
  unsaved.stop_asked = 2;
  unsaved.run();
  EXPECT_EQ(unsaved.saved, (Updates{2}));
}

TEST(Loop, ValidatesAndSavesWhenDue) {
  Course c;
  c.options.validate = every(4);
  c.options.save = every(3);
  c.scores = {5, 4, 6};
  EXPECT_EQ(c.run(), Ended::finished);
  EXPECT_EQ(c.validated, (Updates{4, 8, 10}));
  EXPECT_EQ(c.best, (Updates{4, 10}));
  EXPECT_EQ(c.milestones, (Updates{4, 8, 10})) << "a validation ends with a checkpoint";
  EXPECT_EQ(c.saved, (Updates{3, 6, 9}));
  EXPECT_EQ(c.progress.best_update, 10);
  EXPECT_EQ(c.progress.best_score, 6);
  EXPECT_EQ(c.progress.validations, 3);

  Course alone;  // without validations, what train.save asks for may be averaged
  alone.options.save = every(3);
  alone.run();
  EXPECT_EQ(alone.milestones, (Updates{3, 6, 9, 10}));
  EXPECT_TRUE(alone.saved.empty());
}

/// A patience of n: the n-th validation in a row that is no better is the last.
TEST(Loop, PatienceIsACount) {
  for (const int64_t patience : {1, 2, 3}) {
    Course c;
    c.options.stop = every(100);
    c.options.validate = every(2);
    c.options.patience = patience;
    c.scores = {1, 1, 2, 2};  // the second is no better, the third is; none after it
    EXPECT_EQ(c.run(), Ended::out_of_patience);
    const int64_t last = patience == 1 ? 2 : 3 + patience;
    EXPECT_EQ(std::ssize(c.validated), last) << patience;
    EXPECT_EQ(c.progress.updates, 2 * last);
    EXPECT_EQ(c.progress.stalled, patience);
  }
  TrainOptions o;
  o.patience = 3;
  Progress p;
  for (const int64_t stalled : {0, 1, 2}) {
    p.stalled = stalled;
    EXPECT_FALSE(over(o, p, 8).has_value()) << stalled;
  }
  p.stalled = 3;
  EXPECT_EQ(over(o, p, 8), Ended::out_of_patience);
  o.patience = 0;
  EXPECT_FALSE(over(o, p, 8).has_value()) << "patience has no end";
}

/// After two validations that are no better the rate is halved, and they are counted anew.
TEST(Loop, PlateausLowerTheRate) {
  Course c;
  c.options.schedule = Schedule::plateau;
  c.options.plateau_patience = 2;
  c.options.plateau_factor = 0.5;
  c.options.validate = every(1);
  c.options.stop = every(8);
  c.scores = {1, 0, 0, 0, 2, 0, 0};  // better in 1 and 5
  c.run();
  EXPECT_EQ(c.progress.rate_scale, 0.25);
  const std::vector<double> want{1e-3, 1e-3, 1e-3, 5e-4, 5e-4, 5e-4, 5e-4, 2.5e-4};
  EXPECT_EQ(c.rates, want);
}

TEST(Loop, StopsWhenAskedAndGoesOnFromThere) {
  Course c;
  c.options.validate = every(4);
  c.stop_at = 6;
  EXPECT_EQ(c.run(), Ended::asked);
  EXPECT_EQ(c.progress.updates, 6);
  EXPECT_EQ(c.saved, (Updates{6})) << "and not to be averaged: nobody's counters said so";
  c.stop_at = -1;
  EXPECT_EQ(c.run(), Ended::finished);
  EXPECT_EQ(c.updates, (Updates{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}));
  EXPECT_EQ(c.validated, (Updates{4, 8, 10}));
  EXPECT_EQ(c.progress.data, (DataPosition{2, 4}));
  EXPECT_EQ(c.run(), Ended::finished) << "what is over stays over";
  EXPECT_EQ(c.updates.size(), 10u);
  EXPECT_EQ(c.validated.size(), 3u);
}

/// Ten skipped updates in a row, no fewer, and the run goes back to its last good state at half the rate; when it
/// happens again before there is another, it ends.
TEST(Loop, TenSkippedUpdatesGoBack) {
  const std::string parameter = "decoder.0.self.key.weight";
  Course nine;
  nine.fault = {2, 11, parameter};
  nine.options.stop = every(12);
  EXPECT_EQ(nine.run(), Ended::finished);
  EXPECT_TRUE(nine.restored.empty());
  EXPECT_EQ(nine.progress.skipped, 9);
  EXPECT_EQ(nine.progress.steps, 3);

  Course ten;
  ten.fault = {2, 12, parameter, 0.75};
  ten.options.stop = every(12);
  EXPECT_EQ(ten.run(), Ended::finished);
  EXPECT_EQ(ten.restored, (Updates{0}));
  EXPECT_EQ(ten.progress.rate_scale, 0.5);
  EXPECT_EQ(ten.progress.skipped, 10);
  EXPECT_EQ(std::ssize(ten.updates), 11 + 12);
  EXPECT_EQ(ten.rates.back(), 5e-4);

  Course again;
  again.fault = {2, 1000, parameter};
  again.options.stop = every(30);
  EXPECT_TRUE(error_of([&] { again.run(); }, ErrorKind::diverged)
                  .starts_with("10 updates in a row were skipped (the gradient of decoder.0.self.key.weight is not a "
                               "number) at update 11, at a learning rate of 0.0005, and again after going back to "
                               "update 0: the run has diverged\n  fix: "));
  EXPECT_EQ(again.restored, (Updates{0, 0}));
}

/// A validation that says no number goes back too, and is never the best.
TEST(Loop, AValidationThatIsNoNumberGoesBack) {
  Course c;
  c.options.validate = every(5);
  c.scores = {NAN, 3, 4};
  EXPECT_EQ(c.run(), Ended::finished);
  EXPECT_EQ(c.validated, (Updates{5, 5, 10}));
  EXPECT_EQ(c.restored, (Updates{0}));
  EXPECT_EQ(c.best, (Updates{5, 10}));
  EXPECT_EQ(c.milestones, (Updates{5, 10}));
}

TEST(Loop, PeriodsAreCrossedOnce) {
  Progress before, after;
  before.updates = 5;
  after.updates = 6;
  EXPECT_TRUE(crosses(every(3), before, after, 8));
  EXPECT_FALSE(crosses(every(4), before, after, 8));
  EXPECT_FALSE(crosses({}, before, after, 8));
  before.target_tokens = 999;
  after.target_tokens = 3500;
  EXPECT_TRUE(crosses(every(1000, Period::Unit::tokens), before, after, 8));
  EXPECT_FALSE(crosses(every(4000, Period::Unit::tokens), before, after, 8));
  before.seconds = 119;
  after.seconds = 121;
  EXPECT_TRUE(crosses(every(2, Period::Unit::minutes), before, after, 8));
  EXPECT_FALSE(crosses(every(3, Period::Unit::minutes), before, after, 8));
  after.data = {1, 2};
  EXPECT_EQ(epochs_done(after, 8), 1.25);
  EXPECT_EQ(share_done(every(5, Period::Unit::epochs), after, 8), 0.25);
  EXPECT_EQ(share_done(every(1, Period::Unit::epochs), after, 8), 1);
  EXPECT_EQ(share_done({}, after, 8), 0);
  TrainOptions o;
  o.stop = every(300);
  EXPECT_EQ(last_update(o), 300);
  o.stop = every(3, Period::Unit::epochs);
  EXPECT_EQ(last_update(o), 0);
}

/// Four updates an epoch, eight tokens each: the end is the same one in any unit, and so are the rates.
TEST(Course, SchedulesComeDownUntilAnEndInAnyUnit) {
  using Unit = Period::Unit;
  for (const Schedule s : {Schedule::cosine, Schedule::linear, Schedule::exponential})
    for (const int64_t warmup : {0, 5, 100}) {
      const auto rates = [&](const Period& stop) {
        Course c;
        c.options.schedule = s;
        c.options.warmup = warmup;
        c.options.stop = stop;
        EXPECT_EQ(c.run(), Ended::finished);
        return c.rates;
      };
      const std::vector<double> wanted = rates(every(12));
      EXPECT_EQ(wanted.size(), 12u);
      for (const Period& stop : {every(3, Unit::epochs), every(96, Unit::tokens)}) {
        const std::vector<double> found = rates(stop);
        ASSERT_EQ(found.size(), 12u);
        for (size_t i = 0; i < 12; ++i) EXPECT_NEAR(found[i], wanted[i], 1e-15) << stop.text() << " " << i;
      }
    }
}

}  // namespace
}  // namespace attune
