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
constexpr size_t kLongestWord = 1000;
/// It passes over lines of more than the bytes it is told; these are characters.
constexpr size_t kLongestLine = 200000;
/// A character the trainer keeps for itself: what holds it is not learned from.
constexpr std::string_view kReserved = "\u2585";  // "▅"

/// Words with their counts, as "word<TAB>count": what the trainer would count itself, in far less memory. Or lines.
class TextIterator : public sp::SentenceIterator {
 public:
  TextIterator(const RankedCounts& texts, size_t longest, bool bytes)
      : texts_(texts), longest_(longest), bytes_(bytes) {
    read();
  }
  bool done() const override { return text_ >= texts_.size(); }
  void Next() override {
    at_ = end_;
    read();
  }
  const std::string& value() const override { return value_; }
  sp::util::Status status() const override { return {}; }

 private:
  void read() {
    for (; text_ < texts_.size(); ++text_, at_ = 0) {
      const std::string& text = texts_[text_].first;
      if (at_ >= text.size() || text.find(kReserved) != std::string::npos) continue;
      const size_t stop = stop_in(text);
      end_ = at_;
      for (size_t n = 0; n < longest_ && end_ < stop; ++n)
        end_ += first_character(std::string_view(text).substr(end_)).bytes;
      value_ = text.substr(at_, end_ - at_) + "\t" + std::to_string(texts_[text_].second);
      return;
    }
  }
  /// What is spelled like a mark is learned in two parts: the trainer would leave out its characters. Like a byte too:
  /// it would give two pieces one name.
  size_t stop_in(const std::string& text) const {
    size_t stop = text.size();
    for (const std::string_view mark : kMarkNames) {
      const size_t found = text.find(mark, at_);
      if (found < stop) stop = found + 1;
    }
    if (const size_t found = bytes_ ? text.find("<0x", at_) : stop; found < stop) stop = found + 1;
    return stop;
  }
  const RankedCounts& texts_;
  size_t longest_;
  bool bytes_;
  size_t text_ = 0, at_ = 0, end_ = 0;
  std::string value_;
};

/// Throws what the library reports.
void expect(const sp::util::Status& status, const char* what) {
  if (!status.ok()) fail(ErrorKind::data, "cannot {} subwords: {}", what, status.ToString());
}

}  // namespace

Subwords train_subwords(const RankedCounts& texts, const TokenizerOptions& options) {
  const bool bpe = options.kind == TokenizerKind::bpe;
  char share[32];
  *std::to_chars(share, share + sizeof share - 1, options.character_coverage).ptr = '\0';
  // Lines come normalized. One thread: the result must not depend on the machine. No hard limit: a small text gives
  // fewer pieces than asked for instead of an error.
  const std::unordered_map<std::string, std::string> settings{
      {"model_type", bpe ? "bpe" : "unigram"},
      {"vocab_size", std::to_string(options.size)},
      {"character_coverage", share},
      {"byte_fallback", options.byte_fallback ? "true" : "false"},
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
  TextIterator iterator(texts, bpe ? kLongestWord : kLongestLine, options.byte_fallback);
  if (iterator.done()) fail(ErrorKind::data, "cannot train subwords: no word can be learned from");
  std::string model;
  expect(sp::SentencePieceTrainer::Train(settings, &iterator, &model), "train");
  sp::SentencePieceProcessor processor;
  expect(processor.LoadFromSerializedProto(model), "read back");
  Subwords result;
  const int first = kMarks + (options.byte_fallback ? kBytes : 0);
  for (int id = first; id < processor.GetPieceSize(); ++id) {
    // Merges go by score; ours by place in the list.
    if (bpe && id > first && !(processor.GetScore(id) < processor.GetScore(id - 1)))
      fail(ErrorKind::internal, "[train_subwords] piece {} is out of order", id);
    result.pieces.push_back(processor.IdToPiece(id));
    if (!bpe) result.scores.push_back(processor.GetScore(id));
  }
  return result;
}

}  // namespace attune::text
