#include "data/corpus/characters.h"

#include <algorithm>
#include <numbers>

#include "data/corpus/answers.h"

namespace attune {

namespace {

/// Of each id of a vocabulary: how many characters it stands for, blanks counted.
std::vector<int32_t> piece_lengths(const text::Tokenizer& tokenizer, const std::vector<bool>& begins) {
  const text::Vocabulary& v = tokenizer.vocabulary();
  std::vector<int32_t> all;
  for (int32_t id = 0; id < v.size(); ++id) {
    auto letters = static_cast<int32_t>(v.letters(id).size());
    if (id == text::kEnd)
      letters = 1;
    else if (v.is_byte(id))
      letters = ((id - text::kMarks) & 0xC0) != 0x80;  // the first of a character's bytes, or all of it
    else if (v.piece(id) == text::kSpacePiece || (!begins.empty() && begins[static_cast<size_t>(id)]))
      ++letters;
    all.push_back(letters);
  }
  return all;
}

}  // namespace

int64_t characters_of(const text::Tokenizer& tokenizer, const Corpus& corpus) {
  // Pieces that begin words have a blank at a line's begin too, which the line has not; single characters have none.
  const bool single =
      tokenizer.kind() == text::TokenizerKind::character || tokenizer.kind() == text::TokenizerKind::byte;
  const std::vector<bool> begins = single ? std::vector<bool>() : word_begins(tokenizer);
  const std::vector<int32_t> lengths = piece_lengths(tokenizer, begins);
  int64_t all = 0;
  bool at_begin = true;
  const auto count = [&](std::span<const int32_t> ids) {
    for (const int32_t id : ids) {
      const auto i = static_cast<size_t>(id);
      all += lengths[i] - (at_begin && !single && begins[i]);
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

TextUnit text_unit(const text::Tokenizer& tokenizer, const Corpus& corpus) {
  if (!tokenizer.unit().empty()) return {"bits_per_" + std::string(tokenizer.unit()), 1};
  const int64_t characters = corpus.masked > 0 ? 0 : characters_of(tokenizer, corpus);
  if (characters == 0) return {};
  return {"bits_per_character", static_cast<double>(characters) / static_cast<double>(corpus.rows())};
}

double TextUnit::bits(double loss) const { return loss / std::numbers::ln2 / per_token; }

}  // namespace attune
