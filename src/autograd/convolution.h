// 1-D convolution of packed sequences, differentiably.
#pragma once
#include "autograd/tape.h"

namespace attune {

/// `causal`: a row sees itself and rows before it. Else the window is centred (an even kernel looks one step further
/// ahead than back). `groups` cuts the channels into that many independent convolutions; as many as channels, with as
/// many outputs, gives each channel a filter of its own.
struct ConvolutionOptions {
  int64_t dilation = 1, groups = 1;
  bool causal = false;
};

/// x [rows, in] and weight [out, taps, in / groups] -> [rows, out]. Rows beyond the sequence count as zeros: nothing
/// crosses its border. `segments` must live until the backward pass is over.
Var convolution(Ctx& ctx, const Var& x, const Var& weight, const Segments& segments,
                const ConvolutionOptions& options = {});
Var convolution(Ctx& ctx, const Var& x, const Var& weight, Segments&& segments,
                const ConvolutionOptions& options = {}) = delete;

}  // namespace attune
