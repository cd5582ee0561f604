#include "attune/test.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/text.h"
#include "checkpoint/model_folder.h"
#include "data/pairs.h"

namespace attune {

TestReport test_model(const std::string& model, const std::vector<std::string>& sets, const TranslateOptions& options,
                      int threads) {
  const Translator translator(model, threads);  // first: it says best what is wrong with a model
  const Recipe recipe = load_recipe_for_run(model + "/" + kRecipeName, sets);
  if (recipe.data.test.empty())
    fail(ErrorKind::recipe, "{}/{} names no test set\n  fix: add --set 'data.test=[\"test.source\", \"test.target\"]'",
         model, kRecipeName);
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
  const bool lowercase = recipe.train.metric_options.lowercase || recipe.data.lowercase;
  report.scores.push_back(measure("bleu", texts, {targets}, {recipe.train.metric_options.tokenize, {}, lowercase}));
  report.scores.push_back(measure("exact", texts, {targets}, {{}, {}, lowercase}));
  for (size_t i = 0; i < texts.size(); ++i) {
    const bool right = measure("exact", {texts[i]}, {{targets[i]}}, {{}, {}, lowercase}).score > 0;
    report.tested.push_back({std::move(sources[i]), std::move(targets[i]), std::move(texts[i]), right});
  }
  return report;
}

}  // namespace attune
