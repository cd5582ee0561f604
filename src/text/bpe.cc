// Byte-pair encoding (Sennrich, Haddow and Birch 2016): a word starts as characters, and of all neighbours that make a
// piece together, those whose piece is first in the vocabulary are joined, leftmost first, until none are left. The ids
// are those of SentencePiece for the same pieces.
//
// No piece reaches over two words, so each word is cut by itself. The words that are a piece are looked up whole (the
// merges were tried when the encoder was built); for the others a heap holds the pairs: n log n for n characters.
#include <algorithm>
#include <unordered_map>

#include "text/id_map.h"
#include "text/segmenter.h"
#include "text/utf8.h"

namespace attune::text {

namespace {

/// A run of characters of a word, in a doubly linked list.
struct MergeSymbol {
  int32_t id;  // kUnknown: a character that is no piece
  int32_t before, after;
  uint32_t begin, end;  // bytes of the line
};

/// Two neighbours that make a piece. Outdated once one of them has become part of something else.
struct Pair {
  int32_t merged, left, right;  // the piece; which symbols
  int32_t left_id, right_id;
};
/// The earlier piece first, then the one further left; std heaps keep the largest in front.
bool later(const Pair& a, const Pair& b) { return a.merged != b.merged ? a.merged > b.merged : a.left > b.left; }

struct Scratch {
  std::vector<MergeSymbol> symbols;
  std::vector<Pair> heap;
};

class Bpe : public Segmenter {
 public:
  explicit Bpe(const Vocabulary& vocabulary) : vocabulary_(vocabulary) {
    index_letters();
    index_pairs();
    index_words();
  }

  void segment(std::string_view line, std::vector<Token>& out) const override {
    Scratch scratch;
    for (size_t begin = 0; begin < line.size();) {
      const size_t end = std::min(line.find(' ', begin), line.size());
      const auto whole = words_.find(line.substr(begin, end - begin));
      if (whole != words_.end())
        out.push_back({whole->second, static_cast<uint32_t>(begin), static_cast<uint32_t>(end)});
      else
        merge(line, begin, end, scratch, out);
      begin = end + 1;
    }
  }

  void write(int32_t id, bool first, std::string& text) const override { write_spaced(vocabulary_, id, first, text); }

 private:
  void index_letters() {
    letters_ = IdMap(static_cast<size_t>(vocabulary_.size()));
    for (int32_t id = vocabulary_.first(); id < vocabulary_.size(); ++id) {
      const Character c = first_character(vocabulary_.piece(id));
      if (c.bytes == vocabulary_.piece(id).size()) letters_.add(c.code, id);
    }
    const int32_t space = vocabulary_.id(kSpacePiece);
    space_ = space < vocabulary_.first() ? kUnknown : space;
  }

  /// All ways to make a piece of two others.
  void index_pairs() {
    std::vector<std::pair<uint64_t, int32_t>> pairs;
    for (int32_t id = vocabulary_.first(); id < vocabulary_.size(); ++id) {
      const std::string_view piece = vocabulary_.piece(id);
      for (const size_t cut : character_starts(piece)) {
        if (cut == 0 || cut == piece.size()) continue;
        const int32_t left = vocabulary_.id(piece.substr(0, cut)), right = vocabulary_.id(piece.substr(cut));
        if (left >= vocabulary_.first() && right >= vocabulary_.first()) pairs.emplace_back(pair_key(left, right), id);
      }
    }
    pairs_ = IdMap(pairs.size());
    for (const auto& [key, id] : pairs) pairs_.add(key, id);
  }

  /// The words that merging turns into one piece.
  void index_words() {
    Scratch scratch;
    std::vector<Token> tokens;
    for (int32_t id = vocabulary_.first(); id < vocabulary_.size(); ++id) {
      std::string_view word = vocabulary_.piece(id);
      if (!word.starts_with(kSpacePiece) || word.size() == kSpacePiece.size()) continue;
      word.remove_prefix(kSpacePiece.size());
      tokens.clear();
      merge(word, 0, word.size(), scratch, tokens);
      if (tokens.size() == 1 && tokens[0].id == id) words_.emplace(word, id);
    }
  }

  void merge(std::string_view line, size_t begin, size_t end, Scratch& scratch, std::vector<Token>& out) const {
    auto& symbols = scratch.symbols;
    auto& heap = scratch.heap;
    symbols.clear();
    heap.clear();
    auto at = static_cast<uint32_t>(begin);
    symbols.push_back({space_, -1, 1, at, at});  // the space before the word: it takes no bytes of it
    for (Character c : Characters(line.substr(begin, end - begin))) {
      const auto i = static_cast<int32_t>(symbols.size());
      const int32_t id = letters_.find(c.code);
      symbols.push_back({id < 0 ? kUnknown : id, i - 1, i + 1, at, at + c.bytes});
      at += c.bytes;
    }
    symbols.back().after = -1;

    const auto consider = [&](int32_t left, int32_t right) {
      if (left < 0 || right < 0) return false;
      const int32_t a = symbols[static_cast<size_t>(left)].id, b = symbols[static_cast<size_t>(right)].id;
      const int32_t merged = pairs_.find(pair_key(a, b));
      if (merged < 0) return false;
      heap.push_back({merged, left, right, a, b});
      return true;
    };
    for (int32_t i = 0; i + 1 < static_cast<int32_t>(symbols.size()); ++i) consider(i, i + 1);
    std::make_heap(heap.begin(), heap.end(), later);
    while (!heap.empty()) {
      const Pair pair = heap.front();
      std::pop_heap(heap.begin(), heap.end(), later);
      heap.pop_back();
      MergeSymbol& left = symbols[static_cast<size_t>(pair.left)];
      MergeSymbol& right = symbols[static_cast<size_t>(pair.right)];
      if (left.id != pair.left_id || right.id != pair.right_id || left.after != pair.right) continue;
      left.id = pair.merged;
      left.end = right.end;
      left.after = right.after;
      right.id = -1;
      if (right.after >= 0) symbols[static_cast<size_t>(right.after)].before = pair.left;
      if (consider(left.before, pair.left)) std::push_heap(heap.begin(), heap.end(), later);
      if (consider(pair.left, left.after)) std::push_heap(heap.begin(), heap.end(), later);
    }
    for (int32_t i = 0; i >= 0; i = symbols[static_cast<size_t>(i)].after) {
      const MergeSymbol& s = symbols[static_cast<size_t>(i)];
      if (s.id == kUnknown)
        push_unknown(vocabulary_, line, {s.id, s.begin, s.end}, out);
      else
        out.push_back({s.id, s.begin, s.end});
    }
  }

  const Vocabulary& vocabulary_;
  int32_t space_ = kUnknown;
  IdMap letters_, pairs_;
  std::unordered_map<std::string_view, int32_t> words_;
};

}  // namespace

std::unique_ptr<const Segmenter> make_bpe(const Vocabulary& vocabulary) { return std::make_unique<Bpe>(vocabulary); }

}  // namespace attune::text
