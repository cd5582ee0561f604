#include "data/corpus/characters.h"

#include <algorithm>
#include <numbers>

namespace attune {

namespace {

/// Of each id of a vocabulary: the characters, and whether the first of them is a blank.
struct PieceLengths {
  std::vector<int32_t> characters;
  std::vector<bool> begins;

  explicit PieceLengths(const text::Tokenizer& tokenizer) {
    using text::TokenizerKind;
    const text::Vocabulary& v = tokenizer.vocabulary();
    const bool whole = v.kind() == TokenizerKind::word || v.kind() == TokenizerKind::wordpiece;
    for (int32_t id = 0; id < v.size(); ++id) {
      const std::string& piece = v.piece(id);
      auto letters = static_cast<int32_t>(v.letters(id).size());
      bool begin = false;
      if (id == text::kEnd) {
        letters = 1;
      } else if (v.is_byte(id)) {
        letters = ((id - text::kMarks) & 0xC0) != 0x80;  // the first of a character's bytes, or all of it
      } else if (id >= v.first() && whole) {
        begin = v.kind() == TokenizerKind::word || !piece.starts_with(text::kInside);
        letters += begin;
      } else if (id >= v.first()) {
        begin = piece.starts_with(text::kSpacePiece);
        for (size_t at = piece.find(text::kSpacePiece); at != std::string::npos;
             at = piece.find(text::kSpacePiece, at + 1))
          ++letters;
      }
      characters.push_back(letters);
      begins.push_back(begin);
    }
  }
};

}  // namespace

int64_t characters_of(const text::Tokenizer& tokenizer, const Corpus& corpus) {
  const PieceLengths lengths(tokenizer);
  // Pieces that begin words have a blank at a line's begin too, which the line has not; single characters have none.
  const bool single = tokenizer.kind() == text::TokenizerKind::character;
  int64_t all = 0;
  bool at_begin = true;
  const auto count = [&](std::span<const int32_t> ids) {
    for (const int32_t id : ids) {
      const auto i = static_cast<size_t>(id);
      all += lengths.characters[i] - (at_begin && !single && lengths.begins[i]);
      at_begin = id == text::kEnd;
    }
  };
  ExampleBuffer buffer;
  if (corpus.window > 0) {
    constexpr int64_t kAtOnce = 1 << 16;
    for (int64_t from = 0; from < corpus.size(); from += kAtOnce)
      count(corpus.tokens(from, std::min(corpus.size(), from + kAtOnce), buffer));
    return all;
  }
  for (int64_t i = 0; i < corpus.size(); ++i) {
    at_begin = true;
    count(corpus.example(i, buffer).target);
  }
  return all + corpus.size();
}

BitsPerUnit bits_per_unit(const text::Tokenizer& tokenizer, const Corpus& corpus, double loss) {
  const double bits = loss / std::numbers::ln2;
  if (!tokenizer.unit().empty()) return {"bits_per_" + std::string(tokenizer.unit()), bits};
  if (corpus.masked > 0) return {};
  const int64_t characters = characters_of(tokenizer, corpus);
  if (characters == 0) return {};
  return {"bits_per_character", bits * static_cast<double>(corpus.rows()) / static_cast<double>(characters)};
}

}  // namespace attune
