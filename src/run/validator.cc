#include "run/validator.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "base/clock.h"
#include "base/error.h"
#include "decode/search.h"
#include "inference/look.h"
#include "run/task_metrics.h"

namespace attune {

namespace {

constexpr size_t kSamples = 3;
constexpr int64_t kMostPieces = 64;  // of a picture, on a side
/// Source tokens that are translated at a time: what their search holds must not be more than an update does.
constexpr int64_t kSearchTokens = 2048;

/// The entropy of the targets' own frequencies: no model that does without what came before has less loss on them.
double loss_by_frequency(const Corpus& corpus) {
  if (corpus.stored || corpus.weighted() || corpus.answers || corpus.masked > 0) return 0;
  std::unordered_map<int32_t, int64_t> counts;
  for (const int32_t id : corpus.target.ids) ++counts[id];
  if (corpus.window == 0) counts[text::kEnd] += corpus.target.count();
  const auto all = static_cast<double>(corpus.rows());
  std::vector<int64_t> sorted;  // so that the sum is the same everywhere
  for (const auto& [id, n] : counts)
    if (n > 0) sorted.push_back(n);
  std::ranges::sort(sorted);
  double sum = 0;
  for (const int64_t n : sorted) sum -= static_cast<double>(n) / all * std::log(static_cast<double>(n) / all);
  return sum;
}

}  // namespace

Validator::Validator(const Model& model, const TrainingData& data, const Tokenizers& tokenizers, const Recipe& recipe,
                     ThreadPool& pool)
    : model_(model),
      data_(data),
      tokenizers_(tokenizers),
      recipe_(recipe),
      pool_(pool),
      evaluate_(model, recipe.train, pool),
      loss_by_frequency_(loss_by_frequency(data.valid)) {
  if (tokenizers.labels) answer_.emplace(model, tokenizers, recipe, pool);
}

std::vector<std::string> Validator::translations() {
  BatchOptions in_parts = in_order(recipe_.train, data_.valid);
  in_parts.tokens = std::min(in_parts.tokens, std::max(kSearchTokens, data_.valid.longest()));
  Batches batches(data_.valid, in_parts);
  Batch batch;
  std::vector<std::string> lines(static_cast<size_t>(data_.valid.size()));
  Arena arena;
  for (batches.next(batch);; batches.next(batch)) {
    const auto found = search(model_, {batch.source}, {.beam = 1, .expansion = recipe_.data.expansion}, &pool_, arena);
    for (size_t i = 0; i < found.size(); ++i)
      lines[static_cast<size_t>(batch.examples[i])] = tokenizers_.target->decode(found[i][0].ids);
    if (batch.next.epoch > 0) return lines;
  }
}

std::vector<std::string> Validator::answers() { return answer_->texts(data_.valid, data_.valid_target); }

void Validator::judge_texts_of(const std::vector<std::string>& lines, ValidationResult& v) {
  for (const MetricResult& r : judge_texts(lines, data_.valid_target, recipe_, pool_.threads()))
    v.scores.emplace_back(r.name, r.score);
  if (recipe_.task == Task::graph) return;  // a line of all its labels tells nobody anything
  for (size_t i = 0; i < std::min(kSamples, lines.size()); ++i)
    v.samples.push_back({data_.valid_source[i], data_.valid_target[i], lines[i]});
}

AttentionPicture Validator::picture() const {
  const Corpus& valid = data_.valid;
  const auto some = [](std::span<const int32_t> ids, int64_t longest) {
    const int64_t most = std::min(kMostPieces, longest) - 1;
    std::vector<int32_t> all(ids.begin(), ids.begin() + std::min<int64_t>(std::ssize(ids), most));
    all.push_back(text::kEnd);
    return all;
  };
  SentencePair pair;
  AttentionChoice choice{.at = AttentionSite::decoder};
  if (model_.head()) {
    pair.source = some(valid.one_sided() ? valid.target[0] : valid.source[0], model_.longest_source() - 1);
    pair.source.insert(pair.source.begin(), text::kBegin);
    choice.at = AttentionSite::encoder;
  } else {
    pair.target = some(valid.target[0], model_.longest_target());
  }
  if (!model_.head() && !valid.one_sided()) {
    pair.source = some(valid.source[0], model_.longest_source());
    choice.at = AttentionSite::cross;
  }
  Arena arena;
  const AttentionLook look = LookedAt(model_, choice, recipe_.train.guide)(tokenizers_, pair, arena);
  return {look.rows, look.columns, look.weights};
}

ValidationResult Validator::operator()(const Progress& progress, double* score) {
  const Stopwatch watch;
  ValidationResult v;
  v.update = progress.updates;
  v.epoch = epochs_done(progress, data_.train.size());
  const Likelihood likelihood = evaluate_(data_.valid);
  v.loss = likelihood.loss();
  v.perplexity = likelihood.perplexity();
  v.loss_by_frequency = loss_by_frequency_;
  v.metric = recipe_.train.metric;
  if (!std::isfinite(v.loss)) {
    *score = NAN;
    return v;
  }
  if (answer_ || recipe_.task == Task::translate) {
    judge_texts_of(answer_ ? answers() : translations(), v);
  } else {
    if (!unit_) unit_ = text_unit(*tokenizers_.target, data_.valid);
    if (!unit_->name.empty()) v.scores.emplace_back(unit_->name, unit_->bits(v.loss));
  }
  try {
    if (can_be_looked_at(model_) && !data_.valid.stored && !tokenizers_.rows) v.attention = picture();
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::usage) throw;  // a mechanism that has no weights
  }
  v.score = v.metric == "loss" ? v.loss : v.perplexity;
  for (const auto& [name, value] : v.scores)
    if (name == v.metric) v.score = value;
  *score = less_is_better(v.metric) ? -v.score : v.score;
  v.seconds = watch.seconds();
  return v;
}

}  // namespace attune
