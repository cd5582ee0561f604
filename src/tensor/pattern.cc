#include "tensor/pattern.h"

#include <algorithm>
#include <unordered_map>

#include "base/random.h"

namespace attune {

namespace {

using Kind = PatternAtom::Kind;

/// `count` different numbers below n, in order (Floyd's way to draw them).
void draw(uint64_t key, int64_t count, int64_t n, std::vector<int64_t>& out) {
  out.clear();
  const Random random(key);
  for (int64_t t = std::max<int64_t>(0, n - count); t < n; ++t) {
    const auto x = static_cast<int64_t>(random.at(static_cast<uint64_t>(t)) % static_cast<uint64_t>(t + 1));
    out.push_back(std::find(out.begin(), out.end(), x) == out.end() ? x : t);
  }
  std::sort(out.begin(), out.end());
}

int64_t blocks_of(const Pattern& p, int64_t length) { return (length + p.block - 1) / p.block; }

/// The blocks that a block sees by chance: of a causal pattern among those up to its own.
void random_blocks(const Pattern& p, const PatternAtom& a, int64_t block, int64_t length, std::vector<int64_t>& out) {
  draw(mix(p.seed, static_cast<uint64_t>(block)), a.size, p.causal ? block + 1 : blocks_of(p, length), out);
}

struct Range {
  int64_t from, to;  // not included
};

/// Positions that a query sees of atoms that see runs: of a band without gaps, of blocks near it.
Range run_of(const Pattern& p, const PatternAtom& a, int64_t query) {
  const int64_t before = p.causal ? a.size - 1 : (a.kind == Kind::band ? a.size : a.size - 1) / 2;
  const int64_t after = p.causal ? 0 : before;
  if (a.kind == Kind::band) return {query - before, query + after + 1};
  const int64_t own = query / p.block;
  return {(own - before) * p.block, (own + after + 1) * p.block};
}

bool atom_sees(const Pattern& p, const PatternAtom& a, int64_t i, int64_t j, int64_t length,
               std::vector<int64_t>& drawn) {
  const int64_t distance = i - j;
  switch (a.kind) {
    case Kind::band: {
      if (distance % a.gap != 0) return false;
      const int64_t steps = std::abs(distance) / a.gap;
      return p.causal ? steps < a.size : steps <= a.size / 2;
    }
    case Kind::global:
      return i < a.size || j < a.size;
    case Kind::random:
      random_blocks(p, a, i / p.block, length, drawn);
      return std::binary_search(drawn.begin(), drawn.end(), j / p.block);
    case Kind::block: {
      const Range run = run_of(p, a, i);
      return j >= run.from && j < run.to;
    }
    case Kind::strided:
      return distance % a.size == 0;
    case Kind::columns:
      return j % a.size >= a.size - a.gap;
  }
  return false;
}

/// Whether the atom's pairs are dense in tiles of neighbours.
bool lies_in_runs(const PatternAtom& a) {
  return a.kind == Kind::global || a.kind == Kind::random || a.kind == Kind::block ||
         (a.kind == Kind::band && a.gap == 1);
}

/// Bits of the positions [from, to) among the 64 that begin at `first`.
uint64_t bits_of(int64_t from, int64_t to, int64_t first) {
  const int64_t a = std::clamp<int64_t>(from - first, 0, 64), b = std::clamp<int64_t>(to - first, 0, 64);
  if (a >= b) return 0;
  const uint64_t below = b == 64 ? ~uint64_t{0} : (uint64_t{1} << b) - 1;
  return below & ~((uint64_t{1} << a) - 1);
}

}  // namespace

bool Pattern::sees(int64_t query, int64_t key, int64_t length) const {
  if (causal && key > query) return false;
  std::vector<int64_t> drawn;
  return std::any_of(atoms.begin(), atoms.end(),
                     [&](const PatternAtom& a) { return atom_sees(*this, a, query, key, length, drawn); });
}

int64_t Pattern::reach() const {
  int64_t most = 0;
  for (const PatternAtom& a : atoms) {
    if (a.kind == Kind::band)
      most = std::max(most, (a.size - 1) * a.gap);
    else if (a.kind == Kind::block)
      most = std::max(most, a.size * block - 1);
    else
      return kFar;
  }
  return most;
}

void Pattern::keys_of(int64_t query, std::vector<int32_t>& keys) const {
  keys.clear();
  std::vector<int64_t> drawn;
  const auto add = [&](int64_t from, int64_t to, int64_t step) {
    for (int64_t j = from; j < to; j += step) keys.push_back(static_cast<int32_t>(j));
  };
  for (const PatternAtom& a : atoms) switch (a.kind) {
      case Kind::band: {
        const int64_t back = std::min(query / a.gap, a.size - 1);
        add(query - back * a.gap, query + 1, a.gap);
        break;
      }
      case Kind::global:
        add(0, query < a.size ? query + 1 : a.size, 1);
        break;
      case Kind::random:
        random_blocks(*this, a, query / block, query + 1, drawn);
        for (const int64_t b : drawn) add(b * block, std::min(query + 1, (b + 1) * block), 1);
        break;
      case Kind::block:
        add(std::max<int64_t>(run_of(*this, a, query).from, 0), query + 1, 1);
        break;
      case Kind::strided:
        add(query % a.size, query + 1, a.size);
        break;
      case Kind::columns:
        for (int64_t b = 0; b <= query; b += a.size) add(b + a.size - a.gap, std::min(b + a.size, query + 1), 1);
        break;
    }
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
}

struct TilePattern::Builder {
  TilePattern& t;
  const Pattern& p;
  int64_t n;
  std::vector<PatternAtom> placed;                                 // atoms whose pairs have their place already
  std::unordered_multimap<uint64_t, int32_t> known;                // masks by their hash
  std::vector<std::vector<std::vector<int64_t>>> drawn;            // [random atom][block]: the blocks it sees
  std::vector<std::vector<std::pair<int32_t, int32_t>>> meetings;  // of each query tile: key tile, mask

