// The seam where attention mechanisms plug in: what mixes with what. A mechanism is one file here, with its options,
// its formula and its citation, and one line in kinds.inc. Most of them are what stands between the projections of a
// layer: mix, state and step, read, weights. Where its idea asks for more, a mechanism declares parameters and buffers
// of its own, adds to the loss, hands a stream from layer to layer, remembers rows from update to update, does without
// the feed-forward layer, or takes over the whole sublayer.
#pragma once
#include <array>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "autograd/attention/attention.h"
#include "base/choice.h"
#include "base/fields.h"
#include "model/attention_setup.h"
#include "model/mixer.h"

namespace attune {

struct SelfAttention;

/// Heads as columns of a matrix, from `column` on.
struct HeadColumns {
  Var x;
  int64_t column = 0;
};

/// Rows already projected: heads are columns, of one Var or of several.
struct Projected {
  Var q, k, v;
  int64_t q_column = 0, k_column = 0, v_column = 0;
  const Segments* queries = nullptr;
  const Segments* keys = nullptr;
  const RelativeScores* hook = nullptr;    // what the position scheme does to the scores ...
  std::array<Var, 2> tables = {};          // ... and the numbers it learns
  Tensor query_places = {};                // where rows stand, i32 [rows, axes], told explicitly; ...
  Tensor key_places = {};                  // ... none: query i of n at i + (m - n) among m keys, a key at its index
  HeadColumns plain_q = {}, plain_k = {};  // before the scheme turned them, for who asked: LayerParts::plain
};

/// The parts of a layer that a mechanism wants beside itself.
struct LayerParts {
  bool projections = true;   // query, key, value and output matrices
  bool key = true;           // without: queries are the keys too
  bool feed_forward = true;  // the sublayer that follows
  bool plain = false;        // queries and keys also as they were before the position scheme turned them
};

class AttentionMechanism {
 public:
  virtual ~AttentionMechanism() = default;
  /// All positions at once, for training and encoding: [rows of q, heads * dim].
  virtual Var mix(const Pass& pass, const Projected& p) const = 0;
  /// What step() needs to remember of so many sequences.
  virtual std::unique_ptr<AttentionState> state(int64_t rows) const;
  /// One position more for every row of q: keys and values are taken up, then [rows, heads * dim]. `p` has no segments.
  virtual Var step(const Pass& pass, const Projected& p, AttentionState& state) const;
  /// Keys and values of several positions at once are taken up, as if by as many steps: a prefix, of one sequence.
  virtual void prefill(const Pass& pass, const Projected& p, AttentionState& state) const;
  /// Cross-attention of single rows to finished memories: row i of q reads segment memory_of[i] of p.keys. `last` is
  /// what read_state() made, and each reading changes it; null where it made nothing.
  virtual Var read(const Pass& pass, const Projected& p, std::span<const int32_t> memory_of,
                   AttentionState* last) const;
  /// What read() remembers of what each row attended to last; none where it does not matter.
  virtual std::unique_ptr<AttentionState> read_state(int64_t /*rows*/) const { return nullptr; }
  /// What a single sentence attended to, [heads, queries, keys], for people to look at; false where there is no such
  /// thing.
  virtual bool weights(const Pass& pass, const Projected& p, float* out) const;
  /// What is wrong with what its rows attend to, [1], for learning from; missing where there are no weights to guide.
  virtual Var guide(const Pass& pass, const Projected& p, const Guide& guide) const;
  virtual bool can_be_guided() const { return false; }
  /// How many operations mix() does going forward, a multiply-add counted twice.
  virtual double operations(const Parameters& parameters, const Segments& queries, const Segments& keys) const = 0;

  virtual LayerParts parts() const { return {}; }
  /// Rows of the past that it remembers of each stream of a text, beside those of the window at hand.
  virtual int64_t memory() const { return 0; }
  /// Rows of its own that go through the stack in front of each sequence's; null: none. Segments are with them, then.
  virtual const OwnRows* own_rows() const { return nullptr; }
  /// The whole sublayer: [n, d_model] to [n, d_model]. The usual one projects, mixes and projects.
  virtual Var attend(const Pass& pass, const SelfAttention& layer, const Var& x, const Segments& segments,
                     Carried& carried) const;
  /// The same for one more position of each row, which stands at `where`.
  virtual Var attend_step(const Pass& pass, const SelfAttention& layer, const Var& x, const RowPositions& where,
                          AttentionState& state) const;
  /// Moves its buffers after an update, by what mix() gathered in their place.
  virtual void after_update(Parameters& /*parameters*/, const Gradients& /*gathered*/) const {}
};

/// The four axes along which Chaudhari et al. 2019 order attention models.
struct Survey {
  const char* sequences = "one, or two";
  const char* levels = "one";
  const char* positions = "all, softly";
  const char* representations = "one";
};

/// What a mechanism can do, and what people should know about it.
struct AttentionKind {
  const char* name;
  const char* sentence;
  const char* formula;
  const char* cost;
  const char* cite;
  bool causal = true, cross = true, step = true;
  Relative relative = Relative::none;
  Survey survey = {};
  const char* details = "";  // what the formula leaves open: enough to build it anew
  const char* drawn = "";    // the options with which 64 positions show it: "block=4;random=1"
};
/// All there are, in the order of kinds.inc.
const std::vector<AttentionKind>& attention_kinds();
/// The options of each of them, with their defaults.
const std::vector<Fields>& attention_options();

/// Makes the chosen one, its parameters declared at `place`. ErrorKind::recipe, naming `key` ("model.attention"), for a
/// kind or options there are not, and for a place it can't stand in.
std::unique_ptr<AttentionMechanism> make_attention(const Choice& choice, const AttentionSetup& setup,
                                                   const Blueprint& place, const std::string& key);

}  // namespace attune
