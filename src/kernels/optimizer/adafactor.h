// One update of Adafactor (Shazeer, Stern 2018) for one matrix: second moments as a row and a column instead of a whole
// matrix, so that an optimiser of n x m weights remembers n + m numbers.
#pragma once
#include <cstdint>

#include "base/thread_pool.h"

namespace attune::kernels {

/// Algorithm 4 of the paper, in its letters.
struct AdafactorStep {
  double rate = 1e-2;       // rho_t
  double beta2 = 0;         // 1 - t^-0.8, so that the first step remembers nothing
  double epsilon1 = 1e-30;  // added to squared gradients
  double epsilon2 = 1e-3;   // the least root mean square of weights that a relative step is taken of
  double threshold = 1;     // d: updates whose root mean square is larger are scaled down to it
  bool relative = true;     // the step is rate times the root mean square of the weights
  double decay = 0;         // parameters shrink by rate * decay
  double grad_factor = 1;   // gradients are multiplied by this first
};

/// A matrix [n, m], or a vector as one row. All but the gradients are updated.
template <class T>
struct AdafactorMatrix {
  T* parameters = nullptr;
  const T* gradients = nullptr;
  T* rows = nullptr;     // [n]: means of squared gradients along rows; a single row needs none
  T* columns = nullptr;  // [m]: along columns
  T* scratch = nullptr;  // n + m numbers that need not be kept
  int64_t n = 0, m = 0;
};

/// R = b R + (1 - b) mean over columns of (g^2 + e1), C likewise over rows, V = R C / mean(R), U = g / sqrt(V),
/// p = (1 - rate decay) p - rate max(e2, rms(p)) U / max(1, rms(U) / d). The matrix U never exists.
void adafactor(const AdafactorStep& s, const AdafactorMatrix<float>& a, ThreadPool* pool = nullptr);
/// The same by naive loops in double, with sums as the paper has them: what adafactor is checked against.
void adafactor_reference(const AdafactorStep& s, const AdafactorMatrix<double>& a);

}  // namespace attune::kernels
