// Trainings small enough for tests: a corpus of letters to copy, a tiny model, and what they leave behind.
#pragma once
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "attune/trainer.h"
#include "checkpoint/model_folder.h"
#include "data/files.h"

namespace attune::test {

using Sets = std::vector<std::string>;

/// Lines of letters, 1 to `longest` each; both sides are the same.
inline void put_letters(const std::string& stem, int lines, int longest, unsigned seed) {
  std::mt19937 random(seed);
  std::string text;
  for (int i = 0; i < lines; ++i) {
    for (unsigned n = 1 + random() % static_cast<unsigned>(longest); n > 0; --n)
      text += std::string(1, static_cast<char>('a' + random() % 8)) + (n > 1 ? " " : "\n");
  }
  put(stem + ".in", text);
  put(stem + ".out", text);
}

/// A folder with a recipe and its corpus: 4 updates an epoch, in 4 shards each, 22 updates in all.
struct SmallRun {
  TempFolder folder{memory_folder()};

  SmallRun() {
    put_letters(folder / "train", 600, 10, 1);
    put_letters(folder / "valid", 20, 10, 2);
    put(recipe(), R"(task = "translate"
[data]
train = ["train.in", "train.out"]
valid = ["valid.in", "valid.out"]
[tokenizer]
kind = "word"
[model]
encoder_layers = 1
decoder_layers = 1
d_model = 16
d_ff = 16
heads = 2
dropout = 0.1
norm = "post"
position = "sinusoidal"
[train]
batch_tokens = 1024
schedule = "inverse-sqrt"
learning_rate = 1e-2
warmup = 5
clip = 0
stop = "22u"
save = "5u"
validate = "6u"
keep = 3
average = 3
)");
  }
  std::string recipe() const { return folder / "recipe.toml"; }

  struct Result {
    TrainingOutcome outcome;
    std::string log;  // all lines
  };
  /// Trains in `out`; `stop_at`: someone asks for a stop in that update.
  Result train(const std::string& out, const Sets& sets = {}, int64_t stop_at = 0, int threads = 1,
               bool fresh = false) const {
    Trainer trainer({.recipe = recipe(), .out = folder / out, .sets = sets, .fresh = fresh, .threads = threads});
    Result result;
    TrainingEvents events;
    events.on_log = [&](const std::string& line) { result.log += line + "\n"; };
    events.on_update = [&](const TrainingStatus& s) {
      if (s.update == stop_at) trainer.stop();
    };
    result.outcome = trainer.run(events);
    return result;
  }

  /// Everything that must not depend on how often a run was interrupted: name -> content.
  std::map<std::string, std::string> bits(const std::string& out) const {
    const std::string dir = folder / out;
    std::map<std::string, std::string> all;
    for (const char* name : {"model.safetensors", "recipe.toml", "manifest.json", "tokenizer/vocabulary.txt"})
      all[name] = slurp(dir + "/" + name);
    const auto found = checkpoints(dir);
    EXPECT_FALSE(found.empty());
    if (found.empty()) return all;
    for (const char* name : {"model.safetensors", "optimizer.safetensors"})
      all[std::string("last checkpoint ") + name] = slurp(found.back().path + "/" + name);
    auto state = nlohmann::json::parse(slurp(found.back().path + "/trainer.json"));
    state.erase("seconds");
    all["state"] = state.dump(1);
    return all;
  }
};

/// Names what differs instead of printing weights.
inline void expect_same_bits(const std::map<std::string, std::string>& a, const std::map<std::string, std::string>& b) {
  for (const auto& [name, content] : a) {
    EXPECT_FALSE(content.empty()) << name;
    if (name == "state" || name == "recipe.toml")
      EXPECT_EQ(content, b.at(name));
    else
      EXPECT_TRUE(content == b.at(name)) << name << " differs";
  }
}

}  // namespace attune::test
