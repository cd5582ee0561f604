// Trainings of language models small enough for tests.
#pragma once
#include "run/small_run.h"

namespace attune::test {

/// Lines of words that follow each other in a fixed order, from a random one on: easy to go on with.
inline std::string rhymes(int lines, unsigned seed) {
  const std::vector<std::string> words{"one", "two", "buckle", "my", "shoe", "three", "four", "knock"};
  std::mt19937 random(seed);
  std::string text;
  for (int i = 0; i < lines; ++i) {
    const size_t first = random() % words.size(), count = random() % 6;
    for (size_t j = 0; j < count; ++j) text += (j ? " " : "") + words[(first + j) % words.size()];
    text += "\n";  // some are empty
  }
  return text;
}

/// A folder with a recipe and its text: about 6 updates an epoch, in 4 shards each, 22 updates in all.
struct LanguageRun : SmallRun {
  LanguageRun() {
    put(folder / "train.txt", rhymes(500, 1));
    put(folder / "valid.txt.gz", gzipped(rhymes(60, 2)));
    put(recipe(), R"(task = "language"
[data]
train = ["train.txt"]
valid = ["valid.txt.gz"]
stream = true
max_length = 32
[tokenizer]
kind = "char"
[model]
decoder_layers = 1
d_model = 16
d_ff = 32
heads = 2
dropout = 0.1
norm = "pre"
[train]
batch_tokens = 1024
learning_rate = 1e-2
warmup = 5
stop = "22u"
save = "5u"
validate = "6u"
keep = 3
average = 3
)");
  }
};

}  // namespace attune::test
