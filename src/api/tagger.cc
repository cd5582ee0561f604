#include "attune/tagger.h"

#include <algorithm>
#include <cmath>

#include "inference/answer_model.h"

namespace attune {

namespace {

/// Words of a line that are read together: [first, end), those in [from, to) are labelled so.
struct Window {
  size_t line, first, end, from, to;
};

double probability(const float* scores, int64_t labels, int32_t which) {
  const float most = *std::max_element(scores, scores + labels);
  double sum = 0;
  for (int64_t i = 0; i < labels; ++i) sum += std::exp(static_cast<double>(scores[i] - most));
  return std::exp(static_cast<double>(scores[which] - most)) / sum;
}

std::vector<TaggedSpan> spans_of(const std::vector<TaggedWord>& words) {
  std::vector<TaggedSpan> spans;
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string& l = words[i].label;
    const auto at = static_cast<int64_t>(i);
    if (l.starts_with("B-") || l.starts_with("S-")) spans.push_back({l.substr(2), at, at});
    const bool goes_on = (l.starts_with("I-") || l.starts_with("E-")) && !spans.empty() &&
                         spans.back().last == at - 1 && spans.back().label == l.substr(2);
    if (goes_on) spans.back().last = at;
  }
  return spans;
}

}  // namespace

struct Tagger::Body : AnswerModel {
  Body(const std::string& model, int threads) : AnswerModel(model, {Task::tag}, threads) {}
};

Tagger::Tagger(const std::string& model, int threads) : body_(std::make_unique<Body>(model, threads)) {}
Tagger::Tagger(Tagger&&) noexcept = default;
Tagger& Tagger::operator=(Tagger&&) noexcept = default;
Tagger::~Tagger() = default;

std::vector<TaggedText> Tagger::tag(const std::vector<std::string>& lines, const TagOptions& options) const {
  const text::Tokenizer& tokenizer = *body_->opened().tokenizers.source;
  const std::vector<bool> begins = word_begins(tokenizer);
  const auto most = static_cast<size_t>(body_->longest());
  std::vector<TaggedText> all(lines.size());
  std::vector<Window> windows;
  Sentences texts;
  for (size_t i = 0; i < lines.size(); ++i) {
    std::vector<std::vector<int32_t>> ids;  // of each word
    for (const std::string& word : Answers::names("tags", lines[i])) {
      all[i].words.push_back({word, "", 0});
      ids.push_back(encode_words(tokenizer, begins, word));
      if (ids.back().size() > most) ids.back().resize(most);
    }
    // As many words as fit; the next window begins in the middle of this one, and each word is labelled where it stands
    // farther from the edge.
    for (size_t first = 0, from = 0; from < ids.size();) {
      std::vector<int32_t> text;
      size_t end = first;
      while (end < ids.size() && text.size() + ids[end].size() <= most) {
        text.insert(text.end(), ids[end].begin(), ids[end].end());
        ++end;
      }
      if (end <= from) {  // a long word does not fit beside those before it
        first = from;
        continue;
      }
      const size_t next = std::max(first + (end - first) / 2, first + 1),
                   to = end < ids.size() ? (next + end) / 2 : end;
      windows.push_back({i, first, end, from, std::max(to, from + 1)});
      from = windows.back().to;
      texts.add(text);
      first = std::min(next, from);
    }
  }
  const auto labels = static_cast<int64_t>(body_->labels().size());
  const std::vector<Prediction> answered = body_->ask(texts, options.batch_tokens);
  for (size_t w = 0; w < windows.size(); ++w)
    for (size_t i = windows[w].from; i < windows[w].to; ++i) {
      const size_t at = i - windows[w].first;
      TaggedWord& word = all[windows[w].line].words[i];
      const int32_t label = answered[w].answers[at];
      word.label = body_->labels()[static_cast<size_t>(label)];
      word.score = probability(answered[w].scores.data() + static_cast<int64_t>(at) * labels, labels, label);
    }
  for (TaggedText& t : all) t.spans = spans_of(t.words);
  return all;
}

TaggedText Tagger::tag(const std::string& line, const TagOptions& options) const {
  return tag(std::vector<std::string>{line}, options)[0];
}

const std::vector<std::string>& Tagger::labels() const { return body_->labels(); }

}  // namespace attune
