#include "kernels/convolution/convolution.h"

#include <algorithm>
#include <cstring>

#include "base/denormals.h"
#include "kernels/row_blocks.h"
#include "kernels/rows/arrange.h"

namespace attune::kernels {

namespace {

constexpr int64_t kMostRows = 120;  // of windows at a time

int64_t whole_lines(int64_t n) { return (n + 15) / 16 * 16; }  // floats of a whole cache line
size_t bytes_of_floats(int64_t n) { return static_cast<size_t>(n) * sizeof(float); }
/// Rows of windows at a time: about a quarter of a megabyte, in whole tiles of gemm.
int64_t window_rows(int64_t depth) {
  return std::clamp<int64_t>(65536 / std::max<int64_t>(depth, 1) / 6 * 6, 12, kMostRows);
}
/// The same for the weight's gradient, which reads and writes all of it for each of these blocks.
int64_t filter_rows(int64_t depth) { return std::clamp<int64_t>(393216 / std::max<int64_t>(depth, 1), 240, 480); }

/// The product that makes `to` of `from`: each row of windows [taps * width] times a matrix with `columns` columns.
struct Product {
  const Tensor &from, &to;
  Walk::Way way;  // over the rows of `to`
  int64_t width, columns, depth;
  /// With a stride, a row of x is seen through the taps of its phase alone: each phase has a product of its own.
  int64_t phases;
};
Product product_of(const Convolution& c, ConvolutionPass pass) {
  if (pass == ConvolutionPass::input)
    return {
        c.y, c.x, c.behind(), c.group_out(), c.group_in(), c.taps() * c.group_out(), c.height.stride * c.width.stride};
  return {c.x, c.y, c.ahead(), c.group_in(), c.group_out(), c.taps() * c.group_in(), 1};
}

/// The taps of a phase along both axes.
struct Phase {
  Look high, wide;
  int64_t taps() const { return high.slots * wide.slots; }
};
Phase phase_of(const Convolution& c, int64_t phase) {
  return {taps_of_phase(c.height, phase / c.width.stride), taps_of_phase(c.width, phase % c.width.stride)};
}

/// What one row sees of one group through all taps (of its phase), side by side; zeros beyond the borders.
void fill_window(const Walk& walk, const Product& p, int64_t group, float* to) {
  const Look &high = walk.high(), &wide = walk.wide();
  const int64_t line = wide.slots * p.width;
  if (walk.sees_nothing()) {
    std::memset(to, 0, bytes_of_floats(high.slots * line));
    return;
  }
  const int64_t begin = wide.begin * p.width, end = wide.end * p.width;
  const bool joined = wide.move == 1 && p.from.stride == p.width;  // neighbours lie side by side already
  for (int64_t y = 0; y < high.slots; ++y, to += line) {
    if (y < high.begin || y >= high.end) {
      std::memset(to, 0, bytes_of_floats(line));
      continue;
    }
    if (begin > 0) std::memset(to, 0, bytes_of_floats(begin));
    const float* from = p.from.row<float>(walk.source(y, wide.begin)) + group * p.width;
    if (joined) {
      std::memcpy(to + begin, from, bytes_of_floats(end - begin));
    } else {
      for (int64_t at = begin; at < end; at += p.width, from += wide.move * p.from.stride)
        std::memcpy(to + at, from, bytes_of_floats(p.width));
    }
    if (end < line) std::memset(to + end, 0, bytes_of_floats(line - end));
  }
}

/// The same for rows [first, last), one below the other.
void fill_windows(const Product& p, int64_t group, int64_t first, int64_t last, float* to) {
  Walk walk(p.way, first);
  for (int64_t t = first; t < last; ++t, to += p.depth, walk.next()) fill_window(walk, p, group, to);
}

/// The scratch of the f32 passes, in floats: packed weights, what each worker has (windows and, with phases, rows of
/// the result), and the weight in the order of the product.
struct Room {
  int64_t packed = 0, windows = 0, results = 0, arranged = 0;
  int64_t floats(int workers) const { return packed + (windows + results) * workers + arranged; }
};
Room room_of(const Convolution& c, ConvolutionPass pass) {
  if (c.depthwise()) return {.arranged = c.weight.size()};
  const Product p = product_of(c, pass);
  Room room;
  if (pass == ConvolutionPass::weight) {
    room.arranged = filter_rows(p.depth) * p.depth;  // windows, of all workers together
    return room;
  }
  if (!c.packed || pass == ConvolutionPass::input)
    room.packed = whole_lines(packed_floats(p.depth, p.columns)) * c.groups;
  room.windows = whole_lines(window_rows(p.depth) * p.depth);
  if (p.phases > 1) room.results = whole_lines(window_rows(p.depth) * p.columns);
  if (pass == ConvolutionPass::input) room.arranged = p.depth * p.columns;
  return room;
}

/// arranged[(tap, o), i] = weight[o, tap, i] for one group and the taps of a phase.
void arrange_weight(const Convolution& c, int64_t group, const Phase& phase, float* arranged) {
  const int64_t outs = c.group_out(), ins = c.group_in();
  for (int64_t y = 0; y < phase.high.slots; ++y)
    for (int64_t x = 0; x < phase.wide.slots; ++x) {
      const int64_t tap = phase.high.tap_of(y) * c.width.taps + phase.wide.tap_of(x);
      for (int64_t o = 0; o < outs; ++o, arranged += ins)
        std::memcpy(arranged, c.weight.as<float>() + ((group * outs + o) * c.taps() + tap) * ins, bytes_of_floats(ins));
    }
}

/// The forward pass and the gradient of x.
class ByWindows {
 public:
  ByWindows(const Convolution& c, ConvolutionPass pass, bool add, float* scratch, const ThreadPool* pool)
      : c_(c), p_(product_of(c, pass)), room_(room_of(c, pass)), forward_(pass == ConvolutionPass::forward), add_(add) {
    packed_ = scratch;
    windows_ = packed_ + room_.packed;
    results_ = windows_ + room_.windows * workers_of(pool);
    rows_ = window_rows(p_.depth);
    arranged_ = results_ + room_.results * workers_of(pool);
  }

