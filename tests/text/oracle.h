// SentencePiece itself, to compare with.
#pragma once
#include <sentencepiece_trainer.h>

#include <string>
#include <vector>

#include "text/tokenizer.h"

namespace attune::text::test {

namespace sp = sentencepiece;

class OracleLines : public sp::SentenceIterator {
 public:
  explicit OracleLines(const std::vector<std::string>& lines) : lines_(lines) {}
  bool done() const override { return at_ >= lines_.size(); }
  void Next() override { ++at_; }
  const std::string& value() const override { return lines_[at_]; }
  sp::util::Status status() const override { return {}; }

 private:
  const std::vector<std::string>& lines_;
  size_t at_ = 0;
};

/// Trained by SentencePiece on whole normalized lines, not on counted words. What went wrong is in `trouble`.
struct Oracle : sp::SentencePieceProcessor {
  std::string trouble;
  Oracle(const std::vector<std::string>& lines, const TokenizerOptions& options) {
    OracleLines iterator(lines);
    std::string model;
    const auto status =
        sp::SentencePieceTrainer::Train({{"model_type", tokenizer_kinds()[static_cast<size_t>(options.kind)]},
                                         {"vocab_size", std::to_string(options.size)},
                                         {"character_coverage", std::to_string(options.character_coverage)},
                                         {"byte_fallback", options.byte_fallback ? "true" : "false"},
                                         {"normalization_rule_name", "identity"},
                                         {"num_threads", "1"},
                                         {"hard_vocab_limit", "false"},
                                         {"max_sentence_length", "100000"},
                                         {"pad_id", "0"},
                                         {"bos_id", "1"},
                                         {"eos_id", "2"},
                                         {"unk_id", "3"},
                                         {"minloglevel", "4"}},
                                        &iterator, &model);
    trouble = status.ok() ? "" : status.ToString();
    if (trouble.empty() && !LoadFromSerializedProto(model).ok()) trouble = "can't be read back";
  }
};

inline std::vector<std::string> normalized(std::vector<std::string> lines) {
  for (auto& l : lines) l = normalize(l);
  return lines;
}

}  // namespace attune::text::test
