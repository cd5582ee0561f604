// Recipes for labels of texts and of words: their text, and what to tell.
#include <fmt/core.h>

#include <algorithm>

#include "advise/recipe_layout.h"
#include "base/error.h"
#include "base/text.h"
#include "checkpoint/safetensors.h"
#include "data/corpus/answers.h"

namespace attune {

void write_answers(SizedRecipe& sized, NewRecipe& n) {
  const Recipe& r = sized.recipe;
  const bool tag = r.task == Task::tag;
  RecipeLayout w(sized, n);
  n.text = fmt::format(
      "# {} of {} texts. Train it:  attune train {}\n"
      "# What is not said here has its default; `attune info recipe` tells every key there is.\n\n",
      tag ? "Labels of the words" : "Labels", thousands(n.pairs), shown_name(n.file));
  w.key("task", tag ? "a label for each word" : "a label for each text");
  w.section("data");
  w.key("train", "relative to this file");
  if (!r.data.valid.empty())
    w.key("valid", "to see whether it learns, never trained on");
  else
    w.example(tag ? "valid = [\"valid.conll\"]" : "valid = [\"valid.tsv\"]", "none given: 2 % of train are held out");
  if (!r.data.test.empty()) w.key("test", "for `attune test`");
  w.key("format", tag ? "a word a line, an empty line between sentences" : "columns of a line");
  if (!r.data.columns.texts.empty())
    w.key("columns", w.has_reason("data.columns") ? "" : tag ? "word, label" : "texts, then the label");
  if (r.data.header) w.key("header");
  for (const char* key : {"delimiter", "encoding"})
    if (w.has_reason(std::string("data.") + key)) w.key(key);
  for (const char* key : {"max_length", "overlong"}) w.key(key);
  w.section("tokenizer");
  for (const char* key : {"kind", "size", "lowercase"}) w.key(key);
  w.section("model");
  for (const char* key :
       {"encoder_layers", "d_model", "d_ff", "heads", "dropout", "word_dropout", "norm", "activation", "position"})
    w.key(key);
  for (const char* key : {"attention", "pool", "head"})
    if (w.has_reason(std::string("model.") + key)) w.key(key);
  w.section("train");
  for (const char* key : {"batch_tokens", "shards", "slices", "stop", "schedule", "learning_rate", "warmup",
                          "weight_decay", "clip", "validate", "metric", "average"})
    w.key(key);
  if (w.has_reason("train.label_smoothing")) w.key("label_smoothing");
}

void tell_answers(const SizedRecipe& sized, const CorpusLook& look, const text::Labels& labels, int threads,
                  NewRecipe& n) {
  const Recipe& r = sized.recipe;
  auto& notes = n.notes;
  constexpr int32_t kShown = 8;
  std::vector<std::string> names;
  for (int32_t i = 0; i < std::min(labels.size(), kShown); ++i) names.push_back(labels.name(i));
  const bool numbers = r.model.head.kind == "number";
  notes.push_back(fmt::format("{} texts to train on, {} words; {}", thousands(n.pairs), thousands(n.source_words),
                              numbers ? "the answers are numbers"
                                      : fmt::format("{} labels: {}{}", thousands(labels.size()), join(names, ", "),
                                                    labels.size() > kShown ? ", ..." : "")));
  if (r.task == Task::classify && 2 * labels.size() > n.pairs && n.pairs > 20)
    notes.push_back("nearly every text has a label of its own: is that column the label? See data.columns");
  if (labels.size() == 1) notes.push_back("there is one label only: nothing to learn");
  for (const std::string& remark : look.remarks) notes.push_back(remark);
  notes.push_back(
      n.held_out ? fmt::format("no validation files: about {} texts will be held out for it", thousands(n.valid_pairs))
                 : fmt::format("validation: {} texts of {}", thousands(n.valid_pairs), join(n.valid, ", ")));
  if (n.test_pairs > 0)
    notes.push_back(fmt::format("test: {} texts of {}", thousands(n.test_pairs), join(n.test, ", ")));
  notes.push_back(
      fmt::format("tokenizer: {} {}; model: {} layer{}, d_model {}, {:.1f} M parameters", thousands(r.tokenizer.size),
                  r.tokenizer.kind == text::TokenizerKind::word ? "words" : "pieces (BPE)", r.model.encoder_layers,
                  r.model.encoder_layers == 1 ? "" : "s", r.model.d_model, static_cast<double>(n.parameters) / 1e6));
  notes.insert(notes.end(), sized.notes.begin(), sized.notes.end());
  notes.push_back(training_note(r, n.seconds, threads));
  if (r.task == Task::classify)
    notes.push_back(fmt::format(
        "a bag of words, for comparing: --set model.shape=bag --set model.head={} --set train.learning_rate=1e-2",
        r.model.head.kind));
}

}  // namespace attune