  void run(ThreadPool* pool) {
    if (p_.to.rows() * p_.depth * p_.columns * c_.groups < 32 * kSmallWork) pool = nullptr;
    pack_weights(pool);
    const int64_t each = rows_ * p_.phases, count = p_.to.rows();
    parallel_for(pool, (count + each - 1) / each, [&](int64_t block, int worker) {
      const int64_t first = block * each, last = std::min(count, first + each);
      for (int64_t g = 0; g < c_.groups; ++g)
        if (p_.phases == 1)
          rows_in_place(g, first, last, worker);
        else
          rows_by_phases(g, first, last, worker);
    });
  }

 private:
  struct Range {
    int64_t first, last;
  };

  /// Panels of a group, one phase after another: phases share out the taps.
  float* panels(int64_t group) const { return packed_ + group * (room_.packed / c_.groups); }
  void pack_weights(ThreadPool* pool) {
    if (room_.packed == 0) return;
    for (int64_t g = 0; g < c_.groups; ++g) {
      float* to = panels(g);
      if (forward_) {
        panel_ = pack(c_.weight.as<float>() + g * p_.columns * p_.depth, p_.depth, true, p_.depth, p_.columns, to, pool)
                     .panel;
        continue;
      }
      for (int64_t f = 0; f < p_.phases; ++f) {
        const Phase phase = phase_of(c_, f);
        const int64_t depth = phase.taps() * p_.width;
        if (depth == 0) continue;
        arrange_weight(c_, g, phase, arranged_);
        panel_ = pack(arranged_, p_.columns, false, depth, p_.columns, to, pool).panel;
        to += packed_floats(depth, p_.columns);
      }
    }
  }
  PackedMatrix matrix(const float* data, int64_t depth) const { return {data, depth, p_.columns, panel_}; }

  void rows_in_place(int64_t group, int64_t first, int64_t last, int worker) const {
    float* windows = windows_ + worker * room_.windows;
    fill_windows(p_, group, first, last, windows);
    const PackedMatrix weight = room_.packed ? matrix(panels(group), p_.depth) : *c_.packed;
    Gemm m{last - first, p_.columns, p_.depth, windows, p_.depth};
    m.packed = &weight;
    m.c = p_.to.row<float>(first) + group * p_.columns;
    m.c_stride = p_.to.stride;
    m.add = add_;
    if (forward_ && c_.bias) m.epilogue.bias = c_.bias.as<float>() + group * p_.columns;
    gemm(m);
  }

  void rows_by_phases(int64_t group, int64_t first, int64_t last, int worker) const {
    const float* data = panels(group);
    for (int64_t f = 0; f < p_.phases; ++f) {
      const PackedMatrix weight = matrix(data, phase_of(c_, f).taps() * p_.width);
      rows_of_phase(group, f, weight, {first, last}, worker);
      data += packed_floats(weight.k, p_.columns);
    }
  }

  /// Rows of one phase lie apart: their products are made side by side and then brought to where they belong.
  void rows_of_phase(int64_t group, int64_t phase, const PackedMatrix& weight, Range rows, int worker) const {
    float *windows = windows_ + worker * room_.windows, *results = results_ + worker * room_.results;
    const auto place = [&](int64_t row) { return p_.to.row<float>(row) + group * p_.columns; };
    int64_t list[kMostRows], count = 0;
    const auto finish = [&] {
      if (add_)
        for (int64_t i = 0; i < count; ++i)
          std::memcpy(results + i * p_.columns, place(list[i]), bytes_of_floats(p_.columns));
      Gemm m{count, p_.columns, weight.k, windows, weight.k};
      m.packed = &weight;
      m.c = results;
      m.c_stride = p_.columns;
      m.add = add_;
      gemm(m);
      for (int64_t i = 0; i < count; ++i)
        std::memcpy(place(list[i]), results + i * p_.columns, bytes_of_floats(p_.columns));
      count = 0;
    };
    Walk walk(p_.way, rows.first);
    for (int64_t t = rows.first; t < rows.last; ++t, walk.move()) {
      if (walk.phase() != phase) continue;
      walk.look();
      fill_window(walk, p_, group, windows + count * weight.k);
      list[count++] = t;
      if (count == rows_) finish();
    }
    finish();
  }

