#include <algorithm>

#include "kernels/convolution.h"
#include "kernels/row_blocks.h"

#define KERNELS_FILE "kernels/depthwise.cc"
#include "kernels/simd.h"

KERNELS_BEGIN

void depthwise_rows(const Convolution& c, ConvolutionPass pass, bool add, const float* filters, int64_t first,
                    int64_t last) {
  const bool forward = pass == ConvolutionPass::forward;
  const Tensor &from = forward ? c.x : c.y, &to = forward ? c.y : c.x;
  const int64_t channels = to.cols(), taps = c.taps();
  SequenceOf sequence(*c.segments, first);
  for (int64_t t = first; t < last; ++t) {
    sequence.move_to(t);
    for_packs(channels, [&](int64_t j, int64_t count) HWY_ATTR {
      Pack<float> total = zero<float>();
      for (int64_t tap = 0; tap < taps; ++tap) {
        const int64_t row = forward ? t + c.shift(tap) : t - c.shift(tap);
        if (sequence.has(row))
          total = fma(load_at(from.row<float>(row) + j, count), load_at(filters + tap * channels + j, count), total);
      }
      put_at(total, to.row<float>(t) + j, count, add);
    });
  }
}

void depthwise(const Convolution& c, ConvolutionPass pass, bool add, const float* filters, ThreadPool* pool) {
  const int64_t rows = c.x.rows(), work = c.x.size() * c.taps();
  for_blocks(pool, rows, rows_per_block(c.x.cols() * c.taps()), work,
             [&](int64_t first, int64_t last) { depthwise_rows(c, pass, add, filters, first, last); });
}

/// One ascending chain over all rows per tap and channel.
void filter_columns(const Convolution& c, float* filters, int64_t from, int64_t to) {
  const int64_t rows = c.x.rows(), channels = c.x.cols();
  for (int64_t tap = 0; tap < c.taps(); ++tap)
    for_packs(to - from, [&](int64_t at, int64_t count) HWY_ATTR {
      const int64_t j = from + at;
      Pack<float> total = zero<float>();
      SequenceOf sequence(*c.segments, 0);
      for (int64_t t = 0; t < rows; ++t) {
        sequence.move_to(t);
        const int64_t row = t + c.shift(tap);
        if (sequence.has(row))
          total = fma(load_at(c.y.row<float>(t) + j, count), load_at(c.x.row<float>(row) + j, count), total);
      }
      store_at(total, filters + tap * channels + j, count);
    });
}

void depthwise_filters(const Convolution& c, float* filters, ThreadPool* pool) {
  for_blocks(pool, c.x.cols(), kColumnBlock, c.x.size() * c.taps(),
             [&](int64_t from, int64_t to) { filter_columns(c, filters, from, to); });
}

KERNELS_END

#if KERNELS_ONCE
namespace attune::kernels {

KERNEL_EXPORT(depthwise);
KERNEL_EXPORT(depthwise_filters);

void depthwise(const Convolution& c, ConvolutionPass pass, bool add, const float* filters, ThreadPool* pool) {
  KERNEL_CALL(depthwise)(c, pass, add, filters, pool);
}
void depthwise_filters(const Convolution& c, float* filters, ThreadPool* pool) {
  KERNEL_CALL(depthwise_filters)(c, filters, pool);
}

}  // namespace attune::kernels
#endif
