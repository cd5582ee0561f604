// What the forward and backward pass of sparse attention share. Include after kernels/simd.h; once per instruction set.
#if defined(ATTUNE_SPARSE_TILES_PER_TARGET) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTUNE_SPARSE_TILES_PER_TARGET
#undef ATTUNE_SPARSE_TILES_PER_TARGET
#else
#define ATTUNE_SPARSE_TILES_PER_TARGET
#endif

#include "kernels/attention/attention_tiles.h"
#include "kernels/attention/sparse_attention.h"
#include "kernels/dropout.h"
#include "tensor/pattern.h"

KERNELS_BEGIN

inline constexpr int64_t kSparseTile = TilePattern::kRows;
static_assert(TilePattern::kStrip == kTileRows, "strips of masks are register tiles");

/// Columns of sixteen lanes that have their bit, of the others `rest`.
HWY_INLINE Pack<float> where_bit(uint64_t bits, const Pack<float>& yes, const Pack<float>& rest) {
  alignas(64) static constexpr uint32_t kBits[16] = {1,        2,        4,        8,       1u << 4,  1u << 5,
                                                     1u << 6,  1u << 7,  1u << 8,  1u << 9, 1u << 10, 1u << 11,
                                                     1u << 12, 1u << 13, 1u << 14, 1u << 15};
  const U u;
  const auto all = hn::Set(u, static_cast<uint32_t>(bits & 0xffff));
  return each([&](int i) HWY_ATTR {
    const auto bit = hn::LoadU(u, kBits + i * kLanes);
    const auto has = hn::RebindMask(F(), hn::Eq(hn::And(all, bit), bit));
    return hn::IfThenElse(has, yes.r[i], rest.r[i]);
  });
}

/// Columns [0, padded) of a row that have no bit become `instead`.
HWY_INLINE void keep_bits(float* row, uint64_t bits, int64_t padded, float instead) {
  for (int64_t c = 0; c < padded; c += 16, bits >>= 16)
    if ((bits & 0xffff) != 0xffff) store(where_bit(bits, load(row + c), splat(instead)), row + c);
}

/// The rows of one tile of a segment.
struct SparseRows {
  const TilePattern::Tile& tile;
  const int32_t* gathered;  // none: a run
  SparseRows(const TilePattern& p, const TilePattern::Tile& t)
      : tile(t), gathered(t.gathered < 0 ? nullptr : p.rows(t)) {}
  HWY_INLINE int64_t count() const { return tile.count; }
  HWY_INLINE int64_t at(int64_t i) const { return gathered ? gathered[i] : tile.first + i; }
  /// Columns [0, dim) of them side by side, padded to whole packs.
  HWY_INLINE void copy(const float* from, int64_t stride, int64_t dim, float* to) const {
    if (!gathered) return copy_dense(from + tile.first * stride, stride, count(), dim, to);
    for (int64_t i = 0; i < count(); ++i)
      copy_dense(from + gathered[i] * stride, stride, 1, dim, to + i * round16(dim));
  }
};

/// Which of a row's weights dropout keeps, among keys that lie apart.
HWY_INLINE uint64_t kept_bits(const Dropout& d, int64_t row, const SparseRows& keys) {
  const uint64_t key = row_key(d, row);
  const uint32_t threshold = dropout_threshold(d.rate);
  uint64_t bits = 0;
  for (int64_t c = 0; c < keys.count(); ++c)
    bits |= uint64_t{dropout_bits(key, static_cast<uint32_t>(keys.at(c))) >= threshold} << c;
  return bits;
}

/// Two tiles that meet, of one segment.
struct SparsePair {
  const AttentionShape& x;
  const TilePattern& pattern;
  int64_t segment;
  SparseRows queries, keys;
  const TilePattern::Mask* mask;  // none: all pairs

  SparsePair(const AttentionShape& shape, const TilePattern& p, int64_t s, const TilePattern::Meeting& m)
      : x(shape),
        pattern(p),
        segment(s),
        queries(p, p.tiles()[static_cast<size_t>(m.query)]),
        keys(p, p.tiles()[static_cast<size_t>(m.key)]),
        mask(m.mask < 0 ? nullptr : &p.mask(m.mask)) {}

  /// The columns that rows [row, row + height) of the tile look at. A hook looks at whole tiles.
  HWY_INLINE Mask::Range columns(int64_t row) const {
    if (!mask || x.hook) return {0, keys.count()};
    const auto strip = static_cast<size_t>(row / kTileRows);
    return {mask->from[strip], mask->to[strip]};
  }
  /// Hides what rows of scores (of columns from `cols.from` on) do not see.
  HWY_INLINE void hide(float* s, int64_t stride, int64_t row, int64_t rows, const Mask::Range& cols) const {
    if (!mask) return;
    for (int64_t r = 0; r < rows; ++r)
      keep_bits(s + r * stride, mask->seen[static_cast<size_t>(row + r)] >> cols.from, round16(cols.to - cols.from),
                -INFINITY);
  }
  /// The whole pair as a hook sees it; `places` takes what is not told of rows that were gathered.
  ScoreTile hooked(int64_t head, const float* q, int64_t q_stride, float* scratch, int32_t* places) const {
    ScoreTile t{};
    t.segment = segment;
    t.head = x.segment_heads ? x.segment_heads[segment] : head;
    t.queries = t.keys = pattern.length();
    t.query = queries.tile.first;
    t.key = keys.tile.first;
    t.rows = queries.count();
    t.cols = keys.count();
    t.stride = kSparseTile;
    t.q = q;
    t.q_stride = q_stride;
    t.dim = x.dim;
    t.scale = x.scale;
    t.scratch = scratch;
    const int64_t first = x.queries->begin(segment);
    const bool apart = queries.gathered || keys.gathered;
    t.query_places = places_of(queries, x.query_places.from(first), apart, places);
    t.key_places = places_of(keys, x.key_places.from(first), apart, places + kSparseTile * kPatternAxes);
    return t;
  }

 private:
  static RowPlaces places_of(const SparseRows& rows, const RowPlaces& told, bool apart, int32_t* to) {
    if (!rows.gathered && (told || !apart)) return told.from(rows.tile.first);
    const int64_t axes = told ? told.axes : 1;
    for (int64_t i = 0; i < rows.count(); ++i)
      for (int64_t d = 0; d < axes; ++d)
        to[i * axes + d] = told ? told.data[rows.at(i) * axes + d] : static_cast<int32_t>(rows.at(i));
    return {to, axes};
  }
};

/// Floats that places of gathered rows take: of queries and of keys.
inline constexpr int64_t kPlaceFloats = 2 * kSparseTile * kPatternAxes;

/// The most rows and tiles that any segment has.
struct SparseSizes {
  int64_t rows = 0, tiles = 0;
  bool asks_once = true;
  explicit SparseSizes(const AttentionShape& x) {
    for (int64_t s = 0; s < x.queries->count(); ++s) {
      const TilePattern& p = *x.pattern->segments[static_cast<size_t>(s)];
      rows = std::max(rows, p.length());
      tiles = std::max<int64_t>(tiles, std::ssize(p.tiles()));
      asks_once = asks_once && p.asks_once();
    }
    rows = (rows + kSparseTile - 1) / kSparseTile * kSparseTile;
  }
};

KERNELS_END

#endif
