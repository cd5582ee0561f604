#include "attune/test.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "attune/new_recipe.h"
#include "attune/scorer.h"
#include "attune/version.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/text.h"
#include "checkpoint/model_folder.h"
#include "data/corpus/characters.h"
#include "data/files/data_files.h"
#include "data/files/pairs.h"
#include "inference/predictor.h"
#include "run/task_metrics.h"
#include "train/evaluator.h"

namespace attune {

namespace {

Recipe recipe_with_test(const std::string& model, const std::vector<std::string>& sets) {
  Recipe recipe = load_recipe_for_run(model + "/" + kRecipeName, sets);
  // The nodes of a graph say themselves what they are for.
  if (recipe.task == Task::graph && recipe.data.test.empty()) recipe.data.test = recipe.data.train;
  if (recipe.data.test.empty())
    fail(ErrorKind::recipe, "{}/{} names no test set\n  fix: add --set 'data.test=[{}]'", model, kRecipeName,
         recipe.task == Task::language             ? "\"test.txt\""
         : recipe.task == Task::tag                ? "\"test.conll\""
         : recipe.task == Task::image              ? "\"test-images.gz\", \"test-labels.gz\""
         : recipe.data.format != DataFormat::lines ? "\"test.tsv\""
                                                   : "\"test.source\", \"test.target\"");
  with_places(recipe.places, [&] { check_files("data.test", recipe.data.test, recipe.data.encoding); });
  return recipe;
}

/// Of equals, those that say more come first.
void rank_lines(TestReport& report) {
  constexpr size_t kShown = 10;
  const std::vector<TestedLine>& lines = report.tested;
  std::vector<size_t> order(lines.size());
  std::iota(order.begin(), order.end(), size_t{0});
  const auto ranked = [&](size_t most, bool high) {
    std::vector<size_t> first(std::min(most, order.size()));
    std::partial_sort_copy(order.begin(), order.end(), first.begin(), first.end(), [&](size_t a, size_t b) {
      if (lines[a].score != lines[b].score) return (lines[a].score > lines[b].score) == high;
      const size_t long_a = lines[a].reference.size(), long_b = lines[b].reference.size();
      return long_a != long_b ? long_a > long_b : a < b;
    });
    return first;
  };
  const bool far = report.line_metric != "chrf";  // or surprising: then there is no best
  report.worst = ranked(far ? kShown : std::min(kShown, lines.size() / 2), far);
  if (far) return;
  std::erase_if(order, [&](size_t i) { return std::count(report.worst.begin(), report.worst.end(), i) > 0; });
  report.best = ranked(kShown, true);
}

/// The lines that a language model would not have thought of, each read by itself, of the first few thousand.
void find_surprises(const std::string& model, const DataSettings& data, int threads, TestReport& report) {
  constexpr size_t kRead = 5000, kLongEnough = 8;  // of lines with a word or two any may be surprising
  std::vector<std::string> lines;
  PairReader reader(data.test, data, "data.test", Sides::one);
  for (TextPair pair; lines.size() < kRead && reader.next(pair);)
    if (pair.target.size() >= kLongEnough) lines.emplace_back(pair.target);
  report.line_metric = "nats";
  const std::vector<LineScore> scores = Scorer(model, threads).score_lines(lines);
  for (size_t i = 0; i < lines.size(); ++i) {
    const auto tokens = static_cast<double>(scores[i].token_scores.size());
    report.tested.push_back({std::move(lines[i]), "", "", false, -scores[i].log_prob / tokens});
  }
  rank_lines(report);
}

TestReport test_language(const std::string& model, const std::vector<std::string>& sets, int threads) {
  ThreadPool pool(threads);
  const OpenedModel opened = open_model_files(model, &pool);
  const Recipe recipe = recipe_with_test(model, sets);
  const text::Tokenizer& tokenizer = *opened.tokenizers.target;
  const Encoders encoders = encoders_of(recipe, opened.tokenizers);
  const LoadedCorpus test = read_corpus(recipe.data.test, "data.test", recipe.data, encoders, &pool);
  const int64_t longest = opened.model->head() ? opened.model->longest_source() : opened.model->longest_target();
  if (test.corpus.longest() > longest)
    fail(ErrorKind::recipe, "data.max_length = {} is more than the {} tokens that {} can see\n  fix: lower it",
         recipe.data.max_length, longest - 1, model);

  TestReport report;
  report.task = task_names()[static_cast<size_t>(recipe.task)];
  report.notes = test.report.sentences(recipe.data.overlong);
  const Stopwatch clock;
  const Likelihood l = Evaluator(*opened.model, recipe.train, pool)(test.corpus);
  report.seconds = clock.seconds();
  for (const std::string& file : recipe.data.test.size() > 1 ? recipe.data.test : std::vector<std::string>{}) {
    const LoadedCorpus one = read_corpus({file}, "data.test", recipe.data, encoders, &pool);
    const Likelihood own = Evaluator(*opened.model, recipe.train, pool)(one.corpus);
    report.files.push_back({file, own.perplexity(), own.tokens});
  }
  if (!opened.model->head()) find_surprises(model, recipe.data, threads, report);
  report.lines = test.report.kept;
  report.tokens = l.tokens;
  // Perplexities of other tokens, or of windows that see less, can't be compared.
  const std::string cut =
      recipe.data.stream ? fmt::format("window:{}{}", test.corpus.window, recipe.data.documents ? ".documents" : "")
                         : std::string("window:line");
  const std::string signature =
      fmt::format("tokenizer:{}.{:016x}|{}|version:attune.{}",
                  text::tokenizer_kinds()[static_cast<size_t>(tokenizer.kind())], tokenizer.hash(), cut, version());
  const auto add = [&](const std::string& name, double score, const char* unit) {
    report.scores.push_back({name, score, signature, fmt::format("{} = {:.4f}{}", name, score, unit), {}});
  };
  add("perplexity", l.perplexity(), "");
  add("loss", l.loss(), " nats a token");
  if (const TextUnit u = text_unit(tokenizer, test.corpus); !u.name.empty()) add(u.name, u.bits(l.loss()), "");
  return report;
}

/// What was said, line by line.
struct Said {
  std::vector<std::string> sources, targets, texts;
};

/// How good each line is by itself: chrF, which is above 0 wherever letters are shared, so that short lines can be told
/// apart too; of numbers, how far they are from the right ones.
std::vector<double> line_scores(const Said& said, const Recipe& recipe, const MetricOptions& how, TestReport& report) {
  std::vector<double> scores;
  if (!gives_answers(recipe.task)) {
    report.line_metric = "chrf";
    for (const MetricResult& r : measure_lines("chrf", said.texts, {said.targets}, how)) scores.push_back(r.score);
    return scores;
  }
  scores = numbers_of(said.texts, recipe);
  const std::vector<double> right = numbers_of(said.targets, recipe);
  for (size_t i = 0; i < scores.size(); ++i) scores[i] = std::abs(scores[i] - right[i]);
  if (!scores.empty()) report.line_metric = "distance";
  return scores;
}

void judge(Said said, const Recipe& recipe, int threads, TestReport& report) {
  report.task = task_names()[static_cast<size_t>(recipe.task)];
  report.scores = judge_texts(said.texts, said.targets, recipe, threads);
  report.labels = label_reports({said.sources, said.targets, said.texts}, recipe);
  MetricOptions how{.lowercase = recipe.train.metric_options.lowercase || recipe.data.lowercase};
  how.threads = threads;
  const std::vector<double> scores = line_scores(said, recipe, how, report);
  how.threads = 1;
  for (size_t i = 0; i < said.texts.size(); ++i) {
    const bool right = measure("exact", {said.texts[i]}, {{said.targets[i]}}, how).score > 0;
    report.tested.push_back({std::move(said.sources[i]), std::move(said.targets[i]), std::move(said.texts[i]), right,
                             scores.empty() ? 0 : scores[i]});
  }
  if (!report.line_metric.empty()) rank_lines(report);
}

TestReport test_answers(const std::string& model, const std::vector<std::string>& sets, int threads) {
  ThreadPool pool(threads);
  const OpenedModel opened = open_model_files(model, &pool);
  const Recipe recipe = recipe_with_test(model, sets);
  Said said;
  const LoadedCorpus test =
      read_corpus(recipe.data.test, "data.test", recipe.data, encoders_of(recipe, opened.tokenizers), &pool,
                  [&](std::string_view source, std::string_view target) {
                    said.sources.emplace_back(source);
                    said.targets.emplace_back(target);
                  });
  TestReport report;
  report.notes = test.report.sentences(recipe.data.overlong);
  const Stopwatch clock;
  Predictor answer(*opened.model, opened.tokenizers, recipe, pool);
  said.texts = answer.texts(test.corpus, said.targets);
  report.seconds = clock.seconds();
  report.lines = test.report.kept;
  judge(std::move(said), recipe, threads, report);
  if (const UnseenLabels unseen = unseen_labels(report.labels, *opened.tokenizers.labels, recipe); unseen.labels > 0)
    report.notes.push_back(unseen.sentence("test"));
  return report;
}

TestReport test_translations(const std::string& model, const std::vector<std::string>& sets,
                             const TranslateOptions& options, int threads) {
  const Translator translator(model, threads);  // first: it says best what is wrong with a model
  const Recipe recipe = recipe_with_test(model, sets);
  std::vector<std::string> sources, targets;
  PairReader reader(recipe.data.test, recipe.data, "data.test");
  for (TextPair pair; reader.next(pair);) {
    sources.emplace_back(pair.source);
    targets.emplace_back(pair.target);
  }
  if (sources.empty()) fail(ErrorKind::data, "data.test has no pairs: {}", join(recipe.data.test, ", "));

  TestReport report;
  report.notes = reader.report().sentences(recipe.data.overlong);
  const Stopwatch clock;
  std::vector<std::string> texts;
  int64_t cropped = 0, cut = 0;
  for (Translation& t : translator.translate(sources, options)) {
    texts.push_back(std::move(t.text));
    cropped += t.cropped;
    cut += t.cut > 0;
  }
  report.seconds = clock.seconds();
  report.lines = std::ssize(sources);
  if (cropped > 0)
    report.notes.push_back(fmt::format("{} line{} cropped to {} tokens", thousands(cropped), cropped == 1 ? "" : "s",
                                       thousands(translator.longest())));
  if (cut > 0)
    report.notes.push_back(fmt::format("{} line{} of more than {} tokens translated in pieces", thousands(cut),
                                       cut == 1 ? "" : "s", thousands(translator.longest_whole())));
  judge({std::move(sources), std::move(targets), std::move(texts)}, recipe, threads, report);
  return report;
}

}  // namespace

TestReport test_model(const std::string& model, const std::vector<std::string>& sets, const TranslateOptions& options,
                      int threads) {
  TestReport report = is_language_model(model) ? test_language(model, sets, threads)
                      : gives_answers(model)   ? test_answers(model, sets, threads)
                                               : test_translations(model, sets, options, threads);
  report.model = model;
  return report;
}

}  // namespace attune