  Builder(TilePattern& tiles, const Pattern& pattern, int64_t length) : t(tiles), p(pattern), n(length) {
    for (int64_t first = 0; first < n; first += kRows)
      t.tiles_.push_back({static_cast<int32_t>(first), static_cast<int32_t>(std::min(kRows, n - first))});
    t.runs_ = std::ssize(t.tiles_);
    meetings.resize(t.tiles_.size());
    for (const PatternAtom& a : p.atoms)
      if (lies_in_runs(a)) placed.push_back(a);
    for (const PatternAtom& a : placed) {
      if (a.kind != Kind::random) continue;
      auto& of = drawn.emplace_back(static_cast<size_t>(blocks_of(p, n)));
      for (size_t b = 0; b < of.size(); ++b) random_blocks(p, a, static_cast<int64_t>(b), n, of[b]);
    }
    if (!placed.empty())
      for (int64_t q = 0; q < t.runs_; ++q) meet_runs(q);
    for (const PatternAtom& a : p.atoms) {
      if (lies_in_runs(a)) continue;
      a.kind == Kind::columns ? gather_columns(a) : gather_classes(a);
      placed.push_back(a);
    }
    finish();
  }

  int64_t position(const Tile& tile, int64_t i) const {
    return tile.gathered < 0 ? tile.first + i : t.rows_[static_cast<size_t>(tile.gathered + i)];
  }
  Range tiles_of(Range positions, int64_t last) const {
    const int64_t from = std::max<int64_t>(positions.from, 0), to = std::min({positions.to, n, last});
    return from < to ? Range{from / kRows, (to - 1) / kRows + 1} : Range{0, 0};
  }

  /// Of each row of a tile of neighbours: which of the keys from `first` on it sees, by atoms that lie in runs.
  uint64_t bits_of_row(int64_t i, int64_t first) const {
    uint64_t bits = 0;
    size_t random = 0;
    for (const PatternAtom& a : placed) {
      if (a.kind == Kind::global) {
        bits |= i < a.size ? ~uint64_t{0} : bits_of(0, a.size, first);
      } else if (a.kind == Kind::random) {
        for (const int64_t b : drawn[random][static_cast<size_t>(i / p.block)])
          bits |= bits_of(b * p.block, (b + 1) * p.block, first);
        ++random;
      } else {
        const Range run = run_of(p, a, i);
        bits |= bits_of(run.from, run.to, first);
      }
    }
    return bits & bits_of(0, p.causal ? std::min(n, i + 1) : n, first);
  }

