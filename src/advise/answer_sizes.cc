// Sizes for labels of texts and of words, by how many there are.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <span>

#include "advise/recipe_sizes.h"
#include "base/text.h"

namespace attune {

namespace {

struct AnswerSize {
  const char* name;
  int64_t layers, d_model, d_ff, heads;
  double learning_rate;
};
constexpr AnswerSize kOneLayer{"small", 1, 128, 256, 4, 2e-3};
constexpr AnswerSize kThreeLayers{"small", 3, 128, 256, 4, 2e-3};
constexpr AnswerSize kFourLayers{"middle", 4, 256, 1024, 8, 1e-3};

/// What suits fewer texts than `below`, where there is time.
struct AnswerPlan {
  int64_t below, vocabulary;
  AnswerSize model;
  int64_t batch_tokens;
  double epochs, dropout, word_dropout;
};
constexpr AnswerPlan kTextLabels[] = {
    {2'000, 10'000, kOneLayer, 1024, 16, 0.5, 0.3},
    {20'000, 10'000, kOneLayer, 1024, 8, 0.5, 0.3},
    {100'000, 16'000, kThreeLayers, 4096, 6, 0.3, 0.2},
    {INT64_MAX, 16'000, kFourLayers, 8192, 3, 0.1, 0.1},
};
constexpr AnswerPlan kWordLabels[] = {
    {2'000, 2'000, kThreeLayers, 1024, 24, 0.3, 0.2},  //
    {6'000, 4'000, kThreeLayers, 1024, 12, 0.3, 0.1},  //
    {20'000, 4'000, kThreeLayers, 2048, 12, 0.3, 0.1},   {100'000, 8'000, kFourLayers, 4096, 8, 0.2, 0.1},
    {INT64_MAX, 16'000, kFourLayers, 8192, 4, 0.1, 0.1},
};
/// Fewer teach little, however few the texts are.
constexpr double kFewestUpdates = 900, kFewestUpdatesOfTags = 300;
/// So many words on the average: of longer texts, pieces tell more than words of which most are rare.
constexpr int64_t kWordsOfLongTexts = 25, kPiecesOfLongTexts = 8'000;
/// Two texts are compared word by word: what is dropped blurs that.
constexpr double kDropoutOfPairs = 0.1;
constexpr double kEpochsOfPairs = 12;

void choose_reading(SizedRecipe& s, const CorpusLook& look, const AnswerPlan& plan) {
  Recipe& r = s.recipe;
  const bool tag = r.task == Task::tag;
  auto& reason = s.reasons["tokenizer.size"] = "at most; more text, more of them";
  const bool words = !tag && !look.source.without_spaces() && look.source.words < kWordsOfLongTexts * look.pairs;
  r.tokenizer.size =
      fitting_vocabulary(tag || words ? plan.vocabulary : std::min(plan.vocabulary, kPiecesOfLongTexts), look, reason);
  s.reasons["tokenizer.kind"] = "subwords: no word is unknown";
  if (!tag) {
    r.tokenizer.lowercase = true;
    s.reasons["tokenizer.lowercase"] = "a word at the begin of a sentence is the word it is elsewhere";
    if (words) {
      r.tokenizer.kind = text::TokenizerKind::word;
      s.reasons["tokenizer.kind"] =
          "words: labels of short texts hang on them more than on their parts; \"bpe\" for subwords";
    }
  }
  const int64_t longest = 2 * look.length_of_all_but(100);
  r.data.max_length = std::clamp<int64_t>((longest + 31) / 32 * 32, 64, 512);
  r.data.overlong = Overlong::crop;
  s.reasons["data.max_length"] = "tokens that are read of a text";
}

void choose_answer_model(SizedRecipe& s, const CorpusLook& look, const ColumnsLook& columns, const AnswerPlan& plan) {
  ModelOptions& m = s.recipe.model;
  s.name = plan.model.name;
  m.encoder_layers = plan.model.layers;
  m.d_model = plan.model.d_model;
  m.d_ff = plan.model.d_ff;
  m.heads = plan.model.heads;
  m.dropout = columns.compared ? kDropoutOfPairs : plan.dropout;
  m.word_dropout = columns.compared ? 0 : plan.word_dropout;
  m.norm = NormPlace::pre;
  m.activation = "gelu";
  m.position = {"rope"};
  s.reasons["model.encoder_layers"] = fmt::format("for {} texts", thousands(look.pairs));
  s.reasons["model.dropout"] = columns.compared ? "little: more blurs what is compared" : "more for fewer texts";
  s.reasons["model.norm"] = "learns in fewer updates than \"post\"";
  s.reasons["model.position"] = "relative positions, by rotation: learned in fewer updates than others";
  if (s.recipe.task == Task::classify) {
    m.pool = {columns.compared ? "pair" : "attention"};
    s.reasons["model.pool"] =
        columns.compared ? "two texts are compared word by word" : "words that tell most count most";
    m.head = Choice{columns.numbers ? "number" : "label"};
    if (columns.numbers) s.reasons["model.head"] = "the answers are numbers, many different ones; or \"label\"";
    if (!columns.compared) {
      if (plan.model.layers == 1) {
        m.attention = {Choice{"band", {{"width", int64_t{2}}}}};
        s.reasons["model.attention"] =
            "a word looks at its neighbours; \"softmax\": at all words, which wants more texts";
      }
      m.head.options = {{"ngrams", int64_t{2}}};
      s.reasons["model.head"] = columns.numbers
                                    ? "the answers are numbers; words and pairs of words have a say of their own, too"
                                    : "words and pairs of words have a say of their own beside the encoder";
    }
  } else {
    m.head = Choice{"tags", {{"ngrams", int64_t{2}}}};
    s.reasons["model.head"] = "how words are written, and those beside them, have a say beside the encoder";
    if (columns.spans) {
      m.head.options["crf"] = true;
      s.reasons["model.head"] += "; of spans (B-, I-), what may follow what, too";
    }
  }
}

void choose_answer_training(SizedRecipe& s, const CorpusLook& look, const ColumnsLook& columns, const AnswerPlan& plan,
                            int threads) {
  Recipe& r = s.recipe;
  TrainOptions& t = r.train;
  t.batch_tokens.tokens = std::max(plan.batch_tokens, 2 * r.data.max_length);
  choose_shares(s, threads);
  s.tokens = static_cast<double>(look.source.tokens + 2 * look.pairs);
  const double epochs = columns.compared ? kEpochsOfPairs : plan.epochs;
  const double fewest = r.task == Task::tag ? kFewestUpdatesOfTags : kFewestUpdates;
  const double updates = std::clamp(epochs * s.tokens / static_cast<double>(t.batch_tokens.tokens), fewest, 50'000.0);
  t.stop = {std::ceil(updates / 50) * 50, Period::Unit::updates};
  t.schedule = Schedule::cosine;
  t.learning_rate = plan.model.learning_rate;
  t.warmup = std::min<int64_t>(150, static_cast<int64_t>(t.stop.count / 8));
  t.weight_decay = 0.01;
  t.clip = 1;
  if (r.task == Task::classify && !columns.numbers) {
    t.label_smoothing = 0.1;
    s.reasons["train.label_smoothing"] = "sure of nothing: labels of a few texts are learned by heart too soon";
  }
  t.validate = {t.stop.count, Period::Unit::updates};
  t.average = 1;
  if (columns.spans) {
    t.metric = "span-f1";
    s.reasons["train.metric"] = "whole spans that are right, not single words of which most are O";
  }
  if (columns.numbers) {
    t.metric = "mse";
    s.reasons["train.metric"] =
        "how far the numbers are from the right ones; or \"pearson\": how well they go with them";
  }
  s.reasons["train.stop"] = "updates: as many as such texts want; also e epochs, m minutes";
  s.reasons["train.learning_rate"] = "the peak; lower it if the loss jumps";
  s.reasons["train.validate"] = "a score and a checkpoint";
  s.reasons["train.average"] = "1: the model is the best one, not a mean";
}

}  // namespace

SizedRecipe choose_answer_sizes(Task task, const CorpusLook& look, const ColumnsLook& columns, const Room& room) {
  const std::span<const AnswerPlan> plans =
      task == Task::tag ? std::span<const AnswerPlan>(kWordLabels) : std::span<const AnswerPlan>(kTextLabels);
  auto plan = std::find_if(plans.begin(), plans.end(), [&](const AnswerPlan& p) { return look.pairs < p.below; });
  std::vector<SizedRecipe> sizes;
  for (AnswerPlan p = *plan;; p.model = (--plan)->model) {
    if (sizes.empty() || p.model.layers < sizes.back().recipe.model.encoder_layers) {
      SizedRecipe& s = sizes.emplace_back();
      s.recipe = defaults_of(task);
      choose_reading(s, look, p);
      choose_answer_model(s, look, columns, p);
      choose_answer_training(s, look, columns, p, room.threads);
    }
    if (plan == plans.begin()) break;
  }
  return fit_to_room(sizes, room);
}

}  // namespace attune
