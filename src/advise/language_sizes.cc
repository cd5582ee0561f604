// Sizes for language models, by how much text there is.
#include <fmt/core.h>

#include <algorithm>
#include <iterator>

#include "advise/recipe_sizes.h"
#include "base/text.h"
#include "model/cost.h"

namespace attune {

namespace {

/// What suits texts of fewer characters than `below`.
struct TextPlan {
  int64_t below;
  int64_t vocabulary;  // subwords; 0: characters
  int64_t layers, d_model, d_ff, heads;
  double dropout;
  int64_t window, batch_tokens, updates, warmup;
  double learning_rate;
};
constexpr TextPlan kTextPlans[] = {
    {300'000, 0, 4, 128, 512, 4, 0.2, 128, 2048, 2'000, 100, 1e-3},
    {5'000'000, 0, 4, 128, 512, 4, 0.1, 256, 4096, 4'000, 200, 2e-3},
    {50'000'000, 8'000, 6, 256, 1024, 4, 0.2, 256, 8192, 20'000, 1'000, 1e-3},
    {500'000'000, 16'000, 6, 512, 2048, 8, 0.1, 256, 16384, 50'000, 2'000, 7e-4},
    {INT64_MAX, 32'000, 6, 512, 2048, 8, 0.1, 512, 16384, 100'000, 4'000, 7e-4},
};

int64_t characters_of(const CorpusLook& look) { return look.target.characters + look.target.words; }

void choose_text(SizedRecipe& s, const CorpusLook& look, const TextPlan& plan) {
  auto& t = s.recipe.tokenizer;
  DataSettings& d = s.recipe.data;
  if (plan.vocabulary == 0) {
    t.kind = text::TokenizerKind::character;
    t.size = look.different_characters + text::kMarks + look.different_characters / 4 + 20;
    s.reasons["tokenizer.kind"] = "characters: little text teaches few words; \"bpe\" for subwords";
    s.reasons["tokenizer.size"] = "at most; all characters find room";
  } else {
    s.reasons["tokenizer.kind"] = "subwords: no word is unknown";
    auto& reason = s.reasons["tokenizer.size"] = "pieces at most; more text, more pieces";
    t.size = fitting_vocabulary(plan.vocabulary, look, reason);
  }
  d.stream = true;
  s.reasons["data.stream"] = "a file is one text, read on and on; false: each line is an example of its own";
  const int64_t tokens = plan.vocabulary == 0 ? characters_of(look) : look.target.tokens;
  d.max_length = std::clamp<int64_t>(tokens / 8, 1, plan.window);
  s.reasons["data.max_length"] = "tokens that the model sees at a time; more take more time";
}

void choose_language_model(SizedRecipe& s, const TextPlan& plan, int64_t characters) {
  ModelOptions& m = s.recipe.model;
  m.decoder_layers = plan.layers;
  m.d_model = plan.d_model;
  m.d_ff = plan.d_ff;
  m.heads = plan.heads;
  m.dropout = plan.dropout;
  m.norm = NormPlace::pre;
  m.activation = "gelu";
  s.reasons["model.decoder_layers"] = fmt::format("for {} characters", thousands(characters));
  s.reasons["model.norm"] = "learns in fewer updates than \"post\"";
  s.reasons["model.dropout"] = "more for less text";
}

void choose_language_training(SizedRecipe& s, const TextPlan& plan, int64_t tokens, int threads) {
  TrainOptions& t = s.recipe.train;
  t.batch_tokens.tokens = plan.batch_tokens;
  choose_shares(s, threads);
  t.stop = {static_cast<double>(plan.updates), Period::Unit::updates};
  t.schedule = Schedule::cosine;
  t.learning_rate = plan.learning_rate;
  t.warmup = plan.warmup;
  t.clip = 1;
  t.validate = {static_cast<double>(plan.updates / 20), Period::Unit::updates};
  t.average = 1;
  const auto epochs = static_cast<double>(plan.updates * plan.batch_tokens) / static_cast<double>(tokens);
  s.reasons["train.batch_tokens"] = fmt::format("tokens per update: {} streams of max_length side by side",
                                                plan.batch_tokens / s.recipe.data.max_length);
  s.reasons["train.stop"] =
      fmt::format("updates: about {:.0f} times through the text; also e epochs, m minutes", std::max(1.0, epochs));
  s.reasons["train.learning_rate"] = "the peak; lower it if the loss jumps";
  s.reasons["train.warmup"] = "updates until the learning rate is at its peak";
  s.reasons["train.validate"] = "perplexity and a checkpoint, 20 times in all";
  s.reasons["train.average"] = "1: the model is the best one, not a mean";
}

}  // namespace

SizedRecipe choose_language_sizes(const CorpusLook& look, int64_t memory, int threads) {
  SizedRecipe s;
  s.recipe = defaults_of(Task::language);
  const int64_t characters = characters_of(look);
  const TextPlan& plan = *std::find_if(std::begin(kTextPlans), std::end(kTextPlans),
                                       [&](const TextPlan& p) { return characters < p.below; });
  choose_text(s, look, plan);
  choose_language_model(s, plan, characters);
  choose_language_training(s, plan, std::max<int64_t>(1, plan.vocabulary == 0 ? characters : look.target.tokens),
                           threads);
  const int64_t wanted = training_memory(s.recipe, threads);
  for (auto p = std::rbegin(kTextPlans); p != std::rend(kTextPlans) && training_memory(s.recipe, threads) > memory;
       ++p) {
    if (p->d_model >= s.recipe.model.d_model) continue;
    choose_language_model(s, *p, characters);
    s.reasons["model.decoder_layers"] = "a larger model would not fit in memory";
    s.memory_note = fmt::format("a model of d_model {} would suit the text, but wants about {} of memory; there is {}",
                                plan.d_model, human_bytes(wanted), human_bytes(memory));
  }
  return s;
}

double language_operations(const Recipe& r) {
  return r.train.stop.count *
         training_flops(r.model, {0, r.tokenizer.size}, 0, r.train.batch_tokens.tokens, r.data.max_length);
}

}  // namespace attune
