#include "attune/quantize.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "api/learn_shortlist.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "checkpoint/manifest.h"
#include "checkpoint/model_folder.h"
#include "checkpoint/quantized.h"
#include "checkpoint/tensors.h"
#include "checkpoint/weights_text.h"
#include "inference/model_files.h"
#include "inference/predictor.h"
#include "measure/labels.h"
#include "run/task_metrics.h"
#include "run/validation_data.h"
#include "train/agreement.h"
#include "train/evaluator.h"

namespace attune {

namespace {

namespace fs = std::filesystem;

void check_arguments(const std::string& model, const std::string& out, const QuantizeOptions& o) {
  if (o.type == "f32" && !o.shortlist)
    fail(ErrorKind::usage, "f32 makes nothing smaller\n  fix: int8 or f16, or add a shortlist by --shortlist");
  if (o.type != "int8" && o.type != "f16" && o.type != "f32")
    fail(ErrorKind::usage, "type '{}' is unknown\n  fix: int8 or f16", o.type);
  if (o.shortlist && (o.shortlist_translations < 0 || o.shortlist_frequent < 0))
    fail(ErrorKind::usage, "a shortlist of {} translations and {} frequent words\n  fix: 0 or more",
         o.shortlist_translations, o.shortlist_frequent);
  if (!o.shortlist && !o.shortlist_data.empty())
    fail(ErrorKind::usage, "there is data for a shortlist, but none is to be made\n  fix: add --shortlist");
  if (o.max_loss && !std::isfinite(*o.max_loss)) fail(ErrorKind::usage, "max-loss = {} is no number", *o.max_loss);
  std::error_code ignored;
  if (fs::equivalent(model, out, ignored))
    fail(ErrorKind::usage, "{} is the model itself\n  fix: choose another --out", out);
  if (fs::exists(out, ignored) && !fs::is_directory(out, ignored))
    fail(ErrorKind::usage, "{} is a file, not a folder\n  fix: choose another --out", out);
  const bool holds = fs::exists(out + "/" + kManifestName, ignored) || fs::exists(out + "/" + kModelName, ignored) ||
                     fs::exists(out + "/" + kNextModelName, ignored);
  if (holds && !o.replace)
    fail(ErrorKind::usage, "{} holds a model already\n  fix: choose another --out, or replace it by --force", out);
}

/// What to measure on.
struct DevSet {
  Corpus corpus;
  std::vector<std::string> sources, targets;
};

/// The recipe as it is meant here: with the dev set in place of data.valid.
Recipe recipe_with_dev(const std::string& model, const QuantizeOptions& options) {
  Recipe recipe = load_recipe_for_run(model + "/" + kRecipeName);
  if (options.dev.empty()) return recipe;
  recipe.data.valid.clear();
  for (const std::string& file : options.dev) recipe.data.valid.push_back(fs::absolute(file).string());
  return recipe;
}

/// Whether there is something to measure on; a note where there is not.
bool has_dev(const Recipe& recipe, const QuantizeOptions& options, QuantizeReport& report) {
  const std::string why = why_no_validation_data(recipe);
  if (why.empty()) return true;
  constexpr const char* kFix = "name one by --dev";
  if (options.max_loss) fail(ErrorKind::data, "no set to measure the loss on: {}\n  fix: {}", why, kFix);
  if (!options.dev.empty()) fail(ErrorKind::data, "{}\n  fix: see --dev", why);
  report.notes.push_back(fmt::format("what is lost was not measured: {}; {}", why, kFix));
  return false;
}

DevSet read_dev(const OpenedModel& m, const Recipe& recipe, ThreadPool& pool, QuantizeReport& report) {
  TrainingData data = validation_data(recipe, m.tokenizers, pool);
  for (const std::string& s : data.valid_report.sentences(recipe.data.overlong)) report.notes.push_back(s);
  if (data.valid.size() == 0)
    fail(ErrorKind::data, "nothing of {} can be measured on",
         join(recipe.data.valid.empty() ? std::vector<std::string>(recipe.data.train.begin(), recipe.data.train.end())
                                        : recipe.data.valid,
              ", "));
  report.lines = data.held_out ? data.valid.size() : data.valid_report.kept;
  return {std::move(data.valid), std::move(data.valid_source), std::move(data.valid_target)};
}

struct Translated {
  std::vector<std::string> texts;
  double tokens_per_s = 0;
};

Translated translate(const std::string& model, const DevSet& dev, const TranslateOptions& options, int threads) {
  const Translator translator(model, threads);
  const auto some = static_cast<std::ptrdiff_t>(std::min<size_t>(dev.sources.size(), 16));
  const std::vector<std::string> first(dev.sources.begin(), dev.sources.begin() + some);
  translator.translate(first, options);  // nothing is cold when the clock runs
  Translated result;
  int64_t tokens = 0;
  const Stopwatch clock;
  for (Translation& t : translator.translate(dev.sources, options)) {
    tokens += std::ssize(t.tokens) + 1;
    result.texts.push_back(std::move(t.text));
  }
  result.tokens_per_s = static_cast<double>(tokens) / std::max(clock.seconds(), 1e-9);
  return result;
}

/// The dev set, translated by the model and by its copy; where a shortlist was made, also by the copy without it.
struct TranslatedByAll {
  Translated before, after, without;
};

/// By what the recipe calls best.
void judge_quantized(const Recipe& recipe, const DevSet& dev, const TranslatedByAll& by, QuantizeReport& report) {
  report.tokens_per_s_before = by.before.tokens_per_s;
  report.tokens_per_s_after = by.after.tokens_per_s;
  if (report.shortlist) report.shortlist->tokens_per_s_without = by.without.tokens_per_s;
  if (report.metric == "loss" || report.metric == "perplexity") return;
  const auto score = [&](const Translated& t) {
    for (const MetricResult& r : judge_texts(t.texts, dev.targets, recipe, 1))
      if (r.name == report.metric) return r.score;
    fail(ErrorKind::internal, "nothing measures {}", report.metric);
  };
  report.score_before = score(by.before);
  report.score_after = score(by.after);
  if (report.shortlist) report.shortlist->score_without = score(by.without);
  report.loss = (report.score_before - report.score_after) * (less_is_better(report.metric) ? -1 : 1);
}

/// How much of what the dev set says its lists have.
void look_at_lists(const Shortlist& list, const Corpus& dev, ShortlistReport& report) {
  int64_t words = 0, had = 0;
  for (int64_t i = 0; i < dev.source.count(); ++i) {
    const std::vector<int32_t> ids = list.ids_of(dev.source[i]);
    words += std::ssize(ids);
    for (const int32_t id : dev.target[i]) had += std::binary_search(ids.begin(), ids.end(), id);
  }
  report.words = static_cast<double>(words) / static_cast<double>(dev.source.count());
  report.recall = static_cast<double>(had) / static_cast<double>(dev.target.tokens());
}

double read_speed(const Model& model, const Corpus& corpus, const Recipe& recipe, ThreadPool& pool) {
  Evaluator evaluate(model, recipe.train, pool);
  const Stopwatch clock;
  const Likelihood l = evaluate(corpus);
  return static_cast<double>(l.tokens) / std::max(clock.seconds(), 1e-9);
}

/// A model and its copy in a folder of its own, side by side.
struct Both {
  const std::string &model, &copy;
  const OpenedModel& before;  // the model
};

/// What a model answers to the dev set: the answers, and how good they are.
struct JudgedAnswers {
  Likelihood likelihood;
  double score = 0, tokens_per_s = 0;
  std::vector<std::string> said;
};

JudgedAnswers judge_answers(const OpenedModel& m, const DevSet& dev, const Recipe& recipe, ThreadPool& pool) {
  JudgedAnswers j;
  j.likelihood = Evaluator(*m.model, recipe.train, pool)(dev.corpus);
  j.score = recipe.train.metric == "loss" ? j.likelihood.loss() : j.likelihood.perplexity();
  j.tokens_per_s = read_speed(*m.model, dev.corpus, recipe, pool);
  if (!m.tokenizers.labels) return j;
  Predictor predict(*m.model, m.tokenizers, recipe, pool);
  j.said = predict.texts(dev.corpus, dev.targets);
  for (const MetricResult& r : judge_texts(j.said, dev.targets, recipe, 1))
    if (r.name == recipe.train.metric) j.score = r.score;
  return j;
}

/// Of models that say something about texts, or guess words that are missing.
void measure_answers(const Both& both, const OpenedModel& after, const DevSet& dev, const Recipe& recipe,
                     ThreadPool& pool, QuantizeReport& report) {
  const JudgedAnswers a = judge_answers(both.before, dev, recipe, pool), b = judge_answers(after, dev, recipe, pool);
  report.metric = recipe.train.metric;
  report.tokens = a.likelihood.tokens;
  report.perplexity_before = a.likelihood.perplexity();
  report.perplexity_after = b.likelihood.perplexity();
  report.score_before = a.score;
  report.score_after = b.score;
  report.loss = (a.score - b.score) * (less_is_better(report.metric) ? -1 : 1);
  report.tokens_per_s_before = a.tokens_per_s;
  report.tokens_per_s_after = b.tokens_per_s;
  const bool by_words = recipe.model.head.kind == "tags";
  for (size_t i = 0; i < a.said.size(); ++i) {
    const auto before = labels_of(a.said[i], by_words), now = labels_of(b.said[i], by_words);
    report.answers += std::ssize(before);
    for (size_t w = 0; w < before.size(); ++w) report.changed_answers += before[w] != now[w];
  }
  report.compared = report.answers > 0;
  if (report.compared)
    report.same_best =
        static_cast<double>(report.answers - report.changed_answers) / static_cast<double>(report.answers);
}

void measure_both(const Both& both, const Recipe& recipe, const QuantizeOptions& options, int threads,
                  QuantizeReport& report) {
  const auto& [model, copy, before] = both;
  ThreadPool pool(threads);
  const OpenedModel after = open_model_files(copy, &pool);
  const DevSet dev = read_dev(before, recipe, pool, report);
  report.measured = true;
  if (before.model->head()) return measure_answers(both, after, dev, recipe, pool, report);
  const Agreement a = agreement(*before.model, *after.model, dev.corpus, recipe.train, pool);
  report.tokens = a.tokens;
  report.compared = true;
  report.divergence = a.divergence;
  report.same_best = a.same_best;
  report.perplexity_before = std::exp(a.first_loss);
  report.perplexity_after = std::exp(a.second_loss);
  report.metric = recipe.task == Task::translate || recipe.train.metric == "loss" ? recipe.train.metric : "perplexity";
  const bool nats = report.metric == "loss";
  report.score_before = nats ? a.first_loss : report.perplexity_before;
  report.score_after = nats ? a.second_loss : report.perplexity_after;
  report.loss = report.score_after - report.score_before;
  if (report.shortlist) {
    report.shortlist->score_without = report.score_after;
    if (nats || report.metric == "perplexity")
      report.notes.push_back(
          fmt::format("what the shortlist costs is not in the {}, which is that of all words; set "
                      "train.metric to one of translations",
                      report.metric));
  }
  if (recipe.task == Task::translate) {
    TranslatedByAll by{translate(model, dev, options.search, threads), {}, {}};
    TranslateOptions all = options.search;
    all.shortlist = false;
    if (report.shortlist) {
      look_at_lists(*after.shortlist, dev.corpus, *report.shortlist);
      by.without = translate(copy, dev, all, threads);
    }
    by.after = translate(copy, dev, options.search, threads);
    judge_quantized(recipe, dev, by, report);
    return;
  }
  report.tokens_per_s_before = read_speed(*before.model, dev.corpus, recipe, pool);
  report.tokens_per_s_after = read_speed(*after.model, dev.corpus, recipe, pool);
}

/// Weights as they are to be written.
class SmallerWeights {
 public:
  SmallerWeights(const std::string& model, Parameters& parameters, const QuantizeOptions& options) {
    if (parameters.holds_int8()) {
      copy(model, options);
    } else if (options.type == "f32") {
      tensors_ = tensors_of(parameters);
    } else {
      quantized_ = options.type == "int8" ? QuantizedTensors::int8(parameters) : QuantizedTensors::f16(parameters);
      tensors_ = quantized_->tensors();
    }
  }
  const StoredTensors& tensors() const { return tensors_; }

