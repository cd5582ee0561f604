#include "data/corpus/answers.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>

#include "base/error.h"
#include "base/ngrams.h"
#include "base/text.h"
#include "data/files/row_files.h"
#include "text/piece_words.h"

namespace attune {

namespace {

bool read_number(std::string_view text, float& out) {
  const std::string number = with_decimal_point(text);
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), out);
  return error == std::errc{} && end == number.data() + number.size() && std::isfinite(out);
}

/// How a label of one of several heads is called among all.
std::string full_name(size_t head, std::string_view label) { return fmt::format("{}:{}", head + 1, label); }

}  // namespace

std::vector<std::string> Answers::names(const std::string& head, std::string_view text) {
  if (head == "label") return {std::string(trim(text))};
  std::vector<std::string> all;
  for (const std::string_view word : words_of(text)) all.emplace_back(word);
  return all;
}

Answers::Answers(std::vector<std::string> heads, std::shared_ptr<const text::Labels> labels)
    : heads_(std::move(heads)), labels_(std::move(labels)), first_(heads_.size(), 0), counts_(heads_.size(), 0) {
  if (!labels_ || heads_.empty()) return;
  if (heads_.size() == 1) counts_[0] = labels_->size();
  for (int32_t next = 0, h = 0; heads_.size() > 1 && h < std::ssize(heads_); ++h) {
    const auto head = static_cast<size_t>(h);
    first_[head] = next;
    while (next < labels_->size() && labels_->name(next).starts_with(full_name(head, ""))) ++next;
    counts_[head] = next - first_[head];
  }
}

int64_t Answers::width() const {
  int64_t all = 0;
  for (size_t i = 0; i < heads_.size(); ++i) all += width(i);
  return all;
}

std::string Answers::label(size_t head, int64_t number) const {
  const std::string& name = labels_->name(static_cast<int32_t>(first_[head] + number));
  return heads_.size() == 1 ? name : name.substr(full_name(head, "").size());
}

std::vector<int32_t> Answers::read_one(size_t head, std::string_view text) const {
  if (heads_[head] == "number") {
    float x = 0;
    if (!read_number(trim(text), x)) return {};
    return {std::bit_cast<int32_t>(x + 0.0f)};
  }
  std::vector<int32_t> ids;
  for (const std::string& name : names(heads_[head], text)) {
    const int32_t id = labels_->number(heads_.size() == 1 ? name : full_name(head, name));
    ids.push_back(id < 0 ? id : id - static_cast<int32_t>(first_[head]));
  }
  return ids;
}

std::vector<int32_t> Answers::read(std::string_view text) const {
  if (heads_.size() == 1) return read_one(0, text);
  std::vector<int32_t> all;
  const std::vector<std::string> parts = split(text, '\t');
  for (size_t i = 0; i < heads_.size(); ++i)
    for (const int32_t id : read_one(i, i < parts.size() ? parts[i] : "")) all.push_back(id);
  return all;
}

std::string Answers::write_one(size_t head, int32_t answer) const {
  return heads_[head] == "number" ? fmt::format("{:.9g}", std::bit_cast<float>(answer)) : label(head, answer);
}

std::string Answers::write(std::span<const int32_t> answers) const {
  std::vector<std::string> parts;
  for (size_t i = 0; i < answers.size(); ++i) parts.push_back(write_one(heads_.size() == 1 ? 0 : i, answers[i]));
  return join(parts, heads_.size() == 1 ? " " : "\t");
}

std::string Answers::write(std::span<const int32_t> answers, std::string_view right) const {
  if (heads_[0] != "tags") return write(answers);
  std::vector<int32_t> all(answers.begin(), answers.end());
  all.resize(std::max(all.size(), words_of(right).size()), 0);
  return write(all);
}

