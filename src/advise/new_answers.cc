// Recipes for labels of texts and of words: how their files are laid out, sizes by how much there is, and what to tell.
#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "advise/recipe_layout.h"
#include "base/error.h"
#include "base/text.h"
#include "checkpoint/safetensors.h"
#include "data/corpus/answers.h"
#include "data/files/records.h"
#include "model/cost.h"

namespace attune {

namespace {

constexpr int kRowsLookedAt = 1000;

bool names_a_label(std::string_view cell) {
  std::string name(trim(cell));
  for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  for (const char* known : {"label", "labels", "class", "category", "sentiment", "target", "y"})
    if (name == known) return true;
  return false;
}

/// What suits corpora of fewer texts than `below`.
struct AnswerPlan {
  int64_t below, vocabulary, layers, d_model, d_ff, heads, batch_tokens;
  double epochs, learning_rate;
};
constexpr AnswerPlan kAnswerPlans[] = {
    {2'000, 1'000, 2, 128, 256, 4, 1024, 20, 1e-3},
    {10'000, 4'000, 2, 128, 256, 4, 2048, 12, 1e-3},
    {100'000, 8'000, 4, 128, 512, 4, 4096, 8, 1e-3},
    {INT64_MAX, 16'000, 4, 256, 1024, 4, 8192, 4, 5e-4},
};

}  // namespace

bool describe_columns(const std::string& file, Task task, DataSettings& d) {
  std::string name = file;
  if (name.ends_with(".gz")) name.resize(name.size() - 3);
  d.format = task == Task::tag ? DataFormat::conll : name.ends_with(".csv") ? DataFormat::csv : DataFormat::tsv;
  const auto reader = open_records(file, d);
  Record row;
  std::set<std::string> first, last;
  size_t columns = 0;
  for (int rows = 0; rows < kRowsLookedAt && reader->next(row);) {
    if (row.size() == 1 && trim(row[0]).empty()) continue;
    if (columns == 0) {
      columns = row.size();
      d.header = task == Task::classify && (names_a_label(row[0]) || names_a_label(row.back()));
      if (d.header) continue;
    }
    ++rows;
    first.emplace(row[0]);
    last.emplace(row.back());
  }
  if (columns == 1)
    fail(ErrorKind::data, "{} has one column\n  fix: {}", file,
         task == Task::tag ? "write a word, a tab and its label a line, and an empty line between sentences"
                           : "write a label, a tab and the text a line");
  if (task == Task::tag) {
    if (columns != 10 && columns > 0) d.columns.texts = {"1", std::to_string(columns)};  // of CoNLL-U: form and upos
    return false;
  }
  if (columns > 3)
    fail(ErrorKind::usage, "{} has {} columns: which are the text and the label?\n  fix: {}", file, columns,
         "write a file of two, or three for pairs of texts: label, text, text");
  const bool pairs = columns == 3;
  if (first.size() <= last.size() && !d.header) return pairs;  // the label is first, as is usual
  for (size_t i = 1; i <= columns; ++i) d.columns.texts.push_back(std::to_string(i));
  if (first.size() <= last.size())
    std::rotate(d.columns.texts.begin(), d.columns.texts.begin() + 1, d.columns.texts.end());
  return pairs;
}

SizedRecipe choose_answer_sizes(Task task, const CorpusLook& look, int64_t memory, int threads) {
  SizedRecipe s;
  s.recipe = defaults_of(task);
  Recipe& r = s.recipe;
  const AnswerPlan* plan = std::find_if(std::begin(kAnswerPlans), std::end(kAnswerPlans),
                                        [&](const AnswerPlan& p) { return look.pairs < p.below; });
  const auto choose_model = [&](const AnswerPlan& p) {
    r.model.encoder_layers = p.layers;
    r.model.d_model = p.d_model;
    r.model.d_ff = p.d_ff;
    r.model.heads = p.heads;
  };
  choose_model(*plan);
  r.model.dropout = 0.3;
  s.reasons["model.encoder_layers"] = fmt::format("for {} texts", thousands(look.pairs));
  s.reasons["model.dropout"] = "more for less text";
  s.reasons["tokenizer.kind"] = "subwords: no word is unknown";
  auto& reason = s.reasons["tokenizer.size"] = "pieces at most; more text, more pieces";
  r.tokenizer.size = fitting_vocabulary(plan->vocabulary, look, reason);
  const int64_t longest = 2 * look.length_of_all_but(100);
  r.data.max_length = std::clamp<int64_t>((longest + 31) / 32 * 32, 64, 512);
  r.data.overlong = task == Task::classify ? Overlong::crop : Overlong::skip;
  s.reasons["data.max_length"] = "tokens that are read of a text";
  TrainOptions& t = r.train;
  t.batch_tokens.tokens = std::max(plan->batch_tokens, 4 * r.data.max_length);
  choose_shares(s, threads);
  const double updates = std::clamp(plan->epochs * static_cast<double>(look.source.tokens + 2 * look.pairs) /
                                        static_cast<double>(t.batch_tokens.tokens),
                                    200.0, 50'000.0);
  t.stop = {std::ceil(updates / 100) * 100, Period::Unit::updates};
  t.schedule = Schedule::cosine;
  t.learning_rate = plan->learning_rate;
  t.warmup = static_cast<int64_t>(t.stop.count / 10);
  t.clip = 1;
  t.validate = {std::ceil(t.stop.count / 20), Period::Unit::updates};
  t.average = 1;
  s.reasons["train.stop"] =
      fmt::format("updates: about {:.0f} times through the texts; also e epochs, m minutes", plan->epochs);
  s.reasons["train.learning_rate"] = "the peak; lower it if the loss jumps";
  s.reasons["train.validate"] = "a score and a checkpoint, 20 times in all";
  s.reasons["train.average"] = "1: the model is the best one, not a mean";
  const int64_t wanted = training_memory(r, threads);
  if (wanted > memory) {
    choose_model(kAnswerPlans[0]);
    s.memory_note = fmt::format("a larger model would suit the texts, but wants about {} of memory; there is {}",
                                human_bytes(wanted), human_bytes(memory));
  }
  return s;
}

double answer_operations(const Recipe& r) {
  return r.train.stop.count *
         training_flops(r.model, {r.tokenizer.size, 1}, r.train.batch_tokens.tokens, 0, r.data.max_length / 2);
}

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
  if (!r.data.columns.texts.empty()) w.key("columns", tag ? "word, label" : "texts, then the label");
  if (r.data.header) w.key("header");
  for (const char* key : {"max_length", "overlong"}) w.key(key);
  w.section("tokenizer");
  for (const char* key : {"kind", "size"}) w.key(key);
  w.section("model");
  for (const char* key : {"encoder_layers", "d_model", "d_ff", "heads", "dropout"}) w.key(key);
  if (!tag) w.key("pool");
  w.section("train");
  for (const char* key : {"batch_tokens", "shards", "slices", "stop", "schedule", "learning_rate", "warmup", "clip",
                          "validate", "metric", "average"})
    w.key(key);
}

void tell_answers(const SizedRecipe& sized, const CorpusLook& look, const DataSettings& data, int threads,
                  NewRecipe& n) {
  const Recipe& r = sized.recipe;
  const text::Labels labels = learn_labels(data, kinds_of_head(r.model.head));
  auto& notes = n.notes;
  constexpr int32_t kShown = 8;
  std::vector<std::string> names;
  for (int32_t i = 0; i < std::min(labels.size(), kShown); ++i) names.push_back(labels.name(i));
  notes.push_back(fmt::format("{} texts to train on, {} words; {} labels: {}{}", thousands(n.pairs),
                              thousands(n.source_words), thousands(labels.size()), join(names, ", "),
                              labels.size() > kShown ? ", ..." : ""));
  if (r.task == Task::classify && 2 * labels.size() > n.pairs && n.pairs > 20)
    notes.push_back("nearly every text has a label of its own: is that column the label? See data.columns");
  if (labels.size() == 1) notes.push_back("there is one label only: nothing to learn");
  for (const std::string& remark : look.remarks) notes.push_back(remark);
  notes.push_back(
      n.held_out ? fmt::format("no validation files: about {} texts will be held out for it", thousands(n.valid_pairs))
                 : fmt::format("validation: {} texts of {}", thousands(n.valid_pairs), join(n.valid, ", ")));
  if (n.test_pairs > 0)
    notes.push_back(fmt::format("test: {} texts of {}", thousands(n.test_pairs), join(n.test, ", ")));
  notes.push_back(fmt::format("tokenizer: BPE of {}; model: {} layers, d_model {}, {:.1f} M parameters",
                              thousands(r.tokenizer.size), r.model.encoder_layers, r.model.d_model,
                              static_cast<double>(n.parameters) / 1e6));
  if (!sized.memory_note.empty()) notes.push_back(sized.memory_note);
  notes.push_back(fmt::format("training: {} updates of {} tokens, roughly {} on {} thread{}",
                              thousands(static_cast<int64_t>(r.train.stop.count)),
                              thousands(r.train.batch_tokens.tokens), time_text(n.seconds), threads,
                              threads == 1 ? "" : "s"));
  if (r.task == Task::classify)
    notes.push_back("a bag of words, for comparing: --set model.shape=bag --set train.learning_rate=1e-2");
}

}  // namespace attune
