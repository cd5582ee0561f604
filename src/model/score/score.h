// The seam where score functions plug in: how well a key fits a query (Luong et al. 2015; Chaudhari et al. 2019, table
// 2). A score changes queries and keys, and names the rule under which they then meet; most are a dot product of
// something. One file per score here, one line in kinds.inc.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "kernels/attention/score_attention.h"
#include "model/attention_setup.h"
#include "model/pass.h"

namespace attune {

class Score {
 public:
  virtual ~Score() = default;
  virtual ScoreKind rule() const { return ScoreKind::dot; }
  /// What the rule's result is multiplied by.
  virtual float scale() const { return 1; }
  /// Queries, and keys, as the rule wants them: of all heads, from a column of x on.
  struct Heads {
    Var x;
    int64_t column = 0;
  };
  virtual Heads queries(const Pass&, const Heads& q) const { return q; }
  virtual Heads keys(const Pass&, const Heads& k) const { return k; }
  /// v and b of additive scores, heads * dim numbers.
  virtual Var vector(const Pass&) const { return {}; }
  virtual Var bias(const Pass&) const { return {}; }
};

struct ScoreDescription {
  const char* name;
  const char* sentence;
  const char* formula;
  const char* cite;
};
/// All there are, in the order of kinds.inc.
const std::vector<ScoreDescription>& score_kinds();
/// The same of the normalisers, which make weights of a row of scores.
const std::vector<ScoreDescription>& normalizer_kinds();

/// Makes the score of that name, its parameters declared at `place`.
std::unique_ptr<Score> make_score(const std::string& name, const AttentionSetup& setup, const Blueprint& place);
/// The normaliser of that name; `k` for top-k.
Normaliser make_normalizer(const std::string& name, int64_t k);

}  // namespace attune
