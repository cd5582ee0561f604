// Multi-head scaled dot-product attention over packed sequences in one operation (Vaswani et al. 2017, section 3.2).
#pragma once
#include <array>
#include <span>

#include "autograd/tape.h"
#include "kernels/attention/attention.h"

namespace attune {

/// Where a hook's reference stands: one head of one segment.
struct ReferencePlace {
  int64_t head = 0, queries = 0, keys = 0;
  float scale = 1;  // what the scores were multiplied by
  std::array<Var, 2> tables = {};
  RowPlaces query_places = {}, key_places = {};  // of the segment's rows, or none
  /// The place of query i minus that of key j.
  int64_t distance(int64_t i, int64_t j) const {
    return query_places ? query_places[i] - key_places[j] : i + keys - queries - j;
  }
};

/// What a scheme of relative positions adds to attention: as a hook on tiles, and the same once more in plain
/// operations, f32 or f64, by which the hook is checked.
class RelativeScores : public TileHook {
 public:
  /// Throws unless it can work with these tables.
  virtual void check_tables(const std::array<Var, 2>& /*tables*/, int64_t /*heads*/, int64_t /*dim*/) const {}
  /// How many rows its tables have, of those that always have as many.
  virtual std::array<int64_t, 2> table_rows() const { return {}; }
  /// [queries, keys], to be added to the scaled scores of q [queries, dim].
  virtual Var scores_reference(Ctx& ctx, const Var& q, const ReferencePlace& place) const = 0;
  /// [queries, dim], to be added to the result, from weights [queries, keys] after dropout; or nothing.
  virtual Var values_reference(Ctx&, const Var& /*weights*/, const ReferencePlace&) const { return {}; }
};

struct Attention {
  Var q, k, v;  // [rows, ...]; one Var may serve as several of them, its columns cut as below
  int64_t q_column = 0, k_column = 0, v_column = 0;  // where the first head begins in a row
  const Segments* queries = nullptr;                 // which rows of q belong together ...
  const Segments* keys = nullptr;            // ... and which of k and v they see; both outlive the backward pass
  int64_t heads = 1, heads_kv = 0, dim = 0;  // heads of q, heads of k and v (0: as many), columns of one head
  float scale = 0;                           // of the scores; 0: 1 / sqrt(dim)
  Mask mask = {};
  const BatchPattern* pattern = nullptr;  // in place of the mask, of rows that are their own keys; outlives the same
  Dropout dropout = {};
  const RelativeScores* hook = nullptr;  // outlives the backward pass
  std::array<Var, 2> tables = {};        // what the hook reads; they get gradients
  // What the hook is told of the rows; the mask goes by their index all the same. All of it outlives the backward pass.
  Tensor query_places = {};  // i32 [rows] or [rows, axes]: where rows of q stand ...
  Tensor key_places = {};    // ... and those of k; both or none: query i of n is at i + (m - n), a key at its index
  std::span<const int32_t> segment_heads = {};  // where heads have segments of their own (heads is 1): each one's head
  int64_t hook_heads = 0;                       // and how many there are
};

/// softmax(scale Q K^T) V per head and segment, [rows of q, heads * dim]. A query that sees no key gives zeros. Memory
/// is linear in the rows: backward keeps q, k, v, the result and one number per row and head. In f64 it runs as the
/// reference does.
Var attention(Ctx& ctx, const Attention& a);

/// The same composed of plain operations, one head of one segment at a time, in f32 or f64.
Var attention_reference(Ctx& ctx, const Attention& a);

/// One softmax over the keys of both: of each query's own sequence and, say, of vectors that all of them share. The
/// queries are the same; masks, keys and values are each one's own, and every query sees keys of both.
Var joint_attention(Ctx& ctx, const Attention& a, const Attention& b);

}  // namespace attune
