#include "autograd/operations/convolution.h"

#include "autograd/operands.h"
#include "autograd/operations/arrange.h"
#include "kernels/convolution/convolution.h"
#include "kernels/rows/reduce.h"

namespace attune {

namespace {

using kernels::Convolution;
using kernels::ConvolutionPass;
using kernels::Window;

constexpr const char* kName = "convolution";

Window window_of(int64_t taps, const ConvolutionAxis& a) {
  check(taps >= 1, kName, "a kernel without taps");
  check(a.stride >= 1, kName, "a stride of {}", a.stride);
  check(a.dilation >= 1, kName, "a dilation of {}", a.dilation);
  Window w{taps, a.stride, a.dilation};
  if (a.padding == Padding::same) w.before = w.reach() / 2;
  if (a.padding == Padding::causal) w.before = w.reach();
  if (a.padding != Padding::valid) w.after = w.reach() - w.before;
  return w;
}

ConvolutionAxis axis_of(const ConvolutionOptions& o) { return {o.stride, o.dilation, o.padding}; }

GridSize convolved_size(const GridSize& s, const Window& height, const Window& width) {
  return {static_cast<int32_t>(height.places(s.height)), static_cast<int32_t>(width.places(s.width))};
}

/// Weight and bias fit each other and values of so many columns.
void check_weights(const ConvolutionWeights& w, int rank, int64_t groups, int64_t columns) {
  check_real(kName, "weight", w.weight);
  check_rank(kName, "weight", w.weight, rank, rank);
  check(groups >= 1, kName, "{} groups", groups);
  const int64_t out = w.weight.shape()[0], in = w.weight.cols();
  check(in * groups == columns, kName, "weight has {} inputs in {} groups, the value has {} columns", in, groups,
        columns);
  check(out % groups == 0, kName, "{} outputs do not make {} equal groups", out, groups);
  if (!w.bias) return;
  check(w.bias.dtype() == w.weight.dtype(), kName, "weight is {}, bias is {}", name_of(w.weight.dtype()),
        name_of(w.bias.dtype()));
  check(w.bias.shape().size() == out && w.bias.value().contiguous(), kName,
        "bias has {} elements in {} rows, not {} in one", w.bias.shape().size(), w.bias.rows(), out);
}

void check_values(const Var& x, const ConvolutionWeights& w, const Segments& from) {
  check_real(kName, "the value", x);
  check_given(kName, "weight", w.weight);
  check(x.dtype() == w.weight.dtype(), kName, "the value is {}, weight is {}", name_of(x.dtype()),
        name_of(w.weight.dtype()));
  check_segments(kName, from, x);
}

void check_grids(const char* what, const Grids& g) {
  check(std::ssize(g.sizes) == g.count(), kName, "{} has {} sizes for {} segments", what, g.sizes.size(), g.count());
  for (int64_t i = 0; i < g.count(); ++i) {
    const GridSize& s = g.sizes[static_cast<size_t>(i)];
    check(int64_t{s.height} * s.width == g.segments.length(i), kName, "grid {} of {} is {} x {} and has {} rows", i,
          what, s.height, s.width, g.segments.length(i));
  }
}

void run_pass(Ctx& ctx, const Convolution& c, ConvolutionPass pass, bool add) {
  Scratch scratch(ctx.arena, kernels::convolution_scratch(c, pass, workers_of(ctx.pool)));
  ctx.run([&] { kernels::convolution(c, pass, add, scratch.as<void>(), ctx.pool); });
}

const PackedMatrix* panels_of(const Var& weight, int64_t groups) {
  return groups == 1 ? weight.slot()->packed : nullptr;
}

/// All but shapes is in `c`.
Var convolve(Ctx& ctx, const Var& x, const ConvolutionWeights& w, Convolution c) {
  const Var weight = w.weight.value().contiguous() ? w.weight : copy(ctx, w.weight);
  Var y = ctx.make({c.to.segments->rows(), weight.shape()[0]}, x.dtype(), {&x, &weight, &w.bias});
  c.x = x.value();
  c.weight = weight.value();
  if (w.bias) c.bias = w.bias.value();
  c.packed = panels_of(weight, c.groups);
  c.y = y.value();
  run_pass(ctx, c, ConvolutionPass::forward, false);
  if (y.needs_grad())
    ctx.tape->push(y, [to_x = x.sink(), to_weight = weight.sink(), to_bias = w.bias.sink(), y = y.sink(),
                       x = weight.needs_grad() ? x : Var(), weight = x.needs_grad() ? weight : Var(), c](Ctx& ctx) {
      Convolution back = c;
      back.y = ctx.grad_of(y);
      if (Grad dx = ctx.grad(to_x)) {
        back.x = dx.tensor;
        back.weight = weight.value();
        run_pass(ctx, back, ConvolutionPass::input, dx.add);
      }
      if (Grad dw = ctx.grad(to_weight)) {
        back.x = x.value();
        back.weight = dw.tensor;
        run_pass(ctx, back, ConvolutionPass::weight, dw.add);
      }
      if (Grad db = ctx.grad(to_bias)) ctx.run([&] { kernels::column_sum(back.y, 1, db.tensor, db.add, ctx.pool); });
    });
  return y;
}

}  // namespace

Segments convolved(const Segments& from, int64_t taps, const ConvolutionOptions& options) {
  const Window w = window_of(taps, axis_of(options));
  std::vector<int32_t> lengths;
  lengths.reserve(static_cast<size_t>(from.count()));
  for (int64_t i = 0; i < from.count(); ++i) lengths.push_back(static_cast<int32_t>(w.places(from.length(i))));
  return Segments::of_lengths(lengths);
}

Grids convolved(const Grids& from, GridSize taps, const GridConvolutionOptions& options) {
  const Window height = window_of(taps.height, options.height), width = window_of(taps.width, options.width);
  std::vector<GridSize> sizes;
  sizes.reserve(from.sizes.size());
  for (const GridSize& s : from.sizes) sizes.push_back(convolved_size(s, height, width));
  return Grids::of_sizes(std::move(sizes));
}

Var convolution(Ctx& ctx, const Var& x, const ConvolutionWeights& w, const Segments& from, const Segments& to,
                const ConvolutionOptions& options) {
  check_values(x, w, from);
  check_weights(w, 3, options.groups, x.cols());
  Convolution c;
  c.width = window_of(w.weight.shape()[1], axis_of(options));
  c.from.segments = &from;
  c.to.segments = &to;
  c.groups = options.groups;
  check(to.count() == from.count(), kName, "{} sequences become {}", from.count(), to.count());
  for (int64_t i = 0; i < from.count(); ++i)
    check(to.length(i) == c.width.places(from.length(i)), kName, "sequence {} becomes {} rows, not {}", i,
          c.width.places(from.length(i)), to.length(i));
  return convolve(ctx, x, w, c);
}

Var convolution(Ctx& ctx, const Var& x, const ConvolutionWeights& w, const Grids& from, const Grids& to,
                const GridConvolutionOptions& options) {
  check_values(x, w, from.segments);
  check_weights(w, 4, options.groups, x.cols());
  check_grids("the value", from);
  check_grids("the result", to);
  Convolution c;
  c.height = window_of(w.weight.shape()[1], options.height);
  c.width = window_of(w.weight.shape()[2], options.width);
  c.from = {&from.segments, from.sizes.data()};
  c.to = {&to.segments, to.sizes.data()};
  c.groups = options.groups;
  check(to.count() == from.count(), kName, "{} grids become {}", from.count(), to.count());
  for (size_t i = 0; i < from.sizes.size(); ++i) {
    const GridSize wanted = convolved_size(from.sizes[i], c.height, c.width), given = to.sizes[i];
    check(given == wanted, kName, "grid {} becomes {} x {}, not {} x {}", i, wanted.height, wanted.width, given.height,
          given.width);
  }
  return convolve(ctx, x, w, c);
}

Var convolution_step(Ctx& ctx, const ConvolutionPast& past, const ConvolutionWeights& w,
                     const ConvolutionOptions& options) {
  check_weights(w, 3, options.groups, w.weight ? w.weight.cols() * options.groups : 0);
  check(w.weight.dtype() == DType::f32, kName, "a step in {}, not f32", name_of(w.weight.dtype()));
  check(options.padding == Padding::causal && options.stride == 1, kName,
        "only a causal convolution of stride 1 goes step by step");
  window_of(w.weight.shape()[1], axis_of(options));
  const int64_t in = w.weight.cols() * options.groups;
  check(past.memory.stride >= in, kName, "rows of the past are {} wide, weight has {} inputs", past.memory.stride, in);
  check(past.kept >= 1, kName, "the present row is missing");
  const Var weight = w.weight.value().contiguous() ? w.weight : copy(ctx, w.weight);
  Var y = ctx.make({past.rows, weight.shape()[0]}, DType::f32, {});
  kernels::ConvolutionStep s;
  s.rows = past.rows;
  s.kept = past.kept;
  s.past = past.memory;
  s.ids = past.ids;
  s.dilation = options.dilation;
  s.groups = options.groups;
  s.weight = weight.value();
  if (w.bias) s.bias = w.bias.value();
  s.y = y.value();
  s.packed = panels_of(weight, options.groups);
  Scratch scratch(ctx.arena, kernels::convolution_step_scratch(s));
  s.scratch = scratch.as<void>();
  ctx.run([&] { kernels::convolution_step(s, ctx.pool); });
  return y;
}

}  // namespace attune