std::string Answers::fault(std::string_view text, std::string_view answer) const {
  const std::vector<std::string> parts =
      heads_.size() == 1 ? std::vector<std::string>{std::string(answer)} : split(answer, '\t');
  for (size_t i = 0; i < heads_.size(); ++i) {
    const std::string_view own = i < parts.size() ? std::string_view(parts[i]) : "";
    if (heads_[i] == "number" && read_one(i, own).empty() && own.find(',') != std::string_view::npos)
      return fmt::format("\"{}\" may have a decimal comma or one between thousands\n  fix: write a decimal point: {}",
                         trim(own).substr(0, 40), "1.234 or 1234");
    if (heads_[i] == "number" && read_one(i, own).empty())
      return fmt::format("\"{}\" is not a number\n  fix: write one like 1 or 0.25; for labels, {}",
                         trim(own).substr(0, 40), heads_.size() == 1 ? "leave model.head out" : "say so in model.head");
    if (heads_.size() > 1 && trim(own).empty())
      return fmt::format("answer {} of {} is empty\n  fix: write one for each head", i + 1, heads_.size());
  }
  if (heads_[0] != "tags") return "";
  const auto words = std::ssize(words_of(text)), labels = std::ssize(words_of(answer));
  if (words == labels) return "";
  return fmt::format("{} word{}, {} label{}\n  fix: write one label for each word", words, words == 1 ? "" : "s",
                     labels, labels == 1 ? "" : "s");
}

std::vector<float> Answers::moves() const {
  if (heads_[0] != "tags") return {};
  const int32_t n = labels_->size();
  bool ends = false, inside = false;
  for (int32_t i = 0; i < n; ++i) {
    const std::string& l = labels_->name(i);
    inside |= l.starts_with("I-");
    ends |= l.starts_with("E-") || l.starts_with("S-");
  }
  if (!inside) return {};
  // A span that no label begins (I-X without B-X: every word of a name is I-X) may begin in its middle.
  const auto goes_on = [&](const std::string& l) {
    return (l.starts_with("I-") || l.starts_with("E-")) && labels_->number("B" + l.substr(1)) >= 0;
  };
  const auto open = [&](const std::string& l) { return l.starts_with("B-") || l.starts_with("I-"); };
  std::vector<float> all(static_cast<size_t>((n + 2) * n), 0.0f);
  const float no = -std::numeric_limits<float>::infinity();
  for (int32_t to = 0; to < n; ++to) {
    const std::string& next = labels_->name(to);
    for (int32_t from = 0; from <= n; ++from) {  // n: the begin
      const std::string before = from < n ? labels_->name(from) : "";
      const bool same = open(before) && before.substr(1) == next.substr(1);
      if (goes_on(next) ? !same : ends && open(before)) all[static_cast<size_t>(from * n + to)] = no;
    }
    if (ends && open(next)) all[static_cast<size_t>((n + 1) * n + to)] = no;
  }
  return all;
}

namespace {

/// Where pieces are single letters, a word is a blank and its letters: the blank's id. Others have none: -1.
int32_t blank_of(const text::Tokenizer& tokenizer) {
  if (tokenizer.kind() == text::TokenizerKind::byte) return text::Vocabulary::byte_id(' ');
  if (tokenizer.kind() != text::TokenizerKind::character) return -1;
  const int32_t id = tokenizer.id(text::kSpacePiece);
  if (id == text::kUnknown)
    fail(ErrorKind::recipe,
         "tokenizer.kind = \"char\" knows no blank, which words begin with: no text has two words\n"
         "  fix: set tokenizer.kind = \"word\"");
  return id;
}

}  // namespace

std::vector<bool> word_begins(const text::Tokenizer& tokenizer) {
  using text::TokenizerKind;
  std::vector<bool> begins(static_cast<size_t>(tokenizer.size()), false);
  const text::Vocabulary& v = tokenizer.vocabulary();
  const bool whole = v.kind() == TokenizerKind::word || v.kind() == TokenizerKind::wordpiece;
  if (const int32_t blank = blank_of(tokenizer); blank >= 0) {  // letters do not tell whether they are the first
    begins[static_cast<size_t>(blank)] = true;
    return begins;
  }
  begins[text::kUnknown] = whole;  // of the others, a part of a word may be unknown
  for (int32_t id = v.first(); id < v.size(); ++id) {
    const std::string& piece = v.piece(id);
    begins[static_cast<size_t>(id)] = whole ? v.kind() == TokenizerKind::word || !piece.starts_with(text::kInside)
                                            : piece.starts_with(text::kSpacePiece);
  }
  return begins;
}

std::vector<int32_t> encode_words(const text::Tokenizer& tokenizer, const std::vector<bool>& begins,
                                  std::string_view line) {
  std::vector<int32_t> all;
  const int32_t blank = blank_of(tokenizer);
  for (const std::string_view word : words_of(line)) {
    auto ids = tokenizer.encode(word);
    if (blank >= 0 && !ids.empty()) ids.insert(ids.begin(), blank);
    const auto count =
        std::count_if(ids.begin(), ids.end(), [&](int32_t id) { return begins[static_cast<size_t>(id)]; });
    if (count == 1 && begins[static_cast<size_t>(ids[0])]) {
      all.insert(all.end(), ids.begin(), ids.end());
      continue;
    }
    // Nothing that is seen, or something that looks like several words: it is one that is not known.
    if (!begins[text::kUnknown]) all.push_back(blank >= 0 ? blank : tokenizer.id(text::kSpacePiece));
    all.push_back(text::kUnknown);
  }
  return all;
}

