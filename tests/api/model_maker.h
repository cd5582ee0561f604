// A model folder of random weights, for tests of what uses one.
#pragma once
#include <string>
#include <vector>

#include "checkpoint/model_folder.h"
#include "inference/model_files.h"
#include "run_program.h"
#include "text/trainer.h"

namespace attune::test {

struct ModelMaker {
  bool joint = true;
  int64_t decoder_layers = 2;
  std::vector<std::string> tests = {};  // data.test
  std::string position = "sinusoidal";
  int64_t max_length = 50;
  uint64_t seed = 3;
};

inline text::Tokenizer letters_and_words(int64_t size) {
  const std::vector<std::string> lines{"a dog runs in the park .", "two dogs run to the lake", "the cat sees a dog",
                                       "ein hund rennt im park .", "die katze sieht den hund", "zwei hunde am see"};
  size_t at = 0;
  text::TokenizerOptions options;
  options.size = size;
  return text::train_tokenizer(
             [&](std::string& line) {
               if (at == lines.size()) return false;
               line = lines[at++];
               return true;
             },
             options)
      .tokenizer;
}

/// Writes the folder and returns its name.
inline std::string make_model(const TempFolder& dir, const ModelMaker& maker = {}) {
  Recipe r;
  r.data.train = {"train.en", "train.de"};
  r.data.test = maker.tests;
  r.data.max_length = maker.max_length;
  r.tokenizer.joint = maker.joint;
  r.model.tie = maker.joint ? Tie::all : Tie::output;
  r.model.encoder_layers = 1;
  r.model.decoder_layers = maker.decoder_layers;
  r.model.d_model = 32;
  r.model.d_ff = 32;
  r.model.position = {maker.position};
  Tokenizers t;
  t.source = std::make_shared<const text::Tokenizer>(letters_and_words(60));
  t.target = maker.joint ? t.source : std::make_shared<const text::Tokenizer>(letters_and_words(50));
  Model model(r.model, sizes_of(r, t));
  model.initialize(maker.seed);
  for (int64_t i = 0; i < model.parameters().size(); ++i) model.parameters().data()[i] *= 1.3f;
  t.save(dir / "tokenizer");
  ModelContents contents;
  contents.weights = tensors_of(model.parameters());
  contents.recipe = recipe_text(r);
  contents.tokenizer = dir / "tokenizer";
  save_model(dir / "model", contents);
  return dir / "model";
}

}  // namespace attune::test
