#include "attune/classifier.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/ngrams.h"
#include "base/text.h"
#include "data/corpus/row_corpus.h"
#include "inference/answer_model.h"

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
  Body(const std::string& model, int threads)
      : AnswerModel(model, {Task::classify, Task::image, Task::graph}, threads) {}

  Classification of(const Prediction& a) const {
    const std::vector<std::string>& heads = answers().heads();
    Classification c;
    if (heads.size() == 1) {
      c = of_head(heads[0], a);
      c.label = answers().write(a.answers);
      return c;
    }
    int64_t from = 0;
    for (size_t h = 0; h < heads.size(); ++h) {
      const auto scores = a.scores.begin() + from;
      from += answers().width(h);
      c.parts.push_back(of_head(heads[h], {{a.answers[h]}, {scores, a.scores.begin() + from}}));
      c.parts.back().label = answers().write_one(h, a.answers[h]);
    }
    c.label = answers().write(a.answers);
    c.score = c.parts[0].score;
    return c;
  }

  const char* what() const { return opened().recipe.task == Task::image ? "pictures" : "graphs"; }

  /// One of the rows of an example, where each has an answer.
  Classification of_row(const Prediction& a, size_t row) const {
    const auto width = static_cast<std::ptrdiff_t>(answers().width());
    const auto scores = a.scores.begin() + static_cast<std::ptrdiff_t>(row) * width;
    Classification c = of_head("label", {{a.answers[row]}, {scores, scores + width}});
    c.label = answers().write_one(0, a.answers[row]);
    return c;
  }

  /// All but the label's name.
  static Classification of_head(const std::string& head, const Prediction& a) {
    Classification c;
    c.scores.assign(a.scores.begin(), a.scores.end());
    if (head == "number") {
      c.score = c.scores[0];
      c.scores.clear();
    } else if (head == "labels") {
      c.score = 1;
      for (double& s : c.scores) s = 1 / (1 + std::exp(-s));
      for (const int32_t l : a.answers) c.score = std::min(c.score, c.scores[static_cast<size_t>(l)]);
      if (a.answers.empty())  // how sure it is that there is none
        for (const double s : c.scores) c.score = std::min(c.score, 1 - s);
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
  if (reads_files()) fail(ErrorKind::usage, "this model reads {}, not lines\n  fix: name files of them", body_->what());
  const auto most = static_cast<size_t>(body_->longest());
  const text::Tokenizer& tokenizer = *body_->opened().tokenizers.source;
  Sentences texts;
  std::vector<size_t> first;  // of each line: its first text
  std::vector<bool> cropped;
  for (const std::string& line : lines) {
    const auto ids = encode_texts(tokenizer, line);
    const bool longer = ids.size() > most, windows = longer && options.windows && line.find('\t') == line.npos;
    first.push_back(static_cast<size_t>(texts.count()));
    cropped.push_back(longer && !windows);
    size_t from = 0, end = 0;
    do {
      end = std::min(from + most, ids.size());
      std::vector<int32_t> part(ids.begin() + static_cast<ptrdiff_t>(from), ids.begin() + static_cast<ptrdiff_t>(end));
      add_ngrams(tokenizer.size(), body_->ngrams(), part);
      texts.add(part);
      from += (most + 1) / 2;
    } while (windows && end < ids.size());
  }
  first.push_back(static_cast<size_t>(texts.count()));
  const std::vector<Prediction> said = body_->ask(texts, options.batch_tokens);
  std::vector<Classification> all;
  for (size_t i = 0; i < lines.size(); ++i) {
    all.push_back(body_->of(body_->mean_of(std::span(said).subspan(first[i], first[i + 1] - first[i]))));
    all.back().cropped = cropped[i];
  }
  return all;
}

Classification Classifier::classify(const std::string& line, const ClassifyOptions& options) const {
  return classify(std::vector<std::string>{line}, options)[0];
}

bool Classifier::reads_files() const { return body_->opened().tokenizers.rows != nullptr; }

void Classifier::classify_files(const std::vector<std::string>& files, const OnClassified& on_classified) const {
  if (!reads_files()) fail(ErrorKind::usage, "this model reads lines of text\n  fix: hand them to classify");
  constexpr int64_t kAtATime = 1024;
  const Recipe& recipe = body_->opened().recipe;
  const RowShape& known = *body_->opened().tokenizers.rows;
  const auto reader = open_rows({files, "FILE", false}, recipe.data.format);
  reader->widen(known.width);
  check_row_shape(reader->shape(), known, join(files, ", "));
  Corpus corpus;
  std::vector<std::vector<std::string>> names;
  const auto answer = [&] {
    if (names.empty()) return;
    const std::vector<Prediction> said = body_->ask(corpus, recipe.train.batch_tokens.tokens);
    for (size_t i = 0; i < names.size(); ++i)
      for (size_t r = 0; r < names[i].size(); ++r)
        on_classified(names[i][r], names[i].size() == 1 ? body_->of(said[i]) : body_->of_row(said[i], r));
    names.clear();
  };
  std::vector<int32_t> run;
  for (RowExample e; reader->next(e);) {
    if (names.empty()) {
      corpus = {};
      corpus.answers = true;
      corpus.source_layout = reader->source_layout();
    }
    names.push_back(e.row_names.empty() ? std::vector{e.name} : std::move(e.row_names));
    corpus.source_layout.pack(e.source, run);
    corpus.add({run, std::vector<int32_t>(names.back().size(), 0), 1}, Sides::answers);
    if (std::ssize(names) == kAtATime) answer();
  }
  answer();
}

int Classifier::texts() const {
  const DataSettings& data = body_->opened().recipe.data;
  const std::vector<std::string>& names = data.columns.texts;
  if (reads_files() || names.empty()) return 0;
  const auto weights = std::count(names.begin(), names.end(), "weight");
  return static_cast<int>(std::clamp<int64_t>(std::ssize(names) - weights - data.answers, 1, 2));
}

const std::vector<std::string>& Classifier::labels() const { return body_->labels(); }
std::vector<std::string> Classifier::labels(size_t head) const { return body_->labels(head); }
int64_t Classifier::longest() const { return body_->longest(); }

}  // namespace attune
