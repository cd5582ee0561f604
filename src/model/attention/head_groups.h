// Heads that attend in different ways: some of a layer's heads by one mechanism, some by another (Child et al. 2019,
// section 4.3; hybrids of Lin et al. 2021, section 4.1.1).
#pragma once
#include "base/fields.h"
#include "model/attention/mechanism.h"

namespace attune {

class HeadGroupsAttention : public AttentionMechanism {
 public:
  static constexpr AttentionKind kKind{
      .name = "heads",
      .sentence = "some heads attend by one mechanism, some by another",
      .formula = "[A_1(Q, K, V of its heads) ... A_m(...)], side by side",
      .cost = "that of its mechanisms",
      .cite = "Child et al. 2019, Generating Long Sequences with Sparse Transformers, section 4.3",
      .relative = Relative::turned,
      .survey = {.sequences = "as its mechanisms"},
      .details =
          "of = [\"softmax\", { kind = \"band\", width = 64 }], heads = [2, 6]; no heads: as many for each. "
          "Projections and "
          "output are the layer's own; a mechanism that has others, leaves out the feed-forward layer, remembers a "
          "text "
          "or keeps rows of its own can't be one of them. Child's two parts in heads of their own: of = "
          "[\"sparse(atoms="
          "band 128)\", \"sparse(atoms=strided 128)\"].",
      .drawn = "of=band(width=9), sparse(atoms=strided 8)",
  };
  struct Options {
    std::string of = "softmax, linear", heads = "";
    void check(const std::string& key) const;
    template <class V>
    void fields(V& v) {
      v("of", of, "the mechanisms, by name or with options");
      v("heads", heads, "how many heads each has, [2, 6]; none: as many for each");
    }
    std::vector<Choice> choices() const;
    /// Of so many heads in all. ErrorKind::recipe where they can't be shared out so.
    std::vector<int64_t> shares(int64_t all) const;
  };
  HeadGroupsAttention(const Options& o, const AttentionSetup& setup, const Blueprint& place);

  LayerParts parts() const override;
  Var mix(const Pass& pass, const Projected& p) const override;
  std::unique_ptr<AttentionState> state(int64_t rows) const override;
  Var step(const Pass& pass, const Projected& p, AttentionState& state) const override;
  Var read(const Pass& pass, const Projected& p, std::span<const int32_t> memory_of,
           AttentionState* last) const override;
  std::unique_ptr<AttentionState> read_state(int64_t rows) const override;
  bool weights(const Pass& pass, const Projected& p, float* out) const override;
  double operations(const Parameters& parameters, const Segments& queries, const Segments& keys) const override;
  void after_update(Parameters& parameters, const Gradients& gathered) const override;

 private:
  struct Group {
    int64_t head, head_kv;  // its first
    std::unique_ptr<AttentionMechanism> mechanism;
  };
  struct State;
  Projected of_group(const Projected& p, const Group& g) const;

  AttentionSetup setup_;
  std::vector<Group> groups_;
};

}  // namespace attune
