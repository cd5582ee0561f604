// The seam of what reads: rows in, rows out. A family of models (model/family.h) has an encoder, a decoder or both.
#pragma once
#include <limits>
#include <memory>

#include "model/pass.h"
#include "tensor/rows.h"

namespace attune {

/// Rows that an encoder made, and which rows they are: those that it read, or fewer where it pooled them.
struct Encoded {
  Var x = {};  // [n, width]; missing where nothing was read
  const Rows* rows = nullptr;
  std::shared_ptr<const Rows> own = {};  // where they are not those that were read
};

class Encoder {
 public:
  virtual ~Encoder() = default;
  /// `source` outlives the backward pass.
  virtual Encoded encode(Pass& pass, const Rows& source) const = 0;
  /// Columns of its rows.
  virtual int64_t width() const = 0;
  /// The parameter of the vectors of its words, [V, width]; -1 where it reads none.
  virtual int embedding() const { return -1; }
  /// How many positions a sequence may have.
  virtual int64_t longest() const { return std::numeric_limits<int32_t>::max(); }
  /// What the places to look at begin with.
  virtual const char* stack() const { return "encoder"; }
  /// Layers whose rows attend to each other: "encoder.0.self" and so on are places to look at.
  virtual int64_t attention_layers() const { return 0; }
  /// How a classifier makes one vector of its rows, where that is not for the recipe to say.
  virtual const char* pooling() const { return nullptr; }

  /// Operations of what mixes rows, going forward; the matrix products around it not counted.
  virtual double mixing_operations(const Parameters&, const Segments& /*sources*/) const { return 0; }
  /// Numbers of weights that a row is multiplied by going forward. `share`: of the layers that are gone through.
  virtual double multiplied_weights(double share) const = 0;
  /// Moves buffers after an update, by what was gathered for them.
  virtual void after_update(Parameters& /*parameters*/, const Gradients& /*gathered*/) const {}
};

}  // namespace attune
