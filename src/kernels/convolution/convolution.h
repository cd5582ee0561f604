// Convolution over packed sequences (1-D) or pictures (2-D): rows are points, columns are channels. f32 by matrix
// products over windows (or by vectors of channels, when each channel has its own filter), f64 by plain loops, for
// checking. Windows exist for some rows at a time: no memory grows with rows times taps.
#pragma once
#include <cstdint>

#include "base/thread_pool.h"
#include "kernels/attention/attention_step.h"
#include "kernels/convolution/window.h"
#include "kernels/matrix/gemm.h"
#include "tensor/tensor.h"

namespace attune::kernels {

/// y[p, o] = bias[o] + sum over taps j and channels c of o's group: weight[o, j, c] x[what tap j of place p sees, c].
/// Points beyond a sequence or picture count as zeros. weight is [out, taps..., in / groups] and contiguous.
struct Convolution {
  Side from, to;         // the rows of x and of y; to has what the windows make of from
  Window height, width;  // sequences: height is one tap
  int64_t groups = 1;
  Tensor x, weight, bias, y;             // bias may be absent
  const PackedMatrix* packed = nullptr;  // the weight for x W^T, where its owner has it; one group only

  int64_t taps() const { return height.taps * width.taps; }
  int64_t group_in() const { return weight.cols(); }
  int64_t group_out() const { return weight.shape[0] / groups; }
  bool depthwise() const { return group_in() == 1 && group_out() == 1; }
  /// From the rows of y to those of x, or back.
  Walk::Way ahead() const { return {to, from, height, width, true}; }
  Walk::Way behind() const { return {from, to, height, width, false}; }
};

/// What is computed from the others: y, the gradient of x or the gradient of weight. In the last two passes y is the
/// gradient of the result, and bias has no say.
enum class ConvolutionPass : uint8_t { forward, input, weight };

/// Bytes of scratch that a pass needs.
int64_t convolution_scratch(const Convolution& c, ConvolutionPass pass, int workers);
void convolution(const Convolution& c, ConvolutionPass pass, bool add, void* scratch, ThreadPool* pool);

/// One more row of each of some sequences, for decoding: a causal convolution of stride 1. The j-th of the last `kept`
/// rows of sequence i, its present one the last of them, is row ids[j * rows + i] of `past`; what lies before them
/// counts as zeros. The bits are those of the whole sequence at once.
struct ConvolutionStep {
  int64_t rows = 0, kept = 0;  // more than the window reaches may be kept
  PagedRows past;
  const int32_t* ids = nullptr;
  int64_t dilation = 1, groups = 1;
  Tensor weight, bias, y;  // f32; [out, taps, in / groups], [out] or absent, [rows, out]
  const PackedMatrix* packed = nullptr;
  void* scratch = nullptr;  // convolution_step_scratch bytes
};
void convolution_step(const ConvolutionStep& s, ThreadPool* pool = nullptr);

int64_t convolution_step_scratch(const ConvolutionStep& s);

/// Where each channel has its own filter (depthwise), f32. `filters` is [taps, channels].
/// forward and input: to[t] (+)= sum over taps: filters[tap] from[the row that it sees].
void depthwise(const Convolution& c, ConvolutionPass pass, bool add, const float* filters, ThreadPool* pool);
/// filters[tap] = sum over rows: y[t] x[the row that tap sees].
void depthwise_filters(const Convolution& c, float* filters, ThreadPool* pool);
/// The same as forward for a step.
void depthwise_step(const ConvolutionStep& s, const float* filters, ThreadPool* pool);

}  // namespace attune::kernels
