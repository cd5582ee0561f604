#include "advise/recipe_sizes.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "model/cost.h"

namespace attune {

namespace {

struct ModelSize {
  const char* name;
  int64_t layers, d_model, d_ff, heads;
};
constexpr ModelSize kSmall{"small", 4, 128, 256, 4};
constexpr ModelSize kMiddle{"middle", 6, 256, 1024, 4};
constexpr ModelSize kBase{"base", 6, 512, 2048, 8};  // as published

/// What suits corpora of fewer pairs than `below`.
struct CorpusPlan {
  int64_t below;
  int64_t vocabulary;
  ModelSize model;
  double dropout;
  int64_t batch_tokens, updates, warmup;
  double learning_rate;
};
constexpr CorpusPlan kCorpusPlans[] = {
    {500, 500, kSmall, 0.3, 512, 1'600, 300, 2e-3},
    {2'000, 1'000, kSmall, 0.3, 1024, 2'000, 400, 2e-3},
    {10'000, 2'000, kSmall, 0.3, 2048, 4'000, 1'000, 3e-3},
    {20'000, 4'000, kSmall, 0.3, 4096, 6'000, 1'500, 5e-3},
    {100'000, 10'000, kSmall, 0.3, 4096, 8'000, 2'000, 5e-3},
    {300'000, 12'000, kMiddle, 0.3, 8192, 20'000, 4'000, 1e-3},
    {1'000'000, 16'000, kMiddle, 0.2, 8192, 40'000, 4'000, 1e-3},
    {5'000'000, 32'000, kBase, 0.1, 16384, 100'000, 4'000, 7e-4},
    {INT64_MAX, 32'000, kBase, 0.1, 24576, 100'000, 4'000, 7e-4},
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
  m.encoder_layers = m.decoder_layers = size.layers;
  m.d_model = size.d_model;
  m.d_ff = size.d_ff;
  m.heads = size.heads;
  m.dropout = plan.dropout;
  s.reasons["model.encoder_layers"] = fmt::format("a {} model, for {} pairs", size.name, thousands(look.pairs));
  s.reasons["model.d_model"] = "numbers per position; 128, 256 and 512 suit small, middle and large corpora";
  s.reasons["model.dropout"] = plan.dropout >= 0.3   ? "much, since the corpus is small"
                               : plan.dropout >= 0.2 ? "some, since the corpus is of middle size"
                                                     : "little, since the corpus is large";
}

/// The most tokens a side may have: what nearly all pairs have, with room for words that are cut into many pieces.
void choose_length(SizedRecipe& s, const CorpusLook& look, const CorpusPlan& plan) {
  const int64_t longest = look.length_of_all_but(look.pairs + 1), usual = look.length_of_all_but(1000);
  const int64_t middle = look.length_of_all_but(2);  // a few lines that are none may stand even in a small corpus
  const int64_t pieces = s.recipe.tokenizer.size, room = pieces < 2'000 ? 4 : pieces < 8'000 ? 3 : 2;
  const int64_t wanted = room * std::min({longest, 2 * usual, std::max<int64_t>(64, 8 * middle)});
  int64_t& length = s.recipe.data.max_length;
  length = std::clamp<int64_t>(rounded_up(wanted, 32), 128, std::max<int64_t>(1024, 2 * room * middle));
  // A batch is to hold several of them.
  int64_t& budget = s.recipe.train.batch_tokens.tokens = plan.batch_tokens;
  while (budget < 4 * length) budget *= 2;
  s.reasons["data.max_length"] =
      fmt::format("tokens a side may have; {} here has about {}, longer ones are skipped",
                  longest > length ? "most" : "the longest", longest > length ? usual : longest);
}

void choose_training(SizedRecipe& s, const CorpusLook& look, const CorpusPlan& plan, int threads) {
  TrainOptions& t = s.recipe.train;
  t.learning_rate = plan.learning_rate;
  t.warmup = plan.warmup;
  t.stop = {static_cast<double>(plan.updates), Period::Unit::updates};
  const int64_t often = plan.updates / 40;
  t.validate = {static_cast<double>(often), Period::Unit::updates};
  const double tokens = static_cast<double>(std::max(look.source.tokens, look.target.tokens) + look.pairs);
  const double epochs = static_cast<double>(plan.updates * t.batch_tokens.tokens) / tokens;
  choose_shares(s, threads);
  s.reasons["train.batch_tokens"] = "tokens per update on the larger side; fewer need less memory";
  s.reasons["train.stop"] =
      fmt::format("updates: about {:.0f} times through the corpus; also e epochs, m minutes", std::max(1.0, epochs));
  s.reasons["train.warmup"] = "updates until the learning rate is at its peak";
  s.reasons["train.learning_rate"] = "the peak; lower it if the loss jumps";
  s.reasons["train.validate"] = "a score, sample translations and a checkpoint, 40 times in all";
  s.reasons["train.average"] = "the last checkpoints make the final model: those of the last quarter";
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

/// The largest model that is no larger than the plan's and fits.
void fit_memory(SizedRecipe& s, const CorpusLook& look, const CorpusPlan& plan, int64_t memory, int threads) {
  const ModelSize* smaller[] = {&kMiddle, &kSmall};
  const int64_t wanted = training_memory(s.recipe, threads);
  if (wanted <= memory) return;
  for (const ModelSize* size : smaller) {
    if (size->d_model >= s.recipe.model.d_model) continue;
    choose_model(s, look, plan, *size);
    s.reasons["model.encoder_layers"] = fmt::format("a {} model: a larger one would not fit in memory", size->name);
    if (training_memory(s.recipe, threads) <= memory) break;
  }
  s.memory_note = fmt::format("a {} model would suit the corpus, but wants about {} of memory; there is {}",
                              plan.model.name, human_bytes(wanted), human_bytes(memory));
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

SizedRecipe choose_sizes(const CorpusLook& look, int64_t memory, int threads) {
  SizedRecipe s;
  const CorpusPlan& plan = plan_for(look.pairs);
  choose_tokenizer(s, look, plan);
  choose_model(s, look, plan, plan.model);
  choose_length(s, look, plan);
  choose_training(s, look, plan, threads);
  fit_memory(s, look, plan, memory, threads);
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

double training_operations(const Recipe& r, const CorpusLook& look) {
  const int64_t source = look.source.tokens + look.pairs, target = look.target.tokens + look.pairs;
  const double epoch = training_flops(r.model, {r.tokenizer.size, r.tokenizer.size}, source, target,
                                      target / std::max<int64_t>(look.pairs, 1));
  const double share = 0.97 * static_cast<double>(r.train.batch_tokens.tokens) /
                       static_cast<double>(std::max<int64_t>({source, target, 1}));  // of the corpus in a batch
  return r.train.stop.count * share * epoch;
}

int64_t training_memory(const Recipe& r, int threads) {
  // Weights, their packed form, gradients, two moments; for each thread the gradients of the shards it holds.
  const int64_t weights = 4 * parameters_of(r) * (5 + 2 * threads);
  // Source rows pass the encoder, target rows the decoder; each thread works on one shard at a time.
  const int64_t rows = r.train.batch_tokens.tokens / (r.train.shards * r.train.slices) * threads;
  return weights + 4 * rows * layers_of(r.model) * (16 * r.model.d_model + 2 * r.model.d_ff);
}

}  // namespace attune