  void meet_runs(int64_t q) {
    const int64_t i0 = q * kRows, i1 = std::min(n, i0 + kRows), last = p.causal ? i1 : n;
    std::vector<int64_t> near;
    const auto add = [&](Range positions) {
      const Range r = tiles_of(positions, last);
      for (int64_t k = r.from; k < r.to; ++k) near.push_back(k);
    };
    size_t random = 0;
    for (const PatternAtom& a : placed) {
      if (a.kind == Kind::global) {
        add({0, i0 < a.size ? n : a.size});
      } else if (a.kind == Kind::random) {
        for (int64_t b = i0 / p.block; b <= (i1 - 1) / p.block; ++b)
          for (const int64_t other : drawn[random][static_cast<size_t>(b)])
            add({other * p.block, (other + 1) * p.block});
        ++random;
      } else {
        add({run_of(p, a, i0).from, run_of(p, a, i1 - 1).to});
      }
    }
    std::sort(near.begin(), near.end());
    near.erase(std::unique(near.begin(), near.end()), near.end());
    for (const int64_t k : near) meet(q, k, [&](int64_t r) { return bits_of_row(i0 + r, k * kRows); });
  }

  /// Two tiles meet where any pair of theirs is seen; `bits` gives those of each row.
  template <class Bits>
  void meet(int64_t query, int64_t key, Bits&& bits) {
    const int64_t rows = t.tiles_[static_cast<size_t>(query)].count;
    Mask m;
    int64_t pairs = 0;
    for (int64_t r = 0; r < rows; ++r) {
      const uint64_t b = m.seen[static_cast<size_t>(r)] = bits(r);
      pairs += __builtin_popcountll(b);
    }
    if (pairs == 0) return;
    t.pairs_ += pairs;
    int32_t mask = -1;
    if (pairs < rows * kRows) mask = keep(m);
    meetings[static_cast<size_t>(query)].emplace_back(static_cast<int32_t>(key), mask);
    if (query >= t.runs_) t.asks_once_ = false;
  }

  int32_t keep(Mask& m) {
    for (int64_t s = 0; s < kStrips; ++s) {
      uint64_t any = 0;
      for (int64_t r = s * kStrip; r < std::min(kRows, (s + 1) * kStrip); ++r) any |= m.seen[static_cast<size_t>(r)];
      if (!any) continue;
      m.from[static_cast<size_t>(s)] = static_cast<uint8_t>(__builtin_ctzll(any) / 16 * 16);
      m.to[static_cast<size_t>(s)] = static_cast<uint8_t>(64 - __builtin_clzll(any));
    }
    uint64_t hash = 0;
    for (const uint64_t b : m.seen) hash = mix(hash, b);
    const auto [from, to] = known.equal_range(hash);
    for (auto i = from; i != to; ++i)
      if (t.masks_[static_cast<size_t>(i->second)] == m) return i->second;
    const auto number = static_cast<int32_t>(std::ssize(t.masks_));
    t.masks_.push_back(m);
    known.emplace(hash, number);
    return number;
  }

  bool is_placed(int64_t i, int64_t j) const {
    size_t random = 0;
    std::vector<int64_t> none;
    for (const PatternAtom& a : placed) {
      if (a.kind == Kind::random) {
        const auto& blocks = drawn[random++][static_cast<size_t>(i / p.block)];
        if (std::binary_search(blocks.begin(), blocks.end(), j / p.block)) return true;
      } else if (atom_sees(p, a, i, j, n, none)) {
        return true;
      }
    }
    return false;
  }

  int64_t add_tile(std::vector<int32_t>& rows) {
    t.tiles_.push_back({rows[0], static_cast<int32_t>(std::ssize(rows)), static_cast<int32_t>(std::ssize(t.rows_))});
    t.rows_.insert(t.rows_.end(), rows.begin(), rows.end());
    rows.clear();
    meetings.emplace_back();
    return std::ssize(t.tiles_) - 1;
  }

  /// Columns that all see lie side by side once they are gathered.
  void gather_columns(const PatternAtom& a) {
    std::vector<int32_t> rows;
    const auto meet_all = [&] {
      if (rows.empty()) return;
      const int64_t k = add_tile(rows);
      const Tile keys = t.tiles_[static_cast<size_t>(k)];
      const int32_t* at = t.rows_.data() + keys.gathered;
      for (int64_t q = p.causal ? at[0] / kRows : 0; q < t.runs_; ++q)
        meet(q, k, [&](int64_t r) {
          const int64_t i = q * kRows + r;
          uint64_t bits = 0;
          for (int64_t c = 0; c < keys.count && !(p.causal && at[c] > i); ++c)
            if (!is_placed(i, at[c])) bits |= uint64_t{1} << c;
          return bits;
        });
    };
    for (int64_t j = 0; j < n; ++j) {
      if (j % a.size < a.size - a.gap) continue;
      rows.push_back(static_cast<int32_t>(j));
      if (std::ssize(rows) == kRows) meet_all();
    }
    meet_all();
  }

