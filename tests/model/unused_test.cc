// Settings that would change nothing are refused when a run begins, with their line.
#include "model/unused.h"

#include <gtest/gtest.h>

#include "checks.h"
#include "model/family.h"

namespace attune {
namespace {

std::string unused(const std::string& toml, const std::vector<std::string>& sets = {}) {
  return without_fix(error_of(
      [&] {
        const Recipe r = read_recipe(toml, "r.toml", sets);
        with_places(r.places, [&] { refuse_unused(r); });
      },
      ErrorKind::recipe));
}

TEST(Unused, IsRefusedWithItsLine) {
  const struct {
    const char *task, *model, *key, *value, *why;
  } cases[] = {
      {"classify", "", "model.decoder", "nonsense", "this model has no decoder"},
      {"classify", "", "model.target_input", "linear", "this model has no decoder"},
      {"tag", "", "model.decoder_position", "rope", "this model has no decoder"},
      {"language", "", "model.encoder", "bag", "this model has no encoder"},
      {"language", "", "model.cross_attention", "linear", "no decoder of this model reads an encoder"},
      {"classify", "", "model.cross_heads", "2", "no decoder of this model reads an encoder"},
      {"classify", "bag", "model.d_model", "64", "model.kind = \"bag\" has no use for it"},
      {"classify", "bag", "model.pool", "first", "model.kind = \"bag\" has no use for it"},
      {"classify", "bag", "model.input", "linear", "model.kind = \"bag\" has no use for it"},
      {"classify", "bag", "model.residual", "false", "model.kind = \"bag\" has no use for it"},
      {"classify", "bag", "train.vectors", "glove.txt", "model.kind = \"bag\" has no use for it"},
      {"translate", "rnn", "model.heads", "8", "model.kind = \"rnn\" has no use for it"},
      {"translate", "rnn", "train.guide.weight", "1", "model.kind = \"rnn\" has no use for it"},
      {"translate", "rnn", "train.recompute", "true", "model.kind = \"rnn\" has no use for it"},
      {"classify", "", "model.ngrams", "3", "only model.kind = \"bag\" counts words in a row"},
      {"tag", "", "model.pool", "first", "this task does not make one vector of a text"},
      {"translate", "", "model.pool", "first", "this task does not make one vector of a text"},
      {"classify", "", "model.tie", "none", "this model writes nothing"},
      {"tag", "", "train.sampling.share", "0.5", "this model writes nothing"},
      {"classify", "", "train.target_noise", "0.5", "this model writes nothing"},
      {"translate", "", "train.mask", "0.5", "no words are missing here"},
      {"classify", "", "data.expansion", "3", "it is for translations"},
      {"language", "", "train.metric_options.tokenize", "intl", "it is for translations"},
      {"translate", "", "train.label_weights", "root", "this task gives no labels"},
      {"language", "", "data.answers", "2", "this task gives no labels"},
  };
  for (const auto& c : cases) {
    const std::string task = std::string("task = \"") + c.task + "\"\n";
    const std::string kind = c.model[0] ? std::string("[model]\nkind = \"") + c.model + "\"\n" : "";
    const std::string said = unused(task + kind, {std::string(c.key) + "=" + c.value});
    EXPECT_TRUE(said.starts_with(std::string("--set: ") + c.key + " = ") && said.ends_with(c.why))
        << c.key << ": " << said;
    EXPECT_EQ(unused(task + kind), "no error") << c.task << c.model;
  }
  EXPECT_EQ(unused("task = \"classify\"\n[model]\ndecoder_heads = 2\n"),
            "r.toml:3: model.decoder_heads = 2: this model has no decoder");
}

/// A mixed model: what is said of the other side counts.
TEST(Unused, GoesBySides) {
  const std::string mixed = "task = \"translate\"\n[model]\nencoder = \"rnn\"\n";
  EXPECT_EQ(unused(mixed, {"model.heads=8", "model.decoder_heads=2"}), "no error");
  EXPECT_EQ(unused(mixed, {"model.encoder_heads=2"}),
            "--set: model.encoder_heads = 2: model.encoder = \"rnn\" has no use for it");
}

/// A recipe that was written out has every key; a file is not to blame for a family that the command line chose.
TEST(Unused, UsualValuesAndOtherFamiliesPass) {
  for (const char* task : {"translate", "language", "classify", "tag", "image", "graph"}) {
    const std::string text = recipe_text(read_recipe(std::string("task = \"") + task + "\"\n", "r.toml"));
    EXPECT_EQ(unused(text), "no error") << task;
  }
  EXPECT_EQ(unused("task = \"classify\"\n[model]\nkind = \"bag\"\npool = \"bag\"\n"), "no error");
  const std::string file = "task = \"classify\"\n[model]\nheads = 8\nd_model = 64\nnorm = \"pre\"\n";
  EXPECT_EQ(unused(file, {"model.shape=bag"}), "no error");
  EXPECT_EQ(unused(file, {"model.kind=rnn"}), "no error");
  EXPECT_EQ(unused(file, {"model.kind=rnn", "model.d_ff=64"}),
            "--set: model.d_ff = 64: model.kind = \"rnn\" has no use for it");
}

}  // namespace
}  // namespace attune
