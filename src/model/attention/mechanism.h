// The seam where attention mechanisms plug in: what mixes with what. Projections, residuals, heads sharing and masks of
// order stay outside; a mechanism is one file here, with its options, its formula and its citation, and one line in
// kinds.inc.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "autograd/attention.h"
#include "base/choice.h"

namespace attune {

/// Where a mechanism stands, and with how many heads.
struct AttentionSetup {
  int64_t heads = 1, heads_kv = 1, dim = 0;  // dim: columns of a head
  bool causal = false;                       // no row sees a later one
  bool cross = false;                        // keys and values are another sequence's
  float dropout = 0;
  uint64_t site = 0;
};

/// Rows already projected: heads are columns, of one Var or of several.
struct Projected {
  Var q, k, v;
  int64_t q_column = 0, k_column = 0, v_column = 0;
  const Segments* queries = nullptr;
  const Segments* keys = nullptr;
};

/// What a mechanism remembers between two steps of decoding: a cache, a ring, a running sum.
class AttentionState {
 public:
  virtual ~AttentionState() = default;
  /// Row i goes on from what row parents[i] (which exists) remembered; there may be fewer rows than before, or more.
  virtual void reorder(std::span<const int32_t> parents) = 0;
};

class AttentionMechanism {
 public:
  virtual ~AttentionMechanism() = default;
  /// All positions at once, for training and encoding: [rows of q, heads * dim].
  virtual Var mix(Ctx& ctx, const Projected& p) const = 0;
  /// What step() needs to remember for up to `rows` sequences of up to `longest` positions.
  virtual std::unique_ptr<AttentionState> state(int64_t rows, int64_t longest) const = 0;
  /// One position more for every row of q: keys and values are taken up, then [rows, heads * dim]. `p` has no segments.
  virtual Var step(Ctx& ctx, const Projected& p, AttentionState& state) const = 0;
  /// Cross-attention of single rows to finished memories: row i of q reads segment memory_of[i] of p.keys.
  virtual Var read(Ctx& ctx, const Projected& p, std::span<const int32_t> memory_of) const = 0;
  /// What a single sentence attended to, [heads, queries, keys], for people to look at.
  virtual void weights(const Projected& p, float* out) const = 0;
};

/// What a mechanism can do, and what people should know about it.
struct AttentionKind {
  const char* name;
  const char* sentence;
  const char* formula;
  const char* cost;
  const char* cite;
  bool causal = true, cross = true, step = true, hook = true;
};
/// All there are, in the order of kinds.inc.
const std::vector<AttentionKind>& attention_kinds();

/// Makes the chosen one. ErrorKind::recipe, naming `key` ("model.attention"), for a kind or options there are not, and
/// for a place it can't stand in.
std::unique_ptr<AttentionMechanism> make_attention(const Choice& choice, const AttentionSetup& setup,
                                                   const std::string& key);

}  // namespace attune
