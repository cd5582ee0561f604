#include "kernels/attention/attention.h"
#include "kernels/row_blocks.h"

#define KERNELS_FILE "kernels/attention/attention_merge.cc"
#include "kernels/simd.h"
// after simd.h, once per instruction set
#include "kernels/math.h"

KERNELS_BEGIN

void attention_merge(const AttentionMerge& a, ThreadPool* pool) {
  for_row_blocks(pool, a.rows, a.heads * a.dim, [&](int64_t from, int64_t to) HWY_ATTR {
    for (int64_t h = 0; h < a.heads; ++h)
      for_packs(to - from, [&](int64_t r, int64_t count) HWY_ATTR {
        float *mine = a.log_sum + h * a.rows + from + r, *other = a.other_log_sum + h * a.rows + from + r;
        const auto x = load_at(mine, count), y = load_at(other, count), most = max(x, y);
        const auto wx = exp2(x - most), wy = exp2(y - most), total = wx + wy;
        store_at(most + log2(total), mine, count);
        float of_mine[16], of_other[16];
        store(wx / total, of_mine);
        store(wy / total, of_other);
        for (int64_t i = 0; i < count; ++i) {
          float* out = a.out.data + (from + r + i) * a.out.stride + h * a.dim;
          const float* add = a.other.data + (from + r + i) * a.other.stride + h * a.dim;
          for_packs(a.dim, [&](int64_t d, int64_t n) HWY_ATTR {
            store_at(fma(load_at(add + d, n), splat(of_other[i]), load_at(out + d, n) * splat(of_mine[i])), out + d, n);
          });
        }
      });
  });
}

KERNELS_END

#if KERNELS_ONCE
namespace attune::kernels {

KERNEL_EXPORT(attention_merge);
void attention_merge(const AttentionMerge& a, ThreadPool* pool) { KERNEL_CALL(attention_merge)(a, pool); }

}  // namespace attune::kernels
#endif
