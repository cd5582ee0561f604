#include "measure/ter_edits.h"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace attune {

namespace {

constexpr int64_t kLongestRun = 10, kFarthest = 50, kBeam = 25, kMostTried = 1000;
constexpr int32_t kTooFar = 1 << 29;  // more than any number of edits

/// A run of words and where to put it, and what becomes of the words from `first` to `last`.
struct Move {
  int64_t start, length, target;
};

/// The least edits between the beginnings of two sentences, in a band around the diagonal: row i has the first i words
/// of the hypothesis. Rows depend on the words before them only, so that a moved run costs few of them.
class Band {
 public:
  Band(int64_t words, const Ids& reference) : reference_(reference), rows_(words) {
    const double theirs = static_cast<double>(reference.size());
    ratio_ = words > 0 ? theirs / static_cast<double>(words) : 1;
    // In very unequal sentences the rows would not touch.
    if (static_cast<double>(kBeam) < ratio_ / 2) beam_ = static_cast<int64_t>(std::ceil(ratio_ / 2 + kBeam));
    width_ = std::min<int64_t>(2 * beam_, std::ssize(reference) + 1);
    costs_.resize(static_cast<size_t>((words + 1) * width_), kTooFar);
    spare_.resize(static_cast<size_t>(2 * width_));
  }

  /// Rows from `first` on.
  void fill(const Ids& words, int64_t first) {
    for (int64_t i = std::max<int64_t>(first, 1); i <= rows_; ++i)
      compute(i, words[static_cast<size_t>(i - 1)], i == 1 ? nullptr : row(i - 1), row(i));
  }
  int64_t edits() const { return at(rows_, std::ssize(reference_)); }

  /// What edits() would be if words [first, first + changed.size()) were `changed`. Stops as soon as the rows differ
  /// from those there are by the same number everywhere.
  int64_t edits_with(const Ids& words, int64_t first, const Ids& changed) {
    const int64_t end = first + std::ssize(changed);
    const int32_t* before = first == 0 ? nullptr : row(first);
    int32_t* now = spare_.data();
    for (int64_t i = first + 1; i <= rows_; ++i) {
      const size_t word = static_cast<size_t>(i - 1);
      compute(i, i <= end ? changed[word - static_cast<size_t>(first)] : words[word], before, now);
      if (i >= end) {
        const int32_t* old = row(i);
        const int64_t count = last(i) - begin(i);
        const int32_t more = now[0] - old[0];
        if (std::all_of(now, now + count, [&](const int32_t& x) { return x - old[&x - now] == more; }))
          return edits() + more;
      }
      before = now;
      now = now == spare_.data() ? spare_.data() + width_ : spare_.data();
    }
    return before ? before[std::ssize(reference_) - begin(rows_)] : std::ssize(reference_);
  }

  /// The cost of the first i words against the first j of the reference.
  int32_t at(int64_t i, int64_t j) const {
    if (i == 0) return static_cast<int32_t>(j);
    if (j < begin(i) || j >= last(i)) return kTooFar;
    return row(i)[j - begin(i)];
  }

 private:
  int64_t diagonal(int64_t i) const { return static_cast<int64_t>(std::floor(static_cast<double>(i) * ratio_)); }
  int64_t begin(int64_t i) const { return std::max<int64_t>(0, diagonal(i) - beam_); }
  int64_t last(int64_t i) const {
    const int64_t all = std::ssize(reference_) + 1;
    return i == rows_ ? all : std::min(all, diagonal(i) + beam_);
  }
  int32_t* row(int64_t i) { return costs_.data() + i * width_; }
  const int32_t* row(int64_t i) const { return costs_.data() + i * width_; }

  /// Row i from the one before it; none: row 0.
  void compute(int64_t i, uint32_t word, const int32_t* before, int32_t* out) const {
    const int64_t lo = begin(i), hi = last(i);
    const int64_t before_lo = before ? begin(i - 1) : 0, before_hi = before ? last(i - 1) : std::ssize(reference_) + 1;
    const auto above = [&](int64_t j) {
      if (j < before_lo || j >= before_hi) return kTooFar;
      return before ? before[j - before_lo] : static_cast<int32_t>(j);
    };
    int32_t left = kTooFar, corner = lo > 0 ? above(lo - 1) : kTooFar;
    for (int64_t j = lo; j < hi; ++j) {
      const int32_t up = above(j);
      int32_t best = std::min(up, left) + 1;
      if (j > 0) best = std::min(best, corner + (word == reference_[static_cast<size_t>(j - 1)] ? 0 : 1));
      corner = up;
      out[j - lo] = left = std::min(best, kTooFar);
    }
  }

