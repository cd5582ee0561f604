#include "recipe/settings.h"

#include <gtest/gtest.h>

#include "attune/recipe.h"
#include "checks.h"
#include "places.h"
#include "recipe/reader.h"
#include "recipe/writer.h"
#include "run_program.h"

namespace attune {
namespace {

Recipe complete() {
  Recipe r;
  r.data.train = {"a.en", "a.de"};
  r.places.file = "t.toml";
  return r;
}

TEST(Recipe, WrittenAndReadAgainItIsTheSame) {
  Recipe r = complete();
  r.data.valid = {"with \"quotes\" \\ and\ttab\n.en", "\u00e4.de"};
  r.model.attention = {{"softmax"}, {"band", {{"width", int64_t{64}}, {"scale", 1.0}, {"note", "a, b"}}}};
  r.model.encoder_position = {"rotary", {{"on", true}}};
  r.model.dropout = 0.1 + 0.2;
  r.train.epsilon = 1e-300;
  r.train.stop = {2.5, Period::Unit::epochs};
  r.train.batch_tokens = {0};
  r.train.memory = {int64_t{3} << 30};
  r.train.seed = 1ull << 53;
  r.train.metric_options.lowercase = true;
  const std::string text = recipe_text(r);
  Recipe back;
  parse_recipe(text, "t.toml", fields_of(back));
  EXPECT_EQ(to_values(back), to_values(r)) << text;
  EXPECT_EQ(recipe_text(back), text);
  for (const Field& f : fields_of(r)) EXPECT_NE(text.find("# " + f.sentence), std::string::npos) << f.name;
  EXPECT_EQ(
      recipe_text(fields_of(r), {"task", "train.seed"}),
      "task = \"translate\"              # what is learned (translate | language | classify | tag | image | graph)\n"
      "\n[train]\n"
      "seed = 9007199254740992         # where all random numbers start (0 to 9007199254740992)\n");
}

TEST(Recipe, EveryDefaultIsInItsRange) {
  Recipe r = complete();
  EXPECT_NO_THROW(check_fields(fields_of(r)));
  EXPECT_NO_THROW(check_recipe(r));
}

TEST(Recipe, WhatDoesNotGoTogetherIsRefused) {
  const struct {
    const char *setting, *says;
  } cases[] = {
      {"data.train=[]", "data.train names no files to learn from\n  fix: data.train = [\"train.en\", \"train.de\"]"},
      {"data.train=[\"a\"]",
       "data.train has 1 files, translate needs a source and a target for each\n  fix: name source, target, source, "
       "target "
       "...; or set data.format = \"tsv\" for files of two columns"},
      {"data.languages=[\"en\"]",
       "data.languages has 1 names, translate has 2 sides\n  fix: data.languages = [\"en\", \"de\"]"},
      {"model.encoder_layers=0",
       "model.encoder_layers = 0, but the shape has an encoder\n  fix: set model.encoder_layers = 4"},
      {"model.cross_heads=7",
       "model.d_model = 128 is not a multiple of model.cross_heads = 7\n  fix: heads of 32 or 64 numbers are usual"},
      {"model.heads_kv=3",
       "model.heads = 4 is not a multiple of model.heads_kv = 3\n  fix: leave heads_kv out, or give it a divisor of "
       "the heads"},
      {"train.guide={weight = 1, layer = 4}",
       "train.guide.layer = 4, but the decoder has layers 0 to 3\n  fix: -1 is the last but one"},
      {"train.guide={weight = 1, head = 4}",
       "train.guide.head = 4, but there are heads 0 to 3 from decoder to encoder\n  fix: -1 is the mean of all"},
      {"train.guide={weight = 1, kind = \"alignment\"}",
       "train.guide.kind = \"alignment\", but nothing says which words go together\n"
       "  fix: name files of word alignments: data.alignment = [\"train.align\"]"},
      {"tokenizer.joint=false",
       "model.tie = \"all\" needs one vocabulary for both sides\n"
       "  fix: set tokenizer.joint = true, or model.tie = \"output\""},
      {"train.shards=12", "train.shards = 12 is not a power of two\n  fix: set 1, 2, 4, 8, 16 ..."},
      {"train.batch_tokens=auto",
       "train.batch_tokens = \"auto\" needs to know how much memory to use\n  fix: set train.memory = \"4G\""},
      {"train.stop=0u",
       "train.stop = \"0u\" and train.patience = 0: this would never end\n  fix: set train.stop = \"8000u\", or "
       "train.patience = 10"},
      {"train.save=0u",
       "train.save = \"0u\": a run without checkpoints could not go on after a stop\n  fix: set train.save = \"10m\""},
      {"train.keep=3",
       "train.average = 10 is more than the train.keep = 3 checkpoints that stay\n  fix: raise train.keep, or lower "
       "train.average"},
  };
  for (const auto& c : cases) {
    Recipe r = complete();
    apply_setting(c.setting, fields_of(r));
    EXPECT_EQ(error_of([&] { check_recipe(r); }, ErrorKind::recipe), std::string("t.toml: ") + c.says);
  }
  Recipe r = complete();
  r.tokenizer.kind = text::TokenizerKind::wordpiece;
  r.tokenizer.byte_fallback = true;
  EXPECT_EQ(error_of([&] { check_recipe(r); }, ErrorKind::recipe),
            "t.toml: tokenizer.byte_fallback = true, but tokenizer.kind = \"wordpiece\" has none\n"
            "  fix: leave byte_fallback out, or set kind to \"bpe\", \"unigram\" or \"char\"");
}

TEST(Recipe, DifferencesNameBothValues) {
  const Recipe before = complete();
  Recipe now = before;
  EXPECT_TRUE(differences(to_values(before), to_values(now)).empty());
  EXPECT_EQ(canonical_text(to_values(before)), canonical_text(to_values(now)));
  now.train.warmup = 4000;
  now.model.attention = {{"band", {{"width", int64_t{64}}}}};
  EXPECT_NE(canonical_text(to_values(before)), canonical_text(to_values(now)));
  const auto changed = differences(to_values(before), to_values(now));
  ASSERT_EQ(changed.size(), 2u);
  EXPECT_EQ(changed[0].text(), "model.attention was \"softmax\", is { kind = \"band\", width = 64 }");
  EXPECT_EQ(changed[1].text(), "train.warmup was 400, is 4000");
  const NamedValues a{{"x", int64_t{1}}, {"y", int64_t{2}}}, b{{"z", true}, {"y", int64_t{2}}};
  ASSERT_EQ(differences(a, b).size(), 2u);
  EXPECT_EQ(differences(a, b)[0].text(), "z is new: true");
  EXPECT_EQ(differences(a, b)[1].text(), "x is gone, it was 1");
  EXPECT_EQ(canonical_text(a), "x = 1\ny = 2\n");
}

TEST(Recipe, TheReferencePageIsUpToDate) {
  EXPECT_EQ(test::slurp(test::source_dir() + "/docs/recipe.md"), recipe_reference())
      << "fix: build/attune info recipe --markdown > docs/recipe.md";
  EXPECT_GT(recipe_keys().size(), 60u);
}

TEST(Units, PeriodsKeepTheirUnits) {
  Period p;
  for (const char* text : {"8000u", "5e", "2500000t", "10m", "0.5e", "0u", "1000000000000000u"}) {
    ASSERT_TRUE(Period::parse(text, p)) << text;
    EXPECT_EQ(p.text(), text);
  }
  ASSERT_TRUE(Period::parse(" 1.5Mt ", p));
  EXPECT_EQ(p, (Period{1.5e6, Period::Unit::tokens}));
  for (const char* bad : {"", "u", "5", "-5u", "5x", "5 u", "5uu", "5Gu", "1e5u", "nanu", "infu", "0x5u", "1e-9u", "5M",
                          "99999999999999999999u"})
    EXPECT_FALSE(Period::parse(bad, p)) << bad;
}

TEST(Units, SizesAreExact) {
  ByteSize s;
  for (const auto& [text, bytes] :
       std::vector<std::pair<std::string, int64_t>>{{"0", 0}, {"1000", 1000}, {"3K", 3072}, {"4G", int64_t{4} << 30}}) {
    ASSERT_TRUE(ByteSize::parse(text, s)) << text;
    EXPECT_EQ(s.bytes, bytes);
    EXPECT_EQ(s.text(), text);
  }
  ASSERT_TRUE(ByteSize::parse("512MB", s));
  EXPECT_EQ(s.text(), "512M");
  for (const char* bad : {"", "G", "-1G", "4X", "4 G", "99999999T"}) EXPECT_FALSE(ByteSize::parse(bad, s)) << bad;
}

}  // namespace
}  // namespace attune
