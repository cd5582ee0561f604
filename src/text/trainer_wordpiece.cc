// Learns WordPiece: starting from characters, again and again the two neighbours are joined whose joining makes the
// text most likely under a model that knows only how often each piece occurs (Schuster and Nakajima 2012). Of two
// pieces that occur n(a) and n(b) times among N, n(ab) times as neighbours, that gains n(ab) log(n(ab) N / (n(a)
// n(b))).
//
// Pieces have at most 16 characters, never hold a punctuation mark beside something else, nor letters of a script with
// spaces beside those of one without (as BERT, which cuts there first). What occurs once is not learned.
#include <algorithm>
#include <cmath>

#include "text/counts.h"
#include "text/id_map.h"
#include "text/letters.h"
#include "text/utf8.h"
#include "text/vocabulary.h"

namespace attune::text {

namespace {

constexpr size_t kLongestPiece = 16;  // characters
constexpr int64_t kLeast = 2;         // times a pair must occur
/// Gains are taken anew once this share of the pieces' occurrences is left; until then N counts as it was.
constexpr double kStale = 0.99;

/// The natural logarithm of a count by additions and multiplications alone: the same bits on every machine.
double log_of(int64_t n) {
  int exponent = 0;
  double m = std::frexp(static_cast<double>(n), &exponent);
  if (m < 0.7071067811865476) {
    m *= 2;
    --exponent;
  }
  const double z = (m - 1) / (m + 1), square = z * z;  // log m = 2 (z + z^3 / 3 + z^5 / 5 + ...), |z| < 0.172
  double sum = 0;
  for (int k = 23; k >= 1; k -= 2) sum = sum * square + 1.0 / k;
  return 2 * z * sum + exponent * 0.6931471805599453;
}

/// Characters that may become one piece: a part of a word, as pieces.
struct Run {
  std::vector<int32_t> symbols;
  int64_t count;
};

struct Symbol {
  std::string name;  // as it stands in the vocabulary
  size_t characters;
  int64_t count = 0;
  double log_count = 0;
  bool piece = false;
};

struct Neighbours {
  int64_t count = 0;
  std::vector<uint32_t> runs;  // where they once were
};

struct Candidate {
  double gain;
  int32_t left, right;
};
bool worse(const Candidate& a, const Candidate& b) {
  if (a.gain != b.gain) return a.gain < b.gain;
  return a.left != b.left ? a.left > b.left : a.right > b.right;
}

class WordPieceTrainer {
 public:
  WordPieceTrainer(const RankedCounts& words, const RankedCounts& characters) {
    for (const auto& [letter, count] : characters) letters_.emplace(letter, count);
    Counts runs;
    for (const auto& [word, count] : words) cut(word, count, runs);
    for (const auto& [run, count] : ranked(runs)) add_run(run, count);
    for (uint32_t i = 0; i < runs_.size(); ++i) add_neighbours(i, 1, nullptr);
  }

  /// The characters, the most frequent first, at the beginnings of words and inside.
  std::vector<std::string> letters() {
    Counts counts;
    for (Symbol& s : symbols_) {
      counts.emplace(s.name, s.count);
      s.piece = true;
    }
    std::vector<std::string> names;
    for (const auto& [name, count] : ranked(counts)) names.push_back(name);
    return names;
  }

  /// Appends pieces until there are `size`, or no more to be had.
  void learn(size_t size, std::vector<std::string>& pieces) {
    refresh();
    while (pieces.size() < size) {
      if (static_cast<double>(total_) < kStale * static_cast<double>(fresh_total_)) refresh();
      if (heap_.empty()) break;
      const Candidate best = take();
      const double gain = gain_of(best.left, best.right);
      if (gain < best.gain) {  // one of the two went into others meanwhile
        if (gain > 0) put({gain, best.left, best.right});
        continue;
      }
      const int32_t joined = join(best.left, best.right);
      Symbol& s = symbols_[static_cast<size_t>(joined)];
      if (!s.piece) pieces.push_back(s.name);
      s.piece = true;
    }
  }

 private:
  /// Parts of a word by kinds of characters; those inside begin with "##". Unknown characters are cut out.
  void cut(const std::string& word, int64_t count, Counts& runs) const {
    std::string run, letter;
    auto kind = LetterKind::mark;
    const auto finish = [&] {
      if (!run.empty()) runs[run] += count;
      run.clear();
    };
    bool first = true;
    for (Character c : Characters(word)) {
      const LetterKind now = letter_kind(c.code);
      letter.clear();
      append_utf8(letter, c.code);
      const bool known = letters_.contains(letter);
      if (now != kind || now == LetterKind::mark || !known) finish();
      if (run.empty() && !first) run = kInside;
      if (known)
        run += letter;
      else
        run.clear();
      kind = now;
      first = false;
    }
    finish();
  }

  int32_t symbol(const std::string& name, size_t characters) {
    const auto [at, fresh] = ids_.emplace(name, static_cast<int32_t>(symbols_.size()));
    if (fresh) symbols_.push_back({name, characters});
    return at->second;
  }

  void count(int32_t id, int64_t more) {
    Symbol& s = symbols_[static_cast<size_t>(id)];
    s.count += more;
    s.log_count = s.count > 0 ? log_of(s.count) : 0;
    total_ += more;
  }

