// A decoder that only reads: classifiers and taggers from left to right, trained on from a language model; and smaller
// copies of models that answer.
#include <gtest/gtest.h>

#include "attune/classifier.h"
#include "attune/embedder.h"
#include "attune/look.h"
#include "attune/quantize.h"
#include "checks.h"
#include "run/answer_run.h"

namespace attune::test {
namespace {

const Sets kDecoder{"model.shape=decoder", "model.decoder_layers=1", "model.pool=last"};

TEST(ReadingDecoders, ClassifyAndAreLookedAt) {
  const AnswerRun run("classify", first_label);
  EXPECT_GE(run.test("m", kDecoder).at("accuracy"), 95);
  const AttentionLook look = look_at(run.folder / "m", "a b c");
  EXPECT_EQ(look.rows, (std::vector<std::string>{"<s>", "a", "b", "c", "</s>"}));
  for (size_t i = 0; i < 5; ++i)
    for (size_t j = i + 1; j < 5; ++j) EXPECT_EQ(look.weights[i * 5 + j], 0) << "the future";
  EXPECT_EQ(Embedder(run.folder / "m", 1).embed({"a b"})[0].vector.size(), 32u);
  // By a recurrent network too.
  EXPECT_GE(
      run.test("rnn", {kDecoder[0], kDecoder[1], kDecoder[2], "model.kind=rnn", "model.d_ff=256", "model.heads=4"})
          .at("accuracy"),
      95);
}

TEST(ReadingDecoders, TagByWhatCameBefore) {
  const AnswerRun run("tag", [](const std::string& letters) {
    std::string text, before = "none";
    for (const char c : letters) {
      if (c == ' ') continue;
      text += std::string(1, c) + "\t" + (before == "a" ? "after" : "other") + "\n";
      before = std::string(1, c);
    }
    return text + "\n";
  });
  const auto scores =
      run.test("m", {kDecoder[0], kDecoder[1], "data.columns=[1,2]", "model.decoder_position=rope", "train.stop=250u"});
  EXPECT_GE(scores.at("accuracy"), 97);
}

TEST(ReadingDecoders, BeginWithALanguageModel) {
  const AnswerRun text("language", [](const std::string& letters) { return letters + "\n"; });
  text.test("m", {"model.decoder_layers=1"});
  const AnswerRun run("classify", first_label);
  const Sets sets{kDecoder[0],
                  kDecoder[1],
                  kDecoder[2],
                  "train.start=\"" + text.folder / "m" + "\"",
                  "train.start_parts=[\"decoder\"]",
                  "train.freeze=[\"decoder\"]",
                  "train.stop=5u"};
  run.test("frozen", sets);
  // What the language model knew is what the classifier reads with.
  const Embedder before(text.folder / "m", 1), after(run.folder / "frozen", 1);
  const auto x = before.embed({"a b c"}, {.pool = Pool::first})[0].vector,
             y = after.embed({"a b c"}, {.pool = Pool::first})[0].vector;
  EXPECT_EQ(x, y);
}

TEST(ReadingDecoders, WhatMakesNoSenseIsRefused) {
  const AnswerRun run("classify", first_label);
  const auto refused = [&](const Sets& sets) {
    return error_of(
        [&] { Trainer({.recipe = run.folder / "recipe.toml", .out = run.folder / "no", .sets = sets, .threads = 1}); },
        ErrorKind::recipe);
  };
  EXPECT_NE(refused({"model.shape=decoder", "model.pool=first"}).find("the first row of a decoder has read nothing"),
            std::string::npos);
  EXPECT_NE(refused({"model.shape=encoder-decoder"}).find("a classifier reads texts and has nothing to write"),
            std::string::npos);
  EXPECT_NE(refused({"model.attention=edges"}).find("goes along the edges of a graph"), std::string::npos);
}

TEST(QuantizeAnswers, BySameMetricAndSameAnswers) {
  const struct {
    const char *task, *more;
    Sets sets;
    const char* metric;
  } cases[] = {{"classify", "", {}, "accuracy"},
               {"classify", "head = { kind = \"label\", ngrams = 2 }\npool = \"attention\"", {}, "accuracy"},
               {"classify", "", kDecoder, "accuracy"},
               {"classify", "", {"model.kind=bag"}, "accuracy"},
               {"language", "shape = \"encoder\"", {}, "perplexity"}};
  for (const auto& c : cases) {
    const bool masked = std::string(c.task) == "language";
    const AnswerRun run(c.task, masked ? [](const std::string& l) { return l + "\n"; } : AnswerRun::Ask(first_label),
                        c.more);
    run.test("m", c.sets);
    for (const char* type : {"int8", "f16"}) {
      const std::string out = run.folder / type;
      const QuantizeReport r = quantize(run.folder / "m", out, {.type = type, .max_loss = 5}, 1);
      EXPECT_TRUE(r.measured) << c.more;
      EXPECT_EQ(r.metric, c.metric);
      EXPECT_EQ(r.lines, 60);
      EXPECT_EQ(r.answers, masked ? 0 : 60);
      EXPECT_EQ(r.compared, !masked);
      if (!masked) { EXPECT_GE(r.same_best, 0.95) << c.more; }
      EXPECT_NEAR(static_cast<double>(r.changed_answers), (1 - r.same_best) * static_cast<double>(r.answers), 1e-9);
      EXPECT_NEAR(r.score_after, r.score_before, 5) << c.more;
      EXPECT_LT(r.bytes_after, r.bytes_before);
      if (masked) continue;
      const Classifier before(run.folder / "m", 1), after(out, 1);
      const std::vector<std::string> lines = column(run.folder / "valid.txt", 1);
      int64_t same = 0;
      const auto x = before.classify(lines), y = after.classify(lines);
      for (size_t i = 0; i < lines.size(); ++i) same += x[i].label == y[i].label;
      EXPECT_DOUBLE_EQ(static_cast<double>(same) / 60, r.same_best);
    }
  }
}

}  // namespace
}  // namespace attune::test
