// Rows of a batch in another order and cut into other sequences, for mechanisms that are a simpler one over such
// sequences: each residue class of a dilated band, each cluster of a routed layer.
#pragma once
#include <vector>

#include "model/attention/mechanism.h"

namespace attune {

/// Row i of the new order is row rows[i] of the old.
struct Rearrangement {
  std::vector<int32_t> rows;
  Segments segments;
  std::vector<int32_t> heads = {};   // of each sequence, where heads have sequences of their own
  std::vector<int32_t> places = {};  // [rows, axes]: where they stand, for schemes of relative positions; or none
  int64_t axes = 1;

  Tensor place_tensor() const {
    return places.empty() ? Tensor() : Tensor(places.data(), Shape{std::ssize(rows), axes});
  }
};

/// Finds their places: those that are told of the old rows, or without any the index in the old sequence. Where heads
/// have rows of their own, each old row has become so many, one after another.
void find_places(Ctx& ctx, Rearrangement& r, const Segments& old, const Tensor& told, int64_t heads = 1);

/// The order as ids for gather_rows.
Var row_ids(Ctx& ctx, const Rearrangement& r);
/// Queries, keys and values in the new order; each of the matrices they are parts of is moved once.
Projected rearranged(Ctx& ctx, const Projected& p, const Rearrangement& r);
/// Rows of the new order in their old places.
Var put_back(Ctx& ctx, const Var& x, const Rearrangement& r);

}  // namespace attune
