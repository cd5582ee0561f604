#include "tensor/pattern.h"

#include <algorithm>
#include <unordered_map>

#include "base/random.h"

namespace attune {

namespace {

/// What of a run lies within [0, end).
KeyRun cut(KeyRun r, int64_t end) {
  if (r.from < 0) r.from += (-r.from + r.step - 1) / r.step * r.step;
  r.to = std::min(r.to, end);
  return r;
}

bool holds(const KeyRun& r, int64_t j) {
  return j >= r.from && j < r.to && (r.step == 1 || (j - r.from) % r.step == 0);
}

bool holds(const std::vector<KeyRun>& runs, int64_t j) {
  return std::any_of(runs.begin(), runs.end(), [&](const KeyRun& r) { return holds(r, j); });
}

/// Bits [from, to) of a word.
uint64_t bits_between(int64_t from, int64_t to) {
  const uint64_t below = to >= 64 ? ~uint64_t{0} : (uint64_t{1} << to) - 1;
  return below & ~((uint64_t{1} << from) - 1);
}

}  // namespace

bool Pattern::sees(int64_t query, int64_t key, const PatternRows& of) const {
  if (causal && key > query) return false;
  std::vector<KeyRun> runs;
  for (const auto& a : atoms) a->keys(query, of, runs);
  return holds(runs, key);
}

void Pattern::keys_of(int64_t query, const PatternRows& of, std::vector<int32_t>& keys) const {
  keys.clear();
  std::vector<KeyRun> runs;
  for (const auto& a : atoms) a->keys(query, of, runs);
  for (KeyRun r : runs) {
    r = cut(r, causal ? query + 1 : of.length);
    for (int64_t j = r.from; j < r.to; j += r.step) keys.push_back(static_cast<int32_t>(j));
  }
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
}

int64_t Pattern::reach() const {
  int64_t most = 0;
  for (const auto& a : atoms) most = std::max(most, a->reach());
  return most;
}

bool Pattern::stays(int64_t key) const {
  return std::any_of(atoms.begin(), atoms.end(), [&](const auto& a) { return a->stays(key); });
}

bool Pattern::by_edges() const {
  return std::any_of(atoms.begin(), atoms.end(), [](const auto& a) { return a->by_edges(); });
}

struct TilePattern::Builder {
  TilePattern& t;
  const Pattern& p;
  const PatternRows& of;
  int64_t n = of.length;
  std::unordered_multimap<uint64_t, int32_t> known = {};                // masks by their hash
  std::vector<std::vector<std::pair<int32_t, int32_t>>> meetings = {};  // of each query tile: key tile, mask
  // The tiles that the query tile at hand meets.
  struct Open {
    int64_t key;
    Mask mask = {};
    int64_t pairs = 0;
  };
  std::vector<Open> open = {};
  std::vector<int32_t> open_of = {};                  // [tiles]: which of them, or -1
  std::vector<int32_t> tile_of = {}, column_of = {};  // [n]: where the keys of the atom at hand were gathered
  std::vector<const Atom*> placed = {};               // atoms whose pairs have their place already
  std::vector<KeyRun> runs = {}, before = {};
  static constexpr int64_t kFewRuns = 8;
  std::vector<int32_t> marked = {};  // [n]: the query that saw it last, from 1

  void build() {
    for (int64_t first = 0; first < n; first += kRows)
      add_tile({static_cast<int32_t>(first), static_cast<int32_t>(std::min(kRows, n - first))});
    t.runs_ = std::ssize(t.tiles_);
    std::vector<std::pair<const Atom*, RowOrder>> gathered;
    std::vector<Atom::Gather> how;
    for (const auto& a : p.atoms) {
      RowOrder order;
      const Atom::Gather g = a->gather(of, order);
      if (g == Atom::Gather::none) {
        placed.push_back(a.get());
      } else {
        gathered.emplace_back(a.get(), std::move(order));
        how.push_back(g);
      }
    }
    if (!placed.empty())
      for (int64_t q = 0; q < t.runs_; ++q) meet_runs(q);
    for (size_t a = 0; a < gathered.size(); ++a) {
      meet_gathered(*gathered[a].first, gathered[a].second, how[a]);
      placed.push_back(gathered[a].first);
    }
    finish();
  }

  void add_tile(const Tile& tile) {
    t.tiles_.push_back(tile);
    meetings.emplace_back();
    open_of.push_back(-1);
  }
  int64_t position(const Tile& tile, int64_t i) const {
    return tile.gathered < 0 ? tile.first + i : t.rows_[static_cast<size_t>(tile.gathered + i)];
  }
  int64_t end_of(int64_t query) const { return p.causal ? query + 1 : n; }

  uint64_t& bits(int64_t key_tile, int64_t row) {
    int32_t& at = open_of[static_cast<size_t>(key_tile)];
    if (at < 0) {
      at = static_cast<int32_t>(open.size());
      open.push_back({key_tile});
    }
    return open[static_cast<size_t>(at)].mask.seen[static_cast<size_t>(row)];
  }

