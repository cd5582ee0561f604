// The seam where ways to make one vector of a text plug in. One file per way, one line in kinds.inc.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "base/choice.h"
#include "base/fields.h"
#include "model/blueprint.h"
#include "model/encoder.h"

namespace attune {

class Pooling {
 public:
  virtual ~Pooling() = default;
  /// [texts, width()]. What the rows point to outlives the backward pass.
  virtual Var operator()(const Pass& pass, const Encoded& in) const = 0;
  virtual int64_t width() const = 0;
};

struct PoolingKind {
  const char* name;
  const char* sentence;
  const char* formula;
  const char* cite;
};
/// All there are, in the order of kinds.inc.
const std::vector<PoolingKind>& pooling_kinds();
/// The options of each of them, with their defaults.
const std::vector<Fields>& pooling_options();

/// Makes the chosen one. ErrorKind::recipe, naming `key` ("model.pool"), for a kind or options there are not.
std::unique_ptr<Pooling> make_pooling(const Choice& choice, int64_t d_model, const Blueprint& place,
                                      const std::string& key);

}  // namespace attune