  const Ids& reference_;
  int64_t rows_, beam_ = kBeam, width_ = 0;
  double ratio_ = 1;
  std::vector<int32_t> costs_, spare_;
};

/// How the least edits pair words: for each word of the reference the last one of the hypothesis before or beside it,
/// and for both sides how many of the first words are wrong.
struct Alignment {
  std::vector<int64_t> of_reference, wrong_hypothesis, wrong_reference;
};

Alignment align(const Band& band, const Ids& words, const Ids& reference) {
  // Backwards from the end, preferring a pair, then a word too much, then one that lacks.
  int64_t i = std::ssize(words), j = std::ssize(reference);
  Alignment a{std::vector<int64_t>(reference.size()), std::vector<int64_t>(words.size() + 1),
              std::vector<int64_t>(reference.size() + 1)};
  while (i > 0 || j > 0) {
    const bool equal = i > 0 && j > 0 && words[static_cast<size_t>(i - 1)] == reference[static_cast<size_t>(j - 1)];
    const int32_t pair = i > 0 && j > 0 ? band.at(i - 1, j - 1) + (equal ? 0 : 1) : kTooFar;
    const int32_t extra = i > 0 ? band.at(i - 1, j) + 1 : kTooFar, lacking = j > 0 ? band.at(i, j - 1) + 1 : kTooFar;
    if (pair < kTooFar && pair <= extra && pair <= lacking) {
      --i, --j;
      a.of_reference[static_cast<size_t>(j)] = i;
      a.wrong_hypothesis[static_cast<size_t>(i + 1)] = a.wrong_reference[static_cast<size_t>(j + 1)] = equal ? 0 : 1;
    } else if (i > 0 && (j == 0 || extra <= lacking)) {
      a.wrong_hypothesis[static_cast<size_t>(i--)] = 1;
    } else {
      a.wrong_reference[static_cast<size_t>(j--)] = 1;
      a.of_reference[static_cast<size_t>(j)] = i - 1;
    }
  }
  for (auto* wrong : {&a.wrong_hypothesis, &a.wrong_reference})
    for (size_t k = 1; k < wrong->size(); ++k) (*wrong)[k] += (*wrong)[k - 1];
  return a;
}

/// The words that a move changes, as they are after it; the first of them is at `first`.
Ids moved(const Ids& words, const Move& m, int64_t& first) {
  const int64_t end = m.start + m.length;
  int64_t last = end;  // of what changes
  first = m.start;
  if (m.target < m.start)
    first = m.target;
  else  // behind it, or within itself: then so many words further
    last = std::min<int64_t>(std::ssize(words), m.target > end ? m.target : m.target + m.length);
  const auto at = [&](int64_t i) { return words.begin() + i; };
  Ids out;
  if (m.target < m.start) {
    out.assign(at(m.start), at(end));
    out.insert(out.end(), at(m.target), at(m.start));
  } else {
    out.assign(at(end), at(last));
    out.insert(out.end(), at(m.start), at(end));
  }
  return out;
}

class Shifter {
 public:
  Shifter(const Ids& hypothesis, const Ids& reference)
      : words_(hypothesis), reference_(reference), band_(std::ssize(hypothesis), reference_) {
    band_.fill(words_, 1);
  }

  int64_t edits() {
    int64_t moves = 0;
    while (shift()) ++moves;
    return moves + band_.edits();
  }

 private:
  /// The gain, then the longest run, then the first, then the first place for it.
  using Rank = std::tuple<int64_t, int64_t, int64_t, int64_t>;

  /// Moves the run that helps most; false when none does, or when enough were tried.
  bool shift() {
    alignment_ = align(band_, words_, reference_);
    before_ = band_.edits();
    found_ = false;
    search();
    if (tried_ >= kMostTried || !found_ || std::get<0>(best_) <= 0) return false;
    int64_t first = 0;
    const Ids changed = moved(words_, best_move_, first);
    std::copy(changed.begin(), changed.end(), words_.begin() + first);
    band_.fill(words_, first + 1);
    return true;
  }

  void search() {
    const int64_t ours = std::ssize(words_), theirs = std::ssize(reference_);
    for (int64_t h = 0; h < ours; ++h)
      for (int64_t r = std::max<int64_t>(0, h - kFarthest); r < std::min(theirs, h + kFarthest + 1); ++r)
        for (int64_t n = 0; n < kLongestRun && h + n < ours && r + n < theirs; ++n) {
          if (words_[static_cast<size_t>(h + n)] != reference_[static_cast<size_t>(r + n)]) break;
          try_run(h, r, n + 1);
          if (tried_ >= kMostTried) return;
        }
  }

  /// Tries a run of the hypothesis at the places beside its equal in the reference.
  void try_run(int64_t h, int64_t r, int64_t length) {
    const auto wrong = [&](const std::vector<int64_t>& sums, int64_t at) {
      return sums[static_cast<size_t>(at + length)] - sums[static_cast<size_t>(at)];
    };
    if (wrong(alignment_.wrong_hypothesis, h) == 0 || wrong(alignment_.wrong_reference, r) == 0) return;
    const auto beside = [&](int64_t at) { return alignment_.of_reference[static_cast<size_t>(at)]; };
    if (h <= beside(r) && beside(r) < h + length) return;  // it would go into itself
    for (int64_t at = r - 1, last = -1; at < r + length; ++at) {
      const int64_t target = at < 0 ? 0 : beside(at) + 1;
      if (target == last) continue;
      last = target;
      const Move move{h, length, target};
      int64_t first = 0;
      const Ids changed = moved(words_, move, first);
      const Rank rank{before_ - band_.edits_with(words_, first, changed), length, -h, -target};
      ++tried_;
      if (found_ && rank <= best_) continue;
      found_ = true;
      best_ = rank;
      best_move_ = move;
    }
  }

  Ids words_;
  const Ids& reference_;
  Band band_;
  Alignment alignment_;
  int64_t tried_ = 0, before_ = 0;
  bool found_ = false;
  Rank best_;
  Move best_move_{};
};

}  // namespace

int64_t shift_edits(const Ids& hypothesis, const Ids& reference) {
  if (reference.empty()) return std::ssize(hypothesis);
  return Shifter(hypothesis, reference).edits();
}

}  // namespace attune
