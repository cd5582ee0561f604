#include "kernels/attention/rotate.h"

#include <cmath>

#include "base/portable_math.h"
#include "kernels/row_blocks.h"

#define KERNELS_FILE "kernels/attention/rotate.cc"
#include "kernels/simd.h"  // what follows is compiled once per instruction set

KERNELS_BEGIN

// Lanes 2i and 2i + 1 are a pair.
#if HWY_TARGET == HWY_SCALAR
HWY_INLINE Pack<float> swap_pairs(const Pack<float>& x) {
  return each([&](int i) { return x.r[i ^ 1]; });
}
HWY_INLINE Pack<float> even_twice(const Pack<float>& x) {
  return each([&](int i) { return x.r[i & ~1]; });
}
HWY_INLINE Pack<float> odd_twice(const Pack<float>& x) {
  return each([&](int i) { return x.r[i | 1]; });
}
#else
HWY_INLINE Pack<float> swap_pairs(const Pack<float>& x) {
  return each([&](int i) HWY_ATTR { return hn::Shuffle2301(x.r[i]); });
}
HWY_INLINE Pack<float> even_twice(const Pack<float>& x) {
  return each([&](int i) HWY_ATTR { return hn::DupEven(x.r[i]); });
}
HWY_INLINE Pack<float> odd_twice(const Pack<float>& x) {
  return each([&](int i) HWY_ATTR { return hn::DupOdd(x.r[i]); });
}
#endif

void rotate_rows(const Rotate& a, int64_t from, int64_t to) {
  alignas(64) static constexpr float kSigns[16] = {-1, 1, -1, 1, -1, 1, -1, 1, -1, 1, -1, 1, -1, 1, -1, 1};
  const auto signs = load(kSigns) * splat(a.back ? -1.0f : 1.0f);
  const int64_t dim = a.table.cols();
  PositionWalk walk(a.where, from);
  for (int64_t r = from; r < to; ++r) {
    const float *x = a.x.row<float>(r), *turn = a.table.row<float>(walk.next());
    float* y = a.y.row<float>(r);
    for_packs(dim, [&](int64_t j, int64_t count) HWY_ATTR {
      const auto t = load_at(turn + j, count);
      const auto c = even_twice(t), s = odd_twice(t) * signs;
      for (int64_t head = j; head < a.x.cols(); head += dim) {
        const auto v = load_at(x + head, count);
        put_at(fma(v, c, swap_pairs(v) * s), y + head, count, a.add);
      }
    });
  }
}

void rotate(const Rotate& a, ThreadPool* pool) {
  for_row_blocks(pool, a.x.rows(), a.x.cols(), [&](int64_t from, int64_t to) { rotate_rows(a, from, to); });
}

KERNELS_END

#if KERNELS_ONCE
namespace attune {

void fill_rotations(const Tensor& table, double base) {
  const int64_t dim = table.cols();
  by_type(table.dtype, [&](auto t) {
    using T = decltype(t);
    for (int64_t j = 0; j + 1 < dim; j += 2) {
      const double theta = portable::pow(base, -static_cast<double>(j) / static_cast<double>(dim));
      for (int64_t m = 0; m < table.rows(); ++m) {
        table.row<T>(m)[j] = static_cast<T>(portable::cos(static_cast<double>(m) * theta));
        table.row<T>(m)[j + 1] = static_cast<T>(portable::sin(static_cast<double>(m) * theta));
      }
    }
  });
}

namespace kernels {

KERNEL_EXPORT(rotate);
void rotate(const Rotate& a, ThreadPool* pool) { KERNEL_CALL(rotate)(a, pool); }

}  // namespace kernels
}  // namespace attune
#endif
