// The unigram language model (Kudo 2018): of all ways to cut a line into pieces the one whose scores,
// log-probabilities, have the largest sum, found by Viterbi's algorithm. The ids are those of SentencePiece for the
// same pieces.
//
// Sums are rounded to float where SentencePiece does it, and run over the whole line: two ways whose sums are equal but
// for rounding are not rare, and which of them wins depends on what stood before.
#include <algorithm>

#include "text/segmenter.h"
#include "text/trie.h"

namespace attune::text {

namespace {

/// An unknown character costs this much more than the least likely piece.
constexpr float kUnknownPenalty = 10;

/// The best way to a place in the line: its last piece and where that begins.
struct Way {
  float score;
  int32_t id;  // -1: nothing leads here yet
  uint32_t begin;
};

/// Pieces as they stand in a line: "▁" is the space.
Trie trie_of(const Vocabulary& vocabulary) {
  std::vector<std::pair<std::string, int32_t>> keys;
  for (int32_t id = vocabulary.first(); id < vocabulary.size(); ++id) {
    std::string key = vocabulary.piece(id);
    if (key.starts_with(kSpacePiece)) key.replace(0, kSpacePiece.size(), " ");
    keys.emplace_back(std::move(key), id);
  }
  return Trie(std::move(keys));
}

uint32_t bytes_of_character(char lead) {
  const auto byte = static_cast<unsigned char>(lead);
  return byte < 0x80 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
}

class Unigram : public Segmenter {
 public:
  explicit Unigram(const Vocabulary& vocabulary) : vocabulary_(vocabulary), trie_(trie_of(vocabulary)) {
    float least = 0;
    scores_.resize(static_cast<size_t>(vocabulary.size()));
    for (int32_t id = vocabulary.first(); id < vocabulary.size(); ++id) {
      scores_[static_cast<size_t>(id)] = vocabulary.score(id);
      least = id == vocabulary.first() ? vocabulary.score(id) : std::min(least, vocabulary.score(id));
    }
    unknown_score_ = least - kUnknownPenalty;
  }

  void segment(std::string_view line, std::vector<Token>& out) const override {
    if (line.empty()) return;
    std::string text;
    text.reserve(line.size() + 1);
    (text += ' ') += line;
    std::vector<Way> ways(text.size() + 1, {0, -1, 0});
    for (uint32_t at = 0; at < text.size();) at += go_on(text, at, ways);

    const size_t before = out.size();
    for (size_t end = text.size(); end > 0; end = ways[end].begin)
      out.push_back({ways[end].id, ways[end].begin, static_cast<uint32_t>(end)});
    std::reverse(out.begin() + static_cast<ptrdiff_t>(before), out.end());
    // The text has one space more than the line at its beginning; and the space before a word belongs to no piece.
    bool unknown = false;
    for (size_t i = before; i < out.size(); ++i) {
      Token& t = out[i];
      if (text[t.begin] != ' ') --t.begin;
      --t.end;
      unknown |= t.id == kUnknown;
    }
    if (unknown) treat_unknown(line, before, out);
  }

  void write(int32_t id, bool first, std::string& text) const override { write_spaced(vocabulary_, id, first, text); }

 private:
  /// Adds all pieces that begin at a place to the ways there are; returns the bytes of the character there.
  uint32_t go_on(const std::string& text, uint32_t at, std::vector<Way>& ways) const {
    const float so_far = ways[at].score;
    const uint32_t one = bytes_of_character(text[at]);
    bool known = false;
    int32_t node = Trie::kRoot;
    for (uint32_t end = at; end < text.size();) {
      node = trie_.next(node, text[end++]);
      if (node == Trie::kNowhere) break;
      const int32_t id = trie_.value(node);
      if (id < 0) continue;
      const double score = double{scores_[static_cast<size_t>(id)]} + double{so_far};
      Way& way = ways[end];
      if (way.id < 0 || score > double{way.score}) way = {static_cast<float>(score), id, at};
      known |= end - at == one;
    }
    if (!known) {
      const float score = unknown_score_ + so_far;
      Way& way = ways[at + one];
      if (way.id < 0 || score > way.score) way = {score, kUnknown, at};
    }
    return one;
  }

  void treat_unknown(std::string_view line, size_t before, std::vector<Token>& out) const {
    const std::vector<Token> tokens(out.begin() + static_cast<ptrdiff_t>(before), out.end());
    out.resize(before);
    for (const Token& t : tokens)
      if (t.id == kUnknown)
        push_unknown(vocabulary_, line, t, out);
      else
        out.push_back(t);
  }

  const Vocabulary& vocabulary_;
  Trie trie_;
  std::vector<float> scores_;
  float unknown_score_ = 0;
};

}  // namespace

std::unique_ptr<const Segmenter> make_unigram(const Vocabulary& vocabulary) {
  return std::make_unique<Unigram>(vocabulary);
}

}  // namespace attune::text
