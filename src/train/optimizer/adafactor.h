// Adafactor (Shazeer, Stern 2018, "Adafactor: adaptive learning rates with sublinear memory cost", algorithms 4 and 5):
// the second moments of a matrix as those of its rows and of its columns. Without a first moment it remembers n + m
// numbers for n x m weights, where Adam remembers 2 n m.
//
// The paper's rho_t = min(1e-6 t, 1 / sqrt(t)) is schedule = "inverse-sqrt", learning_rate = 1e-2, warmup = 10000.
#pragma once
#include "base/aligned.h"
#include "kernels/optimizer/adafactor.h"
#include "train/optimizer/optimizer.h"

namespace attune {

class Adafactor : public Optimizer {
 public:
  static constexpr OptimizerKind kKind{
      .name = "adafactor",
      .sentence =
          "steps by the squares of gradients, which are remembered as one row and one column of each matrix: "
          "next to no memory",
      .formula =
          "R = b R + (1 - b) mean_j(g^2 + e1), C = b C + (1 - b) mean_i(g^2 + e1), b = 1 - t^-decay, U = g / "
          "sqrt(R C / mean(R)), p -= rate max(e2, rms(p)) U / max(1, rms(U) / threshold) + rate weight_decay p",
      .cite = "Shazeer, Stern 2018, \"Adafactor: adaptive learning rates with sublinear memory cost\""};
  struct Options {
    bool relative_step = true;
    double decay = 0.8, threshold = 1, epsilon1 = 1e-30, epsilon2 = 1e-3;
    template <class V>
    void fields(V& v) {
      v("relative_step", relative_step, "learning_rate is a share of the root mean square of each weight matrix");
      v("decay", decay, "the moments' decay is 1 - t^-decay at update t", between(0, 1));
      v("threshold", threshold, "largest root mean square of an update, in units of the rate", above(0));
      v("epsilon1", epsilon1, "added to squared gradients", at_least(1e-30));
      v("epsilon2", epsilon2, "least root mean square that a relative step is taken of", at_least(0));
    }
  };
  Adafactor(const Options& options, const TrainOptions& o, Parameters& weights);

  void step(const OptimizerStep& s, const float* gradients, ThreadPool* pool) override;
  std::vector<Remembered> remembered() const override;

 private:
  /// A parameter as files name it: matrices that are one in memory are factored each by itself.
  struct Matrix {
    std::string name;
    int64_t offset, n, m;
    int64_t rows, columns;  // places in moments_; rows -1: a vector has none
  };

  kernels::AdafactorStep settings_;
  double decay_;
  Parameters& weights_;
  std::vector<Matrix> matrices_;
  Aligned<float> moments_, scratch_;
};

}  // namespace attune
