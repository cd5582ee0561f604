#include "inference/predictor.h"

#include "base/denormals.h"
#include "base/error.h"
#include "data/corpus/row_corpus.h"
#include "train/evaluator.h"

namespace attune {

Answers answers_of(const Recipe& recipe, const Tokenizers& tokenizers) {
  check(tokenizers.labels != nullptr, "answers", "the tokenizer has no labels");
  return Answers(kinds_of_head(recipe.model.head), tokenizers.labels);
}

int64_t ngrams_of(const Recipe& recipe) { return is_bag(recipe.model) ? recipe.model.ngrams : 1; }

Encoders encoders_of(const Recipe& recipe, const Tokenizers& tokenizers) {
  const Sides sides = sides_of(recipe.task);
  if (tokenizers.rows) return row_encoders(tokenizers.rows, answers_of(recipe, tokenizers));
  if (sides != Sides::answers) {
    Encoders e = tokenizers.encoders(sides);
    if (recipe.model.head.kind == "words") e.masked = tokenizers.target->size();
    return e;
  }
  return answer_encoders(tokenizers.source, answers_of(recipe, tokenizers),
                         {recipe.task == Task::tag, ngrams_of(recipe)});
}

Predictor::Predictor(const Model& model, const Tokenizers& tokenizers, const Recipe& recipe, ThreadPool& pool)
    : model_(model),
      options_(recipe.train),
      pool_(pool),
      answers_(answers_of(recipe, tokenizers)),
      moves_(reads_rows(recipe.task) ? std::vector<float>{} : answers_.moves()) {
  for (int i = 0; i < pool.threads(); ++i) workers_.emplace_back(std::make_unique<Worker>());
}

std::vector<std::string> Predictor::texts(const Corpus& corpus, const std::vector<std::string>& right) {
  std::vector<std::string> all;
  for (const Prediction& p : (*this)(corpus)) all.push_back(answers_.write(p.answers, right[all.size()]));
  return all;
}

std::vector<Prediction> Predictor::operator()(const Corpus& corpus) {
  const FlushDenormals flushed;
  std::vector<Prediction> all(static_cast<size_t>(corpus.size()));
  Batches batches(corpus, in_order(options_, corpus));
  Batch batch;
  Shards shards;
  const int64_t labels = answers_.width();
  const Tensor moves = moves_.empty() ? Tensor() : Tensor(moves_.data(), Shape{labels + 2, labels});
  do {
    batches.next(batch);
    cut(batch, options_.shards * options_.slices, shards);
    parallel_for(&pool_, std::ssize(shards), [&](int64_t i, int worker) {
      Worker& w = *workers_[static_cast<size_t>(worker)];
      const Batch& shard = shards[static_cast<size_t>(i)];
      w.arena.begin_step();
      Pass pass{w.ctx, model_.parameters()};
      const HeadInput in = model_.head_input(pass, shard);
      const Var scores = model_.head()->scores(pass, in);
      const bool by_words = scores.rows() != in.texts().count() || corpus.word_begins;
      for (int64_t s = 0; s < in.texts().count(); ++s) {
        const Tensor own = by_words ? scores.value().row_range(in.answers().begin(s), in.answers().length(s))
                                    : scores.value().row_range(s, 1);
        Prediction& to = all[static_cast<size_t>(shard.examples[static_cast<size_t>(s)])];
        const std::vector<int32_t> said = model_.head()->answers(pass, own, moves);
        const std::vector<float> shown = model_.head()->shown_scores(pass, own, moves);
        // Of rows with answers of their own, those that count.
        const float* weights = by_words && !shard.target().weights.empty()
                                   ? shard.target().weights.data() + in.answers().begin(s)
                                   : nullptr;
        if (!weights) to.answers = said;
        for (int64_t r = 0; r < own.rows(); ++r) {
          if (weights && weights[r] == 0) continue;
          if (weights) to.answers.push_back(said[static_cast<size_t>(r)]);
          const auto row = shown.begin() + r * own.cols();
          to.scores.insert(to.scores.end(), row, row + own.cols());
        }
      }
    });
  } while (batch.next.epoch == 0);
  return all;
}

}  // namespace attune
