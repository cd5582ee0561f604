#include "autograd/operations/pool.h"

#include <algorithm>
#include <cmath>

#include "autograd/operands.h"
#include "autograd/operations/elementwise.h"
#include "base/portable_math.h"

namespace attune {

namespace {

template <class T>
void add_scaled(const T* x, T by, int64_t n, T* y) {
  for (int64_t j = 0; j < n; ++j) y[j] += by * x[j];
}

template <class T>
void max_into(const T* x, int64_t n, T* y) {
  for (int64_t j = 0; j < n; ++j) y[j] = x[j] > y[j] ? x[j] : y[j];
}

/// body(sequence) for all of them, by whoever is free.
template <class Body>
void each_sequence(const Ctx& ctx, DType type, const Segments& segments, Body body) {
  by_type(type, [&](auto t) { parallel_for(ctx.pool, segments.count(), [&](int64_t s, int) { body(t, s); }); });
}

void check_pool(const char* name, const Var& x, const Segments& segments) {
  check_real(name, "the value", x);
  check_segments(name, segments, x);
}

}  // namespace

Var segment_mean(Ctx& ctx, const Var& x, const Segments& segments) {
  check_pool("segment_mean", x, segments);
  const int64_t d = x.cols();
  Var y = ctx.make({segments.count(), d}, x.dtype(), {&x});
  ctx.run([&] {
    each_sequence(ctx, x.dtype(), segments, [&](auto t, int64_t s) {
      using T = decltype(t);
      T* to = y.value().row<T>(s);
      std::fill(to, to + d, T{0});
      const int64_t n = segments.length(s);
      for (int64_t i = 0; i < n; ++i) add_scaled(x.value().row<T>(segments.begin(s) + i), T{1}, d, to);
      for (int64_t j = 0; j < d && n > 0; ++j) to[j] /= static_cast<T>(n);
    });
  });
  if (y.needs_grad())
    ctx.tape->push(y, [x = x.sink(), y = y.sink(), &segments, d](Ctx& ctx) {
      const Grad dx = ctx.grad(x);
      ctx.run([&] {
        const Tensor dy = ctx.grad_of(y);
        each_sequence(ctx, dy.dtype, segments, [&](auto t, int64_t s) {
          using T = decltype(t);
          const int64_t n = segments.length(s);
          for (int64_t i = 0; i < n; ++i) {
            T* to = dx.tensor.row<T>(segments.begin(s) + i);
            if (!dx.add) std::fill(to, to + d, T{0});
            add_scaled(dy.row<T>(s), T{1} / static_cast<T>(n), d, to);
          }
        });
      });
    });
  return y;
}

Var segment_root_sum(Ctx& ctx, const Var& x, const Segments& segments) {
  const Var mean = segment_mean(ctx, x, segments), roots = ctx.make({segments.count(), 1}, mean.dtype(), {});
  ctx.run([&] {
    by_type(roots.dtype(), [&](auto t) {
      for (int64_t i = 0; i < segments.count(); ++i)
        roots.value().template as<decltype(t)>()[i] = std::sqrt(static_cast<decltype(t)>(segments.length(i)));
    });
  });
  return multiply(ctx, mean, roots);
}

Var segment_max(Ctx& ctx, const Var& x, const Segments& segments) {
  check_pool("segment_max", x, segments);
  const int64_t d = x.cols();
  Var y = ctx.make({segments.count(), d}, x.dtype(), {&x});
  ctx.run([&] {
    each_sequence(ctx, x.dtype(), segments, [&](auto t, int64_t s) {
      using T = decltype(t);
      T* to = y.value().row<T>(s);
      std::fill(to, to + d, T{0});
      for (int64_t i = 0; i < segments.length(s); ++i) {
        const T* row = x.value().row<T>(segments.begin(s) + i);
        if (i == 0)
          std::copy(row, row + d, to);
        else
          max_into(row, d, to);
      }
    });
  });
  if (y.needs_grad())
    ctx.tape->push(y, [x, y, &segments, d](Ctx& ctx) {
      const Grad dx = ctx.grad(x);
      ctx.run([&] {
        const Tensor dy = ctx.grad_of(y.sink());
        each_sequence(ctx, dy.dtype, segments, [&](auto t, int64_t s) {
          using T = decltype(t);
          const int64_t from = segments.begin(s), n = segments.length(s);
          for (int64_t i = from; i < from + n && !dx.add; ++i) {
            T* to = dx.tensor.row<T>(i);
            std::fill(to, to + d, T{0});
          }
          for (int64_t j = 0; j < d && n > 0; ++j) {
            int64_t i = from;
            while (i + 1 < from + n && x.value().row<T>(i)[j] != y.value().row<T>(s)[j]) ++i;
            dx.tensor.row<T>(i)[j] += dy.row<T>(s)[j];
          }
        });
      });
    });
  return y;
}

Var segment_mix(Ctx& ctx, const Var& x, const Var& weights, const Segments& segments) {
  check_pool("segment_mix", x, segments);
  check_given("segment_mix", "weights", weights);
  check_same_type("segment_mix", x, weights);
  check(weights.rows() == x.rows(), "segment_mix", "weights of {} rows for {}", weights.rows(), x.rows());
  const int64_t d = x.cols(), r = weights.cols();
  Var y = ctx.make({segments.count(), r * d}, x.dtype(), {&x, &weights});
  ctx.run([&] {
    each_sequence(ctx, x.dtype(), segments, [&](auto t, int64_t s) {
      using T = decltype(t);
      T* to = y.value().row<T>(s);
      std::fill(to, to + r * d, T{0});
      for (int64_t i = segments.begin(s); i < segments.begin(s + 1); ++i)
        for (int64_t k = 0; k < r; ++k) add_scaled(x.value().row<T>(i), weights.value().row<T>(i)[k], d, to + k * d);
    });
  });
  if (y.needs_grad())
    ctx.tape->push(y, [x, w = weights, y = y.sink(), &segments, d, r](Ctx& ctx) {
      const Grad dx = ctx.grad(x), dw = ctx.grad(w);
      ctx.run([&] {
        const Tensor dy = ctx.grad_of(y);
        each_sequence(ctx, dy.dtype, segments, [&](auto t, int64_t s) {
          using T = decltype(t);
          const T* from = dy.row<T>(s);
          for (int64_t i = segments.begin(s); i < segments.begin(s + 1); ++i) {
            if (dx && !dx.add) std::fill(dx.tensor.row<T>(i), dx.tensor.row<T>(i) + d, T{0});
            for (int64_t k = 0; k < r; ++k) {
              if (dx) add_scaled(from + k * d, w.value().row<T>(i)[k], d, dx.tensor.row<T>(i));
              if (!dw) continue;
              T sum{0};
              for (int64_t j = 0; j < d; ++j) sum += from[k * d + j] * x.value().row<T>(i)[j];
              T& to = dw.tensor.row<T>(i)[k];
              to = sum + (dw.add ? to : T{0});
            }
          }
        });
      });
    });
  return y;
}

Var segment_softmax(Ctx& ctx, const Var& x, const Segments& segments) {
  check_pool("segment_softmax", x, segments);
  const int64_t r = x.cols();
  Var y = ctx.make(x.shape(), x.dtype(), {&x});
  ctx.run([&] {
    each_sequence(ctx, x.dtype(), segments, [&](auto t, int64_t s) {
      using T = decltype(t);
      const int64_t from = segments.begin(s), to = segments.begin(s + 1);
      for (int64_t k = 0; k < r; ++k) {
        double most = -HUGE_VAL, sum = 0;
        for (int64_t i = from; i < to; ++i) most = std::max(most, static_cast<double>(x.value().row<T>(i)[k]));
        for (int64_t i = from; i < to; ++i) sum += portable::exp(static_cast<double>(x.value().row<T>(i)[k]) - most);
        for (int64_t i = from; i < to; ++i)
          y.value().row<T>(i)[k] =
              static_cast<T>(portable::exp(static_cast<double>(x.value().row<T>(i)[k]) - most) / sum);
      }
    });
  });
  if (y.needs_grad())
    ctx.tape->push(y, [x = x.sink(), y, &segments, r](Ctx& ctx) {
      const Grad dx = ctx.grad(x);
      ctx.run([&] {
        const Tensor dy = ctx.grad_of(y.sink());
        each_sequence(ctx, dy.dtype, segments, [&](auto t, int64_t s) {
          using T = decltype(t);
          const int64_t from = segments.begin(s), to = segments.begin(s + 1);
          for (int64_t k = 0; k < r; ++k) {
            T sum{0};
            for (int64_t i = from; i < to; ++i) sum += y.value().row<T>(i)[k] * dy.row<T>(i)[k];
            for (int64_t i = from; i < to; ++i) {
              T& g = dx.tensor.row<T>(i)[k];
              g = y.value().row<T>(i)[k] * (dy.row<T>(i)[k] - sum) + (dx.add ? g : T{0});
            }
          }
        });
      });
    });
  return y;
}

}  // namespace attune
