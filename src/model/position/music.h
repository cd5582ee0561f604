// Relative positions on keys, one vector for each head and distance, in linear memory (Huang et al. 2018, "Music
// Transformer", sections 3.2 to 3.4).
//
//   RelativeAttention = softmax((Q K^T + S_rel) / sqrt(d)) V      S_rel[i, j] = q_i . e_(j - i)
//
// The paper makes S_rel from Q E^T by padding and reshaping ("skewing"); here each tile of scores takes what it needs.
#pragma once
#include <cmath>

#include "autograd/attention/relative.h"
#include "model/position/scheme.h"

namespace attune {

/// Table: E [distances, heads * dim], row 0 the farthest past. What is farther than any row counts as the farthest, so
/// that a trained model may read on beyond the length it has learned.
class MusicScores : public RelativeScores {
 public:
  /// Tells distances 0 to `longest` - 1 apart; as many to the other side where there is a future.
  MusicScores(int64_t longest, bool causal) : range_{causal ? 0 : 1 - longest, longest - 1} {}
  const DistanceRange& range() const { return range_; }

  int64_t scratch(int64_t dim) const override { return kernels::relative_scratch(dim); }
  std::array<int64_t, 2> table_rows() const override { return {range_.rows(), 0}; }
  bool heads_apart() const override { return true; }
  void check_tables(const std::array<Var, 2>& tables, int64_t heads, int64_t dim) const override;
  void scores(const ScoreTile& t, const HookTables& w, float* s) const override;
  void scores_backward(const ScoreTile& t, const HookTables& w, const float* ds, float* dq,
                       int64_t dq_stride) const override;
  Var scores_reference(Ctx& ctx, const Var& q, const ReferencePlace& place) const override;

 private:
  DistanceRange range_;
};

class MusicPosition : public PositionScheme {
 public:
  static constexpr PositionKind kKind{
      .name = "music",
      .sentence =
          "a learned vector of each head for every distance, met by the queries; reads on past what it was trained on",
      .formula = "softmax((Q K^T + S) / sqrt(d_k)) V, S_ij = q_i . e_(j - i)",
      .cite = "Huang et al. 2018, Music Transformer",
      .relative = Relative::scores,
      .grids = true,
      .details =
          "The table has a row for each distance and head, [rows, d], each layer its own: `longest` of them in a "
          "decoder (0 back to longest - 1 back), 2 longest - 1 elsewhere. What is farther counts as the farthest.",
  };
  struct Options {
    int64_t longest = 0;

    template <class V>
    void fields(V& v) {
      v("longest", longest, "distances told apart; 0: as many as data.max_length", between(0, 1 << 16));
    }
  };
  MusicPosition(const Options& o, const PositionSetup& setup, const Blueprint&)
      : longest_(o.longest > 0 ? o.longest : setup.longest) {}
  std::unique_ptr<RelativePosition> layer(const Blueprint& place, const AttentionSetup& s) const override {
    return std::make_unique<Layer>(longest_, place, s);
  }

 private:
  struct Layer : RelativePosition {
    Layer(int64_t longest, const Blueprint& place, const AttentionSetup& s)
        : scores(longest, s.causal),
          table(place.table("weight", scores.range().rows(), s.width(),
                            Init::normal(1 / std::sqrt(static_cast<double>(s.dim))))) {}
    const RelativeScores* hook() const override { return &scores; }
    std::array<Var, 2> tables(const Pass& pass, int64_t) const override { return {pass[table]}; }

    MusicScores scores;
    int table;
  };
  int64_t longest_;
};

}  // namespace attune
