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
  const int64_t channels = to.cols();
  SequenceOf sequence(*c.segments, first);
  for (int64_t t = first; t < last; ++t) {
    sequence.move_to(t);
    const auto taps = forward ? c.taps_ahead(t, sequence.begin(), sequence.end())
                              : c.taps_behind(t, sequence.begin(), sequence.end());
    for_packs(channels, [&](int64_t j, int64_t count) HWY_ATTR {
      Pack<float> total = zero<float>();
      for (int64_t tap = taps.first; tap < taps.last; ++tap) {
        const int64_t row = forward ? t + c.shift(tap) : t - c.shift(tap);
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

/// One ascending chain over all rows per tap and channel. The chains rest in `filters`: a row feeds all taps at once.
void filter_columns(const Convolution& c, float* filters, int64_t from, int64_t to) {
  const int64_t rows = c.x.rows(), channels = c.x.cols();
  for_packs(to - from, [&](int64_t at, int64_t count) HWY_ATTR {
    const int64_t j = from + at;
    for (int64_t tap = 0; tap < c.taps(); ++tap) store_at(zero<float>(), filters + tap * channels + j, count);
    SequenceOf sequence(*c.segments, 0);
    for (int64_t t = 0; t < rows; ++t) {
      sequence.move_to(t);
      const Pack<float> dy = load_at(c.y.row<float>(t) + j, count);
      const auto taps = c.taps_ahead(t, sequence.begin(), sequence.end());
      for (int64_t tap = taps.first; tap < taps.last; ++tap) {
        float* chain = filters + tap * channels + j;
        store_at(fma(dy, load_at(c.x.row<float>(t + c.shift(tap)) + j, count), load_at(chain, count)), chain, count);
      }
    }
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
