// The seam where position schemes plug in: how a row learns where it stands. A scheme adds a table to the embeddings,
// or takes part in every attention layer, or does neither. One file per scheme, one line in kinds.inc.
#pragma once
#include <array>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "base/choice.h"
#include "base/fields.h"
#include "model/attention/relative_position.h"

namespace attune {

/// Where a scheme stands: how wide rows are and how many positions there are.
struct PositionSetup {
  int64_t d_model = 0, longest = 0;
  std::vector<int64_t> grid = {};  // where places have several axes: how many positions each has
  int64_t axis = -1;               // of a scheme that tells one of several axes: which
};

class PositionScheme {
 public:
  virtual ~PositionScheme() = default;
  /// What is added to the embedding of each position, [positions or more, d_model]; missing: nothing.
  virtual Var table(const Pass&, int64_t /*positions*/) const { return {}; }
  /// Where places have several axes: the same for one of them, [positions, d_model / axes]. Each axis has its share of
  /// the columns, the first axis the first; missing where table() is.
  virtual Var axis_table(const Pass&, int64_t /*axis*/, int64_t /*positions*/) const { return {}; }
  /// How many positions it can tell.
  virtual int64_t longest() const { return std::numeric_limits<int32_t>::max(); }
  /// Its part in a layer, parameters declared at `place`; none where it has none.
  virtual std::unique_ptr<RelativePosition> layer(const Blueprint& /*place*/, const AttentionSetup&) const {
    return nullptr;
  }
};

struct PositionKind {
  const char* name;
  const char* sentence;
  const char* formula;
  const char* cite;
  Relative relative = Relative::none;
  bool grids = false;        // it can tell places on several axes, ...
  bool joins_axes = false;   // ... and does so by itself, not axis by axis
  const char* details = "";  // what the formula leaves open: enough to build it anew
};
/// All there are, in the order of kinds.inc.
const std::vector<PositionKind>& position_kinds();
/// The options of each of them, with their defaults.
const std::vector<Fields>& position_options();

/// Makes the chosen one. ErrorKind::recipe, naming `key` ("model.position"), for a kind or options there are not.
std::unique_ptr<PositionScheme> make_position(const Choice& choice, const PositionSetup& setup,
                                              const Blueprint& blueprint, const std::string& key);

}  // namespace attune
