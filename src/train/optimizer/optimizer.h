// The seam where optimisers plug in: how weights follow from gradients. An optimiser is one file here, with its
// options, its formula and its citation, and one line in kinds.inc. All that it remembers from step to step has names
// and goes into checkpoints, so that a run goes on exactly.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "autograd/parameters.h"
#include "base/fields.h"
#include "recipe/settings.h"

namespace attune {

/// What an update is told beside the gradients.
struct OptimizerStep {
  int64_t step = 1;  // counts from 1
  double rate = 0;
  double grad_factor = 1;  // gradients are multiplied by this first: clipping
};

/// Numbers that outlast a step, as files name them.
struct Remembered {
  std::string name;  // the parameter's, and what it is: "output.weight.second"
  Shape shape;
  float* data = nullptr;
};

class Optimizer {
 public:
  virtual ~Optimizer() = default;
  /// Changes the weights that gradients change; `gradients` has their layout. The same bits for any pool.
  virtual void step(const OptimizerStep& s, const float* gradients, ThreadPool* pool) = 0;
  /// Everything it remembers, at addresses that stay.
  virtual std::vector<Remembered> remembered() const = 0;
  /// What that takes.
  int64_t bytes() const;
};

/// What people should know about an optimiser.
struct OptimizerKind {
  const char* name;
  const char* sentence;
  const char* formula;
  const char* cite;
};
/// All there are, in the order of kinds.inc, and the options of each with their defaults.
const std::vector<OptimizerKind>& optimizer_kinds();
const std::vector<Fields>& optimizer_options();

/// ErrorKind::recipe for a kind or options there are not.
void check_optimizer(const Choice& choice);
/// Makes the one that `train.optimizer` names for the weights of a model, which outlive it.
std::unique_ptr<Optimizer> make_optimizer(const TrainOptions& options, Parameters& weights);

/// A block of the parameters' layout under their names + `suffix`, as far as updates change them.
std::vector<Remembered> remembered_block(const Parameters& weights, float* block, const std::string& suffix);

}  // namespace attune
