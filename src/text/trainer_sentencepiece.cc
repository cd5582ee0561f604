// Training subwords is SentencePiece's work; this is the only file that knows it. What it learned is turned at once
// into a plain list of pieces, and its model is thrown away.
#include <sentencepiece_trainer.h>

#include <charconv>
#include <mutex>

#include "base/error.h"
#include "text/counts.h"
#include "text/utf8.h"
#include "text/vocabulary.h"

namespace attune::text {

namespace {

namespace sp = sentencepiece;

/// The trainer keeps positions in a word as 16 bits and stops the program beyond; text without spaces is cut here.
constexpr size_t kLongest = 1000;
/// A character the trainer keeps for itself: what holds it is not learned from.
constexpr std::string_view kReserved = "\u2585";  // "▅"

/// Words with their counts, as "word<TAB>count": what the trainer would count itself, in far less memory.
class WordIterator : public sp::SentenceIterator {
 public:
  explicit WordIterator(const RankedCounts& words) : words_(words) { read(); }
  bool done() const override { return word_ >= words_.size(); }
  void Next() override {
    at_ = end_;
    read();
  }
  const std::string& value() const override { return value_; }
  sp::util::Status status() const override { return {}; }

 private:
  void read() {
    for (; word_ < words_.size(); ++word_, at_ = 0) {
      const std::string& word = words_[word_].first;
      if (at_ >= word.size() || word.find(kReserved) != std::string::npos) continue;
      const size_t stop = stop_in(word);
      end_ = at_;
      for (size_t n = 0; n < kLongest && end_ < stop; ++n)
        end_ += first_character(std::string_view(word).substr(end_)).bytes;
      value_ = word.substr(at_, end_ - at_) + "\t" + std::to_string(words_[word_].second);
      return;
    }
  }
  /// Words spelled like a mark are learned in two parts: the trainer would leave out their characters.
  size_t stop_in(const std::string& word) const {
    size_t stop = word.size();
    for (const std::string_view mark : kMarkNames) {
      const size_t found = word.find(mark, at_);
      if (found < stop) stop = found + 1;
    }
    return stop;
  }
  const RankedCounts& words_;
  size_t word_ = 0, at_ = 0, end_ = 0;
  std::string value_;
};

/// Throws what the library reports.
void expect(const sp::util::Status& status, const char* what) {
  if (!status.ok()) fail(ErrorKind::data, "cannot {} subwords: {}", what, status.ToString());
}

}  // namespace

std::vector<std::string> train_bpe(const RankedCounts& words, int64_t size, double coverage) {
  char share[32];
  *std::to_chars(share, share + sizeof share - 1, coverage).ptr = '\0';
  // Lines come normalized. One thread: the result must not depend on the machine. No hard limit: a small text gives
  // fewer pieces than asked for instead of an error.
  const std::unordered_map<std::string, std::string> settings{{"model_type", "bpe"},
                                                              {"vocab_size", std::to_string(size)},
                                                              {"character_coverage", share},
                                                              {"input_format", "tsv"},
                                                              {"normalization_rule_name", "identity"},
                                                              {"num_threads", "1"},
                                                              {"hard_vocab_limit", "false"},
                                                              {"max_sentence_length", "1000000"},
                                                              {"pad_id", std::to_string(kPad)},
                                                              {"bos_id", std::to_string(kBegin)},
                                                              {"eos_id", std::to_string(kEnd)},
                                                              {"unk_id", std::to_string(kUnknown)},
                                                              {"minloglevel", "4"}};
  static std::mutex one_at_a_time;  // its log level and generators are global
  std::lock_guard lock(one_at_a_time);
  WordIterator iterator(words);
  if (iterator.done()) fail(ErrorKind::data, "cannot train subwords: no word can be learned from");
  std::string model;
  expect(sp::SentencePieceTrainer::Train(settings, &iterator, &model), "train");
  sp::SentencePieceProcessor processor;
  expect(processor.LoadFromSerializedProto(model), "read back");
  std::vector<std::string> pieces;
  for (int id = kMarks; id < processor.GetPieceSize(); ++id) {
    // Merges go by score; ours by place in the list.
    if (id > kMarks && !(processor.GetScore(id) < processor.GetScore(id - 1)))
      fail(ErrorKind::internal, "[train_bpe] piece {} is out of order", id);
    pieces.push_back(processor.IdToPiece(id));
  }
  return pieces;
}

}  // namespace attune::text
