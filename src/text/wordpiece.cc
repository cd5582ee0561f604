// WordPiece (Schuster and Nakajima 2012, applied as BERT does): a word is cut from the left, each time the longest
// piece there is; a piece inside of a word has "##" before it, so the spaces of the text come back. Where no piece
// begins, the run of letters around it, or the single punctuation mark or character of a script without spaces, is
// unknown.
#include <algorithm>

#include "text/letters.h"
#include "text/segmenter.h"
#include "text/trie.h"
#include "text/utf8.h"

namespace attune::text {

namespace {

/// The pieces that begin words, or those inside of words, without their "##".
Trie trie_of(const Vocabulary& vocabulary, bool inside) {
  std::vector<std::pair<std::string, int32_t>> keys;
  for (int32_t id = vocabulary.first(); id < vocabulary.size(); ++id) {
    const std::string& piece = vocabulary.piece(id);
    if (piece.starts_with(kInside) == inside) keys.emplace_back(piece.substr(inside ? kInside.size() : 0), id);
  }
  return Trie(std::move(keys));
}

class WordPiece : public Segmenter {
 public:
  explicit WordPiece(const Vocabulary& vocabulary)
      : vocabulary_(vocabulary), begins_(trie_of(vocabulary, false)), inside_(trie_of(vocabulary, true)) {}

  void segment(std::string_view line, std::vector<Token>& out) const override {
    for (size_t begin = 0; begin < line.size();) {
      const size_t end = std::min(line.find(' ', begin), line.size());
      segment_word(line, static_cast<uint32_t>(begin), static_cast<uint32_t>(end), out);
      begin = end + 1;
    }
  }

  void write(int32_t id, bool first, std::string& text) const override {
    std::string_view piece = vocabulary_.piece(id);
    if (id == kUnknown) piece = kUnknownText.substr(1, kUnknownText.size() - 2);
    if (piece.starts_with(kInside))
      piece.remove_prefix(kInside.size());
    else if (!first)
      text += ' ';
    text += piece;
  }

 private:
  void segment_word(std::string_view line, uint32_t begin, uint32_t end, std::vector<Token>& out) const {
    const size_t before = out.size();
    for (uint32_t at = begin; at < end;) {
      Token longest{kUnknown, at, at};
      const Trie& trie = at == begin ? begins_ : inside_;
      int32_t node = Trie::kRoot;
      for (uint32_t i = at; i < end;) {
        node = trie.next(node, line[i++]);
        if (node == Trie::kNowhere) break;
        if (trie.value(node) >= 0) longest = {trie.value(node), at, i};
      }
      if (longest.id == kUnknown) {
        longest = run_around(line, begin, at, end);
        while (out.size() > before && out.back().begin >= longest.begin) out.pop_back();
        if (out.size() > before) longest.begin = std::max(longest.begin, out.back().end);
      }
      out.push_back(longest);
      at = longest.end;
    }
  }

  /// What is unknown as a whole when nothing is known at a place of a word [begin, end).
  static Token run_around(std::string_view line, uint32_t begin, uint32_t at, uint32_t end) {
    const auto at_letter = [&](uint32_t i, Character& c) {
      c = first_character(line.substr(i, end - i));
      return letter_kind(c.code) == LetterKind::letter;
    };
    Character c;
    if (!at_letter(at, c)) return {kUnknown, at, at + c.bytes};
    uint32_t first = at, last = at + c.bytes;
    while (last < end && at_letter(last, c)) last += c.bytes;
    for (uint32_t i = at; i > begin;) {
      do --i;
      while (i > begin && (static_cast<unsigned char>(line[i]) & 0xC0) == 0x80);
      if (!at_letter(i, c)) break;
      first = i;
    }
    return {kUnknown, first, last};
  }

  const Vocabulary& vocabulary_;
  Trie begins_, inside_;
};

}  // namespace

std::unique_ptr<const Segmenter> make_wordpiece(const Vocabulary& vocabulary) {
  return std::make_unique<WordPiece>(vocabulary);
}

}  // namespace attune::text
