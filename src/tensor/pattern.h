// Which pairs of positions see each other where attention is sparse: a union of atoms, and the same cut into tiles, by
// which kernels skip what nobody sees.
#pragma once
#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <vector>

namespace attune {

/// One kind of pair. A pattern that is causal has of each the pairs with key <= query.
struct PatternAtom {
  enum class Kind : uint8_t {
    band,     // |i - j| in {0, gap, 2 gap, ...}: causal the last `size` of them, otherwise size / 2 to each side
    global,   // the first `size` positions see all and are seen by all
    random,   // each block sees `size` blocks, drawn by the seed
    block,    // each block sees `size` blocks: its own and its neighbours, causal the last ones
    strided,  // i - j is a multiple of `size`
    columns,  // the last `gap` positions of every `size` are seen by all
  };
  Kind kind;
  int64_t size = 1;
  int64_t gap = 1;
  bool operator==(const PatternAtom&) const = default;
};

/// The definition. Which pairs there are may depend on the length of the sequence: random blocks are drawn among all.
struct Pattern {
  std::vector<PatternAtom> atoms;
  int64_t block = 64;
  bool causal = false;
  uint64_t seed = 0;

  bool sees(int64_t query, int64_t key, int64_t length) const;
  /// How many keys before its own a query sees at most; kFar where that grows with the sequence.
  static constexpr int64_t kFar = std::numeric_limits<int64_t>::max();
  int64_t reach() const;
  /// Of a causal pattern: the keys that a query sees, in order.
  void keys_of(int64_t query, std::vector<int32_t>& keys) const;
};

/// A pattern for sequences of one length: tiles of rows, and which of them meet. The first tiles are runs of kRows
/// positions; others gather rows that lie apart, for atoms that are dense only so. A pair stands in one place only.
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

  TilePattern(const Pattern& pattern, int64_t length);

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
};

/// Tiles of the lengths met so far, the latest ones. Safe to share between threads.
class PatternCache {
 public:
  explicit PatternCache(Pattern pattern) : pattern_(std::move(pattern)) {}
  const Pattern& pattern() const { return pattern_; }
  std::shared_ptr<const TilePattern> of_length(int64_t length) const;

 private:
  static constexpr size_t kKept = 64;
  Pattern pattern_;
  mutable std::mutex mutex_;
  mutable std::vector<std::shared_ptr<const TilePattern>> known_;  // the latest asked for last
};

}  // namespace attune
