#include "autograd/operations/residual_norm.h"

#include <cmath>

#include "autograd/reference.h"
#include "base/error.h"

namespace attune {

namespace {

constexpr const char* kResidualNormOp = "residual_norm";

void check_vector(const Var& x, const Var& v, const char* name) {
  check(v.dtype() == x.dtype(), kResidualNormOp, "{} is {}, rows are {}", name, name_of(v.dtype()), name_of(x.dtype()));
  check(v.shape().size() == x.cols() && v.value().contiguous(), kResidualNormOp, "{} has {} elements, rows have {}",
        name, v.shape().size(), x.cols());
}

void check_arguments(const Var& x, const Var& s, const NormWeights& w) {
  check(x.dtype() == DType::f32 || x.dtype() == DType::f64, kResidualNormOp, "rows are {}, not f32 or f64",
        name_of(x.dtype()));
  check(static_cast<bool>(w.gamma), kResidualNormOp, "gamma is missing");
  check_vector(x, w.gamma, "gamma");
  if (w.beta) check_vector(x, w.beta, "beta");
  if (!s) return;
  check(s.dtype() == x.dtype(), kResidualNormOp, "s is {}, x is {}", name_of(s.dtype()), name_of(x.dtype()));
  check(s.shape() == x.shape(), kResidualNormOp, "s is {}, x is {}", s.shape().text(), x.shape().text());
}

/// Results, and the rows' means and 1 / sigma [2, n] where a gradient is wanted.
struct Made {
  ResidualNorm out;
  Var stats;
};
Made make_results(Ctx& ctx, const Var& x, const Var& s, const NormWeights& w) {
  Made m;
  m.out.sum = s ? ctx.make(x.shape(), x.dtype(), {&x, &s}) : x;
  m.out.y = ctx.make(x.shape(), x.dtype(), {&x, &s, &w.gamma, &w.beta});
  if (m.out.y.needs_grad()) m.stats = ctx.make({2, x.rows()}, x.dtype(), {});
  return m;
}

}  // namespace

ResidualNorm residual_norm(Ctx& ctx, const Var& x, const Var& s, const NormWeights& w, const Dropout& dropout) {
  if (x.dtype() == DType::f64) return residual_norm_reference(ctx, x, s, w, dropout);
  check_arguments(x, s, w);
  const auto [out, stats] = make_results(ctx, x, s, w);
  ctx.run([&, &out = out, &stats = stats] {
    kernels::ResidualNorm a{w.kind, w.epsilon, dropout};
    a.x = x.value();
    a.gamma = w.gamma.value().as<float>();
    a.beta = w.beta ? w.beta.value().as<float>() : nullptr;
    if (s) {
      a.s = s.value();
      a.sum = out.sum.value();
    }
    a.y = out.y.value();
    if (stats) {
      a.mean = stats.value().row<float>(0);
      a.inverse = stats.value().row<float>(1);
    }
    kernels::residual_norm(a, ctx.pool);
  });
  if (!out.y.needs_grad()) return out;
  const Var own_sum = s ? out.sum : Var();  // without s, x's own gradient is not this node's business
  ctx.tape->push({&out.y, &own_sum},
                 [saved = out.sum, stats = stats, gamma = w.gamma, beta = w.beta.sink(), kind = w.kind, dropout,
                  x = x.sink(), s = s.sink(), y = out.y.sink(), sum = own_sum.sink()](Ctx& ctx) {
                   kernels::ResidualNormBackward b{kind, dropout};
                   b.sum = saved.value();
                   if (sum.has_grad()) b.dsum = ctx.grad_of(sum);
                   Grad dx = ctx.grad(x), ds = ctx.grad(s), dgamma, dbeta;
                   if (y.has_grad()) {
                     b.dy = ctx.grad_of(y);
                     dgamma = ctx.grad(gamma);
                     dbeta = ctx.grad(beta);
                   }
                   b.dx = dx.tensor;
                   b.add_x = dx.add;
                   b.ds = ds.tensor;
                   b.add_s = ds.add;
                   b.dgamma = dgamma.tensor.as<float>();
                   b.add_gamma = dgamma.add;
                   b.dbeta = dbeta.tensor.as<float>();
                   b.add_beta = dbeta.add;
                   ctx.run([&] {
                     b.gamma = gamma.value().as<float>();
                     b.mean = stats.value().row<float>(0);
                     b.inverse = stats.value().row<float>(1);
                     kernels::residual_norm_backward(b, ctx.pool);
                   });
                 });
  return out;
}

// --- the reference ---------------------------------------------------------------------------------------------------

namespace {

using reference::clear_unless_added;
using reference::kept;

template <class T>
void forward(const Var& x, const Var& s, const NormWeights& w, const Dropout& dropout, const ResidualNorm& out) {
  const int64_t d = x.cols();
  for (int64_t r = 0; r < x.rows(); ++r) {
    T* sum = out.sum.value().template row<T>(r);
    T* y = out.y.value().template row<T>(r);
    T mean = 0, square = 0;
    for (int64_t j = 0; j < d; ++j) {
      if (s) sum[j] = x.value().template row<T>(r)[j] + s.value().template row<T>(r)[j] * kept<T>(dropout, r, j);
      if (w.kind == Norm::layer) mean += sum[j] / static_cast<T>(d);
    }
    for (int64_t j = 0; j < d; ++j) square += (sum[j] - mean) * (sum[j] - mean) / static_cast<T>(d);
    const T sigma = std::sqrt(square + static_cast<T>(w.epsilon));
    for (int64_t j = 0; j < d; ++j)
      y[j] = (sum[j] - mean) / sigma * w.gamma.value().template as<T>()[j] +
             (w.beta ? w.beta.value().template as<T>()[j] : T{0});
  }
}

/// d sum_i = sum over j of dy_j gamma_j d v_j / d sum_i, with d v_j / d sum_i = ([i = j] - 1/d - v_i v_j / d) / sigma
/// (without 1/d for rms), written out: quadratic in d, and with nothing in common with the kernel.
template <class T>
void backward_row(const NormWeights& w, const T* sum, const T* dy, T* dsum, T* dgamma, T* dbeta, int64_t d) {
  T mean = 0, square = 0;
  for (int64_t j = 0; j < d && w.kind == Norm::layer; ++j) mean += sum[j] / static_cast<T>(d);
  for (int64_t j = 0; j < d; ++j) square += (sum[j] - mean) * (sum[j] - mean) / static_cast<T>(d);
  const T sigma = std::sqrt(square + static_cast<T>(w.epsilon)), share = T{1} / static_cast<T>(d);
  const auto v = [&](int64_t j) { return (sum[j] - mean) / sigma; };
  for (int64_t j = 0; j < d; ++j) {
    if (dgamma) dgamma[j] += dy[j] * v(j);
    if (dbeta) dbeta[j] += dy[j];
    const T g = dy[j] * w.gamma.value().template as<T>()[j];
    for (int64_t i = 0; i < d; ++i)
      dsum[i] += g * ((i == j ? T{1} : T{0}) - (w.kind == Norm::layer ? share : T{0}) - v(i) * v(j) * share) / sigma;
  }
}

}  // namespace

ResidualNorm residual_norm_reference(Ctx& ctx, const Var& x, const Var& s, const NormWeights& w,
                                     const Dropout& dropout) {
  check_arguments(x, s, w);
  const auto [out, stats] = make_results(ctx, x, s, w);
  ctx.run([&, &out = out] { by_type(x.dtype(), [&](auto t) { forward<decltype(t)>(x, s, w, dropout, out); }); });
  if (!out.y.needs_grad()) return out;
  const Var own_sum = s ? out.sum : Var();
  ctx.tape->push({&out.y, &own_sum}, [w, dropout, saved = out.sum, x = x.sink(), s = s.sink(), y = out.y.sink(),
                                      sum = own_sum.sink()](Ctx& ctx) {
    const Tensor dy = y.has_grad() ? ctx.grad_of(y) : Tensor(), dsum = sum.has_grad() ? ctx.grad_of(sum) : Tensor();
    const Grad dgamma = dy ? ctx.grad(w.gamma) : Grad{}, dbeta = dy ? ctx.grad(w.beta) : Grad{};
    const Grad dx = ctx.grad(x), ds = ctx.grad(s);
    const int64_t d = saved.cols();
    Scratch scratch(ctx.arena, d * bytes_of(saved.dtype()));
    ctx.run([&] {
      by_type(saved.dtype(), [&](auto t) {
        using T = decltype(t);
        for (const Grad* g : {&dx, &ds, &dgamma, &dbeta}) clear_unless_added<T>(*g);
        T* total = scratch.as<T>();
        for (int64_t r = 0; r < saved.rows(); ++r) {
          for (int64_t j = 0; j < d; ++j) total[j] = dsum ? dsum.row<T>(r)[j] : T{0};
          if (dy)
            backward_row<T>(w, saved.value().row<T>(r), dy.row<T>(r), total, dgamma.tensor.as<T>(),
                            dbeta.tensor.as<T>(), d);
          for (int64_t j = 0; j < d; ++j) {
            if (dx) dx.tensor.row<T>(r)[j] += total[j];
            if (ds) ds.tensor.row<T>(r)[j] += total[j] * kept<T>(dropout, r, j);
          }
        }
      });
    });
  });
  return out;
}

}  // namespace attune
