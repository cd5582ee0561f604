#include "train/optimizer/adafactor.h"

#include <algorithm>
#include <cmath>

#include "base/portable_math.h"

namespace attune {

Adafactor::Adafactor(const Options& options, const TrainOptions& o, Parameters& weights)
    : settings_{.epsilon1 = options.epsilon1,
                .epsilon2 = options.epsilon2,
                .threshold = options.threshold,
                .relative = options.relative_step,
                .decay = o.weight_decay},
      decay_(options.decay),
      weights_(weights) {
  int64_t at = 0, scratch = 0;
  for (const NamedParameter& p : weights.named()) {
    if (p.offset >= weights.trained()) continue;  // no gradient changes it
    const int64_t m = p.shape.cols(), n = m > 0 ? p.shape.size() / m : 0;
    const bool vector = p.shape.rank() < 2;
    matrices_.push_back({p.name, p.offset, n, m, vector ? -1 : at, at + (vector ? 0 : n)});
    at = matrices_.back().columns + m;
    scratch = std::max(scratch, n + m);
  }
  moments_ = Aligned<float>(at);
  scratch_ = Aligned<float>(scratch);
}

void Adafactor::step(const OptimizerStep& s, const float* gradients, ThreadPool* pool) {
  kernels::AdafactorStep step = settings_;
  step.rate = s.rate;
  step.grad_factor = s.grad_factor;
  step.beta2 = 1 - portable::pow(static_cast<double>(s.step), -decay_);
  float* moments = moments_.data();
  for (const Matrix& p : matrices_) {
    kernels::AdafactorMatrix<float> a{weights_.data() + p.offset, gradients + p.offset};
    a.rows = p.rows < 0 ? nullptr : moments + p.rows;
    a.columns = moments + p.columns;
    a.scratch = scratch_.data();
    a.n = p.n;
    a.m = p.m;
    kernels::adafactor(step, a, pool);
  }
}

std::vector<Remembered> Adafactor::remembered() const {
  std::vector<Remembered> all;
  for (const Matrix& p : matrices_) {
    if (p.rows >= 0) all.push_back({p.name + ".rows", Shape{p.n}, moments_.data() + p.rows});
    all.push_back({p.name + (p.rows < 0 ? ".second" : ".columns"), Shape{p.m}, moments_.data() + p.columns});
  }
  return all;
}

}  // namespace attune
