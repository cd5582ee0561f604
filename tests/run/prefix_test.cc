// Translation by one decoder with a prefix mask, from files to alignments.
#include <gtest/gtest.h>

#include "attune/embedder.h"
#include "attune/scorer.h"
#include "attune/test.h"
#include "attune/translator.h"
#include "checks.h"
#include "run/small_run.h"

namespace attune::test {
namespace {

const Sets kPrefix{"model.shape=prefix", "model.decoder_layers=2", "model.d_model=32", "model.d_ff=64",
                   "train.average=1"};

Sets with(Sets sets, const Sets& more) {
  sets.insert(sets.end(), more.begin(), more.end());
  return sets;
}

TEST(Prefix, OneDecoderCopiesLetters) {
  const SmallRun run;
  run.train("m", with(kPrefix, {"train.stop=400u", "train.validate=400u", "train.save=400u", "model.dropout=0.0",
                                "train.batch_tokens=256", "model.position=rope"}));
  const std::string model = run.folder / "m";
  const Translator t(model, 2);
  const std::vector<std::string> lines{"a b c d", "h", "", "b b a g e f", "d c"};
  const auto all = t.translate(lines, {.n_best = 3, .alignment = true});
  int right = 0;
  for (size_t i = 0; i < lines.size(); ++i) right += all[i].text == lines[i];
  EXPECT_GE(right, 4);
  // Whatever goes with it.
  const Translator alone(model, 1);
  for (size_t i = 0; i < lines.size(); ++i) {
    const Translation one = alone.translate(lines[i], {.n_best = 3, .batch_tokens = 1});
    EXPECT_EQ(one.text, all[i].text);
    EXPECT_EQ(one.score, all[i].score);
  }
  const Scorer scorer(model, 1);
  const LineScore score = scorer.score({lines[3]}, {all[3].text})[0];
  double sum = 0;
  for (const double s : all[3].token_scores) sum += s;
  EXPECT_NEAR(score.log_prob, sum, 1e-4);
  ASSERT_FALSE(all[0].alignment.empty());
  EXPECT_EQ(Embedder(model, 1).embed({lines[0]})[0].vector.size(), 32u);
  const AttentionLook look = t.attention("a b c d");
  EXPECT_EQ(look.columns.size(), 5u);
  EXPECT_EQ(look.rows.size(), 5u);
  EXPECT_NE(error_of([&] {
              t.attention("a b c d", {.at = AttentionSite::encoder});
            }).find("this model has no encoder\n  fix: leave out --at, or give --at decoder"),
            std::string::npos);
  EXPECT_NE(error_of([&] { t.translate("a b", {.coverage_penalty = 0.2}); }).find("coverage penalty"),
            std::string::npos);
}

/// Beside a model of two stacks, which counts its positions from the first word it says.
TEST(Prefix, StandsInAnEnsemble) {
  const SmallRun run;
  const Sets both{"model.position=learned", "data.max_length=10", "train.average=1"};
  run.train("one", with(kPrefix, both));
  run.train("two", both);
  const std::string longest = "a b c d e f g h a b";
  const Translator t((run.folder / "one") + "," + run.folder / "two", 1);
  EXPECT_EQ(t.longest(), 10);
  EXPECT_GE(t.translate(longest, {.min_length = 9}).tokens.size(), 9u);
}

TEST(Prefix, GoesOnAfterAStopWithTheSameBits) {
  const SmallRun run;
  run.train("whole", kPrefix, 0, 2);
  run.train("parts", kPrefix, 9);
  run.train("parts", kPrefix, 0, 3);
  EXPECT_EQ(slurp(run.folder / "whole/model.safetensors"), slurp(run.folder / "parts/model.safetensors"));
}

TEST(Prefix, WhatItCantTakeIsNamed) {
  const SmallRun run;
  const auto error = [&](const Sets& more) {
    return error_of([&] { run.train("m", with(kPrefix, more)); }, ErrorKind::recipe);
  };
  EXPECT_NE(
      error({"tokenizer.joint=false", "model.tie=output"}).find("by one vocabulary\n  fix: set tokenizer.joint = true"),
      std::string::npos);
  EXPECT_NE(error({"model.attention=linear"}).find("can't take the attention \"linear\""), std::string::npos);
  EXPECT_NE(error({"model.position=alibi"}).find("can't take the positions \"alibi\", which look back only"),
            std::string::npos);
  EXPECT_NE(error({"train.sampling.share=0.5"}).find("train.sampling is for an encoder and a decoder"),
            std::string::npos);
}

}  // namespace
}  // namespace attune::test
