// A recipe for a language model, laid out and told.
#include <fmt/core.h>

#include "advise/recipe_layout.h"
#include "base/text.h"
#include "checkpoint/safetensors.h"

namespace attune {

void write_language(SizedRecipe& sized, NewRecipe& n) {
  const Recipe& r = sized.recipe;
  RecipeLayout w(sized, n);
  n.text = fmt::format(
      "# A language model of {} lines, {} words. Train it:  attune train {}\n"
      "# What is not said here has its default; `attune info recipe` tells every key there is.\n\n",
      thousands(n.pairs), thousands(n.target_words), shown_name(n.file));
  w.key("task", "to say what comes next in a text");
  w.section("data");
  w.key("train", "texts, relative to this file");
  if (!r.data.valid.empty())
    w.key("valid", "to see whether it learns, never trained on");
  else
    w.example("valid = [\"valid.txt\"]", "none given: the last 2 % of the text are held out");
  if (!r.data.test.empty()) w.key("test", "for `attune test`");
  for (const char* key : {"format", "columns", "header", "delimiter", "encoding"})
    if (w.has_reason(std::string("data.") + key)) w.key(key);
  for (const char* key : {"stream", "max_length"}) w.key(key);
  w.section("tokenizer");
  for (const char* key : {"kind", "size"}) w.key(key);
  w.section("model");
  for (const char* key : {"decoder_layers", "d_model", "d_ff", "heads", "dropout", "norm", "activation", "position"})
    w.key(key);
  w.section("train");
  for (const char* key : {"batch_tokens", "shards", "slices", "stop", "schedule", "learning_rate", "warmup", "beta2",
                          "weight_decay", "clip", "validate", "metric", "average"})
    w.key(key);
}

void tell_language(const SizedRecipe& sized, const CorpusLook& look, int threads, NewRecipe& n) {
  const Recipe& r = sized.recipe;
  auto& notes = n.notes;
  notes.push_back(fmt::format("{} lines to train on, {} words, {} different characters", thousands(n.pairs),
                              thousands(n.target_words), thousands(look.different_characters)));
  for (const std::string& remark : look.remarks) notes.push_back(remark);
  notes.push_back(n.held_out
                      ? std::string("no validation files: the last 2 % of the text will be held out for it")
                      : fmt::format("validation: {} lines of {}", thousands(n.valid_pairs), join(n.valid, ", ")));
  if (n.test_pairs > 0)
    notes.push_back(fmt::format("test: {} lines of {}", thousands(n.test_pairs), join(n.test, ", ")));
  if (look.target.characters < 50'000)
    notes.push_back(fmt::format("{} characters are very few: expect it to learn these by heart and little beyond",
                                thousands(look.target.characters)));
  notes.push_back(fmt::format(
      "tokenizer: {}; model: {} layers, d_model {}, {:.1f} M parameters, {} tokens at a time",
      r.tokenizer.kind == text::TokenizerKind::character ? "characters" : "BPE of " + thousands(r.tokenizer.size),
      r.model.decoder_layers, r.model.d_model, static_cast<double>(n.parameters) / 1e6, r.data.max_length));
  notes.insert(notes.end(), sized.notes.begin(), sized.notes.end());
  notes.push_back(training_note(r, n.seconds, threads));
}

}  // namespace attune
