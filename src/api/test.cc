#include "attune/test.h"

#include <numbers>

#include "attune/version.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/text.h"
#include "checkpoint/model_folder.h"
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
  return recipe;
}

TestReport test_language(const std::string& model, const std::vector<std::string>& sets, int threads) {
  ThreadPool pool(threads);
  const OpenedModel opened = open_model_files(model, &pool);
  const Recipe recipe = recipe_with_test(model, sets);
  const text::Tokenizer& tokenizer = *opened.tokenizers.target;
  const LoadedCorpus test =
      read_corpus(recipe.data.test, "data.test", recipe.data, encoders_of(recipe, opened.tokenizers), &pool);
  const int64_t longest = opened.model->head() ? opened.model->longest_source() : opened.model->longest_target();
  if (test.corpus.longest() > longest)
    fail(ErrorKind::recipe, "data.max_length = {} is more than the {} tokens that {} can see\n  fix: lower it",
         recipe.data.max_length, longest - 1, model);

  TestReport report;
  report.notes = test.report.sentences(recipe.data.overlong);
  const Stopwatch clock;
  const Likelihood l = Evaluator(*opened.model, recipe.train, pool)(test.corpus);
  report.seconds = clock.seconds();
  report.lines = test.report.kept;
  report.tokens = l.tokens;
  // Perplexities of other tokens, or of windows that see less, can't be compared.
  const std::string cut =
      recipe.data.stream ? fmt::format("window:{}", test.corpus.window) : std::string("window:line");
  const std::string signature =
      fmt::format("tokenizer:{}.{:016x}|{}|version:attune.{}",
                  text::tokenizer_kinds()[static_cast<size_t>(tokenizer.kind())], tokenizer.hash(), cut, version());
  const auto add = [&](const std::string& name, double score, const char* unit) {
    report.scores.push_back({name, score, signature, fmt::format("{} = {:.4f}{}", name, score, unit), {}});
  };
  add("perplexity", l.perplexity(), "");
  add("loss", l.loss(), " nats a token");
  if (!tokenizer.unit().empty()) add("bits_per_" + std::string(tokenizer.unit()), l.loss() / std::numbers::ln2, "");
  return report;
}

/// What was said, line by line.
struct Said {
  std::vector<std::string> sources, targets, texts;
};

void judge(Said said, const Recipe& recipe, int threads, TestReport& report) {
  report.scores = judge_texts(said.texts, said.targets, recipe, threads);
  const MetricOptions how{.lowercase = recipe.train.metric_options.lowercase || recipe.data.lowercase};
  for (size_t i = 0; i < said.texts.size(); ++i) {
    const bool right = measure("exact", {said.texts[i]}, {{said.targets[i]}}, how).score > 0;
    report.tested.push_back({std::move(said.sources[i]), std::move(said.targets[i]), std::move(said.texts[i]), right});
  }
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
  for (const Prediction& a : answer(test.corpus)) said.texts.push_back(answer.answers().write(a.answers));
  report.seconds = clock.seconds();
  report.lines = test.report.kept;
  judge(std::move(said), recipe, threads, report);
  return report;
}

}  // namespace

TestReport test_model(const std::string& model, const std::vector<std::string>& sets, const TranslateOptions& options,
                      int threads) {
  if (is_language_model(model)) return test_language(model, sets, threads);
  if (gives_answers(model)) return test_answers(model, sets, threads);
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
  int64_t cropped = 0;
  for (Translation& t : translator.translate(sources, options)) {
    texts.push_back(std::move(t.text));
    cropped += t.cropped;
  }
  report.seconds = clock.seconds();
  report.lines = std::ssize(sources);
  if (cropped > 0)
    report.notes.push_back(fmt::format("{} line{} cropped to {} tokens", thousands(cropped), cropped == 1 ? "" : "s",
                                       thousands(translator.longest())));
  judge({std::move(sources), std::move(targets), std::move(texts)}, recipe, threads, report);
  return report;
}

}  // namespace attune
