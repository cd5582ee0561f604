// A learned bias for each head and bucket of distances (Raffel et al. 2020, "Exploring the Limits of Transfer Learning
// with a Unified Text-to-Text Transformer", section 2.1).
//
//   scores_ij = q_i . k_j / sqrt(d) + b[bucket(j - i), head]
//
// Near distances have buckets of their own, farther ones share them ever more widely. T5 itself leaves its scores
// without 1 / sqrt(d) and begins with smaller queries instead; here the scores stay scaled and the bias is not.
#pragma once
#include <vector>

#include "autograd/attention/relative.h"
#include "base/error.h"
#include "model/position/scheme.h"

namespace attune {

struct T5Buckets {
  bool causal = false;  // a causal one has all buckets for the past, the other half of them for each side
  int64_t count = 32, farthest = 128;
};

/// The bucket of a key `key_minus_query` places after its query, as the published code has it.
int64_t t5_bucket(int64_t key_minus_query, const T5Buckets& buckets);

/// Table: b [buckets, heads].
class T5Scores : public RelativeScores {
 public:
  explicit T5Scores(const T5Buckets& buckets);

  int64_t scratch(int64_t) const override { return kernels::kPieceDistances; }
  std::array<int64_t, 2> table_rows() const override { return {count_, 0}; }
  bool heads_apart() const override { return true; }
  void check_tables(const std::array<Var, 2>& tables, int64_t heads, int64_t dim) const override;
  void scores(const ScoreTile& t, const HookTables& w, float* s) const override;
  void scores_backward(const ScoreTile& t, const HookTables& w, const float* ds, float* dq,
                       int64_t dq_stride) const override;
  Var scores_reference(Ctx& ctx, const Var& q, const ReferencePlace& place) const override;

 private:
  /// Of the place of the query minus that of the key.
  int64_t bucket(int64_t distance) const { return bucket_[static_cast<size_t>(range_.row(distance))]; }

  DistanceRange range_;  // beyond it buckets are those at its ends
  int64_t count_;
  std::vector<int32_t> bucket_;  // by row of the range
};

class T5Position : public PositionScheme {
 public:
  static constexpr PositionKind kKind{
      .name = "t5",
      .sentence = "a learned bias of each head for every bucket of distances, shared by all layers",
      .formula = "q_i . k_j / sqrt(d_k) + b[bucket(j - i), head]",
      .cite = "Raffel et al. 2020, Exploring the Limits of Transfer Learning with a Unified Text-to-Text Transformer",
      .relative = Relative::scores,
      .grids = true,
      .details =
          "As the published code: half of a side's buckets are for single distances, the others widen as logarithms "
          "up to `farthest`; an encoder has half of all buckets for each side, those of the future behind those of "
          "the past. b is not divided by sqrt(d_k), and the scores are, unlike T5's own.",
  };
  struct Options {
    int64_t buckets = 32, farthest = 128;

    template <class V>
    void fields(V& v) {
      v("buckets", buckets, "groups of distances", between(4, 1 << 12));
      v("farthest", farthest, "from here on all distances are one", between(2, 1 << 20));
    }
  };
  T5Position(const Options& o, const PositionSetup& setup, const Blueprint&) : options_(o), axis_(setup.axis) {}
  std::unique_ptr<RelativePosition> layer(const Blueprint& place, const AttentionSetup& s) const override {
    // Half of the buckets that a side has are for single distances: the others must have some left.
    const int64_t single = (s.causal ? options_.buckets : options_.buckets / 2) / 2;
    if (options_.farthest <= single)
      fail(
          ErrorKind::recipe,
          "model.position = {{ kind = \"t5\", buckets = {}, farthest = {} }}: {} distances have a bucket each already\n"
          "  fix: farthest = {} or more, or fewer buckets",
          options_.buckets, options_.farthest, single, single + 1);
    const std::string name = axis_ < 0 ? "position.weight" : "position." + std::to_string(axis_) + ".weight";
    return std::make_unique<Layer>(T5Buckets{s.causal, options_.buckets, options_.farthest}, name, place, s);
  }

 private:
  struct Layer : RelativePosition {
    Layer(const T5Buckets& buckets, const std::string& name, const Blueprint& place, const AttentionSetup& s)
        : scores(buckets), bias(place.at_stack().table_once(name, buckets.count, s.heads, Init::normal(0.1))) {}
    const RelativeScores* hook() const override { return &scores; }
    std::array<Var, 2> tables(const Pass& pass, int64_t) const override { return {pass[bias]}; }

    T5Scores scores;
    int bias;
  };
  Options options_;
  int64_t axis_;
};

}  // namespace attune
