// Sizes for language models, by how much text there is.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "advise/recipe_sizes.h"
#include "base/text.h"

namespace attune {

namespace {

struct LanguageSize {
  const char* name;
  int64_t layers, d_model, d_ff, heads;
  int64_t window, batch_tokens;
  double learning_rate;
};
constexpr LanguageSize kQuickText{"quick", 4, 128, 512, 4, 64, 1024, 4e-3};
constexpr LanguageSize kSmallText{"small", 6, 192, 768, 6, 128, 2048, 1.5e-3};
constexpr LanguageSize kMiddleText{"middle", 6, 256, 1024, 4, 256, 8192, 1e-3};
constexpr LanguageSize kBaseText{"base", 6, 512, 2048, 8, 256, 16384, 7e-4};
constexpr const LanguageSize* kLanguageSizes[] = {&kBaseText, &kMiddleText, &kSmallText,
                                                  &kQuickText};  // the smallest last

/// What suits texts of fewer characters than `below`, where there is time.
struct TextPlan {
  int64_t below;
  int64_t vocabulary;  // subwords; 0: characters
  const LanguageSize* model;
  int64_t tokens, warmup;  // tokens: to read in all
};
constexpr TextPlan kTextPlans[] = {
    {300'000, 0, &kQuickText, 2'000'000, 100},
    {5'000'000, 2'000, &kSmallText, 10'000'000, 150},
    {50'000'000, 8'000, &kMiddleText, 160'000'000, 1'000},
    {500'000'000, 16'000, &kBaseText, 800'000'000, 2'000},
    {INT64_MAX, 32'000, &kBaseText, 1'600'000'000, 4'000},
};

int64_t characters_of(const CorpusLook& look) { return look.target.characters + look.target.words; }

void choose_text(SizedRecipe& s, const CorpusLook& look, const TextPlan& plan, const LanguageSize& size) {
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
  s.tokens = static_cast<double>(std::max<int64_t>(1, tokens));
  d.max_length = std::clamp<int64_t>(tokens / 8, 1, size.window);
  s.reasons["data.max_length"] = "tokens that the model sees at a time; more take more time";
}

void choose_language_model(SizedRecipe& s, const LanguageSize& size, int64_t characters) {
  ModelOptions& m = s.recipe.model;
  s.name = size.name;
  m.decoder_layers = size.layers;
  m.d_model = size.d_model;
  m.d_ff = size.d_ff;
  m.heads = size.heads;
  m.norm = NormPlace::pre;
  m.activation = "gelu";
  m.position = {"rope"};
  s.reasons["model.decoder_layers"] = fmt::format("a {} model, for {} characters", size.name, thousands(characters));
  s.reasons["model.norm"] = "learns in fewer updates than \"post\"";
  s.reasons["model.position"] = "relative positions, by rotation: learned in far fewer updates than others";
}

void choose_language_training(SizedRecipe& s, const TextPlan& plan, const LanguageSize& size, int threads) {
  TrainOptions& t = s.recipe.train;
  t.batch_tokens.tokens = std::max(size.batch_tokens, 4 * s.recipe.data.max_length);
  choose_shares(s, threads);
  const double updates = static_cast<double>(plan.tokens / t.batch_tokens.tokens);
  t.stop = {std::ceil(updates / 100) * 100, Period::Unit::updates};
  t.schedule = Schedule::cosine;
  t.learning_rate = size.learning_rate;
  t.warmup = plan.warmup;
  t.beta2 = 0.99;
  t.weight_decay = 0.1;
  t.clip = 1;
  t.validate = {t.stop.count, Period::Unit::updates};
  t.average = 1;
  s.reasons["train.batch_tokens"] = fmt::format("tokens per update: {} streams of max_length side by side",
                                                t.batch_tokens.tokens / s.recipe.data.max_length);
  s.reasons["train.stop"] = "updates: as many as such a text wants; also e epochs, m minutes";
  s.reasons["train.learning_rate"] = "the peak; lower it if the loss jumps";
  s.reasons["train.warmup"] = "updates until the learning rate is at its peak";
  s.reasons["train.validate"] = "perplexity and a checkpoint";
  s.reasons["train.average"] = "1: the model is the best one, not a mean";
}

/// What is read often is learned by heart, unless some of it is dropped.
void choose_language_dropout(SizedRecipe& s) {
  const double epochs = s.epochs();
  s.recipe.model.dropout = epochs < 3 ? 0 : epochs < 6 ? 0.1 : 0.2;
  s.reasons["model.dropout"] =
      epochs < 3 ? "none: the text is read once or twice" : "more where the text is read more often";
}

}  // namespace

SizedRecipe choose_language_sizes(const CorpusLook& look, const Room& room) {
  const int64_t characters = characters_of(look);
  const TextPlan& plan = *std::find_if(std::begin(kTextPlans), std::end(kTextPlans),
                                       [&](const TextPlan& p) { return characters < p.below; });
  std::vector<SizedRecipe> sizes;
  for (auto size = std::find(std::begin(kLanguageSizes), std::end(kLanguageSizes), plan.model);
       size != std::end(kLanguageSizes); ++size) {
    SizedRecipe& s = sizes.emplace_back();
    s.recipe = defaults_of(Task::language);
    choose_text(s, look, plan, **size);
    choose_language_model(s, **size, characters);
    choose_language_training(s, plan, **size, room.threads);
  }
  SizedRecipe s = fit_to_room(sizes, room);
  choose_language_dropout(s);
  return s;
}

}  // namespace attune
