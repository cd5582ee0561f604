// Fused scaled dot-product attention over packed sequences: scores, mask, softmax, dropout and weighted sum in tiles.
// The matrix of weights never exists; only the logarithm of each row's sum is kept, and the backward pass computes
// tiles anew.
#pragma once
#include <algorithm>
#include <cstdint>
#include <optional>

#include "base/random.h"
#include "base/thread_pool.h"
#include "tensor/pattern.h"
#include "tensor/places.h"
#include "tensor/segments.h"
#include "tensor/tensor.h"

namespace attune {

/// Which keys a query sees, as bounds on the inner loop: never a tensor. Query i of n stands at place i + (m - n) among
/// its m keys: for self-attention that is i; with remembered keys in front, the ends are aligned.
struct Mask {
  bool causal = false;              // no key after the query's own place
  int64_t before = -1, after = -1;  // how far it sees to each side; -1: all the way
  const int32_t* prefix = nullptr;  // per segment: the first so many keys are seen by every query

  static Mask none() { return {}; }
  static Mask past() { return {.causal = true}; }
  /// Causal: the last `width` places including its own. Otherwise width / 2 on each side and its own.
  static Mask band(int64_t width, bool causal) {
    return causal ? Mask{.causal = true, .before = width - 1} : Mask{.before = width / 2, .after = width / 2};
  }
  static Mask past_with_prefix(const int32_t* lengths) { return {.causal = true, .prefix = lengths}; }

  struct Range {
    int64_t from, to;
  };
  Range keys_of(int64_t query, int64_t queries, int64_t keys, int64_t segment) const {
    const int64_t place = query + keys - queries;
    Range r{before < 0 ? 0 : place - before, causal ? place + 1 : after < 0 ? keys : place + after + 1};
    if (prefix) r = {0, std::max<int64_t>(r.to, prefix[segment])};
    r.to = std::clamp<int64_t>(r.to, 0, keys);
    r.from = std::clamp<int64_t>(r.from, 0, r.to);
    return r;
  }
};

/// A rectangle of scores: queries [query, query + rows) by keys [key, key + cols) of one segment and head.
struct ScoreTile {
  int64_t segment, head;
  int64_t queries, keys;  // the segment's lengths
  int64_t query, key, rows, cols;
  int64_t stride;  // between rows of the tile's scores
  const float* q;  // the queries' vectors, q_stride apart, `dim` long
  int64_t q_stride, dim;
  float scale = 1;              // what the scores were multiplied by
  float* scratch = nullptr;     // as many floats as the hook asked for, on a cache line
  RowPlaces query_places = {};  // of its queries ...
  RowPlaces key_places = {};    // ... and keys; none: query i stands at i + (m - n), a key at its index

  bool placed() const { return static_cast<bool>(query_places); }
  /// The place of the first query minus that of the first key, where places are not told: rises by one per row, falls
  /// by one per column.
  int64_t distance() const { return query + keys - queries - key; }
  /// The place of a row's query minus that of a column's key.
  int64_t distance(int64_t r, int64_t c) const {
    return placed() ? query_places[r] - key_places[c] : distance() + r - c;
  }
  /// How much the distance rises per row and falls per column, if it does so evenly, as in a band with gaps.
  std::optional<int64_t> even_step() const;
};

inline std::optional<int64_t> ScoreTile::even_step() const {
  if (!placed()) return 1;
  const auto step_of = [](const RowPlaces& p, int64_t n) { return p[n > 1 ? 1 : 0] - p[0]; };
  const auto even = [](const RowPlaces& p, int64_t n, int64_t step) {
    for (int64_t i = 1; i < n; ++i)
      if (p[i] - p[i - 1] != step) return false;
    return true;
  };
  const int64_t step = rows > 1 ? step_of(query_places, rows) : step_of(key_places, cols);
  if (!even(query_places, rows, step) || !even(key_places, cols, step)) return {};
  return step;
}

/// The tables a hook reads: what they hold, and where their gradients go (empty where none are wanted). A gradient
/// holds numbers already: hooks add.
struct HookTables {
  Tensor values[2] = {};
  Tensor gradients[2] = {};
  bool gather() const { return gradients[0] || gradients[1]; }
};

/// The seam for relative positions (Shaw, Music Transformer, Transformer-XL, T5, ALiBi): sees every tile of scores
/// before the softmax, and its gradient on the way back. A hook has no state of its own: it lives as long as the model,
/// and what it learns are tables that are handed in. Tiles come in a fixed order; a decoding step is a tile of one row
/// and any number of columns. What lies in a row beyond the tile's columns is not there for the hook.
class TileHook {
 public:
  virtual ~TileHook() = default;
  /// Floats of scratch it wants with every tile, for heads of `dim` columns.
  virtual int64_t scratch(int64_t /*dim*/) const { return 0; }
  /// Whether two heads never add to the same number of a gradient: then they may be at work at once.
  virtual bool heads_apart() const { return false; }