 private:
  /// There is something to do for int8 weights only where they get a shortlist.
  void copy(const std::string& model, const QuantizeOptions& options) {
    if (!options.shortlist || options.type != "int8")
      fail(ErrorKind::model, "{} is int8 already\n  fix: name the model it was made of", model);
    const SafetensorsFile file(model + "/" + kModelName);
    for (const StoredTensor& t : file.tensors()) {
      kept_.push_back(std::make_unique<std::byte[]>(static_cast<size_t>(t.bytes())));
      file.read(t, kept_.back().get());
      tensors_.push_back(t);
      tensors_.back().data = kept_.back().get();
    }
  }

  std::optional<QuantizedTensors> quantized_;
  std::vector<std::unique_ptr<std::byte[]>> kept_;
  StoredTensors tensors_;
};

[[noreturn]] void refuse(const QuantizeOptions& options, const QuantizeReport& report) {
  const bool listed = report.shortlist && report.score_after != report.shortlist->score_without;
  const bool int8 = options.type == "int8";
  fail(ErrorKind::model,
       "{} loses {:.4g} {} on the dev set ({:.4g}, was {:.4g}), more than --max-loss {:.4g}: nothing was written\n"
       "  fix: {}{}",
       options.type, report.loss, report.metric, report.score_after, report.score_before, *options.max_loss,
       listed ? fmt::format("without the shortlist it is {:.4g}: leave that out, or ", report.shortlist->score_without)
              : "",
       int8 ? "try --type f16, or allow more" : "allow more");
}

}  // namespace

QuantizeReport quantize(const std::string& model, const std::string& out, const QuantizeOptions& options, int threads) {
  check_arguments(model, out, options);
  QuantizeReport report;
  report.type = options.type;
  ModelContents contents;
  OpenedModel opened = open_model_files(model);
  if (opened.tokenizers.rows)
    fail(ErrorKind::model, "{} reads no texts, and smaller weights are for models that do\n  fix: use it as it is",
         model);
  const SmallerWeights weights(model, opened.model->parameters(), options);
  contents.weights = weights.tensors();
  contents.recipe = read_file(model + "/" + kRecipeName);
  contents.tokenizer = model + "/" + kTokenizerName;
  contents.metadata = SafetensorsFile(model + "/" + kModelName).metadata();
  if (options.type != "f32") contents.metadata[kQuantized] = options.type;
  contents.metadata.erase(kScore);  // it is another's
  report.bytes_before = static_cast<int64_t>(fs::file_size(model + "/" + kModelName));

  const Recipe recipe = recipe_with_dev(model, options);
  const bool dev = has_dev(recipe, options, report);
  if (opened.shortlist) contents.shortlist = opened.shortlist->text();
  if (options.shortlist) {
    ThreadPool pool(threads);
    contents.shortlist = learn_shortlist(opened, recipe, options, pool, report.notes).text();
    report.shortlist = ShortlistReport{.bytes = std::ssize(contents.shortlist)};
  }
  {  // As everybody will read it: from a folder, which goes away again.
    const std::string parent = fs::absolute(out).lexically_normal().parent_path().string();
    make_folder(parent);
    FolderWriter trial(fs::path(out).lexically_normal().string() + "-trial");
    write_contents(trial.path(), contents);
    report.bytes_after = static_cast<int64_t>(fs::file_size(trial.path() + "/" + kModelName));
    if (dev) measure_both({model, trial.path(), opened}, recipe, options, threads, report);
  }
  if (options.max_loss && !(report.loss <= *options.max_loss)) refuse(options, report);
  save_model(out, contents);
  return report;
}

}  // namespace attune