  const Convolution& c_;
  const Product p_;
  const Room room_;
  const bool forward_, add_;
  int64_t rows_;  // of windows at a time
  int panel_ = 0;
  float *packed_, *windows_, *results_, *arranged_;
};

/// weight (+)= y^T windows, one chain over all rows: a block goes on where the one before it stopped.
void weight_by_windows(const Convolution& c, bool add, float* windows, ThreadPool* pool) {
  const Product p = product_of(c, ConvolutionPass::weight);
  const int64_t rows = c.y.rows(), each = filter_rows(p.depth);
  for (int64_t first = 0; first < rows; first += each) {
    const int64_t last = std::min(rows, first + each);
    for (int64_t g = 0; g < c.groups; ++g) {
      for_blocks(pool, last - first, 24, (last - first) * p.depth, [&](int64_t from, int64_t to) {
        fill_windows(p, g, first + from, first + to, windows + from * p.depth);
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
  Walk walk(p.way, first);
  for (int64_t t = first; t < last; ++t, walk.next()) {
    double* to = p.to.row<double>(t);
    for (int64_t k = 0; k < c.groups * p.columns; ++k) {
      const int64_t group = k / p.columns;
      double total = 0;
      walk.each([&](int64_t tap, int64_t row) {
        const double* from = p.from.row<double>(row) + group * p.width;
        for (int64_t i = 0; i < p.width; ++i) {
          const int64_t o = forward ? k : group * p.width + i, in = forward ? i : k % p.columns;
          total += from[i] * c.weight.as<double>()[(o * c.taps() + tap) * c.group_in() + in];
        }
      });
      if (forward && c.bias) total += c.bias.as<double>()[k];
      to[k] = add ? to[k] + total : total;
    }
  }
}

/// The gradient of the weights of outputs [first, last).
void weight64(const Convolution& c, bool add, int64_t first, int64_t last) {
  const FlushDenormals flushed;
  const int64_t ins = c.group_in(), each = c.taps() * ins;
  for (int64_t o = first; o < last; ++o)
    for (int64_t i = 0; i < ins; ++i)
      for (int64_t wanted = 0; wanted < c.taps(); ++wanted) {
        double total = 0;
        Walk walk(c.ahead(), 0);
        for (int64_t t = 0; t < c.y.rows(); ++t, walk.next())
          walk.each([&](int64_t tap, int64_t row) {
            if (tap == wanted) total += c.y.row<double>(t)[o] * c.x.row<double>(row)[o / c.group_out() * ins + i];
          });
        double& to = c.weight.as<double>()[o * each + wanted * ins + i];
        to = add ? to + total : total;
      }
}

/// What is left where there is nothing to sum.
void nothing(const Convolution& c, ConvolutionPass pass, bool add, ThreadPool* pool) {
  const Tensor& to = pass == ConvolutionPass::forward ? c.y : pass == ConvolutionPass::input ? c.x : c.weight;
  if (!add) fill_zero(to, pool);
  if (pass != ConvolutionPass::forward || !c.bias) return;
  by_type(c.y.dtype, [&](auto t) {
    using T = decltype(t);
    for (int64_t i = 0; i < c.y.rows(); ++i)
      for (int64_t k = 0; k < c.y.cols(); ++k) c.y.row<T>(i)[k] += c.bias.as<T>()[k];
  });
}

}  // namespace

int64_t convolution_scratch(const Convolution& c, ConvolutionPass pass, int workers) {
  if (c.weight.dtype != DType::f32) return 0;
  return room_of(c, pass).floats(workers) * static_cast<int64_t>(sizeof(float));
}

void convolution(const Convolution& c, ConvolutionPass pass, bool add, void* scratch, ThreadPool* pool) {
  const bool weights = pass == ConvolutionPass::weight;
  if (c.weight.size() == 0 || c.y.rows() == 0) {
    nothing(c, pass, add, pool);
  } else if (c.weight.dtype == DType::f64) {
    const int64_t work = c.y.rows() * c.weight.size(), rows = product_of(c, pass).to.rows();
    if (weights)
      for_blocks(pool, c.weight.shape[0], 1, work, [&](int64_t from, int64_t to) { weight64(c, add, from, to); });
    else
      for_blocks(pool, rows, 8, work, [&](int64_t from, int64_t to) { convolution_rows64(c, pass, add, from, to); });
  } else if (c.depthwise()) {
    depthwise_pass(c, pass, add, static_cast<float*>(scratch), pool);
  } else if (weights) {
    weight_by_windows(c, add, static_cast<float*>(scratch), pool);
  } else {
    ByWindows(c, pass, add, static_cast<float*>(scratch), pool).run(pool);
  }
}

}  // namespace attune::kernels
