#include <cstring>

#include "kernels/convolution/convolution.h"
#include "kernels/row_blocks.h"
#include "kernels/rows/arrange.h"

namespace attune::kernels {

namespace {

/// One matrix of windows, and the panels of a group's weight where nobody has them.
struct StepRoom {
  int64_t taps, ins, outs, depth, windows, packed;
  explicit StepRoom(const ConvolutionStep& s)
      : taps(s.weight.shape[1]),
        ins(s.weight.cols()),
        outs(s.weight.shape[0] / s.groups),
        depth(taps * ins),
        windows((s.rows * depth + 15) / 16 * 16),
        packed(s.packed ? 0 : packed_floats(depth, outs)) {}
  bool depthwise() const { return ins == 1 && outs == 1; }
};

}  // namespace

int64_t convolution_step_scratch(const ConvolutionStep& s) {
  const StepRoom room(s);
  return (room.depthwise() ? s.weight.size() : room.windows + room.packed) * static_cast<int64_t>(sizeof(float));
}

void convolution_step(const ConvolutionStep& s, ThreadPool* pool) {
  const StepRoom room(s);
  auto* scratch = static_cast<float*>(s.scratch);
  if (room.depthwise()) {
    transpose(Tensor(s.weight.data, DType::f32, {s.weight.shape[0], room.taps}),
              Tensor(scratch, {room.taps, s.weight.shape[0]}), false, pool);
    depthwise_step(s, scratch, pool);
    return;
  }
  const auto bytes = static_cast<size_t>(room.ins) * sizeof(float);
  for (int64_t g = 0; g < s.groups; ++g) {
    for_row_blocks(pool, s.rows, room.depth, [&](int64_t first, int64_t last) {
      float* to = scratch + first * room.depth;
      for (int64_t i = first; i < last; ++i)
        for (int64_t tap = 0; tap < room.taps; ++tap, to += room.ins) {
          const int64_t at = s.kept - 1 - (room.taps - 1 - tap) * s.dilation;
          if (at >= 0)
            std::memcpy(to, s.past.row(s.ids[at * s.rows + i]) + g * room.ins, bytes);
          else
            std::memset(to, 0, bytes);
        }
    });
    PackedMatrix weight;
    if (s.packed)
      weight = *s.packed;
    else
      weight = pack(s.weight.as<float>() + g * room.outs * room.depth, room.depth, true, room.depth, room.outs,
                    scratch + room.windows, pool);
    Gemm m{s.rows, room.outs, room.depth, scratch, room.depth};
    m.packed = &weight;
    m.c = s.y.as<float>() + g * room.outs;
    m.c_stride = s.y.stride;
    if (s.bias) m.epilogue.bias = s.bias.as<float>() + g * room.outs;
    gemm(m, pool);
  }
}

}  // namespace attune::kernels
