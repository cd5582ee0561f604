#include "train/optimizer/optimizer.h"

#include "model/kinds.h"
#include "train/optimizer/adafactor.h"
#include "train/optimizer/adam.h"
#include "train/optimizer/adamw.h"
#include "train/optimizer/sgd.h"

namespace attune {

int64_t Optimizer::bytes() const {
  int64_t numbers = 0;
  for (const Remembered& r : remembered()) numbers += r.shape.size();
  return numbers * static_cast<int64_t>(sizeof(float));
}

std::vector<Remembered> remembered_block(const Parameters& weights, float* block, const std::string& suffix) {
  std::vector<Remembered> all;
  for (const NamedParameter& p : weights.named())
    if (p.offset < weights.changing()) all.push_back({p.name + suffix, p.shape, block + p.offset});
  return all;
}

namespace {

constexpr const char* kKey = "train.optimizer";

template <class T>
typename T::Options options_of(const Choice& choice) {
  typename T::Options options;
  apply_options(fields_of(options), choice, kKey);
  return options;
}

template <class T>
std::unique_ptr<Optimizer> make(const TrainOptions& options, Parameters& weights) {
  return std::make_unique<T>(options_of<T>(options.optimizer), options, weights);
}

using MakeOptimizer = std::unique_ptr<Optimizer> (*)(const TrainOptions&, Parameters&);
constexpr MakeOptimizer kOptimizerMakers[] = {
#define OPTIMIZER(type) make<type>,
#include "train/optimizer/kinds.inc"
#undef OPTIMIZER
};

using Check = void (*)(const Choice&);
constexpr Check kChecks[] = {
#define OPTIMIZER(type) [](const Choice& choice) { options_of<type>(choice); },
#include "train/optimizer/kinds.inc"
#undef OPTIMIZER
};

}  // namespace

const std::vector<OptimizerKind>& optimizer_kinds() {
  static const std::vector<OptimizerKind> kinds{
#define OPTIMIZER(type) type::kKind,
#include "train/optimizer/kinds.inc"
#undef OPTIMIZER
  };
  return kinds;
}

const std::vector<Fields>& optimizer_options() {
  static const std::vector<Fields> options{
#define OPTIMIZER(type) default_options<type>(),
#include "train/optimizer/kinds.inc"
#undef OPTIMIZER
  };
  return options;
}

void check_optimizer(const Choice& choice) { kChecks[find_kind(optimizer_kinds(), choice, kKey)](choice); }

std::unique_ptr<Optimizer> make_optimizer(const TrainOptions& options, Parameters& weights) {
  return kOptimizerMakers[find_kind(optimizer_kinds(), options.optimizer, kKey)](options, weights);
}

}  // namespace attune
