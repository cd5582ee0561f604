#include "attune/classifier.h"

#include <algorithm>
#include <cmath>

#include "api/answer_model.h"

namespace attune {

namespace {

void soften(std::vector<double>& x) {
  const double most = *std::max_element(x.begin(), x.end());
  double sum = 0;
  for (double& v : x) sum += v = std::exp(v - most);
  for (double& v : x) v /= sum;
}

}  // namespace

struct Classifier::Body : AnswerModel {
  Body(const std::string& model, int threads) : AnswerModel(model, Task::classify, threads) {}

  Classification of(const Answered& a) const {
    Classification c;
    c.label = answers().write(a.answers);
    c.scores.assign(a.scores.begin(), a.scores.end());
    const std::string& head = opened().recipe.model.head.kind;
    if (head == "number") {
      c.score = c.scores[0];
      c.scores.clear();
    } else if (head == "labels") {
      c.score = 1;
      for (double& s : c.scores) s = 1 / (1 + std::exp(-s));
      for (const int32_t l : a.answers) c.score = std::min(c.score, c.scores[static_cast<size_t>(l)]);
    } else {
      soften(c.scores);
      c.score = c.scores[static_cast<size_t>(a.answers[0])];
    }
    return c;
  }
};

Classifier::Classifier(const std::string& model, int threads) : body_(std::make_unique<Body>(model, threads)) {}
Classifier::Classifier(Classifier&&) noexcept = default;
Classifier& Classifier::operator=(Classifier&&) noexcept = default;
Classifier::~Classifier() = default;

std::vector<Classification> Classifier::classify(const std::vector<std::string>& lines,
                                                 const ClassifyOptions& options) const {
  Sentences texts;
  std::vector<bool> cropped;
  for (const std::string& line : lines) {
    auto ids = encode_texts(*body_->opened().tokenizers.source, line);
    cropped.push_back(std::ssize(ids) > body_->longest());
    if (cropped.back()) ids.resize(static_cast<size_t>(body_->longest()));
    add_ngrams(body_->opened().tokenizers.source->size(), body_->ngrams(), ids);
    texts.add(ids);
  }
  std::vector<Classification> all;
  for (const Answered& a : body_->ask(texts, options.batch_tokens)) {
    all.push_back(body_->of(a));
    all.back().cropped = cropped[all.size() - 1];
  }
  return all;
}

Classification Classifier::classify(const std::string& line, const ClassifyOptions& options) const {
  return classify(std::vector<std::string>{line}, options)[0];
}

const std::vector<std::string>& Classifier::labels() const { return body_->labels(); }
int64_t Classifier::longest() const { return body_->longest(); }

}  // namespace attune
