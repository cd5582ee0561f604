#include "advise/recipe_sizes.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"

namespace attune {

namespace {

struct ModelSize {
  const char* name;
  int64_t encoder_layers, decoder_layers, d_model, d_ff, heads;
  int64_t batch_tokens;  // at most: small models learn more from many small updates
  double learning_rate;
};
constexpr ModelSize kQuick{"quick", 3, 2, 128, 256, 4, 2048, 3e-3};
constexpr ModelSize kSmall{"small", 4, 4, 128, 256, 4, 4096, 3e-3};
constexpr ModelSize kMiddle{"middle", 4, 2, 256, 1024, 8, 8192, 2e-3};
constexpr ModelSize kBase{"base", 6, 6, 512, 2048, 8, 24576, 7e-4};               // as published
constexpr const ModelSize* kModelSizes[] = {&kBase, &kMiddle, &kSmall, &kQuick};  // the smallest last

/// What suits corpora of fewer pairs than `below`, where there is time.
struct CorpusPlan {
  int64_t below;
  int64_t vocabulary;
  const ModelSize* model;
  int64_t batch_tokens, updates, warmup;
};
constexpr CorpusPlan kCorpusPlans[] = {
    {500, 500, &kSmall, 512, 1'600, 200},
    {2'000, 1'000, &kSmall, 1024, 2'000, 200},
    {10'000, 2'000, &kSmall, 2048, 4'000, 300},
    {20'000, 4'000, &kSmall, 4096, 6'000, 400},
    {100'000, 6'000, &kSmall, 4096, 12'000, 800},
    {300'000, 8'000, &kMiddle, 4096, 12'000, 800},
    {1'000'000, 16'000, &kMiddle, 8192, 30'000, 2'000},
    {5'000'000, 32'000, &kBase, 16384, 100'000, 4'000},
    {INT64_MAX, 32'000, &kBase, 24576, 100'000, 4'000},
};

const CorpusPlan& plan_for(int64_t pairs) {
  return *std::find_if(std::begin(kCorpusPlans), std::end(kCorpusPlans),
                       [&](const CorpusPlan& p) { return pairs < p.below; });
}

int64_t rounded_up(int64_t n, int64_t step) { return (n + step - 1) / step * step; }

constexpr int64_t kManyCharacters = 2'000;

/// Of both stacks, as far as there are two.
int64_t layers_of(const ModelOptions& m) {
  return (has_encoder(m.shape) ? m.encoder_layers : 0) + (has_decoder(m.shape) ? m.decoder_layers : 0);
}

void choose_tokenizer(SizedRecipe& s, const CorpusLook& look, const CorpusPlan& plan) {
  auto& t = s.recipe.tokenizer;
  auto& reason = s.reasons["tokenizer.size"];
  reason = fmt::format("pieces at most, for {} pairs; more text, more pieces", thousands(look.pairs));
  t.size = fitting_vocabulary(plan.vocabulary, look, reason);
  if (look.different_characters > kManyCharacters) {
    t.character_coverage = 0.9995;
    s.reasons["tokenizer.character_coverage"] =
        fmt::format("the rarest of {} characters become unknown", thousands(look.different_characters));
  }
  s.reasons["tokenizer.kind"] = "subwords: no word is unknown";
  s.reasons["tokenizer.joint"] = "one vocabulary for both sides: names and numbers are shared";
}

void choose_model(SizedRecipe& s, const CorpusLook& look, const CorpusPlan& plan, const ModelSize& size) {
  ModelOptions& m = s.recipe.model;
  s.name = size.name;
  m.encoder_layers = size.encoder_layers;
  m.decoder_layers = size.decoder_layers;
  m.d_model = size.d_model;
  m.d_ff = size.d_ff;
  m.heads = size.heads;
  m.norm = NormPlace::pre;
  m.position = {"rope"};
  s.reasons["model.encoder_layers"] = fmt::format("a {} model, for {} pairs", size.name, thousands(look.pairs));
  s.reasons["model.d_model"] = "numbers per position; 128, 256 and 512 suit small, middle and large corpora";
  s.reasons["model.norm"] = "learns at higher rates, in fewer updates, than \"post\"";
  s.reasons["model.position"] = "relative positions, by rotation: learned in half the updates of \"sinusoidal\"";
  TrainOptions& t = s.recipe.train;
  t.batch_tokens.tokens = std::min(plan.batch_tokens, size.batch_tokens);
  t.learning_rate = size.learning_rate;
}

/// What is seen often is learned by heart, unless some of it is dropped; a large corpus is never learned so.
void choose_dropout(SizedRecipe& s, const CorpusLook& look) {
  const double epochs = s.epochs();
  const bool little = epochs < 8 || look.pairs >= 1'000'000, some = epochs < 25 || look.pairs >= 300'000;
  s.recipe.model.dropout = little ? 0.1 : some ? 0.2 : 0.3;
  s.reasons["model.dropout"] = little ? "little: no sentence is seen often, or there are many"
                               : some ? "some: sentences are seen a dozen times"
                                      : "much: sentences are seen many times";
}

/// The most tokens a side may have: what nearly all pairs have, with room for words that are cut into many pieces.
void choose_length(SizedRecipe& s, const CorpusLook& look) {
  const int64_t longest = look.length_of_all_but(look.pairs + 1), usual = look.length_of_all_but(1000);
  const int64_t middle = look.length_of_all_but(2);  // a few lines that are none may stand even in a small corpus
  const int64_t pieces = s.recipe.tokenizer.size, room = pieces < 2'000 ? 4 : pieces < 8'000 ? 3 : 2;
  const int64_t wanted = room * std::min({longest, 2 * usual, std::max<int64_t>(64, 8 * middle)});
  int64_t& length = s.recipe.data.max_length;
  length = std::clamp<int64_t>(rounded_up(wanted, 32), 128, std::max<int64_t>(1024, 2 * room * middle));
  // A batch is to hold several of them.
  int64_t& budget = s.recipe.train.batch_tokens.tokens;
  while (budget < 4 * length) budget *= 2;
  s.reasons["data.max_length"] =
      fmt::format("tokens a side may have; {} here has about {}, longer ones are skipped",
                  longest > length ? "most" : "the longest", longest > length ? usual : longest);
}

void choose_training(SizedRecipe& s, const CorpusLook& look, const CorpusPlan& plan, int threads) {
  TrainOptions& t = s.recipe.train;
  t.schedule = Schedule::cosine;
  t.warmup = plan.warmup;
  t.clip = 1;
  // Of as many tokens, whatever a batch has.
  const double batches = static_cast<double>(plan.batch_tokens) / static_cast<double>(t.batch_tokens.tokens);
  t.stop = {std::ceil(static_cast<double>(plan.updates) * std::max(1.0, batches)), Period::Unit::updates};
  t.validate = {t.stop.count, Period::Unit::updates};
  t.average = 1;
  s.tokens = static_cast<double>(std::max(look.source.tokens, look.target.tokens) + look.pairs);
  choose_shares(s, threads);
  s.reasons["train.batch_tokens"] = "tokens per update on the larger side; fewer need less memory";
  s.reasons["train.stop"] = "updates: as many as such a corpus wants; also e epochs, m minutes";
  s.reasons["train.schedule"] = "the rate falls to nought at the end: the last model is the best";
  s.reasons["train.warmup"] = "updates until the learning rate is at its peak";
  s.reasons["train.learning_rate"] = "the peak; lower it if the loss jumps";
  s.reasons["train.validate"] = "a score, sample translations and a checkpoint";
  s.reasons["train.average"] = "1: the model is the best one, not a mean";
  t.metric = "bleu";
  s.reasons["train.metric"] = "what \"best\" means";
  if (look.target.without_spaces()) {
    t.metric = "loss";
    s.reasons["train.metric"] = "what \"best\" means; BLEU counts words, and here no spaces set them off";
  } else if (look.target.is_tokenized()) {
    t.metric_options.tokenize = "none";
    s.reasons["train.metric_options.tokenize"] = "the text is tokenized already: spaces stand before its punctuation";
  }
}

}  // namespace

/// The result never depends on the threads; how many can share an update does: 16 parts in all, as many at once as
/// there are shards.
void choose_shares(SizedRecipe& s, int threads) {
  s.recipe.train.shards = threads <= 4 ? 4 : 16;
  s.recipe.train.slices = 16 / s.recipe.train.shards;
  s.reasons["train.shards"] = "parts of a batch that threads share";
  s.reasons["train.slices"] = "and what each goes through one after another";
}

int64_t fitting_vocabulary(int64_t wanted, const CorpusLook& look, std::string& reason) {
  int64_t size = wanted;
  const int64_t least = rounded_up(look.different_characters * 3 / 2, 10);  // all of them, and some words
  if (size < least) {
    size = least;
    reason = fmt::format("pieces at most; the text has {} different characters", thousands(look.different_characters));
  }
  // A text of few words has no more pieces than these; normalizing may bring a few characters more.
  const int64_t enough = look.different_words + look.different_characters * 5 / 4 + 20;
  if (enough < size) {
    size = rounded_up(enough, 10);
    reason = fmt::format("pieces at most; the text has {} different words", thousands(look.different_words));
  }
  return size;
}

SizedRecipe choose_sizes(const CorpusLook& look, const Room& room) {
  const CorpusPlan& plan = plan_for(look.pairs);
  std::vector<SizedRecipe> sizes;
  for (auto size = std::find(std::begin(kModelSizes), std::end(kModelSizes), plan.model); size != std::end(kModelSizes);
       ++size) {
    SizedRecipe& s = sizes.emplace_back();
    choose_tokenizer(s, look, plan);
    choose_model(s, look, plan, **size);
    choose_length(s, look);
    choose_training(s, look, plan, room.threads);
  }
  SizedRecipe s = fit_to_room(sizes, room);
  choose_dropout(s, look);
  return s;
}

int64_t parameters_of(const Recipe& r) {
  const int64_t d = r.model.d_model, attention = 4 * (d * d + d) + 2 * d;
  const int64_t feed_forward = 2 * d * r.model.d_ff + r.model.d_ff + d + 2 * d;
  if (!has_encoder(r.model.shape) || !has_decoder(r.model.shape))
    return r.tokenizer.size * d + layers_of(r.model) * (attention + feed_forward);
  return r.tokenizer.size * d + r.model.encoder_layers * (attention + feed_forward) +
         r.model.decoder_layers * (2 * attention + feed_forward);
}

int64_t training_memory(const Recipe& r, int threads) {
  // Weights, their packed form, gradients, two moments; for each thread the gradients of the shards it holds.
  const int64_t weights = 4 * parameters_of(r) * (5 + 2 * threads);
  // Source rows pass the encoder, target rows the decoder; each thread works on one shard at a time.
  const int64_t rows = r.train.batch_tokens.tokens / (r.train.shards * r.train.slices) * threads;
  return weights + 4 * rows * layers_of(r.model) * (16 * r.model.d_model + 2 * r.model.d_ff);
}

}  // namespace attune
