// What a run leaves for people and programs to read: metrics.jsonl, event files, and what attune info makes of them.
#include <gtest/gtest.h>

#include <set>

#include "attune/model.h"
#include "checks.h"
#include "places.h"
#include "run/run_folder.h"
#include "run/small_run.h"
#include "show/event_file.h"
#include "show/event_reader.h"
#include "train/learner.h"

namespace attune::test {
namespace {

struct RunRecords : testing::Test {
  SmallRun run;
  std::vector<nlohmann::json> metrics(const std::string& out) const {
    std::vector<nlohmann::json> all;
    std::istringstream lines(slurp(run.folder / out + "/metrics.jsonl"));
    for (std::string line; std::getline(lines, line);) all.push_back(nlohmann::json::parse(line));
    return all;
  }
  /// name -> step -> value, of the event file.
  std::map<std::string, std::multimap<int64_t, float>> scalars(const std::string& out) const {
    std::map<std::string, std::multimap<int64_t, float>> all;
    const std::vector<Fields> events = events_of(show::event_file_in(run.folder / out));
    for (size_t i = 1; i < events.size(); ++i)
      if (value_of(events[i]).contains(2)) all[tag(events[i])].emplace(step(events[i]), scalar(events[i]));
    return all;
  }
};

/// Also after stops and a course that was given up.
TEST_F(RunRecords, EventFilesHoldWhatTheMetricsDo) {
  inject_gradient_fault({9, 100, "decoder.0.self.key.weight", 0.75});
  for (const int64_t stop : {7, 10, 15}) run.train("out", {}, stop);
  run.train("out");
  inject_gradient_fault({});
  std::map<std::string, std::multimap<int64_t, float>> wanted;
  for (const nlohmann::json& line : metrics("out"))
    for (const auto& [key, value] : line.items())
      if (value.is_number() && key != "update" && !line.contains("rolled_back"))
        wanted[key.starts_with("valid_") ? "valid/" + key.substr(6) : "train/" + key].emplace(
            line["update"].get<int64_t>(), value.get<float>());
  EXPECT_GT(wanted.size(), 8u);
  EXPECT_EQ(scalars("out"), wanted);
}

/// Every key that a line may have stands in docs/records.md.
TEST_F(RunRecords, KeysAreDocumented) {
  inject_gradient_fault({9, 100, "decoder.0.self.key.weight", 0.75});
  run.train("out");
  inject_gradient_fault({9, 10, "decoder.0.self.key.weight"});
  run.train("one");
  inject_gradient_fault({});
  const std::string page = slurp(source_dir() + "/docs/records.md");
  std::set<std::string> keys;
  for (const char* out : {"out", "one"})
    for (const nlohmann::json& line : metrics(out))
      for (const auto& [key, value] : line.items()) keys.insert(key);
  for (const char* some :
       {"update", "loss", "valid_loss", "valid_bleu", "best", "not_a_number", "rolled_back", "finished"})
    EXPECT_TRUE(keys.contains(some)) << some;
  for (const std::string& key : keys) EXPECT_NE(page.find("| `" + key + "` |"), std::string::npos) << key;
}

TEST_F(RunRecords, ARunIsDescribed) {
  using State = RunDescription::State;
  run.train("out", {}, 7);
  ModelDescription d = describe_model(run.folder / "out");
  ASSERT_TRUE(d.is_run);
  EXPECT_EQ(d.run.state, State::stopped);
  EXPECT_EQ(d.run.stop, "22u");
  EXPECT_EQ(d.run.updates, 7) << "saved there by the stop, though the last line is of a validation before";
  EXPECT_NEAR(d.run.share_done, 7.0 / 22, 1e-9);
  EXPECT_GT(d.run.loss, 0);
  EXPECT_GT(d.run.target_tokens_per_s, 0);
  EXPECT_EQ(std::count(d.run.settings.begin(), d.run.settings.end(), "train.warmup = 5"), 1);
  {
    const FolderLock lock(run.folder / "out");
    EXPECT_EQ(describe_model(run.folder / "out").run.state, State::training);
  }
  inject_gradient_fault({9, 100, "decoder.0.self.key.weight", 0.75});
  run.train("out");
  inject_gradient_fault({});
  d = describe_model(run.folder / "out");
  EXPECT_EQ(d.run.state, State::finished);
  EXPECT_EQ(d.run.updates, 22);
  EXPECT_EQ(d.run.share_done, 1);
  EXPECT_EQ(d.run.rolled_back, 1);
  EXPECT_EQ(d.run.skipped, 10);
  EXPECT_TRUE(d.run.trouble.starts_with("10 updates in a row were skipped")) << d.run.trouble;
}

/// A checkpoint stands for a run that has no model yet.
TEST_F(RunRecords, ARunWithoutAModel) {
  run.train("out", {"train.validate=20u"}, 7);
  const ModelDescription d = describe_model(run.folder / "out");
  EXPECT_TRUE(d.is_run);
  EXPECT_TRUE(d.verified);
  EXPECT_EQ(d.run.state, RunDescription::State::stopped);
}

}  // namespace
}  // namespace attune::test
