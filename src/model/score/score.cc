#include "model/score/score.h"

#include "model/kinds.h"
#include "model/score/additive.h"
#include "model/score/cosine.h"
#include "model/score/dot.h"
#include "model/score/general.h"
#include "model/score/l2.h"

namespace attune {

namespace {

using MakeScore = std::unique_ptr<Score> (*)(const AttentionSetup&, const Blueprint&);

template <class T>
std::unique_ptr<Score> make(const AttentionSetup& setup, const Blueprint& place) {
  return std::make_unique<T>(setup, place);
}

constexpr MakeScore kScoreMakers[] = {
#define SCORE(type) make<type>,
#include "model/score/kinds.inc"
#undef SCORE
};

}  // namespace

const std::vector<ScoreDescription>& score_kinds() {
  static const std::vector<ScoreDescription> kinds{
#define SCORE(type) type::kKind,
#include "model/score/kinds.inc"
#undef SCORE
  };
  return kinds;
}

const std::vector<ScoreDescription>& normalizer_kinds() {
  static const std::vector<ScoreDescription> kinds{
      {"softmax", "every key gets some weight", "exp(s_j) / sum_i exp(s_i)", "Vaswani et al. 2017"},
      {"top-k", "the softmax of the k largest scores; the other keys get nothing",
       "exp(s_j) / sum over the k largest of exp(s_i)",
       "Zhao et al. 2019, Explicit Sparse Transformer: Concentrated Attention Through Explicit Selection"},
      {"sparsemax", "the nearest point of the simplex: small scores get nothing", "argmin over p of |p - s|^2",
       "Martins and Astudillo 2016, From Softmax to Sparsemax"},
      {"entmax15", "half way between softmax and sparsemax: small scores get nothing, the others smoothly more",
       "max(s_j / 2 - tau, 0)^2, tau so that they sum to 1",
       "Peters, Niculae and Martins 2019, Sparse Sequence-to-Sequence Models"},
  };
  return kinds;
}

std::unique_ptr<Score> make_score(const std::string& name, const AttentionSetup& setup, const Blueprint& place) {
  return kScoreMakers[find_kind(score_kinds(), {name}, "score")](setup, place);
}

Normaliser make_normalizer(const std::string& name, int64_t k) {
  constexpr NormaliserKind kinds[] = {NormaliserKind::softmax, NormaliserKind::top_k, NormaliserKind::sparsemax,
                                      NormaliserKind::entmax15};
  return {kinds[find_kind(normalizer_kinds(), {name}, "normalizer")], k};
}

}  // namespace attune