  /// Positions that are a multiple of `modulus` apart lie side by side once they are gathered: class by class, short
  /// ones several to a tile.
  void gather_classes(const PatternAtom& a) {
    const int64_t modulus = std::min(n, a.kind == Kind::strided ? a.size : a.gap);
    const int64_t apart = a.kind == Kind::strided ? a.size : a.gap;
    struct Class {
      int64_t first, last;  // tiles
    };
    std::vector<Class> classes;
    std::vector<int32_t> rows;
    for (int64_t c = 0; c < modulus; ++c) {
      const int64_t length = (n - c + apart - 1) / apart;
      if (std::ssize(rows) + std::min(length, kRows) > kRows) add_tile(rows);
      const int64_t first = std::ssize(t.tiles_);
      for (int64_t i = c; i < n; i += apart) {
        if (std::ssize(rows) == kRows) add_tile(rows);
        rows.push_back(static_cast<int32_t>(i));
      }
      classes.push_back({first, std::ssize(t.tiles_)});  // the last one is not complete yet
    }
    if (!rows.empty()) add_tile(rows);
    std::vector<std::pair<int64_t, int64_t>> met;
    for (const Class& c : classes)
      for (int64_t q = c.first; q <= c.last; ++q)
        for (int64_t k = c.first; k <= (p.causal ? q : c.last); ++k)
          if (near(a, q, k)) met.emplace_back(q, k);
    std::sort(met.begin(), met.end());
    met.erase(std::unique(met.begin(), met.end()), met.end());
    std::vector<int64_t> none;
    for (const auto& [q, k] : met) {
      const Tile queries = t.tiles_[static_cast<size_t>(q)], keys = t.tiles_[static_cast<size_t>(k)];
      meet(q, k, [&](int64_t r) {
        const int64_t i = position(queries, r);
        uint64_t bits = 0;
        for (int64_t c = 0; c < keys.count; ++c) {
          const int64_t j = position(keys, c);
          if (!(p.causal && j > i) && atom_sees(p, a, i, j, n, none) && !is_placed(i, j)) bits |= uint64_t{1} << c;
        }
        return bits;
      });
    }
  }

  /// Whether any pair of two tiles of one class may be in the atom's reach.
  bool near(const PatternAtom& a, int64_t q, int64_t k) const {
    if (a.kind == Kind::strided || q == k) return true;
    return (std::abs(q - k) - 1) * kRows < (p.causal ? a.size - 1 : a.size / 2);
  }

  void finish() {
    const size_t count = t.tiles_.size();
    t.query_start_.assign(count + 1, 0);
    t.key_start_.assign(count + 1, 0);
    for (size_t q = 0; q < count; ++q) {
      std::sort(meetings[q].begin(), meetings[q].end());
      for (const auto& [k, mask] : meetings[q]) {
        t.by_query_.push_back({static_cast<int32_t>(q), k, mask});
        ++t.key_start_[static_cast<size_t>(k) + 1];
      }
      t.query_start_[q + 1] = static_cast<int32_t>(std::ssize(t.by_query_));
    }
    for (size_t k = 0; k < count; ++k) t.key_start_[k + 1] += t.key_start_[k];
    t.by_key_.resize(t.by_query_.size());
    std::vector<int32_t> at(t.key_start_.begin(), t.key_start_.end() - 1);
    for (const Meeting& m : t.by_query_) t.by_key_[static_cast<size_t>(at[static_cast<size_t>(m.key)]++)] = m;
  }
};

TilePattern::TilePattern(const Pattern& pattern, int64_t length) : length_(length) { Builder(*this, pattern, length); }

std::shared_ptr<const TilePattern> PatternCache::of_length(int64_t length) const {
  const std::lock_guard lock(mutex_);
  const auto found = std::find_if(known_.begin(), known_.end(), [&](const auto& t) { return t->length() == length; });
  if (found != known_.end()) {
    std::rotate(found, found + 1, known_.end());
    return known_.back();
  }
  if (known_.size() == kKept) known_.erase(known_.begin());
  known_.push_back(std::make_shared<TilePattern>(pattern_, length));
  return known_.back();
}

}  // namespace attune