  void add_run(const std::string& text, int64_t times) {
    // A text can't begin with "##" itself: each of its marks is a run of its own.
    const bool inside = text.starts_with(kInside);
    Run run{{}, times};
    bool first = !inside;
    for (Character c : Characters(std::string_view(text).substr(inside ? kInside.size() : 0))) {
      std::string name(first ? "" : kInside);
      append_utf8(name, c.code);
      run.symbols.push_back(symbol(name, 1));
      count(run.symbols.back(), times);
      first = false;
    }
    if (run.symbols.size() > 1) runs_.push_back(std::move(run));
  }

  /// Counts the pairs of a run in, or out by -1. The new ones of a symbol are noted as candidates to come.
  void add_neighbours(uint32_t i, int64_t sign, const int32_t* fresh) {
    const Run& run = runs_[i];
    for (size_t k = 0; k + 1 < run.symbols.size(); ++k) {
      const int32_t left = run.symbols[k], right = run.symbols[k + 1];
      Neighbours& pair = pairs_[pair_key(left, right)];
      pair.count += sign * run.count;
      if (sign < 0 || (fresh && left != *fresh && right != *fresh)) continue;
      if (pair.runs.empty() || pair.runs.back() != i) pair.runs.push_back(i);
      if (fresh) touched_.push_back({0, left, right});
    }
  }

  /// Not positive for what is not to be joined.
  double gain_of(int32_t left, int32_t right) const {
    const auto found = pairs_.find(pair_key(left, right));
    if (found == pairs_.end() || found->second.count < kLeast) return 0;
    const Symbol &a = symbols_[static_cast<size_t>(left)], &b = symbols_[static_cast<size_t>(right)];
    if (a.characters + b.characters > kLongestPiece) return 0;
    const int64_t n = found->second.count;
    return static_cast<double>(n) * (log_of(n) + log_total_ - a.log_count - b.log_count);
  }

  void refresh() {
    fresh_total_ = total_;
    log_total_ = log_of(std::max<int64_t>(total_, 1));
    heap_.clear();
    std::erase_if(pairs_, [](const auto& p) { return p.second.count == 0; });
    for (const auto& [key, pair] : pairs_) {
      const auto left = static_cast<int32_t>(key >> 32), right = static_cast<int32_t>(key & 0xFFFFFFFFu);
      if (const double gain = gain_of(left, right); gain > 0) heap_.push_back({gain, left, right});
    }
    std::make_heap(heap_.begin(), heap_.end(), worse);
  }
  void put(Candidate c) {
    heap_.push_back(c);
    std::push_heap(heap_.begin(), heap_.end(), worse);
  }
  Candidate take() {
    std::pop_heap(heap_.begin(), heap_.end(), worse);
    const Candidate best = heap_.back();
    heap_.pop_back();
    return best;
  }

  int32_t join(int32_t left, int32_t right) {
    const Symbol &a = symbols_[static_cast<size_t>(left)], &b = symbols_[static_cast<size_t>(right)];
    const int32_t joined = symbol(a.name + b.name.substr(kInside.size()), a.characters + b.characters);
    std::vector<uint32_t> where = std::move(pairs_[pair_key(left, right)].runs);
    std::sort(where.begin(), where.end());
    where.erase(std::unique(where.begin(), where.end()), where.end());
    touched_.clear();
    for (const uint32_t i : where) {
      add_neighbours(i, -1, nullptr);
      Run& run = runs_[i];
      size_t size = 0;
      for (size_t k = 0; k < run.symbols.size(); ++k) {
        const bool both = k + 1 < run.symbols.size() && run.symbols[k] == left && run.symbols[k + 1] == right;
        if (both) {
          count(left, -run.count);
          count(right, -run.count);
          count(joined, run.count);
        }
        run.symbols[size++] = both ? joined : run.symbols[k];
        k += both;
      }
      run.symbols.resize(size);
      add_neighbours(i, 1, &joined);
    }
    std::sort(touched_.begin(), touched_.end(), worse);
    const auto same = [](const Candidate& x, const Candidate& y) { return x.left == y.left && x.right == y.right; };
    touched_.erase(std::unique(touched_.begin(), touched_.end(), same), touched_.end());
    for (const Candidate& c : touched_)
      if (const double gain = gain_of(c.left, c.right); gain > 0) put({gain, c.left, c.right});
    return joined;
  }

  std::unordered_map<std::string, int64_t> letters_;
  std::vector<Symbol> symbols_;
  std::unordered_map<std::string, int32_t> ids_;
  std::vector<Run> runs_;
  std::unordered_map<uint64_t, Neighbours> pairs_;
  std::vector<Candidate> heap_, touched_;
  int64_t total_ = 0, fresh_total_ = 0;
  double log_total_ = 0;
};

}  // namespace

std::vector<std::string> train_wordpiece(const RankedCounts& words, const RankedCounts& characters, size_t size) {
  WordPieceTrainer trainer(words, characters);
  std::vector<std::string> pieces = trainer.letters();
  trainer.learn(size, pieces);
  return pieces;
}

}  // namespace attune::text
