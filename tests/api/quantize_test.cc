#include "attune/quantize.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "attune/model.h"
#include "attune/test.h"
#include "checks.h"
#include "run/language_run.h"

namespace attune::test {
namespace {

namespace fs = std::filesystem;

struct Quantize : testing::Test {
  SmallRun run;
  std::string model = run.folder / "m", out = run.folder / "small";
  void SetUp() override { run.train("m"); }
};

TEST_F(Quantize, Int8WithAReport) {
  const QuantizeReport r = quantize(model, out, {.search = {.beam = 2}}, 2);
  EXPECT_EQ(r.type, "int8");
  EXPECT_LT(r.bytes_after, r.bytes_before);
  EXPECT_TRUE(r.measured);
  EXPECT_EQ(r.lines, 20);
  EXPECT_GT(r.tokens, 40);
  EXPECT_EQ(r.metric, "bleu");
  EXPECT_DOUBLE_EQ(r.loss, r.score_before - r.score_after);
  EXPECT_GT(r.divergence, 0);
  EXPECT_LT(r.divergence, 0.05);
  EXPECT_GT(r.same_best, 0.9);
  EXPECT_NEAR(r.perplexity_after, r.perplexity_before, 0.05 * r.perplexity_before);
  EXPECT_GT(r.tokens_per_s_before, 0);
  EXPECT_GT(r.tokens_per_s_after, 0);
  EXPECT_FALSE(fs::exists(out + "-trial"));
  const ModelDescription d = describe_model(out), f32 = describe_model(model);
  EXPECT_TRUE(d.verified);
  EXPECT_EQ(d.stored_as, "F32, I8");
  EXPECT_EQ(d.parameters, f32.parameters);
  // Whatever the threads and batch mates.
  const Translator one(out, 1), three(out, 3);
  const std::vector<std::string> lines{"a b c", "d", "", "h g f e d c b a", "a a a"};
  const auto all = three.translate(lines);
  for (size_t i = 0; i < lines.size(); ++i) {
    const Translation alone = one.translate(lines[i]);
    EXPECT_EQ(alone.text, all[i].text);
    EXPECT_EQ(alone.score, all[i].score);
  }
  EXPECT_EQ(
      test_model(out, {"data.test=[\"" + run.folder / "valid.in" + "\", \"" + run.folder / "valid.out" + "\"]"}, {}, 1)
          .lines,
      20);
}

TEST_F(Quantize, F16IsStorage) {
  const QuantizeReport r = quantize(model, out, {.type = "f16"}, 1);
  EXPECT_LT(r.divergence, 1e-4);
  EXPECT_NEAR(static_cast<double>(r.bytes_after) / static_cast<double>(r.bytes_before), 0.5, 0.2);
  EXPECT_EQ(describe_model(out).stored_as, "F16");
  EXPECT_EQ(quantize(out, run.folder / "smaller", {}, 1).type, "int8");
}

TEST_F(Quantize, WritesNothingWhenTooMuchIsLost) {
  const auto error = error_of([&] { quantize(model, out, {.max_loss = -1000}, 1); }, ErrorKind::model);
  EXPECT_NE(error.find("more than --max-loss -1000: nothing was written\n  fix: "), std::string::npos) << error;
  EXPECT_FALSE(fs::exists(out));
  EXPECT_FALSE(fs::exists(out + "-trial"));
  EXPECT_EQ(error_with_kind([&] { quantize(model, out, {.max_loss = 100}, 1); }), "nothing was thrown");
  EXPECT_NE(error_of([&] { quantize(model, out); }, ErrorKind::usage).find("holds a model already"), std::string::npos);
  EXPECT_EQ(error_with_kind([&] { quantize(model, out, {.replace = true}, 1); }), "nothing was thrown");
}

TEST_F(Quantize, MoreErrorsAreALoss) {
  run.train("rate", {"train.metric=cer", "train.stop=100u", "train.validate=100u"});
  const QuantizeReport r = quantize(run.folder / "rate", out, {}, 1);
  EXPECT_EQ(r.metric, "cer");
  EXPECT_NE(r.score_after, r.score_before);
  EXPECT_DOUBLE_EQ(r.loss, r.score_after - r.score_before);
}

TEST_F(Quantize, DevSets) {
  put(run.folder / "d.in", "a b\nc\n");
  put(run.folder / "d.out", "a b\nc\n");
  const std::vector<std::string> dev{run.folder / "d.in", run.folder / "d.out"};
  EXPECT_EQ(quantize(model, out, {.dev = dev}, 1).lines, 2);
  fs::remove(run.folder / "valid.in");
  EXPECT_NE(error_of([&] { quantize(model, run.folder / "x", {.max_loss = 1}, 1); }, ErrorKind::data).find("--dev"),
            std::string::npos);
  EXPECT_FALSE(fs::exists(run.folder / "x"));
  const QuantizeReport r = quantize(model, run.folder / "x", {}, 1);
  EXPECT_FALSE(r.measured);
  ASSERT_EQ(r.notes.size(), 1u);
}

TEST_F(Quantize, SaysWhatCanNotBeDone) {
  quantize(model, out, {}, 1);
  EXPECT_NE(error_of([&] { quantize(out, run.folder / "x", {}, 1); }, ErrorKind::model).find("is int8 already"),
            std::string::npos);
  EXPECT_NE(error_of([&] { quantize(model, model); }, ErrorKind::usage).find("is the model itself"), std::string::npos);
  EXPECT_NE(
      error_of([&] { quantize(model, run.folder / "x", {.type = "int4"}); }, ErrorKind::usage).find("int8 or f16"),
      std::string::npos);
  const auto start = error_with_kind([&] { run.train("t", {"train.start=\"" + out + "\""}); });
  EXPECT_NE(start.find("holds weights as I8, which are for use and can't be trained\n  fix: "), std::string::npos)
      << start;
  EXPECT_NE(error_of(
                [&] {
                  average({out, model}, run.folder / "x");
                },
                ErrorKind::model)
                .find("only F32 can be averaged"),
            std::string::npos);
}

TEST_F(Quantize, AShortlistWithAReport) {
  const QuantizeReport r = quantize(model, out, {.search = {.beam = 2}, .shortlist = true}, 2);
  ASSERT_TRUE(r.shortlist);
  EXPECT_GT(r.shortlist->bytes, 50);
  EXPECT_GT(r.shortlist->words, 2);
  EXPECT_DOUBLE_EQ(r.shortlist->recall, 1) << "letters stay as they are";
  EXPECT_GT(r.shortlist->tokens_per_s_without, 0);
  EXPECT_DOUBLE_EQ(r.loss, r.score_before - r.score_after);
  const ModelDescription d = describe_model(out);
  EXPECT_TRUE(d.verified);
  EXPECT_TRUE(d.shortlist);
  EXPECT_EQ(d.shortlist_frequent, 9) << "the end and eight letters";
  // Whatever the threads and batch mates; and it may be left out.
  const Translator one(out, 1), three(out, 3);
  const std::vector<std::string> lines{"a b c", "d", "", "h g f e d c b a", "a a a"};
  const auto all = three.translate(lines), free = three.translate(lines, {.shortlist = false});
  for (size_t i = 0; i < lines.size(); ++i) {
    EXPECT_EQ(one.translate(lines[i]).score, all[i].score);
    if (!lines[i].empty()) { EXPECT_NE(all[i].score, free[i].score); }
  }
}

TEST_F(Quantize, AShortlistByItself) {
  const QuantizeOptions few{.type = "f32", .shortlist = true, .shortlist_translations = 1, .shortlist_frequent = 0};
  const QuantizeReport r = quantize(model, out, few, 1);
  EXPECT_EQ(r.bytes_after, r.bytes_before);
  EXPECT_EQ(r.divergence, 0);
  EXPECT_DOUBLE_EQ(r.shortlist->score_without, r.score_before);
  EXPECT_LT(r.shortlist->words, 9);
  for (const std::string& letter : Translator(out, 1).translate("c c").tokens) EXPECT_EQ(letter, "c");
  // An int8 model can get one, a copy keeps it, and what replaces a model has none that was left behind.
  const std::string small = run.folder / "small8", both = run.folder / "both";
  quantize(model, small, {}, 1);
  const QuantizeReport added = quantize(small, both, {.shortlist = true}, 1);
  EXPECT_EQ(added.bytes_after, added.bytes_before);
  EXPECT_EQ(slurp(both + "/model.safetensors"), slurp(small + "/model.safetensors"));
  EXPECT_TRUE(describe_model(both).shortlist);
  quantize(out, run.folder / "kept", {}, 1);
  EXPECT_TRUE(describe_model(run.folder / "kept").shortlist);
  quantize(model, both, {.replace = true}, 1);
  EXPECT_FALSE(describe_model(both).shortlist);
  EXPECT_NO_THROW(Translator(both, 1).translate("a b"));
}

TEST_F(Quantize, TheLossDoesNotTellOfAShortlist) {
  run.train("loss", {"train.metric=loss"});
  const QuantizeReport r = quantize(run.folder / "loss", out, {.shortlist = true}, 1);
  EXPECT_DOUBLE_EQ(r.shortlist->score_without, r.score_after);
  ASSERT_EQ(r.notes.size(), 1u);
  EXPECT_NE(r.notes[0].find("what the shortlist costs is not in the loss"), std::string::npos);
}

TEST_F(Quantize, AShortlistNeedsTheTrainingData) {
  for (const char* name : {"train.in", "train.out"}) fs::rename(run.folder / name, run.folder / "moved." + name);
  const auto error = error_of([&] { quantize(model, out, {.shortlist = true}, 1); }, ErrorKind::data);
  EXPECT_NE(error.find("is not there\n  fix: name the source's and the target's file by --shortlist-data"),
            std::string::npos)
      << error;
  EXPECT_FALSE(fs::exists(out));
  const std::vector<std::string> data{run.folder / "moved.train.in", run.folder / "moved.train.out"};
  EXPECT_TRUE(quantize(model, out, {.shortlist = true, .shortlist_data = data}, 1).shortlist);
  EXPECT_NE(error_of([&] { quantize(model, run.folder / "x", {.shortlist_data = data}, 1); }, ErrorKind::usage)
                .find("add --shortlist"),
            std::string::npos);
  EXPECT_NE(error_of([&] { quantize(model, run.folder / "x", {.type = "f32"}, 1); }, ErrorKind::usage)
                .find("f32 makes nothing smaller"),
            std::string::npos);
}

TEST(QuantizeLanguage, ByPerplexity) {
  const LanguageRun run;
  run.train("m");
  const QuantizeReport r = quantize(run.folder / "m", run.folder / "small", {.max_loss = 5}, 1);
  EXPECT_EQ(r.metric, "perplexity");
  EXPECT_DOUBLE_EQ(r.score_after, r.perplexity_after);
  EXPECT_DOUBLE_EQ(r.loss, r.score_after - r.score_before);
  EXPECT_GT(r.same_best, 0.9);
  EXPECT_NE(error_of([&] { quantize(run.folder / "m", run.folder / "x", {.shortlist = true}, 1); }, ErrorKind::usage)
                .find("only a model that translates can have a shortlist"),
            std::string::npos);
}

}  // namespace
}  // namespace attune::test
