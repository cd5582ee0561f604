// Which pairs of positions see each other where attention is sparse: a union of atoms, and the same cut into tiles, by
// which kernels skip what nobody sees.
#pragma once
#include <array>
#include <cstdint>
#include <limits>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "tensor/rows.h"

namespace attune {

/// Positions [from, to), every so many of them.
struct KeyRun {
  int64_t from, to, step = 1;
};

/// The sequence whose pairs are asked for: rows [first, first + length) of a batch.
struct PatternRows {
  int64_t length = 0;
  const Edges* edges = nullptr;  // of the batch, for who goes by them
  int64_t first = 0;
};

/// Rows brought together: one tile after another, of at most TilePattern::kRows each.
struct RowOrder {
  std::vector<int32_t> rows;
  std::vector<int32_t> ends;  // of the tiles
  void end_tile() {
    if (static_cast<int32_t>(rows.size()) > (ends.empty() ? 0 : ends.back()))
      ends.push_back(static_cast<int32_t>(rows.size()));
  }
  int64_t open() const { return std::ssize(rows) - (ends.empty() ? 0 : ends.back()); }
};

/// One kind of pairs, defined by what a query sees. They are in tensor/atoms.cc.
class Atom {
 public:
  static constexpr int64_t kFar = std::numeric_limits<int64_t>::max() / 4;
  virtual ~Atom() = default;
  /// The keys that a query sees. What reaches beyond the sequence, or in a causal pattern beyond the query, is cut off
  /// by who asks.
  virtual void keys(int64_t query, const PatternRows& of, std::vector<KeyRun>& out) const = 0;
  /// How its rows are brought together so that its pairs are dense in tiles.
  enum class Gather : uint8_t {
    none,  // neighbours are dense
    keys,  // of the keys alone
    rows,  // queries and keys alike
  };
  virtual Gather gather(const PatternRows&, RowOrder&) const { return Gather::none; }
  /// Of a causal pattern, for decoding: a query sees no key further back than this, ...
  virtual int64_t reach() const { return kFar; }
  /// ... but for those that are seen from however far.
  virtual bool stays(int64_t /*key*/) const { return false; }
  virtual bool by_edges() const { return false; }
};

/// The definition. Which pairs there are may depend on the length of the sequence: random blocks are drawn among all.
struct Pattern {
  std::vector<std::shared_ptr<const Atom>> atoms;
  bool causal = false;

  bool sees(int64_t query, int64_t key, const PatternRows& of) const;
  /// The keys that a query sees, in order.
  void keys_of(int64_t query, const PatternRows& of, std::vector<int32_t>& keys) const;
  /// Of a causal one, what later queries see: see Atom.
  int64_t reach() const;
  bool stays(int64_t key) const;
  bool by_edges() const;
};

/// A pattern for one sequence: tiles of rows, and which of them meet. The first tiles are runs of kRows positions;
/// others gather rows that lie apart, for atoms that are dense only so. A pair stands in one place only.
class TilePattern {
 public:
  static constexpr int64_t kRows = 64, kStrip = 6, kStrips = (kRows + kStrip - 1) / kStrip;

  struct Tile {
    int32_t first = 0, count = 0;
    int32_t gathered = -1;  // from here in `rows`, where they are no run
  };
  /// Which pairs of two tiles are seen, a bit each, and the columns that each strip of rows must look at.
  struct Mask {
    std::array<uint64_t, kRows> seen{};
    std::array<uint8_t, kStrips> from{}, to{};
    bool operator==(const Mask&) const = default;
  };
  struct Meeting {
    int32_t query, key;  // tiles
    int32_t mask = -1;   // -1: all pairs
  };

  TilePattern(const Pattern& pattern, const PatternRows& of);

  int64_t length() const { return length_; }
  const std::vector<Tile>& tiles() const { return tiles_; }
  int64_t runs() const { return runs_; }  // so many of them are runs
  /// The rows of a tile that is no run.
  const int32_t* rows(const Tile& t) const { return rows_.data() + t.gathered; }
  const Mask& mask(int32_t i) const { return masks_[static_cast<size_t>(i)]; }
  /// Of a tile as queries by key tiles, and as keys by query tiles, in order.
  struct Meetings {
    const Meeting *first, *last;
    const Meeting* begin() const { return first; }
    const Meeting* end() const { return last; }
    bool empty() const { return first == last; }
  };
  Meetings of_queries(int64_t tile) const { return part(by_query_, query_start_, tile); }
  Meetings of_keys(int64_t tile) const { return part(by_key_, key_start_, tile); }
  /// Whether no gathered tile asks: then a query's keys all come at once.
  bool asks_once() const { return asks_once_; }
  int64_t pairs() const { return pairs_; }
  int64_t bytes() const {
    const auto of = [](const auto& v) { return static_cast<int64_t>(v.capacity() * sizeof(v[0])); };
    return of(tiles_) + of(rows_) + of(masks_) + of(by_query_) + of(by_key_) + of(query_start_) + of(key_start_);
  }

 private:
  struct Builder;
  static Meetings part(const std::vector<Meeting>& all, const std::vector<int32_t>& start, int64_t tile) {
    const auto i = static_cast<size_t>(tile);
    return {all.data() + start[i], all.data() + start[i + 1]};
  }

  int64_t length_, runs_ = 0, pairs_ = 0;
  bool asks_once_ = true;
  std::vector<Tile> tiles_;
  std::vector<int32_t> rows_;
  std::vector<Mask> masks_;
  std::vector<Meeting> by_query_, by_key_;
  std::vector<int32_t> query_start_, key_start_;  // [tiles + 1]
};

/// The pattern of a batch: that of each of its segments.
struct BatchPattern {
  const Pattern* definition = nullptr;
  std::vector<std::shared_ptr<const TilePattern>> segments;
  std::vector<PatternRows> rows;  // of each segment

  /// The keys that a query of a segment sees, in order.
  void keys_of(int64_t segment, int64_t query, std::vector<int32_t>& keys) const {
    definition->keys_of(query, rows[static_cast<size_t>(segment)], keys);
  }
};

/// Tiles of the lengths met so far, those asked for last: so many bytes of them. Safe to share between threads.
class PatternCache {
 public:
  explicit PatternCache(Pattern pattern) : pattern_(std::move(pattern)) {}
  const Pattern& pattern() const { return pattern_; }
  BatchPattern of_batch(const Segments& segments, const Edges* edges = nullptr) const;
  std::shared_ptr<const TilePattern> of_length(int64_t length) const;
  static constexpr int64_t kBytes = 32 << 20;

 private:
  struct Known {
    std::shared_ptr<const TilePattern> tiles;
    std::list<int64_t>::iterator used;
  };
  Pattern pattern_;
  mutable std::mutex mutex_;
  mutable std::unordered_map<int64_t, Known> known_;
  mutable std::list<int64_t> order_;  // lengths, the one asked for last behind the others
  mutable int64_t bytes_ = 0;
};

}  // namespace attune
