#include "kernels/attention/unit_heads.h"

#include "kernels/row_blocks.h"

#define KERNELS_FILE "kernels/attention/unit_heads.cc"
#include "kernels/simd.h"

KERNELS_BEGIN

/// 1 / |x|.
HWY_INLINE float inverse_length(const float* x, int64_t dim) {
  auto total = zero<float>();
  for_packs(dim, [&](int64_t d, int64_t count) HWY_ATTR {
    const auto v = load_at(x + d, count);
    total = fma(v, v, total);
  });
  return 1.0f / std::sqrt(sum(total) + kUnitEpsilon);
}

void unit_heads(const UnitHeads& a, ThreadPool* pool) {
  for_row_blocks(pool, a.rows, a.heads * a.dim, [&](int64_t from, int64_t to) HWY_ATTR {
    for (int64_t i = from * a.heads; i < to * a.heads; ++i) {
      const int64_t row = i / a.heads, head = i % a.heads;
      const float* x = a.x.data + row * a.x.stride + head * a.dim;
      float* y = a.y.data + row * a.y.stride + head * a.dim;
      const auto by = splat((a.gain ? a.gain[head] : 1.0f) * inverse_length(x, a.dim));
      for_packs(a.dim, [&](int64_t d, int64_t count) HWY_ATTR { store_at(load_at(x + d, count) * by, y + d, count); });
    }
  });
}

/// With u = x / |x|: dx = gain (dy - u (u . dy)) / |x|, and u . dy goes to the gain.
void unit_heads_backward(const UnitHeadsBackward& a, ThreadPool* pool) {
  for_row_blocks(pool, a.rows, a.heads * a.dim, [&](int64_t from, int64_t to) HWY_ATTR {
    for (int64_t i = from * a.heads; i < to * a.heads; ++i) {
      const int64_t row = i / a.heads, head = i % a.heads;
      const float* x = a.x.data + row * a.x.stride + head * a.dim;
      const float* dy = a.dy.data + row * a.dy.stride + head * a.dim;
      const float inverse = inverse_length(x, a.dim);
      auto total = zero<float>();
      for_packs(a.dim, [&](int64_t d, int64_t count)
                           HWY_ATTR { total = fma(load_at(x + d, count), load_at(dy + d, count), total); });
      const float dot = sum(total) * inverse;
      if (a.dots) a.dots[i] = dot;
      if (!a.dx.data) continue;
      float* dx = a.dx.data + row * a.dx.stride + head * a.dim;
      const auto by = splat((a.gain ? a.gain[head] : 1.0f) * inverse), along = splat(-(dot * inverse));
      for_packs(a.dim, [&](int64_t d, int64_t count) HWY_ATTR {
        put_at(fma(load_at(x + d, count), along, load_at(dy + d, count)) * by, dx + d, count, a.add);
      });
    }
  });
}

KERNELS_END

#if KERNELS_ONCE
namespace attune::kernels {

KERNEL_EXPORT(unit_heads);
KERNEL_EXPORT(unit_heads_backward);

void unit_heads(const UnitHeads& a, ThreadPool* pool) { KERNEL_CALL(unit_heads)(a, pool); }
void unit_heads_backward(const UnitHeadsBackward& a, ThreadPool* pool) { KERNEL_CALL(unit_heads_backward)(a, pool); }

}  // namespace attune::kernels
#endif
