// Guided attention from the recipe to the alignment: what it lowers, what it tells, and that it resumes exactly.
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "attune/metric.h"
#include "attune/translator.h"
#include "checks.h"
#include "run/small_run.h"

namespace attune::test {
namespace {

/// Lines of letters from the end to the beginning, with their alignment.
struct ReversedRun : SmallRun {
  std::vector<std::string> sources, targets, links;  // of the validation

  ReversedRun() {
    for (const char* part : {"train", "valid"}) {
      const std::string stem = folder / part;
      std::string reversed, alignment;
      std::istringstream lines(slurp(stem + ".in"));
      for (std::string line; std::getline(lines, line);) {
        std::string back(line.rbegin(), line.rend()), pairs;
        for (size_t n = (line.size() + 1) / 2, i = 0; i < n; ++i)
          pairs += std::to_string(n - 1 - i) + "-" + std::to_string(i) + (i + 1 < n ? " " : "");
        reversed += back + "\n";
        alignment += pairs + "\n";
        if (std::string(part) == "train") continue;
        sources.push_back(line);
        targets.push_back(back);
        links.push_back(pairs);
      }
      put(stem + ".out", reversed);
      put(stem + ".align", alignment);
    }
    put(recipe(), slurp(recipe()) + "[train.guide]\nkind = \"alignment\"\n");
  }
  Sets guided(double weight) const {
    return {"data.alignment=[\"" + folder / "train.align" + "\"]", fmt::format("train.guide.weight={}", weight)};
  }
  /// In percent, on translations that are given.
  double alignment_error(const std::string& out) const {
    std::vector<std::string> found;
    for (const WordPairs& pairs : Translator(folder / out, 1).align(sources, targets)) {
      std::string line;
      for (const auto& [source, target] : pairs) line += fmt::format("{}-{} ", source, target);
      found.push_back(line);
    }
    return measure("aer", found, {links}).score;
  }
};

TEST(Guide, LowersTheAlignmentError) {
  const ReversedRun run;
  const Sets longer{"train.stop=250u",  "train.validate=250u", "train.save=250u",
                    "train.average=1",  "train.metric=loss",   "model.dropout=0",
                    "model.d_model=32", "tokenizer.kind=char", "train.warmup=20"};
  const auto error = [&](const char* out, double weight) {
    Sets sets = run.guided(weight);
    sets.insert(sets.end(), longer.begin(), longer.end());
    run.train(out, sets);
    return run.alignment_error(out);
  };
  const double plain = error("plain", 0), guided = error("guided", 1);
  RecordProperty("plain", fmt::format("{:.1f}", plain));
  RecordProperty("guided", fmt::format("{:.1f}", guided));
  EXPECT_LT(guided, 0.5 * plain) << plain << " without the guide";
}

TEST(Guide, IsToldInLogAndMetrics) {
  const ReversedRun run;
  Sets sets = run.guided(0.5);
  sets.insert(sets.end(), {"train.stop=3u", "train.baseline=false"});
  const std::string log = run.train("guided", sets).log;
  EXPECT_NE(log.find(" : Guide "), std::string::npos) << log;
  const auto first_line = [&](const char* out) {
    const std::string all = slurp(run.folder / out + "/metrics.jsonl");
    return nlohmann::json::parse(all.substr(0, all.find('\n')));
  };
  EXPECT_GT(first_line("guided").at("guide_loss").get<double>(), 0.3);
  EXPECT_EQ(run.train("plain", {"train.stop=3u", "train.baseline=false"}).log.find("Guide"), std::string::npos);
  EXPECT_FALSE(first_line("plain").contains("guide_loss"));
}

TEST(Guide, SameBitsAfterStopsAndOnAnyThreads) {
  const ReversedRun run;
  for (Sets sets : {run.guided(1), Sets{"train.guide={weight = 1, kind = \"diagonal\", head = 1}"}}) {
    sets.insert(sets.end(), {"train.target_noise=0.1", "model.layer_dropout=0.2"});
    const std::string kind = sets[0].substr(0, 9) == "data.alig" ? "a" : "d";
    run.train("whole" + kind, sets);
    int threads = 1;
    for (const int64_t update : {1, 6, 13}) run.train("pieces" + kind, sets, update, threads++);
    run.train("pieces" + kind, sets);
    expect_same_bits(run.bits("whole" + kind), run.bits("pieces" + kind));
  }
}

TEST(Guide, AnAlignmentThatChangedIsAnotherCorpus) {
  const ReversedRun run;
  run.train("out", run.guided(1), 3);
  std::string text = slurp(run.folder / "train.align");
  put(run.folder / "train.align", text.substr(text.find(' ') + 1));
  EXPECT_TRUE(error_of([&] { run.train("out", run.guided(1)); }, ErrorKind::data)
                  .starts_with("the training data is not what the run in "));
}

TEST(Guide, MistakesLeaveNoTrace) {
  const ReversedRun run;
  EXPECT_EQ(error_of([&] { run.train("out", {"train.guide.weight=1"}); }, ErrorKind::recipe),
            run.recipe() +
                ":28: train.guide.kind = \"alignment\", but nothing says which words go together\n"
                "  fix: name files of word alignments: data.alignment = [\"train.align\"]");
  EXPECT_NE(error_of(
                [&] {
                  run.train("out", {"train.guide={weight = 1, kind = \"diagonal\"}", "model.cross_attention=linear"});
                },
                ErrorKind::recipe)
                .find("has no weights that can be guided"),
            std::string::npos);
  const Sets of_rnn{"train.guide={weight = 1, kind = \"diagonal\"}", "model.kind=rnn"};
  EXPECT_NE(error_of([&] { run.train("out", of_rnn); }, ErrorKind::recipe).find("has no use for it"),
            std::string::npos);
  put(run.folder / "train.align", "0-0\n");
  EXPECT_NE(error_of([&] { run.train("out", run.guided(1)); }, ErrorKind::data).find("train.align has 1 line"),
            std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(run.folder / "out"));
}

}  // namespace
}  // namespace attune::test