std::vector<int32_t> encode_texts(const text::Tokenizer& tokenizer, std::string_view line) {
  const size_t tab = line.find('\t');
  std::vector<int32_t> ids = tokenizer.encode(line.substr(0, tab));
  if (tab == std::string_view::npos) return ids;
  ids.push_back(text::kEnd);
  const auto second = tokenizer.encode(line.substr(tab + 1));
  ids.insert(ids.end(), second.begin(), second.end());
  return ids;
}

Encoders answer_encoders(std::shared_ptr<const text::Tokenizer> tokenizer, const Answers& answers,
                         const TextReading& reading) {
  Encoders e;
  e.answers = true;
  e.ids_per_token = reading.ngrams;
  e.target = [answers](std::string_view text) { return answers.read(text); };
  e.fault = [answers](std::string_view text, std::string_view answer) { return answers.fault(text, answer); };
  if (!reading.by_words) {
    e.source = [tokenizer, most = reading.ngrams](std::string_view text) {
      std::vector<int32_t> ids = encode_texts(*tokenizer, text);
      add_ngrams(tokenizer->size(), most, ids);
      return ids;
    };
    return e;
  }
  e.word_begins = std::make_shared<const std::vector<bool>>(word_begins(*tokenizer));
  e.source = [tokenizer, begins = e.word_begins](std::string_view text) {
    return encode_words(*tokenizer, *begins, text);
  };
  return e;
}

Encoders row_encoders(std::shared_ptr<const RowShape> rows, const Answers& answers) {
  Encoders e;
  e.answers = true;
  e.rows = std::move(rows);
  e.target = [answers](std::string_view text) { return answers.read(text); };
  return e;
}

void weigh_labels(LabelWeights how, int32_t labels, Corpus& corpus) {
  if (how == LabelWeights::equal || !corpus.answers || labels == 0) return;
  std::vector<double> counts(static_cast<size_t>(labels), 0), weights(counts);
  ExampleBuffer buffer;
  for (int64_t i = 0; i < corpus.size(); ++i)
    for (const int32_t label : corpus.example(i, buffer).target)
      if (label >= 0) ++counts[static_cast<size_t>(label)];
  double all = 0, sum = 0;
  for (size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] == 0) continue;
    weights[i] = how == LabelWeights::root ? 1 / std::sqrt(counts[i]) : 1 / counts[i];
    all += counts[i];
    sum += counts[i] * weights[i];
  }
  for (const double w : weights) corpus.label_weights.push_back(static_cast<float>(w * all / sum));
}

text::Labels learn_labels(const DataSettings& data, const std::vector<std::string>& heads) {
  std::vector<std::map<std::string, int64_t>> counts(heads.size());
  if (heads == std::vector<std::string>{"number"}) return text::Labels({});
  if (holds_rows(data.format)) {
    const auto rows = open_rows({data.train, "data.train"}, data.format);
    for (RowExample e; rows->next(e);)
      for (const std::string& name : e.answers)
        if (!name.empty()) ++counts[0][name];
    return text::Labels::of_counts(counts[0]);
  }
  PairReader reader(data.train, data, "data.train", Sides::answers);
  for (TextPair pair; reader.next(pair);) {
    const std::vector<std::string> parts =
        heads.size() == 1 ? std::vector<std::string>{std::string(pair.target)} : split(pair.target, '\t');
    for (size_t i = 0; i < std::min(heads.size(), parts.size()); ++i)
      if (heads[i] != "number")
        for (std::string& name : Answers::names(heads[i], parts[i])) ++counts[i][std::move(name)];
  }
  if (heads.size() == 1) return text::Labels::of_counts(counts[0]);
  std::vector<std::string> all;
  for (size_t i = 0; i < heads.size(); ++i) {
    const text::Labels own = text::Labels::of_counts(counts[i]);
    for (int32_t l = 0; l < own.size(); ++l) all.push_back(full_name(i, own.name(l)));
  }
  return text::Labels(std::move(all));
}

}  // namespace attune
