#include "recipe/reader.h"

#include <gtest/gtest.h>

#include "base/files.h"
#include "base/random.h"
#include "checks.h"
#include "recipe/settings.h"
#include "run_program.h"

namespace attune {
namespace {

using test::TempFolder;

Recipe parse(const std::string& toml) {
  Recipe r;
  parse_recipe(toml, "t.toml", fields_of(r));
  return r;
}
Recipe with(const std::string& setting) {
  Recipe r;
  apply_setting(setting, fields_of(r));
  return r;
}

TEST(RecipeReader, ReadsEveryKindOfValue) {
  const Recipe r = parse(R"(
task = "language"      # a comment
[data]
train = ["a.en.gz",
         "a.de.gz"]
valid = []
lowercase = true
overlong = "crop"
[model]
d_model = 1_024
dropout = 0
norm = "pre"
attention = ["softmax", { kind = "band", width = 64, scale = 0.5, causal = true, score = "additive" }]
encoder_attention = { kind = "band", width = 32 }
cross_attention = "linear"
position.kind = "relative"
position.window = 16
[train]
batch_tokens = "auto"
memory = "1.5G"
stop = "100Ku"
save = "0.5e"
learning_rate = 5e-3
metric_options = { tokenize = "none" }
seed = 9007199254740992
)");
  EXPECT_EQ(r.task, Task::language);
  EXPECT_EQ(r.data.train, (std::vector<std::string>{"a.en.gz", "a.de.gz"}));
  EXPECT_TRUE(r.data.lowercase);
  EXPECT_EQ(r.data.overlong, Overlong::crop);
  EXPECT_EQ(r.model.d_model, 1024);
  EXPECT_EQ(r.model.dropout, 0);
  EXPECT_EQ(r.model.norm, NormPlace::pre);
  const Choice band{"band", {{"width", int64_t{64}}, {"scale", 0.5}, {"causal", true}, {"score", "additive"}}};
  EXPECT_EQ(r.model.attention, (std::vector<Choice>{{"softmax"}, band}));
  EXPECT_EQ(r.model.encoder_attention, (std::vector<Choice>{{"band", {{"width", int64_t{32}}}}}));
  EXPECT_EQ(r.model.cross_attention, (std::vector<Choice>{{"linear"}}));
  EXPECT_EQ(r.model.position, (Choice{"relative", {{"window", int64_t{16}}}}));
  EXPECT_TRUE(r.train.batch_tokens.automatic());
  EXPECT_EQ(r.train.memory.bytes, 3 << 29);
  EXPECT_EQ(r.train.stop, (Period{100'000, Period::Unit::updates}));
  EXPECT_EQ(r.train.save, (Period{0.5, Period::Unit::epochs}));
  EXPECT_EQ(r.train.learning_rate, 5e-3);
  EXPECT_EQ(r.train.metric_options.tokenize, "none");
  EXPECT_EQ(r.train.seed, 9007199254740992u);
  EXPECT_EQ(to_values(parse("")), to_values(Recipe{})) << "an empty recipe is all defaults";
}

TEST(RecipeReader, TellsWhichKeysWereSet) {
  Recipe r;
  EXPECT_EQ(parse_recipe("task = \"tag\"\n[train]\nseed = 2\nclip = 1\n", "t.toml", fields_of(r)).said,
            (std::map<std::string, std::string>{
                {"task", "t.toml:1"}, {"train.seed", "t.toml:3"}, {"train.clip", "t.toml:4"}}));
}

TEST(RecipeReader, EveryMistakeNamesItsLine) {
  const struct {
    const char *toml, *says;
  } cases[] = {
      {"[model]\nd_modle = 3", "t.toml:2: unknown key 'model.d_modle'. Did you mean 'model.d_model'?"},
      {"[train]\nwarmup = \"many\"", "t.toml:2: train.warmup is \"many\", not a whole number"},
      {"[model]\ndropout = 1.5", "t.toml:2: model.dropout = 1.5 is out of range: 0 to below 1"},
      {"task = translate", "t.toml:1: this value is neither a number nor true or false"},
      {"task = \"trnslate\"",
       "t.toml:1: task = 'trnslate' is not known: translate | language | classify | tag | image | graph. Did you mean "
       "'translate'?"},
      {"[modle]\nd_model = 3", "t.toml:2: unknown key 'modle.d_model'. Did you mean 'model.d_model'?"},
      {"[modle]", "t.toml:1: unknown key 'modle'. Did you mean 'model'?"},
      {"model = 3", "t.toml:1: model is a section, not a key\n  fix: write its keys below [model]"},
      {"[[model]]\nd_model=3", "t.toml:1: model is a section, not a key\n  fix: write its keys below [model]"},
      {"[model.d_model]\nx = 1", "t.toml:1: model.d_model is a table, not a whole number"},
      {"d_model = 3", "t.toml:1: unknown key 'd_model'. Did you mean 'model.d_model'?"},
      {"[train]\nd_model = 3", "t.toml:2: unknown key 'train.d_model'. Did you mean 'model.d_model'?"},
      {"[data]\ntrain = \"a.en\"", "t.toml:2: data.train is \"a.en\", not a list of texts"},
      {"[data]\ntrain = [1, 2]", "t.toml:2: data.train is [1, 2], not a list of texts"},
      {"[data]\ntrain = [\"a\", 2]", "t.toml:2: data.train is a mixed list, not a list of texts"},
      {"[train]\nstop = 8000", "t.toml:2: train.stop is 8000, not a period like \"8000u\", \"5e\", \"2Mt\" or \"10m\""},
      {"[train]\nstop = \"8000\"",
       "t.toml:2: train.stop is \"8000\", not a period like \"8000u\", \"5e\", \"2Mt\" or \"10m\""},
      {"[train]\nstop = \"8000 x\"",
       "t.toml:2: train.stop is \"8000 x\", not a period like \"8000u\", \"5e\", \"2Mt\" or \"10m\""},
      {"[train]\nbatch_tokens = 0",
       "t.toml:2: train.batch_tokens is 0, not a whole number from 1 to 1073741824, or \"auto\""},
      {"[train]\nbatch_tokens = \"all\"",
       "t.toml:2: train.batch_tokens is \"all\", not a whole number from 1 to 1073741824, or \"auto\""},
      {"[train]\nmemory = \"4X\"", "t.toml:2: train.memory is \"4X\", not a size like \"512M\" or \"4G\""},
      {"[train]\nseed = -1", "t.toml:2: train.seed = -1 is out of range: 0 to 9007199254740992"},
      {"[train]\nseed = 1979-05-27", "t.toml:2: train.seed is a date, not a whole number"},
      {"[model]\nheads = 4.0", "t.toml:2: model.heads is 4.0, not a whole number"},
      {"[model]\nheads = 4000", "t.toml:2: model.heads = 4000 is out of range: 1 to 1024"},
      {"[tokenizer]\njoint = 1", "t.toml:2: tokenizer.joint is 1, not a bool (true or false)"},
      {"[model]\nattention = { width = 64 }",
       "t.toml:2: model.attention is a table without a kind\n  fix: write it as { kind = \"...\", option = value }"},
      {"[model]\nattention = { kind = \"band\", width = [1] }",
       "t.toml:2: model.attention: option 'width' is a mixed list, not a number, a text, true or false"},
      {"[model]\nattention = 3", "t.toml:2: model.attention is 3, not a name, { kind = ... } or list of these"},
      {"[model]\nposition = [\"a\", \"b\"]",
       "t.toml:2: model.position is [\"a\", \"b\"], not a name or { kind = ... }"},
      {"[model]\nd_model = 1\nd_model = 2", "t.toml:3: 'd_model' is there twice\n  fix: remove one of them"},
      {"[model]\nd_model = 1\n[model]\n", "t.toml:3: 'model' is there twice\n  fix: remove one of them"},
      {"[model\n", "t.toml:1: cannot read this section: expected ']', the line ends"},
      {"a", "t.toml:1: cannot read this line: it ends too early"},
      {"[model]\nx = \"abc", "t.toml:2: cannot read this string: it ends too early"},
      {"[train]\nlearning_rate = nan", "t.toml:2: train.learning_rate = nan is out of range: above 0"},
      {"[train]\nmetric_options = { tokenise = \"13a\" }",
       "t.toml:2: unknown key 'train.metric_options.tokenise'. Did you mean 'train.metric_options.tokenize'?"},
      {"[train]\nmetric_options = 3",
       "t.toml:2: train.metric_options is a section, not a key\n  fix: write its keys below [train.metric_options]"},
      {"[train]\nstop = \"0.0001u\"",
       "t.toml:2: train.stop is \"0.0001u\", not a period like \"8000u\", \"5e\", \"2Mt\" or \"10m\""},
      {"[model]\nheads = 99999999999999999999",
       "t.toml:2: cannot read this decimal integer: '99999999999999999999' is not representable in 64 bits"},
      {"[data]\ntrain = [\n \"a\",\n \"b\"\n]\nxyzzy = 1\nzz = 1",
       "t.toml:6: unknown key 'data.xyzzy'. Known: data.train, data.valid, data.test, data.ratio, data.weights, "
       "data.format, data.columns, data.header, data.delimiter, data.answers, data.encoding, data.lowercase, "
       "data.languages, data.max_length, data.expansion, data.overlong, data.truncate, data.stream, "
       "data.documents, data.alignment"},
      {"[model]\nd_model: 3", "t.toml:2: cannot read this line: expected '=', saw ':'"},
      {"[model]\nd_model = True", "t.toml:2: this value is neither a number nor true or false"},
      {"# one\n\n[=]\nd_model = 3\n[\n", "t.toml:3: cannot read this line: a name must begin with a letter or a digit"},
      {"qqqqqqqqqqqqqq = 1", "t.toml:1: unknown key 'qqqqqqqqqqqqqq'. Known: task"},
      {"[train]\nstop = 8000u", "t.toml:2: this value is neither a number nor true or false"},
  };
  for (const auto& c : cases)
    EXPECT_EQ(without_fix(error_of([&] { parse(c.toml); }, ErrorKind::recipe)), without_fix(c.says)) << c.toml;
}

TEST(RecipeReader, TheFirstMistakeInTheFileCounts) {
  EXPECT_TRUE(error_of([] { parse("[train]\nzeta = 1\n[data]\nalpha = 1\n"); }, ErrorKind::recipe)
                  .starts_with("t.toml:2: unknown key 'train.zeta'"));
}

TEST(RecipeReader, SettingsGoOnTop) {
  EXPECT_EQ(with("train.stop=8000u").train.stop.count, 8000);
  EXPECT_EQ(with(" model.norm = pre ").model.norm, NormPlace::pre);
  EXPECT_EQ(with("tokenizer.kind=\"char\"").tokenizer.kind, text::TokenizerKind::character);
  EXPECT_EQ(with("data.train=[\"a\", \"b=c\"]").data.train, (std::vector<std::string>{"a", "b=c"}));
  EXPECT_EQ(with("model.dropout=0").model.dropout, 0);
  EXPECT_EQ(with("data.lowercase=true").data.lowercase, true);
  EXPECT_EQ(with("model.attention=softmax").model.attention.size(), 1u);
  EXPECT_EQ(with("model.attention=[\"softmax\", {kind=\"band\", width=64}]").model.attention[1].kind, "band");
  EXPECT_EQ(with("train.metric_options.tokenize=none").train.metric_options.tokenize, "none");
  const struct {
    const char *setting, *says;
  } cases[] = {
      {"model.d_modle=3", "--set: unknown key 'model.d_modle'. Did you mean 'model.d_model'?"},
      {"model.d_model", "--set: 'model.d_model' is not key=value\n  fix: for example --set model.d_model=256"},
      {"=3", "--set: '=3' is not key=value\n  fix: for example --set model.d_model=256"},
      {"model.d_model=x", "--set: model.d_model is \"x\", not a whole number"},
      {"model.d_model=0", "--set: model.d_model = 0 is out of range: 1 to 65536"},
      {"model.d_model=", "--set: model.d_model is \"\", not a whole number"},
      {"model.d_model=1\nx=2", "--set: model.d_model is \"1\\nx=2\", not a whole number"},
      {"model=3", "--set: model is a section, not a key\n  fix: write its keys below [model]"},
      {"model.norm=true", "--set: model.norm is true, not a text"},
      {"data.train=[\"a\"", "--set: cannot read this array: it ends too early"},
      {"train.seed=\"1", "--set: cannot read this string: it ends too early"},
  };
  for (const auto& c : cases)
    EXPECT_EQ(without_fix(error_of([&] { with(c.setting); }, ErrorKind::recipe)), without_fix(c.says));
}

TEST(RecipeReader, FilesThatCannotBeReadAreRecipeErrors) {
  const TempFolder folder;
  const std::string path = folder / "t.toml";
  EXPECT_EQ(error_of([&] { load_recipe(path); }, ErrorKind::recipe),
            "cannot read " + path + ": No such file or directory\n  fix: check the name");
  error_of([&] { load_recipe(folder.path()); }, ErrorKind::recipe);
  write_file(path, std::string(2 << 20, '#'));
  EXPECT_EQ(error_of([&] { load_recipe(path); }, ErrorKind::recipe), path + " has 2.0 MB: too large to be a recipe");
  write_file(path, "[data]\ntrain = [\"a\", \"b\"]\n[train]\nwarmup = 5\n");
  EXPECT_EQ(load_recipe(path, {"train.warmup=7", "model.d_model=256"}).train.warmup, 7);
  EXPECT_EQ(without_fix(error_of([&] { load_recipe(path, {"model.heads=3"}); }, ErrorKind::recipe)),
            "--set: model.d_model = 128 is not a multiple of model.heads = 3");
  EXPECT_EQ(beside_recipe("runs/a/t.toml", "a.en"), "runs/a/a.en");
  EXPECT_EQ(beside_recipe("t.toml", "a.en"), "a.en");
  EXPECT_EQ(beside_recipe("runs/t.toml", "/data/a.en"), "/data/a.en");
}

TEST(RecipeReader, RandomDamageNeverCrashes) {
  const std::string good = recipe_text(Recipe{});
  Random random(11);
  for (int round = 0; round < 500; ++round) {
    std::string text = good.substr(random.below(good.size() / 2), 400);
    for (auto n = random.below(6); n > 0; --n)
      text[random.below(text.size())] = "[]{}=\"'#.,0aT\n\\\xff"[random.below(16)];
    try {
      parse(text);
    } catch (const Error& e) {
      ASSERT_EQ(e.kind(), ErrorKind::recipe) << e.what();
      ASSERT_TRUE(std::string(e.what()).starts_with("t.toml:")) << e.what();
    }
  }
  const std::string deep(100'000, '[');
  EXPECT_TRUE(error_of([&] { parse("a = " + deep); }, ErrorKind::recipe).starts_with("t.toml:1: "));
}

}  // namespace
}  // namespace attune