  /// All atoms whose pairs are dense among neighbours, at once.
  void meet_runs(int64_t q) {
    const Tile queries = t.tiles_[static_cast<size_t>(q)];
    for (int64_t r = 0; r < queries.count; ++r) {
      const int64_t i = queries.first + r;
      runs.clear();
      for (const Atom* a : placed) a->keys(i, of, runs);
      for (KeyRun run : runs) {
        run = cut(run, end_of(i));
        if (run.step == 1)
          for (int64_t j = run.from; j < run.to;) {
            const int64_t tile = j / kRows, first = tile * kRows;
            bits(tile, r) |= bits_between(j - first, std::min(run.to - first, kRows));
            j = first + kRows;
          }
        else
          for (int64_t j = run.from; j < run.to; j += run.step) bits(j / kRows, r) |= uint64_t{1} << (j % kRows);
      }
    }
    close(q);
  }

  /// An atom's pairs where its rows were brought together, but for those that another atom has.
  void meet_gathered(const Atom& a, const RowOrder& order, Atom::Gather how) {
    const int64_t first = std::ssize(t.tiles_), from = std::ssize(t.rows_);
    tile_of.resize(static_cast<size_t>(n));
    column_of.resize(static_cast<size_t>(n));
    int32_t begin = 0;
    for (const int32_t end : order.ends) {
      for (int32_t c = begin; c < end; ++c) {
        const auto row = static_cast<size_t>(order.rows[static_cast<size_t>(c)]);
        tile_of[row] = static_cast<int32_t>(t.tiles_.size());
        column_of[row] = c - begin;
      }
      add_tile({order.rows[static_cast<size_t>(begin)], end - begin, static_cast<int32_t>(from) + begin});
      begin = end;
    }
    t.rows_.insert(t.rows_.end(), order.rows.begin(), order.rows.end());
    const bool both = how == Atom::Gather::rows;
    const int64_t last = both ? std::ssize(t.tiles_) : t.runs_;
    for (int64_t q = both ? first : 0; q < last; ++q) {
      const Tile queries = t.tiles_[static_cast<size_t>(q)];
      for (int64_t r = 0; r < queries.count; ++r) {
        const int64_t i = position(queries, r);
        runs.clear();
        before.clear();
        a.keys(i, of, runs);
        for (const Atom* other : placed) other->keys(i, of, before);
        const bool few = std::ssize(before) <= kFewRuns;
        if (!few) mark(before, i);
        for (KeyRun run : runs) {
          run = cut(run, end_of(i));
          for (int64_t j = run.from; j < run.to; j += run.step)
            if (few ? !holds(before, j) : marked[static_cast<size_t>(j)] != i + 1)
              bits(tile_of[static_cast<size_t>(j)], r) |= uint64_t{1} << column_of[static_cast<size_t>(j)];
        }
      }
      close(q);
    }
  }

  /// The keys that a query sees so far, for who asks for many of many runs.
  void mark(const std::vector<KeyRun>& seen, int64_t query) {
    marked.resize(static_cast<size_t>(n));
    for (KeyRun run : seen) {
      run = cut(run, end_of(query));
      for (int64_t j = run.from; j < run.to; j += run.step)
        marked[static_cast<size_t>(j)] = static_cast<int32_t>(query) + 1;
    }
  }

  /// What the query tile at hand meets becomes its meetings.
  void close(int64_t q) {
    const int64_t rows = t.tiles_[static_cast<size_t>(q)].count;
    std::sort(open.begin(), open.end(), [](const Open& a, const Open& b) { return a.key < b.key; });
    for (Open& o : open) {
      open_of[static_cast<size_t>(o.key)] = -1;
      for (int64_t r = 0; r < rows; ++r) o.pairs += __builtin_popcountll(o.mask.seen[static_cast<size_t>(r)]);
      t.pairs_ += o.pairs;
      meetings[static_cast<size_t>(q)].emplace_back(static_cast<int32_t>(o.key),
                                                    o.pairs < rows * kRows ? keep(o.mask) : -1);
      if (q >= t.runs_) t.asks_once_ = false;
    }
    open.clear();
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

TilePattern::TilePattern(const Pattern& pattern, const PatternRows& of) : length_(of.length) {
  Builder{*this, pattern, of}.build();
}

BatchPattern PatternCache::of_batch(const Segments& segments, const Edges* edges) const {
  BatchPattern all{&pattern_, {}, {}};
  const bool by_edges = edges && pattern_.by_edges();
  for (int64_t s = 0; s < segments.count(); ++s) {
    all.rows.push_back({segments.length(s), by_edges ? edges : nullptr, segments.begin(s)});
    all.segments.push_back(by_edges ? std::make_shared<TilePattern>(pattern_, all.rows.back())
                                    : of_length(segments.length(s)));
  }
  return all;
}

std::shared_ptr<const TilePattern> PatternCache::of_length(int64_t length) const {
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = known_.find(length); found != known_.end()) {
      order_.splice(order_.end(), order_, found->second.used);
      return found->second.tiles;
    }
  }
  auto made = std::make_shared<const TilePattern>(pattern_, PatternRows{length});  // perhaps twice, at once
  const std::lock_guard lock(mutex_);
  const auto [at, fresh] = known_.try_emplace(length, Known{made, {}});
  if (!fresh) return at->second.tiles;
  at->second.used = order_.insert(order_.end(), length);
  bytes_ += made->bytes();
  while (bytes_ > kBytes && order_.size() > 1) {
    const auto oldest = known_.find(order_.front());
    bytes_ -= oldest->second.tiles->bytes();
    known_.erase(oldest);
    order_.pop_front();
  }
  return made;
}

}  // namespace attune
