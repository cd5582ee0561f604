// Answers to texts: labels, sets of labels, numbers, a label for each word. In a corpus they are rows of i32, as the
// words of a translation are (model/heads/head.h says what they mean); here they are read and written.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/corpus/corpus.h"
#include "text/labels.h"
#include "text/tokenizer.h"

namespace attune {

class Answers {
 public:
  /// `heads` as kinds_of_head has them: label, labels, number, tags. Numbers need no labels. Of several each answers
  /// once; their texts have tabs between them, and a label's name in `labels` begins with its head: "2:yes".
  Answers(std::vector<std::string> heads, std::shared_ptr<const text::Labels> labels);

  /// The labels that a text names, one by one, in order.
  static std::vector<std::string> names(const std::string& head, std::string_view text);
  /// What is not known is Labels::kUnseen; a text that is no number is nothing at all.
  std::vector<int32_t> read(std::string_view text) const;
  std::string write(std::span<const int32_t> answers) const;
  /// The same, to be compared with `right`: words of it that were cropped, and so not answered, get the most frequent
  /// label.
  std::string write(std::span<const int32_t> answers, std::string_view right) const;
  /// What is wrong with a pair of text and answer, "" if nothing.
  std::string fault(std::string_view text, std::string_view answer) const;

  const text::Labels& labels() const { return *labels_; }
  /// Where labels are those of spans (B-PER, I-PER, O; E-PER and S-PER too): which may follow which, as
  /// kernels/vocabulary/viterbi.h has it, so that every span is well formed. Empty where they are not.
  std::vector<float> moves() const;
  const std::vector<std::string>& heads() const { return heads_; }
  /// Of each head: how many labels it has, and how many numbers it gives: one for each of them, or one.
  const std::vector<int64_t>& counts() const { return counts_; }
  int64_t width(size_t head) const { return heads_[head] == "number" ? 1 : counts_[head]; }
  int64_t width() const;
  /// A label of a head, as the data have it; and an answer of it, which may be a number.
  std::string label(size_t head, int64_t number) const;
  std::string write_one(size_t head, int32_t answer) const;

 private:
  std::vector<int32_t> read_one(size_t head, std::string_view text) const;
  std::vector<std::string> heads_;
  std::shared_ptr<const text::Labels> labels_;
  std::vector<int64_t> first_, counts_;  // of each head: its first label among all, and how many it has
};

/// For each id of a vocabulary: whether it begins a word. Words that are encoded one by one (encode_words) have one
/// such piece each.
std::vector<bool> word_begins(const text::Tokenizer& tokenizer);
std::vector<int32_t> encode_words(const text::Tokenizer& tokenizer, const std::vector<bool>& begins,
                                  std::string_view line);
/// One text, or two with a tab between them, which becomes the end mark.
std::vector<int32_t> encode_texts(const text::Tokenizer& tokenizer, std::string_view line);

/// What of a text is read: its pieces, its words one by one, or its pieces and n-grams of them up to so many.
struct TextReading {
  bool by_words = false;
  int64_t ngrams = 1;
};
/// Texts and answers to ids, for reading a corpus.
Encoders answer_encoders(std::shared_ptr<const text::Tokenizer> tokenizer, const Answers& answers,
                         const TextReading& reading);

/// The same of sources that are no texts.
Encoders row_encoders(std::shared_ptr<const RowShape> rows, const Answers& answers);

/// Lets the labels of a corpus count as the recipe says; the mean over all answers stays 1.
void weigh_labels(LabelWeights how, int32_t labels, Corpus& corpus);

/// The labels of all training data, counted; of numbers none. Of several heads one after another.
text::Labels learn_labels(const DataSettings& data, const std::vector<std::string>& heads);

}  // namespace attune
