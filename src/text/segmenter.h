// Cuts a normalized line into pieces: the part of a tokenizer that differs from kind to kind.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "text/vocabulary.h"

namespace attune::text {

/// A piece in a line: its id and the bytes [begin, end) of the normalized line it stands for.
struct Token {
  int32_t id;
  uint32_t begin, end;
};

/// Const and safe to share between threads once built. The vocabulary must outlive it.
class Segmenter {
 public:
  virtual ~Segmenter() = default;
  /// Appends the tokens of a line.
  virtual void segment(std::string_view line, std::vector<Token>& out) const = 0;
  /// Appends what a piece adds to a text; `first`: nothing stands before it. Marks and bytes never get here, but
  /// kUnknown does.
  virtual void write(int32_t id, bool first, std::string& text) const = 0;
};

std::unique_ptr<const Segmenter> make_bpe(const Vocabulary& vocabulary);
std::unique_ptr<const Segmenter> make_unigram(const Vocabulary& vocabulary);
std::unique_ptr<const Segmenter> make_wordpiece(const Vocabulary& vocabulary);
std::unique_ptr<const Segmenter> make_bytes();
std::unique_ptr<const Segmenter> make_characters(const Vocabulary& vocabulary);
std::unique_ptr<const Segmenter> make_words(const Vocabulary& vocabulary);

/// What stands for an unknown piece in a text.
inline constexpr std::string_view kUnknownText = " \u2047 ";  // " ⁇ "

/// For kinds whose pieces say by a "▁" that a space stands before them.
void write_spaced(const Vocabulary& vocabulary, int32_t id, bool first, std::string& text);

/// For the same kinds: a character of the line that is no piece, or the space before a word (begin == end). It becomes
/// its bytes, or without them one token with the unknown ones before it.
void push_unknown(const Vocabulary& vocabulary, std::string_view line, Token token, std::vector<Token>& out);

}  // namespace attune::text
