#include "kernels/convolution.h"

#include <algorithm>
#include <cstring>

#include "base/denormals.h"
#include "kernels/arrange.h"
#include "kernels/gemm.h"
#include "kernels/row_blocks.h"

namespace attune::kernels {

SequenceOf::SequenceOf(const Segments& segments, int64_t first_row)
    : segments_(segments),
      index_(static_cast<size_t>(
          std::upper_bound(segments.start.begin(), segments.start.end() - 1, static_cast<int32_t>(first_row)) -
          segments.start.begin() - 1)) {}

namespace {

constexpr int64_t kFilterRows = 240;  // rows of windows at a time for the weight's gradient

int64_t whole_lines(int64_t n) { return (n + 15) / 16 * 16; }  // floats of a whole cache line
/// Rows of windows at a time: about a quarter of a megabyte, in whole tiles of gemm.
int64_t window_rows(int64_t depth) { return std::clamp<int64_t>(65536 / std::max<int64_t>(depth, 1) / 6 * 6, 12, 60); }

/// The product that makes `to` of `from`: each row of windows [taps * width] times a matrix with `columns` columns.
struct Product {
  const Tensor &from, &to;
  int64_t width, columns, depth;
  int direction;  // 1: a tap looks shift rows ahead, -1: behind
};
Product product_of(const Convolution& c, ConvolutionPass pass) {
  if (pass == ConvolutionPass::input) return {c.y, c.x, c.group_out(), c.group_in(), c.taps() * c.group_out(), -1};
  return {c.x, c.y, c.group_in(), c.group_out(), c.taps() * c.group_in(), 1};
}

/// Rows [first, last) of one group seen through all taps, side by side; zeros where the sequence ends.
void fill_windows(const Convolution& c, const Product& p, int64_t group, int64_t first, int64_t last, float* to) {
  SequenceOf sequence(*c.segments, first);
  const auto bytes = static_cast<size_t>(p.width) * sizeof(float);
  for (int64_t t = first; t < last; ++t) {
    sequence.move_to(t);
    for (int64_t tap = 0; tap < c.taps(); ++tap, to += p.width) {
      const int64_t row = t + p.direction * c.shift(tap);
      if (sequence.has(row))
        std::memcpy(to, p.from.row<float>(row) + group * p.width, bytes);
      else
        std::memset(to, 0, bytes);
    }
  }
}

/// The scratch of the f32 passes: packed weights, windows (per worker), and the weight in the order of the product.
struct Room {
  int64_t packed, windows, arranged;
  int64_t floats(const Convolution& c, int workers) const { return packed * c.groups + windows * workers + arranged; }
};
Room room_of(const Convolution& c, ConvolutionPass pass) {
  if (c.depthwise()) return {0, 0, c.weight.size()};
  const Product p = product_of(c, pass);
  if (pass == ConvolutionPass::weight) return {0, kFilterRows * p.depth, 0};
  return {whole_lines(packed_floats(p.depth, p.columns)), whole_lines(window_rows(p.depth) * p.depth),
          pass == ConvolutionPass::input ? p.depth * p.columns : 0};
}

/// arranged[(tap, o), i] = weight[o, tap, i] for one group.
void arrange_weight(const Convolution& c, int64_t group, float* arranged) {
  const int64_t outs = c.group_out(), ins = c.group_in();
  for (int64_t tap = 0; tap < c.taps(); ++tap)
    for (int64_t o = 0; o < outs; ++o, arranged += ins)
      std::memcpy(arranged, c.weight.as<float>() + ((group * outs + o) * c.taps() + tap) * ins,
                  static_cast<size_t>(ins) * sizeof(float));
}

/// The forward pass and the gradient of x.
void by_windows(const Convolution& c, ConvolutionPass pass, bool add, float* scratch, ThreadPool* pool) {
  const Product p = product_of(c, pass);
  const Room room = room_of(c, pass);
  float* windows = scratch + room.packed * c.groups;
  float* arranged = windows + room.windows * workers_of(pool);
  const int64_t rows = p.to.rows(), each = window_rows(p.depth);
  if (rows * p.depth * p.columns * c.groups < 32 * kSmallWork) pool = nullptr;
  PackedMatrix packed;
  for (int64_t g = 0; g < c.groups; ++g) {
    float* to = scratch + g * room.packed;
    if (pass == ConvolutionPass::input) {
      arrange_weight(c, g, arranged);
      packed = pack(arranged, p.columns, false, p.depth, p.columns, to, pool);
    } else {
      packed = pack(c.weight.as<float>() + g * p.columns * p.depth, p.depth, true, p.depth, p.columns, to, pool);
    }
  }
  parallel_for(pool, (rows + each - 1) / each, [&](int64_t block, int worker) {
    const int64_t first = block * each, last = std::min(rows, first + each);
    float* seen = windows + worker * room.windows;
    for (int64_t g = 0; g < c.groups; ++g) {
      fill_windows(c, p, g, first, last, seen);
      PackedMatrix weight = packed;
      weight.data = scratch + g * room.packed;
      Gemm m{last - first, p.columns, p.depth, seen, p.depth};
      m.packed = &weight;
      m.c = p.to.row<float>(first) + g * p.columns;
      m.c_stride = p.to.stride;
      m.add = add;
      gemm(m);
    }
  });
}

/// weight (+)= y^T windows, one chain over all rows: a block goes on where the one before it stopped.
void weight_by_windows(const Convolution& c, bool add, float* windows, ThreadPool* pool) {
  const Product p = product_of(c, ConvolutionPass::weight);
  const int64_t rows = c.x.rows();
  for (int64_t first = 0; first < rows; first += kFilterRows) {
    const int64_t last = std::min(rows, first + kFilterRows);
    for (int64_t g = 0; g < c.groups; ++g) {
      for_blocks(pool, last - first, 24, (last - first) * p.depth, [&](int64_t from, int64_t to) {
        fill_windows(c, p, g, first + from, first + to, windows + from * p.depth);
      });
      Gemm m{p.columns, p.depth, last - first, c.y.row<float>(first) + g * p.columns, c.y.stride, true};
      m.b = windows;
      m.b_stride = p.depth;
      m.c = c.weight.as<float>() + g * p.columns * p.depth;
      m.c_stride = p.depth;
      m.add = add || first > 0;
      gemm(m, pool);
    }
  }
}

void depthwise_pass(const Convolution& c, ConvolutionPass pass, bool add, float* filters, ThreadPool* pool) {
  const int64_t channels = c.weight.shape[0], taps = c.taps();
  const Tensor weight(c.weight.data, DType::f32, {channels, taps});
  const Tensor turned(filters, {taps, channels});
  if (pass == ConvolutionPass::weight) {
    depthwise_filters(c, filters, pool);
    transpose(turned, weight, add, pool);
  } else {
    transpose(weight, turned, false, pool);
    depthwise(c, pass, add, filters, pool);
  }
}

// --- f64 ------------------------------------------------------------------------------------------------------------

void convolution_rows64(const Convolution& c, ConvolutionPass pass, bool add, int64_t first, int64_t last) {
  const FlushDenormals flushed;
  const Product p = product_of(c, pass);
  const bool forward = pass == ConvolutionPass::forward;
  SequenceOf sequence(*c.segments, first);
  for (int64_t t = first; t < last; ++t) {
    sequence.move_to(t);
    double* to = p.to.row<double>(t);
    for (int64_t k = 0; k < c.groups * p.columns; ++k) {
      const int64_t group = k / p.columns;
      double total = 0;
      for (int64_t tap = 0; tap < c.taps(); ++tap) {
        const int64_t row = t + p.direction * c.shift(tap);
        if (!sequence.has(row)) continue;
        const double* from = p.from.row<double>(row) + group * p.width;
        for (int64_t i = 0; i < p.width; ++i) {
          const int64_t o = forward ? k : group * p.width + i, in = forward ? i : k % p.columns;
          total += from[i] * c.weight.as<double>()[(o * c.taps() + tap) * c.group_in() + in];
        }
      }
      to[k] = add ? to[k] + total : total;
    }
  }
}

/// The gradient of the weights of outputs [first, last).
void weight64(const Convolution& c, bool add, int64_t first, int64_t last) {
  const FlushDenormals flushed;
  const int64_t ins = c.group_in();
  for (int64_t k = first * c.taps() * ins; k < last * c.taps() * ins; ++k) {
    const int64_t o = k / (c.taps() * ins), tap = k / ins % c.taps(), i = o / c.group_out() * ins + k % ins;
    SequenceOf sequence(*c.segments, 0);
    double total = 0;
    for (int64_t t = 0; t < c.x.rows(); ++t) {
      sequence.move_to(t);
      const int64_t row = t + c.shift(tap);
      if (sequence.has(row)) total += c.y.row<double>(t)[o] * c.x.row<double>(row)[i];
    }
    double& to = c.weight.as<double>()[k];
    to = add ? to + total : total;
  }
}

}  // namespace

int64_t convolution_scratch(const Convolution& c, ConvolutionPass pass, int workers) {
  if (c.weight.dtype != DType::f32) return 0;
  return room_of(c, pass).floats(c, workers) * static_cast<int64_t>(sizeof(float));
}

void convolution(const Convolution& c, ConvolutionPass pass, bool add, void* scratch, ThreadPool* pool) {
  if (c.weight.size() == 0 || c.x.rows() == 0) {  // nothing to sum
    const Tensor& to = pass == ConvolutionPass::forward ? c.y : pass == ConvolutionPass::input ? c.x : c.weight;
    if (!add) fill_zero(to, pool);
    return;
  }
  const bool weights = pass == ConvolutionPass::weight;
  if (c.weight.dtype == DType::f64) {
    const int64_t work = c.x.rows() * c.weight.size();
    if (weights)
      for_blocks(pool, c.weight.shape[0], 1, work, [&](int64_t from, int64_t to) { weight64(c, add, from, to); });
    else
      for_blocks(pool, c.x.rows(), 8, work,
                 [&](int64_t from, int64_t to) { convolution_rows64(c, pass, add, from, to); });
  } else if (c.depthwise()) {
    depthwise_pass(c, pass, add, static_cast<float*>(scratch), pool);
  } else if (weights) {
    weight_by_windows(c, add, static_cast<float*>(scratch), pool);
  } else {
    by_windows(c, pass, add, static_cast<float*>(scratch), pool);
  }
}

}  // namespace attune::kernels
