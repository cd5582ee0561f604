// Rearranging matrices: a transpose, and weights into the panels that products read.
#include <algorithm>

#include "kernels/matrix/gemm.h"
#include "kernels/rows/arrange.h"
#include "laboratory.h"

namespace attune::laboratory {

namespace {

constexpr int64_t kRows = 2048, kCols = 512;
constexpr double kBytes = 8.0 * kRows * kCols;

void naive_transpose(const float* from, float* to) {
  for (int64_t i = 0; i < kRows; ++i)
    for (int64_t j = 0; j < kCols; ++j) to[j * kRows + i] = from[i * kCols + j];
}

}  // namespace

void add_pack(Experiments& to) {
  Experiment e;
  e.name = "transpose/2048x512";
  e.kind = Kind::copy;
  e.bytes = kBytes;
  e.contenders = {"ours", "naive", "memcpy"};
  e.make = [] {
    const auto x = random(kRows * kCols, 1), y = zeros(kRows * kCols);
    return std::vector<Run>{
        [=] { kernels::transpose(matrix(x, kRows, kCols), matrix(y, kCols, kRows), false, nullptr); },
        [=] { naive_transpose(x->data(), y->data()); }, copy_of(kBytes)};
  };
  to.push_back(e);

  for (const bool transposed : {true, false}) {  // for x W^T and for dy W
    e.name = std::string("pack/2048x512") + (transposed ? " for x W^T" : " for dy W");
    e.contenders = {"ours", "memcpy"};
    e.make = [transposed] {
      const int64_t k = transposed ? kCols : kRows, n = transposed ? kRows : kCols;
      const auto w = random(kRows * kCols, 1), panels = zeros(kernels::packed_floats(k, n));
      return std::vector<Run>{[=] { kernels::pack(w->data(), kCols, transposed, k, n, panels->data()); },
                              copy_of(kBytes)};
    };
    to.push_back(e);
  }
}

}  // namespace attune::laboratory
