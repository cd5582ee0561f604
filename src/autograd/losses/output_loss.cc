#include "autograd/losses/output_loss.h"

#include <algorithm>

#include "autograd/operands.h"
#include "autograd/operations/elementwise.h"
#include "autograd/operations/linear.h"
#include "autograd/operations/reduce.h"
#include "autograd/parameters.h"
#include "kernels/matrix/gemm.h"
#include "kernels/rows/reduce.h"
#include "kernels/vocabulary/cross_entropy.h"

namespace attune {

namespace {

constexpr int64_t kChunkFloats = int64_t{15} << 20;  // 60 MB of logits at a time, at most

/// Many rows, so that reading and writing the weight's gradient once a chunk does not tell, and chunks of one size.
int64_t most_rows(int64_t classes) {
  return std::clamp<int64_t>(kChunkFloats / std::max<int64_t>(1, classes), 48, 1024);
}
int64_t chunk_rows(int64_t rows, int64_t classes) {
  const int64_t most = most_rows(classes);
  const int64_t chunks = std::max<int64_t>(1, (rows + most - 1) / most);
  return std::min(rows, ((rows + chunks - 1) / chunks + 5) / 6 * 6);
}

/// Logits' rows lie so far apart that neighbours do not fall into one set of the cache, as 32,000 columns would make
/// them.
int64_t logits_stride(int64_t classes) { return (classes + 15) / 16 * 16 + 16; }

void check_arguments(const OutputLoss& a) {
  check_real("output_loss", "input", a.x);
  check_given("output_loss", "weight", a.weight);
  check_same_type("output_loss", a.x, a.weight);
  check_rank("output_loss", "weight", a.weight, 2, 2);
  check(a.x.cols() == a.weight.cols(), "output_loss", "rows have {} elements, weight has {} columns", a.x.cols(),
        a.weight.cols());
  check(!a.bias || a.bias.shape().size() == a.weight.rows(), "output_loss", "bias has {} elements, weight has {} rows",
        a.bias ? a.bias.shape().size() : 0, a.weight.rows());
  check(a.targets.dtype == DType::i32 && a.targets.contiguous(), "output_loss", "targets are {}, not a row of i32",
        name_of(a.targets.dtype));
  check(a.targets.size() == a.x.rows(), "output_loss", "{} targets for {} rows", a.targets.size(), a.x.rows());
  check(!a.log_probs || (a.log_probs.dtype == DType::f32 && a.log_probs.size() == a.x.rows()), "output_loss",
        "log_probs has {} elements for {} rows", a.log_probs.size(), a.x.rows());
  check(!a.weights || (a.weights.dtype == DType::f32 && a.weights.size() == a.x.rows()), "output_loss",
        "weights has {} elements for {} rows", a.weights.size(), a.x.rows());
  check(a.smoothing >= 0 && a.smoothing < 1, "output_loss", "smoothing is {}, not in [0, 1)", a.smoothing);
  check(a.weight.rows() > 0, "output_loss", "weight has no rows");
}

void check_targets(const OutputLoss& a) {
  const int32_t* t = a.targets.as<int32_t>();
  for (int64_t i = 0; i < a.targets.size(); ++i)
    check(t[i] < a.weight.rows(), "output_loss", "row {}: target {}, the weight has {} rows", i, t[i], a.weight.rows());
}

/// The gradients' places while the loss is computed.
struct Places {
  Grad x, weight, bias;
  bool any() const { return x || weight || bias; }
};

/// Rows [from, from + rows): logits, loss, and all gradients while the logits are near.
void chunk(const OutputLoss& a, const Places& to, int64_t from, int64_t rows, float* logits, float* losses,
           ThreadPool* pool) {
  const Tensor x = a.x.value().row_range(from, rows);
  const Tensor& w = a.weight.value();
  const int64_t classes = w.rows(), d = w.cols(), stride = logits_stride(classes);
  kernels::Gemm forward{.m = rows, .n = classes, .k = d, .a = x.as<float>(), .a_stride = x.stride};
  forward.b = w.as<float>();
  forward.b_stride = w.stride;
  forward.b_transposed = true;
  forward.packed = a.weight.slot()->packed;
  forward.c = logits;
  forward.c_stride = stride;
  forward.epilogue.bias = a.bias ? a.bias.value().as<float>() : nullptr;
  if (const Int8Weight* int8 = a.weight.slot()->int8)
    kernels::gemm_int8({rows, forward.a, forward.a_stride, &int8->packed, logits, stride, forward.epilogue}, pool);
  else
    kernels::gemm(forward, pool);

  kernels::CrossEntropy loss{.logits = logits, .rows = rows, .classes = classes, .stride = stride};
  loss.targets = a.targets.as<int32_t>() + from;
  loss.weights = a.weights ? a.weights.as<float>() + from : nullptr;
  loss.smoothing = a.smoothing;
  loss.scale = a.scale;
  loss.gradient = to.any();
  loss.losses = losses + from;
  loss.log_probs = a.log_probs ? a.log_probs.as<float>() + from : nullptr;
  kernels::cross_entropy(loss, pool);

  if (to.x) {
    kernels::Gemm g{.m = rows, .n = d, .k = classes, .a = logits, .a_stride = stride};
    g.b = w.as<float>();
    g.b_stride = w.stride;
    g.packed = a.weight.slot()->packed_transposed;
    g.c = to.x.tensor.row_range(from, rows).as<float>();
    g.c_stride = to.x.tensor.stride;
    g.add = to.x.add;
    kernels::gemm(g, pool);
  }
  if (to.weight) {
    kernels::Gemm g{.m = classes, .n = d, .k = rows, .a = logits, .a_stride = stride, .a_transposed = true};
    g.b = x.as<float>();
    g.b_stride = x.stride;
    g.c = to.weight.tensor.as<float>();
    g.c_stride = to.weight.tensor.stride;
    g.add = to.weight.add || from > 0;
    kernels::gemm(g, pool);
  }
  if (to.bias) {
    Tensor gradient(logits, Shape{rows, classes});
    gradient.stride = stride;
    kernels::column_sum(gradient, 1, to.bias.tensor, to.bias.add || from > 0, pool);
  }
}

}  // namespace

Var output_loss(Ctx& ctx, const OutputLoss& a) {
  check_arguments(a);
  if (a.x.dtype() == DType::f64) return output_loss_reference(ctx, a);
  const int64_t n = a.x.rows(), classes = a.weight.rows();
  Var y = ctx.make(Shape{1}, DType::f32, {&a.x, &a.weight, &a.bias});
  check(!y.needs_grad() || !a.weight.slot()->int8, "output_loss", "int8 weights are for use and can't be trained");
  Places to;
  if (y.needs_grad() && n > 0) to = {ctx.grad(a.x), ctx.grad(a.weight), a.bias ? ctx.grad(a.bias) : Grad{}};
  const int64_t rows = chunk_rows(n, classes);
  // Room for the chunks of any fewer rows too, which may be larger: a plan must hold for them.
  const int64_t room = std::min(n, (most_rows(classes) + 5) / 6 * 6);
  Scratch logits(ctx.arena, room * logits_stride(classes) * 4), losses(ctx.arena, n * 4);
  ctx.run([&] {
    check_targets(a);
    for (int64_t from = 0; from < n; from += rows)
      chunk(a, to, from, std::min(rows, n - from), logits.as<float>(), losses.as<float>(), ctx.pool);
    double total = 0;
    for (int64_t i = 0; i < n; ++i) total += static_cast<double>(losses.as<float>()[i]);
    *y.value().as<float>() = static_cast<float>(total * static_cast<double>(a.scale));
  });
  if (y.needs_grad())
    ctx.tape->push(y, [y = y.sink()](Ctx& ctx) {
      const Tensor dy = ctx.grad_of(y);
      ctx.run([&] {
        check(*dy.as<float>() == 1, "output_loss", "a gradient of {} arrives, only 1 is possible: use its scale",
              *dy.as<float>());
      });
    });
  return y;
}

Var output_loss_reference(Ctx& ctx, const OutputLoss& a) {
  check_arguments(a);
  const int64_t n = a.x.rows(), classes = a.weight.rows();
  const Var z = log_softmax(ctx, linear_reference(ctx, a.x, a.weight, a.bias));  // [n, classes]
  const Var q = ctx.make(Shape{n, classes}, a.x.dtype(), {});
  ctx.run([&] {
    check_targets(a);
    by_type(a.x.dtype(), [&](auto type) {
      using T = decltype(type);
      for (int64_t i = 0; i < n; ++i) {
        const int32_t t = a.targets.as<int32_t>()[i];
        const T even = t < 0 ? T{0} : static_cast<T>(a.smoothing) / static_cast<T>(classes);
        const T weight = a.weights ? static_cast<T>(a.weights.as<float>()[i]) : T{1};
        for (int64_t j = 0; j < classes; ++j)
          q.value().row<T>(i)[j] = weight * (even + (j == t ? T{1} - static_cast<T>(a.smoothing) : T{0}));
        if (a.log_probs) a.log_probs.as<float>()[i] = t < 0 ? 0.0f : static_cast<float>(z.value().row<T>(i)[t]);
      }
    });
  });
  return scale(ctx, sum(ctx, multiply(ctx, z, q)), -static_cast<double>(a.scale));
}

}  // namespace attune