  /// Adds to the tile's scores (already scaled).
  virtual void scores(const ScoreTile& tile, const HookTables& tables, float* s) const = 0;
  /// Takes the gradient of the scores; adds to dq (rows dq_stride apart) what flows into the queries, and to the
  /// tables' gradients.
  virtual void scores_backward(const ScoreTile& tile, const HookTables& tables, const float* ds, float* dq,
                               int64_t dq_stride) const = 0;
  /// Adds a value-side term: out[r] += sum over c of weights[r, c] times something of its own.
  virtual void values(const ScoreTile&, const HookTables&, const float* /*weights*/, float* /*out*/,
                      int64_t /*out_stride*/) const {}
  /// The same on the way back: adds to dweights what flows into the weights ...
  virtual void values_backward(const ScoreTile&, const HookTables&, const float* /*dout*/, int64_t /*dout_stride*/,
                               float* /*dweights*/) const {}
  /// ... and, given the weights (dropped out and normalised), adds to the tables' gradients.
  virtual void values_gradient(const ScoreTile&, const HookTables&, const float* /*weights*/, const float* /*dout*/,
                               int64_t /*dout_stride*/) const {}
};

/// Axes that places may have where rows are gathered by a pattern.
inline constexpr int64_t kPatternAxes = 4;

namespace kernels {

/// What forward and backward share. Rows of head h are columns [h * dim, (h + 1) * dim) of q; query heads share
/// key-value heads in runs of heads / heads_kv.
struct AttentionShape {
  const Segments* queries = nullptr;
  const Segments* keys = nullptr;
  int64_t heads = 1, heads_kv = 1, dim = 0;
  float scale = 1;
  Mask mask = {};
  Dropout dropout = {};
  const TileHook* hook = nullptr;
  HookTables tables = {};  // gradients are looked at on the way back only
  // What the hook is told of the rows. The mask goes by their index all the same.
  RowPlaces query_places = {}, key_places = {};  // of all of them, or none: see ScoreTile
  const int32_t* segment_heads = nullptr;  // the hook's head of each segment, where heads have segments of their own
  const BatchPattern* pattern = nullptr;   // in place of a mask: queries and keys are the same rows

  int64_t hook_floats() const { return hook ? hook->scratch(dim) : 0; }
  /// A tile as the hook sees it.
  ScoreTile hooked(ScoreTile t) const {
    t.query_places = query_places.from(queries->begin(t.segment) + t.query);
    t.key_places = key_places.from(keys->begin(t.segment) + t.key);
    if (segment_heads) t.head = segment_heads[t.segment];
    return t;
  }
};

struct Rows {
  float* data = nullptr;
  int64_t stride = 0;
};

struct AttentionForward {
  AttentionShape shape;
  Rows q, k, v, out;
  float* log_sum = nullptr;  // [heads, query rows]: log2 of each row's sum of exponentials
  void* scratch = nullptr;   // attention_scratch bytes
};
void attention_forward(const AttentionForward& a, ThreadPool* pool);

struct AttentionBackward {
  AttentionShape shape;
  Rows q, k, v, out, dout;
  const float* log_sum = nullptr;
  Rows dq, dk, dv;  // any may be absent (data == nullptr)
  bool add_dq = false, add_dk = false, add_dv = false;
  bool part = false;  // these are not all keys that out and log_sum were made of: see attention_merge
  void* scratch = nullptr;
};
void attention_backward(const AttentionBackward& a, ThreadPool* pool);

/// Makes of two results for the same queries, each over keys of its own, the one over all of them: into out and log_sum
/// of the first. Every row has keys in both. The backward pass of either is then that of a part, given the merged ones.
struct AttentionMerge {
  int64_t rows = 0, heads = 1, dim = 0;
  Rows out, other;
  float *log_sum = nullptr, *other_log_sum = nullptr;
};
void attention_merge(const AttentionMerge& a, ThreadPool* pool);

/// Bytes of scratch: linear in the longest sequence, times the workers.
int64_t attention_scratch(const AttentionShape& shape, int workers, bool backward);

/// How many pairs of positions of a batch see each other (itself its keys): 4 dim operations a head forward, 10 dim
/// backward.
double pairs_seen(const Mask& mask, const Segments& segments);

/// The weights themselves, for people to look at: one head of one segment into w[queries, keys]. Plain and slow.
void attention_weights(const AttentionShape& shape, Rows q, Rows k, int64_t segment, int64_t head, float* w);

}  // namespace kernels
}  // namespace attune
