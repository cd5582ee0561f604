#include <algorithm>

#include "kernels/convolution/convolution.h"
#include "kernels/row_blocks.h"

#define KERNELS_FILE "kernels/convolution/depthwise.cc"
#include "kernels/simd.h"

KERNELS_BEGIN

/// Walk::each, for this instruction set.
template <class Body>
HWY_INLINE void each_tap(const Walk& walk, const Body& body) {
  const Look &high = walk.high(), &wide = walk.wide();
  for (int64_t y = high.begin; y < high.end; ++y) {
    int64_t tap = walk.tap(y, wide.begin), row = walk.source(y, wide.begin);
    for (int64_t x = wide.begin; x < wide.end; ++x, tap += wide.tap_step, row += wide.move) body(tap, row);
  }
}

/// to (+)= bias + sum over taps: a row times its filter, one chain a channel. `taps(body)` calls body(tap, row) in
/// ascending order, for each of the packs of channels that are under way at once: several hide the latency.
template <int P, class Taps>
HWY_INLINE void filter_packs(const Taps& taps, const float* filters, int64_t channels, const float* bias, float* to,
                             bool add) {
  Pack<float> total[P];
#pragma GCC unroll 4
  for (int p = 0; p < P; ++p) total[p] = zero<float>();
  taps([&](int64_t tap, const float* row) HWY_ATTR {
#pragma GCC unroll 4
    for (int p = 0; p < P; ++p) total[p] = fma(load(row + 16 * p), load(filters + tap * channels + 16 * p), total[p]);
  });
#pragma GCC unroll 4
  for (int p = 0; p < P; ++p) {
    if (bias) total[p] = total[p] + load(bias + 16 * p);
    put_at(total[p], to + 16 * p, 16, add);
  }
}

template <class Taps>
HWY_INLINE void filter_row(const Taps& taps, const float* filters, int64_t channels, const float* bias, float* to,
                           bool add) {
  int64_t from = 0;
  for (; from + 64 <= channels; from += 64)
    filter_packs<4>([&](auto body)
                        HWY_ATTR { taps([&](int64_t tap, const float* row) HWY_ATTR { body(tap, row + from); }); },
                    filters + from, channels, bias ? bias + from : nullptr, to + from, add);
  for_packs(channels - from, [&](int64_t at, int64_t count) HWY_ATTR {
    const int64_t j = from + at;
    Pack<float> total = zero<float>();
    taps([&](int64_t tap, const float* row)
             HWY_ATTR { total = fma(load_at(row + j, count), load_at(filters + tap * channels + j, count), total); });
    if (bias) total = total + load_at(bias + j, count);
    put_at(total, to + j, count, add);
  });
}

void depthwise_rows(const Convolution& c, ConvolutionPass pass, bool add, const float* filters, int64_t first,
                    int64_t last) {
  const bool forward = pass == ConvolutionPass::forward;
  const Tensor &from = forward ? c.x : c.y, &to = forward ? c.y : c.x;
  const float* bias = forward && c.bias ? c.bias.as<float>() : nullptr;
  Walk walk(forward ? c.ahead() : c.behind(), first);
  for (int64_t t = first; t < last; ++t, walk.next())
    filter_row(
        [&](auto body)
            HWY_ATTR { each_tap(walk, [&](int64_t tap, int64_t row) HWY_ATTR { body(tap, from.row<float>(row)); }); },
        filters, to.cols(), bias, to.row<float>(t), add);
}

void depthwise(const Convolution& c, ConvolutionPass pass, bool add, const float* filters, ThreadPool* pool) {
  const Tensor& to = pass == ConvolutionPass::forward ? c.y : c.x;
  for_blocks(pool, to.rows(), rows_per_block(to.cols() * c.taps()), to.size() * c.taps(),
             [&](int64_t first, int64_t last) { depthwise_rows(c, pass, add, filters, first, last); });
}

/// One ascending chain over all rows per tap and channel. The chains rest in `filters`: a row feeds all taps at once.
void filter_columns(const Convolution& c, float* filters, int64_t from, int64_t to) {
  const int64_t rows = c.y.rows(), channels = c.x.cols();
  for (int64_t tap = 0; tap < c.taps(); ++tap)
    std::fill(filters + tap * channels + from, filters + tap * channels + to, 0.0f);
  Walk walk(c.ahead(), 0);
  for (int64_t t = 0; t < rows; ++t, walk.next())
    each_tap(walk, [&](int64_t tap, int64_t row) HWY_ATTR {
      const float *dy = c.y.row<float>(t) + from, *x = c.x.row<float>(row) + from;
      float* chain = filters + tap * channels + from;
      for_packs(to - from, [&](int64_t j, int64_t count) HWY_ATTR {
        store_at(fma(load_at(dy + j, count), load_at(x + j, count), load_at(chain + j, count)), chain + j, count);
      });
    });
}

void depthwise_filters(const Convolution& c, float* filters, ThreadPool* pool) {
  for_blocks(pool, c.x.cols(), kColumnBlock, c.x.size() * c.taps(),
             [&](int64_t from, int64_t to) { filter_columns(c, filters, from, to); });
}

void depthwise_step(const ConvolutionStep& s, const float* filters, ThreadPool* pool) {
  const int64_t taps = s.weight.shape[1], channels = s.weight.shape[0];
  for_row_blocks(pool, s.rows, channels * taps, [&](int64_t first, int64_t last) HWY_ATTR {
    for (int64_t i = first; i < last; ++i)
      filter_row(
          [&](auto body) HWY_ATTR {
            for (int64_t tap = 0; tap < taps; ++tap) {
              const int64_t at = s.kept - 1 - (taps - 1 - tap) * s.dilation;
              if (at >= 0) body(tap, s.past.row(s.ids[at * s.rows + i]));
            }
          },
          filters, channels, s.bias ? s.bias.as<float>() : nullptr, s.y.row<float>(i), false);
  });
}

KERNELS_END

#if KERNELS_ONCE
namespace attune::kernels {

KERNEL_EXPORT(depthwise);
KERNEL_EXPORT(depthwise_filters);
KERNEL_EXPORT(depthwise_step);

void depthwise(const Convolution& c, ConvolutionPass pass, bool add, const float* filters, ThreadPool* pool) {
  KERNEL_CALL(depthwise)(c, pass, add, filters, pool);
}
void depthwise_filters(const Convolution& c, float* filters, ThreadPool* pool) {
  KERNEL_CALL(depthwise_filters)(c, filters, pool);
}
void depthwise_step(const ConvolutionStep& s, const float* filters, ThreadPool* pool) {
  KERNEL_CALL(depthwise_step)(s, filters, pool);
}

}  // namespace attune::kernels
#endif
