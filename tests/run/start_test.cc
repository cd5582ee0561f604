// train.start, start_parts and freeze: what is taken of another model, what stays as it is, and that a run goes on
// without the model it began with.
#include <gtest/gtest.h>

#include "attune/model.h"
#include "base/files.h"
#include "checks.h"
#include "run/small_run.h"
#include "train/learner.h"

namespace attune::test {
namespace {

using Reason = TrainingOutcome::Reason;
using Values = std::map<std::string, std::vector<float>>;

Values values(const std::string& folder, const char* file = "/model.safetensors") {
  const SafetensorsFile f(folder + file);
  Values all;
  for (const StoredTensor& t : f.tensors()) {
    all[t.name].resize(static_cast<size_t>(t.size()));
    f.read(t, all[t.name].data());
  }
  return all;
}

struct Start : testing::Test {
  SmallRun run;
  std::string start = run.folder / "first", set = "train.start=" + start;
  ~Start() override { inject_gradient_fault({}); }

  /// Trains the model to start from, and takes the [tokenizer] out of the recipe.
  void prepare(const Sets& sets = {}) {
    run.train("first", sets);
    edit("[tokenizer]\nkind = \"word\"\n", "");
  }
  void edit(const std::string& from, const std::string& to) const {
    std::string text = slurp(run.recipe());
    const size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos);
    put(run.recipe(), text.replace(at, from.size(), to));
  }
  std::string at(const std::string& out, int64_t update) const { return checkpoint_path(run.folder / out, update); }
  std::string error(const Sets& sets, ErrorKind kind = ErrorKind::recipe) const {
    const std::string e = error_of([&] { run.train("wrong", sets); }, kind);
    EXPECT_FALSE(std::filesystem::exists(run.folder / "wrong")) << e;
    return e;
  }
};

void expect_says(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << text;
}

TEST_F(Start, BeginsWithTheWeightsAndTheTokenizer) {
  prepare();
  put_letters(run.folder / "train", 300, 6, 7);
  const auto r = run.train("out", {set}, 3);
  expect_says(r.log, "started from " + start + ": 43 of 43 parameters taken, 0 frozen");
  EXPECT_EQ(values(start), values(at("out", 0)));
  EXPECT_EQ(slurp(start + "/tokenizer/vocabulary.txt"), slurp(at("out", 0) + "/tokenizer/vocabulary.txt"));
  EXPECT_EQ(slurp(at("out", 3) + "/recipe.toml").find("\n[tokenizer]\n"), std::string::npos);
  EXPECT_TRUE(values(start) != values(at("out", 3)));
  for (const auto& [name, moments] : values(at("out", 0), "/optimizer.safetensors"))
    EXPECT_EQ(moments, std::vector<float>(moments.size(), 0.0f)) << name;
  expect_says(slurp(at("out", 3) + "/trainer.json"), "\"start_hash\": \"xxh3:");
  EXPECT_EQ(describe_model(at("out", 3)).tokenizer, "word") << "though the recipe does not say";
  // A checkpoint will do as well, and what the recipe wrote down is a recipe.
  run.train("again", {"train.start=" + at("out", 3)}, 1);
  EXPECT_EQ(values(at("out", 3)), values(at("again", 0)));
}

TEST_F(Start, GoesOnWithoutItAndSameBits) {
  for (const char* more : {"train.ema=0.9", "train.freeze=[\"encoder\", \"embedding\"]"}) {
    if (!std::filesystem::exists(start)) prepare();
    const std::string name = std::string(more).substr(6, 3);
    const Sets sets{set, more};
    run.train(name + "whole", sets);
    run.train(name + "pieces", sets, 1);
    move_file(start, start + "-away");
    run.train(name + "pieces", sets, 9, 2);
    run.train(name + "pieces", {"train.start=" + start + "-away", more}, 13);
    run.train(name + "pieces", sets);
    expect_same_bits(run.bits(name + "whole"), run.bits(name + "pieces"));
    move_file(start + "-away", start);
  }
}

TEST_F(Start, AnotherStartIsNoWayToGoOn) {
  prepare();
  run.train("other", {set}, 4);
  run.train("out", {set}, 3);
  const auto error = [&](const Sets& sets) { return error_of([&] { run.train("out", sets); }, ErrorKind::recipe); };
  expect_says(error({"train.start=" + at("other", 4)}), "is not the model that the run in");
  expect_says(error({}), "train.start was");
  expect_says(error({set, "train.freeze=[\"encoder\"]"}), "train.freeze was [], is [\"encoder\"]");
}

/// Back to the beginning means back to what the run started from, wherever that is by then.
TEST_F(Start, RollsBackToIt) {
  prepare();
  const Sets sets{set, "train.validate=22u", "train.save=30m", "train.average=1"};
  inject_gradient_fault({4, 100, "decoder.0.self.key.weight", 0.75});
  run.train("back", sets, 5);
  move_file(start, start + "-away");
  EXPECT_EQ(run.train("back", sets).outcome.reason, Reason::finished);
  move_file(start + "-away", start);
  inject_gradient_fault({});
  run.train("half", {set, "train.validate=22u", "train.save=30m", "train.average=1", "train.learning_rate=5e-3"});
  EXPECT_EQ(values(at("back", 22)), values(at("half", 22)));
}

TEST_F(Start, RowsOfAnotherVocabularyAreMatchedByTheirPieces) {
  run.train("first");
  std::string text = "z a z\nb y a\n";
  for (int i = 0; i < 40; ++i) text += "z y x b a c\n";
  put(run.folder / "train.in", text);
  put(run.folder / "train.out", text);
  const auto r = run.train("out", {set, "train.batch_tokens=256"}, 1);
  expect_says(r.log, "embedding.weight: 7 of 10 pieces matched by their text, the others keep first values");
  const auto lines = [](const std::string& path) {
    std::istringstream in(slurp(path + "/tokenizer/vocabulary.txt"));
    std::vector<std::string> pieces;
    for (std::string line; std::getline(in, line);)
      if (line.find('=') == std::string::npos && line.find("attune") == std::string::npos) pieces.push_back(line);
    return pieces;
  };
  const auto before = lines(start), now = lines(at("out", 0));
  Values old = values(start), taken = values(at("out", 0));
  const std::vector<float> a = old["embedding.weight"], b = taken["embedding.weight"];
  int same = 0;
  for (size_t i = 0; i < now.size(); ++i)
    for (size_t j = 0; j < before.size(); ++j) {
      const bool rows = std::equal(b.begin() + static_cast<std::ptrdiff_t>(16 * i),
                                   b.begin() + static_cast<std::ptrdiff_t>(16 * i + 16),
                                   a.begin() + static_cast<std::ptrdiff_t>(16 * j));
      EXPECT_EQ(rows, now[i] == before[j]) << now[i] << " " << before[j];
      same += rows;
    }
  EXPECT_EQ(same, 7);
  old.erase("embedding.weight");
  taken.erase("embedding.weight");
  EXPECT_EQ(old, taken);
}

TEST_F(Start, TakesThePartsNamed) {
  prepare();
  run.train("fresh", {"train.seed=1", "tokenizer.kind=word"}, 1);
  const auto r = run.train(
      "out", {set, "train.start_parts=[\"encoder\", \"decoder.0.cross\"]", "model.d_ff=16", "model.decoder_layers=2"},
      1);
  expect_says(r.log, " of 69 parameters taken");
  const Values old = values(start), now = values(at("out", 0));
  for (const auto& [name, x] : now) {
    const auto found = old.find(name);
    const bool begins_alike = name.find("norm") != std::string::npos || name.find("bias") != std::string::npos;
    if (found == old.end() || begins_alike) continue;
    EXPECT_EQ(x == found->second, name.starts_with("encoder.") || name.starts_with("decoder.0.cross.")) << name;
  }
}

TEST_F(Start, Messages) {
  prepare();
  expect_says(error({"train.start=" + run.folder / "nowhere"}, ErrorKind::model), "is not a model folder");
  expect_says(error({"train.start_parts=[\"encoder\"]"}), "train.start_parts names what to take");
  const std::string shape = error({set, "model.d_ff=32"});
  expect_says(shape,
              "train.start: the model in " + start +
                  " is not the recipe's: encoder.0.feed_forward.inner.weight is [32, 16] here and [16, 16] there; "
                  "encoder.0.feed_forward.inner.bias is [32] here and [16] there; ");
  expect_says(shape, "; and 3 more\n  fix: make [model] and data.max_length those of");
  expect_says(error({set, "model.encoder_layers=2"}), "encoder.1.self.query.weight is not there");
  expect_says(error({set, "model.decoder_layers=2", "model.encoder_layers=2"}), "; and ");
  expect_says(error({set, "train.start_parts=[\"encodr\"]"}),
              "train.start_parts: the model has no part \"encodr\"\n"
              "  fix: use some of decoder, decoder.0, embedding, encoder, encoder.0");
  expect_says(error({set, "model.encoder_layers=2", "train.start_parts=[\"encoder.1\"]"}), "has no part \"encoder.1\"");
  expect_says(error({set, "train.freeze=[\"enc\"]"}), "train.freeze: the model has no part \"enc\"");
  expect_says(error({set, "train.freeze=[\"encoder\", \"decoder\", \"embedding\"]"}), "leaves nothing to train");
  expect_says(error({set, "train.freeze=[\"encoder.0.self.query\"]"}), "freeze all of \"encoder.0.self\", or none");
  expect_says(error({set, "data.lowercase=true"}), "keeps capitals");
  put(start + "/model.safetensors", "damaged");
  expect_says(error({set}, ErrorKind::model), "train.start: ");
}

TEST_F(Start, FrozenPartsKeepTheirBitsAndNothingIsRememberedOfThem) {
  prepare();
  for (const char* optimizer : {"adam", "adamw", "adafactor", "sgd"}) {
    const std::string out = std::string("out-") + optimizer;
    const auto r = run.train(out, {set, "train.freeze=[\"encoder\", \"embedding\"]", "train.weight_decay=0.1",
                                   "train.clip=1.0", "train.ema=0.9", std::string("train.optimizer=") + optimizer});
    expect_says(r.log, "43 of 43 parameters taken, 17 frozen");
    const Values old = values(start), now = values(run.folder / out);
    for (const auto& [name, x] : now)
      EXPECT_EQ(x == old.at(name), name.starts_with("encoder.") || name.starts_with("embedding.")) << out << name;
    for (const auto& [name, x] : values(checkpoints(run.folder / out).back().path, "/optimizer.safetensors"))
      EXPECT_TRUE(name.ends_with(".trained") || name.starts_with("decoder.")) << name;
  }
  expect_says(run.train("alone", {"train.freeze=[\"encoder\"]", "tokenizer.kind=word"}, 1).log,
              "16 of 43 parameters are frozen");
}

}  // namespace
}  // namespace attune::test
