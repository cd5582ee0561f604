#include "baseline/bag.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <set>

#include "base/hash.h"
#include "base/random.h"
#include "baseline/answer_rows.h"
#include "baseline/examples.h"
#include "baseline/linear.h"
#include "text/lower_case.h"

namespace attune {

namespace {

constexpr int64_t kBagExamples = 50'000;
constexpr uint64_t kBothTexts = 64, kOneText = 65, kShareOfText = 66;  // what a hash is of; a text's number for words

/// The hashes of what a source has; columns are found when it is known how many there shall be.
class BagOfText {
 public:
  explicit BagOfText(const text::Tokenizer& tokenizer) : tokenizer_(tokenizer) {}
  const std::vector<uint64_t>& operator()(std::span<const int32_t> ids) {
    hashes_.clear();
    std::vector<std::vector<std::string>> texts;
    for (const std::string& text : texts_of(ids, tokenizer_)) texts.push_back(words_of_text(text::lower_case(text)));
    for (size_t t = 0; t < texts.size(); ++t)
      for (size_t i = 0; i < texts[t].size(); ++i) {
        hashes_.push_back(hash64(texts[t][i], t));
        if (i > 0) hashes_.push_back(hash64(texts[t][i - 1] + " " + texts[t][i], t));
      }
    for (size_t t = 0; texts.size() == 2 && t < 2; ++t) compare(texts[t], texts[1 - t], t);
    return hashes_;
  }

 private:
  /// What of one text the other has too, and how much of it.
  void compare(const std::vector<std::string>& own, const std::vector<std::string>& other, uint64_t which) {
    const std::set<std::string> there(other.begin(), other.end());
    size_t both = 0;
    for (const std::string& word : own) {
      both += there.contains(word);
      hashes_.push_back(there.contains(word) ? hash64(word, kBothTexts) : hash64(word, mix(kOneText, which)));
    }
    const size_t tenth = own.empty() ? 0 : 10 * both / own.size();
    hashes_.push_back(hash64(std::to_string(tenth), mix(kShareOfText, which)));
  }
  const text::Tokenizer& tokenizer_;
  std::vector<uint64_t> hashes_;
};

/// Sources of a corpus, hashed.
struct HashedTexts {
  std::vector<uint32_t> hashes;
  std::vector<int64_t> start{0};

  void add(const std::vector<uint64_t>& own) {
    for (const uint64_t h : own) hashes.push_back(static_cast<uint32_t>(h >> 32));
    start.push_back(std::ssize(hashes));
  }
  SparseRows rows(int64_t columns) const {
    SparseRows rows;
    std::vector<Feature> row;
    for (size_t i = 0; i + 1 < start.size(); ++i) {
      row.clear();
      for (auto at = start[i]; at < start[i + 1]; ++at)
        row.push_back({hashes[static_cast<size_t>(at)] & static_cast<uint32_t>(columns - 1), 1.0f});
      rows.add(row);
    }
    return rows;
  }
};

/// The training answers of a head, and what its validation texts get.
class BagHead {
 public:
  BagHead(const Answers& answers, size_t head) : answers_(answers), head_(head), kind_(answers.heads()[head]) {}

  void add(const std::vector<int32_t>& example) {
    if (answers_.heads().size() == 1)
      right_.push_back(example);
    else
      right_.push_back({example[head_]});
  }
  std::vector<std::vector<int32_t>> guess(const HashedTexts& train, const HashedTexts& valid) {
    const int64_t outputs = answers_.width(head_), columns = hashed_columns(std::ssize(train.hashes), outputs);
    const bool number = kind_ == "number";
    if (number) measure_numbers();
    const auto wanted = [&](int64_t row, std::span<float> out) {
      for (const int32_t id : right_[static_cast<size_t>(row)]) {
        if (number)
          out[0] = static_cast<float>((std::bit_cast<float>(id) - mean_) / deviation_);
        else if (id >= 0)
          out[static_cast<size_t>(id)] = 1;
      }
    };
    const LinearLink link = number ? LinearLink::number : kind_ == "label" ? LinearLink::one : LinearLink::any;
    LinearModel model = fit_linear(train.rows(columns), wanted, LinearModel(columns, outputs, link), outputs);
    const SparseRows rows = valid.rows(columns);
    std::vector<std::vector<int32_t>> said;
    for (int64_t i = 0; i < rows.count(); ++i) said.push_back(answers_to(model.ask(rows[i])));
    return said;
  }

 private:
  void measure_numbers() {
    double sum = 0, squares = 0;
    for (const std::vector<int32_t>& own : right_) {
      const double x = std::bit_cast<float>(own[0]);
      sum += x;
      squares += x * x;
    }
    const auto n = static_cast<double>(right_.size());
    mean_ = sum / n;
    deviation_ = std::sqrt(std::max(1e-12, squares / n - mean_ * mean_));
  }
  std::vector<int32_t> answers_to(std::span<const float> said) const {
    if (kind_ == "label") return {most_of(said)};
    if (kind_ == "number") return {std::bit_cast<int32_t>(static_cast<float>(mean_ + deviation_ * said[0]))};
    std::vector<int32_t> all;
    for (size_t o = 0; o < said.size(); ++o)
      if (said[o] >= 0.5f) all.push_back(static_cast<int32_t>(o));
    return all;
  }
  const Answers& answers_;
  size_t head_;
  std::string kind_;
  std::vector<std::vector<int32_t>> right_;
  double mean_ = 0, deviation_ = 1;
};

}  // namespace

BaselineGuess BagBaseline::guess(const BaselineTask& task) {
  const Corpus &train = task.data.train, &valid = task.data.valid;
  const Answers answers = answers_of_task(task);
  std::vector<BagHead> heads;
  for (size_t h = 0; h < answers.heads().size(); ++h) heads.emplace_back(answers, h);
  BagOfText bag(*task.tokenizers.source);
  HashedTexts train_texts, valid_texts;
  AnswerRows right(train);
  ExampleBuffer buffer;
  for (const int64_t i : examples_to_look_at(task, kBagExamples)) {
    train_texts.add(bag(train.example(i, buffer).source));
    for (BagHead& head : heads) head.add(right.answers(i));
  }
  for (int64_t i = 0; i < valid.size(); ++i) valid_texts.add(bag(valid.example(i, buffer).source));
  std::vector<std::vector<int32_t>> all(static_cast<size_t>(valid.size()));
  for (BagHead& head : heads) {
    const auto said = head.guess(train_texts, valid_texts);
    for (size_t i = 0; i < all.size(); ++i) all[i].insert(all[i].end(), said[i].begin(), said[i].end());
  }
  BaselineGuess guess;
  for (const std::vector<int32_t>& own : all) guess.lines.push_back(answers.write(own));
  return guess;
}

}  // namespace attune
