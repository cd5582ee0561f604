// Text <-> pieces on their own: what a model does to its lines before and after.
//
//   attune::Tokenizer t("tokenizer-dir");
//   t.decode(t.encode("A dog runs."))      // "A dog runs."
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace attune {

struct TokenizerTraining {
  std::string kind = "bpe";  // "bpe", "unigram", "wordpiece", "byte", "char" or "word"
  int64_t size = 8000;       // pieces at most, the four marks (<pad>, <s>, </s>, <unk>) included
  bool lowercase = false;
  bool byte_fallback = false;     // 256 of the pieces are bytes, so nothing is unknown (bpe, unigram, char)
  double character_coverage = 1;  // share of the characters that must be known, the most frequent first
};

/// One piece of a line: its id, and the characters [begin, end) of the line it stands for.
struct TokenizerPiece {
  int32_t id = 0;
  std::string text;
  int32_t begin = 0, end = 0;
};

/// Never changes once made; safe to share between threads, cheap to copy.
class Tokenizer {
 public:
  /// Reads what save() wrote.
  explicit Tokenizer(const std::string& folder);
  /// Learns from lines: `next_line` puts the next one in its argument and returns false at the end.
  static Tokenizer train(const std::function<bool(std::string&)>& next_line, const TokenizerTraining& options = {});
  void save(const std::string& folder) const;

  /// Any bytes will do: broken UTF-8 becomes U+FFFD.
  std::vector<int32_t> encode(std::string_view line) const;
  std::vector<TokenizerPiece> pieces(std::string_view line) const;
  /// Marks add nothing to the text, an unknown piece a "⁇". Whatever the ids are, it is one line of UTF-8. Throws for
  /// ids that are none.
  std::string decode(const std::vector<int32_t>& ids) const;

  int32_t size() const;
  const std::string& piece(int32_t id) const;
  /// 3, unknown, for what is no piece.
  int32_t id(std::string_view piece) const;
  /// What training had to say about the size ("" when it is what was asked for, or when it was loaded).
  const std::string& note() const;

 private:
  struct Body;
  explicit Tokenizer(std::shared_ptr<const Body> body);
  std::shared_ptr<const Body> body_;
};

}  // namespace attune
