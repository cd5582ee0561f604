// The seam where position schemes plug in: how a row learns where it stands. One file per scheme, one line in
// kinds.inc.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "base/choice.h"
#include "model/blueprint.h"
#include "model/pass.h"

namespace attune {

/// Where a scheme stands: how wide rows are and how many positions there are.
struct PositionSetup {
  int64_t d_model = 0, longest = 0;
};

class PositionScheme {
 public:
  virtual ~PositionScheme() = default;
  /// What is added to the embedding of each position, [positions, d_model].
  virtual Var table(const Pass& pass) const = 0;
  /// How many positions it can tell.
  virtual int64_t longest() const = 0;
};

struct PositionKind {
  const char* name;
  const char* sentence;
  const char* formula;
  const char* cite;
};
/// All there are, in the order of kinds.inc.
const std::vector<PositionKind>& position_kinds();

/// Makes the chosen one. ErrorKind::recipe, naming `key` ("model.position"), for a kind or options there are not.
std::unique_ptr<PositionScheme> make_position(const Choice& choice, const PositionSetup& setup,
                                              const Blueprint& blueprint, const std::string& key);

}  // namespace attune
