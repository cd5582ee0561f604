// A small task of labels, numbers or tags to train in tests: texts of letters.
#pragma once
#include <functional>
#include <map>
#include <random>

#include "attune/test.h"
#include "base/text.h"
#include "run/small_run.h"

namespace attune::test {

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
norm = "post"
)" + (more.find("position =") == std::string::npos ? "position = \"sinusoidal\"\n" : "") +
                                    more + R"(
[train]
batch_tokens = 512
schedule = "inverse-sqrt"
learning_rate = 1e-2
warmup = 10
clip = 0
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

inline std::string first_label(const std::string& letters) {
  return std::string(letters.find('a') == letters.npos ? "without a" : "with a") + "\t" + letters + "\n";
}

inline std::vector<std::string> column(const std::string& file, size_t which) {
  std::vector<std::string> all;
  for (const std::string& line : split(slurp(file), '\n')) {
    if (line.empty()) continue;
    const size_t tab = line.find('\t');
    all.push_back(which == 0 ? line.substr(0, tab) : line.substr(tab + 1));
  }
  return all;
}

}  // namespace attune::test
