#include "autograd/convolution.h"

#include "autograd/arrange.h"
#include "autograd/operands.h"
#include "kernels/convolution.h"

namespace attune {

namespace {

using kernels::Convolution;
using kernels::ConvolutionPass;

void check_operands(const Var& x, const Var& weight, const Segments& segments, const ConvolutionOptions& o) {
  constexpr const char* name = "convolution";
  check_real(name, "the value", x);
  check_real(name, "weight", weight);
  check(x.dtype() == weight.dtype(), name, "the value is {}, weight is {}", name_of(x.dtype()),
        name_of(weight.dtype()));
  check_rank(name, "weight", weight, 3, 3);
  check_segments(name, segments, x);
  check(o.dilation >= 1, name, "a dilation of {}", o.dilation);
  check(o.groups >= 1, name, "{} groups", o.groups);
  const int64_t out = weight.shape()[0], taps = weight.shape()[1], in = weight.shape()[2];
  check(taps >= 1, name, "a kernel without taps");
  check(in * o.groups == x.cols(), name, "weight has {} inputs in {} groups, the value has {} columns", in, o.groups,
        x.cols());
  check(out % o.groups == 0, name, "{} outputs do not make {} equal groups", out, o.groups);
}

void run_pass(Ctx& ctx, const Convolution& c, ConvolutionPass pass, bool add) {
  Scratch scratch(ctx.arena, kernels::convolution_scratch(c, pass, workers_of(ctx.pool)));
  ctx.run([&] { kernels::convolution(c, pass, add, scratch.as<void>(), ctx.pool); });
}

}  // namespace

Var convolution(Ctx& ctx, const Var& x, const Var& given, const Segments& segments, const ConvolutionOptions& options) {
  check_operands(x, given, segments, options);
  const Var weight = given.value().contiguous() ? given : copy(ctx, given);
  const int64_t reach = options.dilation * (weight.shape()[1] - 1);
  Convolution c{&segments, options.dilation, options.groups, options.causal ? reach : reach / 2, {}, {}, {}};
  Var y = ctx.make({x.rows(), weight.shape()[0]}, x.dtype(), {&x, &weight});
  c.x = x.value();
  c.weight = weight.value();
  c.y = y.value();
  run_pass(ctx, c, ConvolutionPass::forward, false);
  if (y.needs_grad())
    ctx.tape->push(y, [to_x = x.sink(), to_weight = weight.sink(), y = y.sink(), x = weight.needs_grad() ? x : Var(),
                       weight = x.needs_grad() ? weight : Var(), c](Ctx& ctx) {
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
    });
  return y;
}

}  // namespace attune
