// Convolution of packed sequences (1-D) or pictures (2-D), differentiably, and its step for decoding.
#pragma once
#include "autograd/tape.h"
#include "kernels/attention/attention_step.h"
#include "tensor/grids.h"

namespace attune {

/// What surrounds a sequence, or one axis of a picture. With a stride the windows begin where they would without, and
/// only every stride-th is kept.
enum class Padding : uint8_t {
  same,    // the window is centred: n rows give n (an even kernel looks one step further ahead than back)
  causal,  // a row sees itself and rows before it: n rows give n
  valid,   // nothing: a window lies within. n rows give n - dilation * (taps - 1), or none
};

/// One axis.
struct ConvolutionAxis {
  int64_t stride = 1, dilation = 1;
  Padding padding = Padding::same;
};

/// `groups` cuts the channels into that many independent convolutions; as many as channels, with as many outputs, gives
/// each channel a filter of its own (depthwise).
struct ConvolutionOptions {
  int64_t stride = 1, dilation = 1, groups = 1;
  Padding padding = Padding::same;
};
struct GridConvolutionOptions {
  ConvolutionAxis height, width;
  int64_t groups = 1;
};

/// What the result's rows will be, for whoever needs them before it is computed. Without stride, same and causal leave
/// sequences as they are.
Segments convolved(const Segments& from, int64_t taps, const ConvolutionOptions& options);
Grids convolved(const Grids& from, GridSize taps, const GridConvolutionOptions& options);

/// `weight` is [out, taps, in / groups], for pictures [out, height taps, width taps, in / groups]; `bias` is [out] or
/// missing. Where there is one group and the weight's owner keeps its panels (Parameters::repack), they are used.
struct ConvolutionWeights {
  Var weight, bias = {};
};

/// x [rows, in] -> [rows of `to`, out], where `to` is convolved(from, ...), or `from` itself where nothing changes.
/// Rows beyond the sequence or picture count as zeros: nothing crosses its border. `from` and `to` must live until the
/// backward pass is over, which keeps x and weight.
Var convolution(Ctx& ctx, const Var& x, const ConvolutionWeights& w, const Segments& from, const Segments& to,
                const ConvolutionOptions& options = {});
Var convolution(Ctx& ctx, const Var& x, const ConvolutionWeights& w, const Grids& from, const Grids& to,
                const GridConvolutionOptions& options = {});
Var convolution(Ctx& ctx, const Var& x, const ConvolutionWeights& w, const Segments& from, Segments&& to,
                const ConvolutionOptions& options = {}) = delete;
Var convolution(Ctx& ctx, const Var& x, const ConvolutionWeights& w, const Grids& from, Grids&& to,
                const GridConvolutionOptions& options = {}) = delete;

/// What each sequence of a decoding step looks back on: its j-th kept row, of which the last is the present one, is row
/// ids[j * rows + i] of `memory`. A KeyCache with a window of 1 + dilation * (taps - 1) has just that.
struct ConvolutionPast {
  kernels::PagedRows memory;
  const int32_t* ids = nullptr;  // [kept, rows]
  int64_t kept = 0, rows = 0;
};

/// One more row of each sequence: [rows, out], f32, without gradients. `options` must be causal, of stride 1. The bits
/// are those of convolution() over the whole sequences.
Var convolution_step(Ctx& ctx, const ConvolutionPast& past, const ConvolutionWeights& w,
                     const ConvolutionOptions& options);

}  // namespace attune
