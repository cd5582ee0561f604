// Averages of models that are of one kind.
#include <algorithm>
#include <filesystem>

#include "attune/metric.h"
#include "attune/model.h"
#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "checkpoint/manifest.h"
#include "checkpoint/model_folder.h"
#include "checkpoint/weights_text.h"
#include "recipe/reader.h"
#include "recipe/settings.h"
#include "recipe/writer.h"
#include "run/judge_models.h"

namespace attune {

namespace {

namespace fs = std::filesystem;
constexpr int64_t kLast = 10;

/// The folder without a slash at its end; DIR for DIR/checkpoints.
std::string plain(const std::string& folder) {
  fs::path path = fs::path(folder).lexically_normal();
  if (!path.has_filename() && path.has_parent_path()) path = path.parent_path();
  if (path.filename() == "checkpoints" && !fs::exists(path / kManifestName))
    return path.has_parent_path() ? path.parent_path().string() : ".";
  return path.string();
}

std::vector<std::string> checkpoints_of(const std::string& run, const AverageOptions& options,
                                        std::vector<std::string>& notes) {
  std::vector<Checkpoint> all = checkpoints(run);
  const int64_t found = std::ssize(all), updates = found > 0 ? all.back().step : 0;
  // What was learned in the first half of a run is another model's.
  if (!options.early) std::erase_if(all, [&](const Checkpoint& c) { return 2 * c.step < updates; });
  const int64_t late = std::ssize(all);
  if (late < 2 && found >= 2)
    fail(ErrorKind::usage,
         "{} has only one checkpoint in the later half of its {} updates: an average takes two or more\n  fix: take "
         "those of the first half too by --early, or name several model folders",
         run, thousands(updates));
  if (late < 2)
    fail(ErrorKind::usage, "{} has {}: an average takes two or more\n  fix: name several model folders", run,
         all.empty() ? "no checkpoints" : "only one checkpoint");
  const int64_t count = std::min(options.last > 0 ? options.last : kLast, late);
  if (count < options.last)
    notes.push_back(
        late < found
            ? fmt::format("{} has {} checkpoints in the later half of its {} updates, not {}: these are "
                          "averaged (--early takes the others too)",
                          run, late, thousands(updates), options.last)
            : fmt::format("{} has {} checkpoints, not {}: all of them are averaged", run, count, options.last));
  std::vector<std::string> paths;
  for (auto c = all.end() - count; c != all.end(); ++c) paths.push_back(c->path);
  return paths;
}

std::vector<std::string> models_of(const std::vector<std::string>& given, const AverageOptions& options,
                                   std::vector<std::string>& notes) {
  if (given.empty()) fail(ErrorKind::usage, "nothing to average\n  fix: name a run or several model folders");
  for (const std::string& g : given)
    if (std::error_code ignored; !fs::is_directory(g, ignored))
      fail(ErrorKind::model, "{} is not a folder\n  fix: name a folder that attune train wrote", g);
  if (given.size() == 1) return checkpoints_of(plain(given[0]), options, notes);
  if (options.last > 0)
    fail(ErrorKind::usage, "--last counts the checkpoints of one run, and {} folders are given\n  fix: {}",
         given.size(), "leave --last out, or name one run");
  for (size_t i = 0; i < given.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      if (fs::equivalent(given[i], given[j]))
        fail(ErrorKind::usage, "{} is named twice: it would count double\n  fix: name each model once", given[i]);
  return given;
}

Recipe recipe_of(const std::string& model) {
  const std::string path = model + "/" + kRecipeName;
  try {
    return read_recipe(read_recipe_text(path), path);
  } catch (const Error& e) { throw Error(ErrorKind::model, e.what()); }
}

/// The settings that make a model what it is.
NamedValues kind_of(const std::string& model) {
  NamedValues kind;
  for (auto& [key, value] : to_values(recipe_of(model)))
    if (key == "task" || key.starts_with("model.") || key.starts_with("tokenizer.")) kind.emplace_back(key, value);
  // Dropout is how a model was trained, not what it is.
  std::erase_if(kind, [](const auto& k) { return k.first.ends_with("dropout"); });
  return kind;
}

Manifest tokenizer_of(const std::string& model) {
  Manifest files = read_manifest(model);
  std::erase_if(files, [](const ManifestEntry& e) { return !e.name.starts_with(std::string(kTokenizerName) + "/"); });
  return files;
}

/// Refuses models that are not of one kind.
void compare(const std::vector<std::string>& models) {
  const std::string& first = models[0];
  const NamedValues kind = kind_of(first);
  const Manifest tokenizer = tokenizer_of(first);
  for (const std::string& other : models) {
    const std::vector<Difference> d = differences(kind, kind_of(other));
    if (!d.empty())
      fail(ErrorKind::model, "models differ: {} has {} = {}, {} has {}\n  fix: average models of one training run",
           first, d[0].key, d[0].before, other, d[0].now);
    if (tokenizer_of(other) != tokenizer)
      fail(ErrorKind::model,
           "models differ: {} and {} have different tokenizers, a token of one is not one of the other\n"
           "  fix: average models of one training run",
           first, other);
  }
}

void check_out(const std::vector<std::string>& models, const std::string& out, bool replace) {
  std::error_code ignored;
  for (const std::string& m : models)
    if (fs::equivalent(m, out, ignored))
      fail(ErrorKind::usage, "{} is one of the models to average\n  fix: choose another --out", out);
  if (fs::exists(out, ignored) && !fs::is_directory(out, ignored))
    fail(ErrorKind::usage, "{} is a file, not a folder\n  fix: choose another --out", out);
  const bool holds = fs::exists(out + "/" + kManifestName, ignored) || fs::exists(out + "/" + kModelName, ignored);
  if (holds && !replace)
    fail(ErrorKind::usage, "{} holds a model already\n  fix: choose another --out, or replace it by --force", out);
}

/// Compares the mean with what the run has.
void judge_average(const std::string& run, const std::string& out, int threads, AverageReport& report) {
  std::error_code ignored;
  const bool own = is_whole_model(run) && !fs::equivalent(run, out, ignored);
  report.against = own ? run : report.models.back();
  const JudgedModels judged = judge_models({out, report.against}, threads);
  if (!judged.why_not.empty()) {
    report.verdict = "not judged: " + judged.why_not;
    return;
  }
  report.judged = true;
  report.metric = judged.metric;
  report.score = judged.scores[0];
  report.against_score = judged.scores[1];
  report.better =
      less_is_better(report.metric) ? report.score < report.against_score : report.score > report.against_score;
  const std::string weights = weights_text(SafetensorsFile(report.against + "/" + kModelName).metadata());
  report.verdict =
      fmt::format("on the validation set it has {} {:.4g}, and {}{} has {:.4g}: {}", report.metric, report.score,
                  report.against, weights.empty() ? "" : " (" + weights.substr(0, weights.find(": ")) + ")",
                  report.against_score, report.better ? "the average is better" : "the average is no better");
}

}  // namespace

AverageReport average(const std::vector<std::string>& given, const std::string& out, const AverageOptions& options) {
  AverageReport report;
  report.models = models_of(given, options, report.notes);
  check_out(report.models, out, options.replace);
  for (const std::string& m : report.models) open_model(m);
  compare(report.models);
  Weights mean = average_models(report.models);

  const std::string& newest = report.models.back();
  ModelContents contents;
  contents.weights = tensors_of(mean);
  contents.recipe = read_file(newest + "/" + kRecipeName);
  if (std::error_code ignored; fs::is_directory(newest + "/" + kTokenizerName, ignored))
    contents.tokenizer = newest + "/" + kTokenizerName;
  contents.metadata = SafetensorsFile(newest + "/" + kModelName).metadata();
  std::vector<std::string> names;
  for (const std::string& m : report.models) names.push_back(fs::path(plain(m)).filename().string());
  for (const char* key : {kWeights, kEnded, kScore}) contents.metadata.erase(key);  // they tell of that one alone
  contents.metadata[kAverageOf] = join(names, " ");
  for (const StoredTensor& t : contents.weights) report.parameters += t.size();
  save_model(out, contents);
  if (options.judge && given.size() == 1) judge_average(plain(given[0]), out, options.threads, report);
  return report;
}

}  // namespace attune
