// Model folders as training writes them, only tiny.
#pragma once
#include <filesystem>
#include <string>

#include "base/files.h"
#include "checkpoint/model_folder.h"
#include "text/tokenizer.h"

namespace attune::test {

struct SmallModel {
  int64_t layers = 1, d_model = 4;
  float value = 1;  // of all weights
  std::string letters = "abc";
  int64_t step = 100;
  std::string more = "";  // recipe text after [model]
};

/// Hands `save` the contents of a model whose tokenizer is made in `scratch`.
template <class Save>
void with_contents(const SmallModel& m, const std::string& scratch, Save save) {
  std::vector<std::string> pieces{std::string(text::kSpacePiece)};
  for (const char c : m.letters) pieces.push_back(std::string(1, c));
  const int64_t vocabulary = std::ssize(pieces) + text::kMarks;
  text::Tokenizer(text::Vocabulary(text::TokenizerKind::character, false, pieces)).save(scratch + "/tokenizer");
  Weights w;
  const auto add = [&](const std::string& name, std::vector<int64_t> dims) {
    int64_t size = 1;
    for (const int64_t d : dims) size *= d;
    w.by_name[name] = {std::move(dims), std::vector<float>(static_cast<size_t>(size), m.value)};
  };
  add("embedding.weight", {vocabulary, m.d_model});
  for (int64_t l = 0; l < m.layers; ++l) add("encoder." + std::to_string(l) + ".self.query.bias", {m.d_model});
  ModelContents c;
  c.weights = tensors_of(w);
  c.recipe =
      "task = \"translate\"\n[data]\ntrain = [\"a.en\", \"a.de\"]\n[tokenizer]\nkind = \"char\"\n[model]\n"
      "encoder_layers = " +
      std::to_string(m.layers) + "\ndecoder_layers = 1\nd_model = " + std::to_string(m.d_model) + "\nheads = 2\n" +
      m.more;
  c.tokenizer = scratch + "/tokenizer";
  c.metadata = {{"attune", "test"}};
  c.trainer = State();
  c.trainer->set("step", m.step);
  save(c);
}

inline std::string put_model(const std::string& dir, const SmallModel& m = {}) {
  std::filesystem::create_directories(dir);
  with_contents(m, dir + "-scratch", [&](const ModelContents& c) { save_model(dir, c); });
  return dir;
}
/// Each checkpoint's weights are its step.
inline std::string put_run(const std::string& dir, const std::vector<int64_t>& steps, SmallModel m = {}) {
  for (const int64_t step : steps) {
    m.step = step;
    m.value = static_cast<float>(step);
    with_contents(m, dir + "-scratch", [&](const ModelContents& c) { save_checkpoint(dir, step, c); });
  }
  return dir;
}

}  // namespace attune::test
