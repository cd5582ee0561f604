#include "advise/trial.h"

#include <algorithm>

#include "base/clock.h"
#include "base/random.h"
#include "data/batches.h"
#include "model/model.h"
#include "train/loop.h"

namespace attune {

namespace {

constexpr double kEnough = 0.7;           // seconds of updates
constexpr int64_t kMostTrials = 24;       // updates
constexpr int64_t kTokensOfTrial = 1024;  // of a trial's batch, where the model is large

/// A text of so many pieces, whatever they are.
std::vector<int32_t> made_up(int64_t length, int64_t vocabulary, Random& random) {
  std::vector<int32_t> ids(static_cast<size_t>(std::max<int64_t>(1, length)));
  const auto marks = static_cast<int64_t>(text::kMarks);
  for (int32_t& id : ids)
    id = static_cast<int32_t>(
        marks + static_cast<int64_t>(random.below(static_cast<uint64_t>(std::max<int64_t>(1, vocabulary - marks)))));
  return ids;
}

/// Enough for two batches, of examples as long as the mean; of a text, for more.
Corpus made_up_corpus(const Recipe& r, const CorpusLook& look, int64_t labels) {
  Corpus corpus;
  Random random(1);
  const int64_t wanted = 2 * r.train.batch_tokens.tokens, vocabulary = r.tokenizer.size;
  if (r.task == Task::language && r.data.stream) {
    corpus.window = r.data.max_length;
    // Long enough that few batches are its ends, which are short.
    corpus.target.add(made_up(8 * wanted + 1, vocabulary, random));
    return corpus;
  }
  const auto mean = [&](const SideLook& side) {
    return std::clamp<int64_t>(side.tokens / std::max<int64_t>(1, look.pairs), 1, r.data.max_length);
  };
  const int64_t source = r.task == Task::language ? 0 : mean(look.source), target = mean(look.target);
  corpus.answers = gives_answers(r.task);
  const bool tags = r.task == Task::tag;
  if (tags) corpus.word_begins = std::make_shared<const std::vector<bool>>(static_cast<size_t>(vocabulary), true);
  for (int64_t tokens = 0; tokens < wanted; tokens += std::max(source, corpus.answers ? 1 : target) + 1) {
    if (source > 0) corpus.source.add(made_up(source, vocabulary, random));
    if (!corpus.answers) {
      corpus.target.add(made_up(target, vocabulary, random));
      continue;
    }
    std::vector<int32_t> right(static_cast<size_t>(tags ? source : 1));
    for (int32_t& label : right) label = static_cast<int32_t>(random.below(static_cast<uint64_t>(labels)));
    corpus.target.add(right);
  }
  return corpus;
}

ModelSizes sizes_of(const Recipe& r, int64_t labels) {
  ModelSizes sizes{r.tokenizer.size, gives_answers(r.task) ? labels : r.tokenizer.size, r.data.max_length + 2};
  if (gives_answers(r.task)) sizes.label_groups = {labels};
  return sizes;
}

}  // namespace

int64_t numbers_of_model(const Recipe& recipe, int64_t labels) {
  return Model(recipe.model, sizes_of(recipe, std::max<int64_t>(1, labels))).parameters().numbers();
}

double seconds_of_update(const Recipe& recipe, const CorpusLook& look, int64_t labels, int threads) {
  Recipe r = recipe;
  labels = std::max<int64_t>(1, labels);
  int64_t& tokens = r.train.batch_tokens.tokens;
  const int64_t whole = tokens;
  if (r.model.d_model > 256) tokens = std::min(tokens, std::max(kTokensOfTrial, 2 * r.data.max_length));
  const Corpus corpus = made_up_corpus(r, look, labels);
  Model model(r.model, sizes_of(r, labels));
  model.initialize(1);
  ThreadPool pool(threads);
  Learner learner(model, r.train, corpus.longest(), pool);
  Batches batches(corpus, batch_options(r.train));
  Batch batch;
  const Batch* const one = &batch;
  std::vector<double> times;
  const Stopwatch all;
  for (int64_t i = 0; i < kMostTrials && (i < 2 || all.seconds() < kEnough); ++i) {
    batches.next(batch);
    const Stopwatch watch;
    learner.update({&one, 1}, {.last = kMostTrials});
    if (i > 0) times.push_back(watch.seconds());  // the first one maps its memory
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2] * static_cast<double>(whole) / static_cast<double>(tokens);
}

}  // namespace attune
