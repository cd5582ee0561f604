// Models that say something about texts, from files to scores: labels, several labels, numbers, a label for each word.
#include <gtest/gtest.h>

#include <random>

#include "api/small_run.h"
#include "attune/test.h"
#include "checks.h"

namespace attune::test {
namespace {

/// Texts of letters; what is asked of them is a function of the letters.
struct AnswerRun {
  TempFolder folder{memory_folder()};
  std::string task, more;

  using Ask = std::function<std::string(const std::string&)>;
  AnswerRun(std::string t, const Ask& line, std::string m = "") : task(std::move(t)), more(std::move(m)) {
    std::mt19937 random(5);
    for (const char* part : {"train", "valid", "test"}) {
      std::string text;
      for (int i = 0; i < (std::string(part) == "train" ? 500 : 60); ++i) {
        std::string letters;
        for (unsigned n = 2 + random() % 6; n > 0; --n)
          letters += std::string(1, static_cast<char>('a' + random() % 6)) + (n > 1 ? " " : "");
        text += line(letters);
      }
      put(folder / (std::string(part) + ".txt"), text);
    }
    put(folder / "recipe.toml", "task = \"" + task + R"("
[data]
train = ["train.txt"]
valid = ["valid.txt"]
test = ["test.txt"]
[tokenizer]
kind = "word"
[model]
encoder_layers = 1
d_model = 32
d_ff = 32
heads = 2
dropout = 0.0
)" + more + R"(
[train]
batch_tokens = 512
learning_rate = 1e-2
warmup = 10
stop = "120u"
save = "40u"
validate = "40u"
average = 1
)");
  }
  std::map<std::string, double> test(const std::string& out, const Sets& sets = {}, int threads = 1) const {
    Trainer({.recipe = folder / "recipe.toml", .out = folder / out, .sets = sets, .threads = threads}).run();
    std::map<std::string, double> scores;
    for (const MetricResult& r : test_model(folder / out, {}, {}, threads).scores) scores[r.name] = r.score;
    return scores;
  }
};

std::string first_label(const std::string& letters) {
  return std::string(letters.find('a') == letters.npos ? "without a" : "with a") + "\t" + letters + "\n";
}

TEST(Answers, LabelsAreLearned) {
  const AnswerRun run("classify", first_label);
  for (const char* pool : {"mean", "first", "max", "attention"}) {
    const auto scores = run.test(pool, {std::string("model.pool=") + pool});
    EXPECT_GE(scores.at("accuracy"), 95) << pool;
    EXPECT_GE(scores.at("f1"), 90) << pool;
  }
}

TEST(Answers, TagsAreLearned) {
  const Sets kTags{"data.columns=[1,2]", "model.encoder_position=rope", "train.stop=250u"};
  // The label of a letter depends on the one before it.
  const AnswerRun run(
      "tag",
      [](const std::string& letters) {
        std::string text, before = "none";
        for (const char c : letters) {
          if (c == ' ') continue;
          text += std::string(1, c) + "\t" + (before == "a" ? "B-after" : "O") + "\n";
          before = std::string(1, c);
        }
        return text + "\n";
      },
      "head = { kind = \"tags\", crf = true }");
  const auto scores = run.test("crf", kTags);
  EXPECT_GE(scores.at("accuracy"), 97);
  EXPECT_GE(scores.at("span-f1"), 95);
  EXPECT_GE(run.test("plain", {kTags[0], kTags[1], kTags[2], "model.head=tags"}).at("accuracy"), 97);
}

}  // namespace
}  // namespace attune::test
