#include "kernels/matrix/matmul.h"

#include <algorithm>

#include "base/denormals.h"
#include "kernels/matrix/gemm.h"
#include "kernels/row_blocks.h"
#include "kernels/rows/arrange.h"

namespace attune::kernels {

namespace {

struct Sizes {
  int64_t batch, m, n, k;
};

Sizes sizes_of(const Matmul& p) {
  const int last = p.c.shape.rank() - 1;
  return {last == 2 ? p.c.shape[0] : 1, p.c.shape[last - 1], p.c.shape[last],
          p.a.shape[p.a_transposed ? last - 1 : last]};
}

/// Where matrix i of a batch begins.
template <class T>
T* matrix(const Tensor& t, int64_t i) {
  return t.row<T>(i * t.shape[t.shape.rank() - 2]);
}

void matmul32(const Matmul& p, const Sizes& s, ThreadPool* pool) {
  const auto one = [&](int64_t i, ThreadPool* threads) {
    Gemm g{s.m, s.n, s.k};
    g.a = matrix<float>(p.a, i);
    g.a_stride = p.a.stride;
    g.a_transposed = p.a_transposed;
    g.b = matrix<float>(p.b, i);
    g.b_stride = p.b.stride;
    g.b_transposed = p.b_transposed;
    g.c = matrix<float>(p.c, i);
    g.c_stride = p.c.stride;
    g.add = p.add;
    gemm(g, threads);
  };
  // A thread takes whole matrices where there are enough of them; else all threads share each one.
  if (s.batch >= workers_of(pool) && s.batch > 1)
    for_blocks(pool, s.batch, 1, s.batch * s.m * s.n * s.k / 32, [&](int64_t from, int64_t to) {
      for (int64_t i = from; i < to; ++i) one(i, nullptr);
    });
  else
    for (int64_t i = 0; i < s.batch; ++i) one(i, pool);
}

/// Rows [from, to) of all rows of the result; each output is one ascending chain.
void matmul_rows64(const Matmul& p, const Sizes& s, int64_t from, int64_t to) {
  const FlushDenormals flushed;
  for (int64_t r = from; r < to; ++r) {
    const int64_t i = r % s.m;
    const double* a = matrix<double>(p.a, r / s.m);
    const double* b = matrix<double>(p.b, r / s.m);
    double* c = p.c.row<double>(r);
    if (!p.add) std::fill_n(c, s.n, 0.0);
    for (int64_t q = 0; q < s.k; ++q) {
      const double x = p.a_transposed ? a[q * p.a.stride + i] : a[i * p.a.stride + q];
      if (p.b_transposed)
        for (int64_t j = 0; j < s.n; ++j) c[j] += x * b[j * p.b.stride + q];
      else
        for (int64_t j = 0; j < s.n; ++j) c[j] += x * b[q * p.b.stride + j];
    }
  }
}

}  // namespace

void matmul(const Matmul& p, ThreadPool* pool) {
  const Sizes s = sizes_of(p);
  if (p.c.size() == 0) return;
  if (s.k == 0) {
    if (!p.add) fill_zero(p.c, pool);
  } else if (p.c.dtype == DType::f32) {
    matmul32(p, s, pool);
  } else {
    for_blocks(pool, s.batch * s.m, 8, p.c.size() * s.k,
               [&](int64_t from, int64_t to) { matmul_rows64(p, s, from, to); });
  }
}

}  // namespace attune::kernels
