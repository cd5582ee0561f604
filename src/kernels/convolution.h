// 1-D convolution over packed sequences: rows are time, columns are channels. f32 by matrix products over windows (or
// by vectors of channels, when each channel has its own filter), f64 by plain loops, for checking.
#pragma once
#include <algorithm>
#include <cstdint>

#include "base/thread_pool.h"
#include "tensor/segments.h"
#include "tensor/tensor.h"

namespace attune::kernels {

/// y[t, o] = sum over taps j and channels c of o's group: weight[o, j, c] x[t + shift(j), c]. Rows beyond the sequence
/// count as zeros. weight is [out, taps, in / groups] and contiguous.
struct Convolution {
  const Segments* segments = nullptr;
  int64_t dilation = 1, groups = 1;
  int64_t back = 0;  // how many rows before the present one the first tap looks
  Tensor x, weight, y;

  int64_t taps() const { return weight.shape[1]; }
  int64_t group_in() const { return weight.shape[2]; }
  int64_t group_out() const { return weight.shape[0] / groups; }
  int64_t shift(int64_t tap) const { return tap * dilation - back; }
  /// The taps [first, last) that see a row of the sequence [begin, end) from its row t, looking ahead or behind.
  struct Taps {
    int64_t first, last;
  };
  Taps taps_ahead(int64_t t, int64_t begin, int64_t end) const {
    const int64_t before = begin - t + back;
    return {before <= 0 ? 0 : (before + dilation - 1) / dilation,
            std::min(taps(), (end - 1 - t + back) / dilation + 1)};
  }
  Taps taps_behind(int64_t t, int64_t begin, int64_t end) const {
    const int64_t beyond = t + back - end;
    return {beyond < 0 ? 0 : beyond / dilation + 1, std::min(taps(), (t + back - begin) / dilation + 1)};
  }
  bool depthwise() const { return group_in() == 1 && group_out() == 1; }
};

/// What is computed from the others: y, the gradient of x or the gradient of weight. In the last two passes y is the
/// gradient of the result.
enum class ConvolutionPass : uint8_t { forward, input, weight };

/// Bytes of scratch that a pass needs.
int64_t convolution_scratch(const Convolution& c, ConvolutionPass pass, int workers);
void convolution(const Convolution& c, ConvolutionPass pass, bool add, void* scratch, ThreadPool* pool);

/// A row's sequence, [begin, end), found as rows go by.
class SequenceOf {
 public:
  SequenceOf(const Segments& segments, int64_t first_row);
  /// Moves on to the sequence of `row`, which must not lie before the last one asked for.
  void move_to(int64_t row) {
    while (row >= end()) ++index_;
  }
  int64_t begin() const { return segments_.start[index_]; }
  int64_t end() const { return segments_.start[index_ + 1]; }
  bool has(int64_t row) const { return row >= begin() && row < end(); }

 private:
  const Segments& segments_;
  size_t index_;
};

/// Where each channel has its own filter (depthwise), f32. `filters` is [taps, channels].
/// forward and input: to[t] (+)= sum over taps: filters[tap] from[t +- shift(tap)].
void depthwise(const Convolution& c, ConvolutionPass pass, bool add, const float* filters, ThreadPool* pool);
/// filters[tap] = sum over rows: y[t] x[t + shift(tap)].
void depthwise_filters(const Convolution& c, float* filters, ThreadPool* pool);

}  // namespace attune::kernels
