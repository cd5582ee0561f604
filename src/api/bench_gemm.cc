// The three products of training, timed between measurements of the peak they are compared with.
#include <algorithm>
#include <memory>
#include <new>
#include <thread>
#include <vector>

#include "attune/bench.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/function_ref.h"
#include "base/random.h"
#include "base/thread_pool.h"
#include "kernels/gemm.h"

namespace attune {

namespace {

constexpr int kRounds = 5;  // peak, product, peak, product ...: the best of each counts

double peak(int threads, double seconds) {
  std::vector<double> each(static_cast<size_t>(threads));
  std::vector<std::thread> others;
  for (size_t t = 1; t < each.size(); ++t)
    others.emplace_back([&each, t, seconds] { each[t] = kernels::measure_peak_gflops(seconds); });
  each[0] = kernels::measure_peak_gflops(seconds);
  for (auto& t : others) t.join();
  double sum = 0;
  for (double g : each) sum += g;
  return sum;
}

struct Free {
  void operator()(float* p) const { ::operator delete[](p, std::align_val_t(64)); }
};
using Floats = std::unique_ptr<float[], Free>;

Floats make_floats(int64_t n, uint64_t seed) {
  Floats f(static_cast<float*>(::operator new[](static_cast<size_t>(n) * sizeof(float), std::align_val_t(64))));
  Random random(seed);
  for (int64_t i = 0; i < n; ++i) f[static_cast<size_t>(i)] = static_cast<float>(random.uniform(-1, 1));
  return f;
}

/// Seconds of one call, from as many as fit `seconds` (at least one).
double time_calls(double seconds, FunctionRef<void()> call) {
  const Stopwatch watch;
  int64_t calls = 0;
  do {
    call();
    ++calls;
  } while (watch.seconds() < seconds);
  return watch.seconds() / static_cast<double>(calls);
}

GemmFigure measure(const GemmShape& s, const char* product, const GemmBench& bench, FunctionRef<void()> call) {
  const double flops = 2.0 * static_cast<double>(s.m) * static_cast<double>(s.n) * static_cast<double>(s.k);
  GemmFigure figure{s.m, s.n, s.k, product, 0, 0};
  double best_peak = 0;
  call();  // takes the packing space and wakes the threads
  for (int round = 0; round < kRounds; ++round) {
    best_peak = std::max(best_peak, peak(bench.threads, 0.2 * bench.seconds / kRounds));
    figure.gflops = std::max(figure.gflops, flops * 1e-9 / time_calls(0.8 * bench.seconds / kRounds, call));
  }
  figure.share_of_peak = figure.gflops / best_peak;
  return figure;
}

void measure_shape(const GemmShape& s, const GemmBench& bench, ThreadPool& pool, std::vector<GemmFigure>& figures) {
  const auto [m, n, k] = s;
  const Floats x = make_floats(m * k, 1), w = make_floats(k * n, 2), dy = make_floats(m * n, 3);
  const Floats y = make_floats(m * n, 4), dx = make_floats(m * k, 5), dw = make_floats(n * k, 6);
  const Floats panels = make_floats(std::max(kernels::packed_floats(k, n), kernels::packed_floats(n, k)), 7);

  // Weights are packed once per update, not once per product, so packing them is not part of the time.
  PackedMatrix packed = kernels::pack(w.get(), n, false, k, n, panels.get(), &pool);
  const kernels::Gemm forward{
      .m = m, .n = n, .k = k, .a = x.get(), .a_stride = k, .packed = &packed, .c = y.get(), .c_stride = n};
  figures.push_back(measure(s, "x W", bench, [&] { kernels::gemm(forward, &pool); }));

  packed = kernels::pack(w.get(), n, true, n, k, panels.get(), &pool);
  const kernels::Gemm to_input{
      .m = m, .n = k, .k = n, .a = dy.get(), .a_stride = n, .packed = &packed, .c = dx.get(), .c_stride = k};
  figures.push_back(measure(s, "dy W^T", bench, [&] { kernels::gemm(to_input, &pool); }));

  const kernels::Gemm to_weights{.m = n,
                                 .n = k,
                                 .k = m,
                                 .a = dy.get(),
                                 .a_stride = n,
                                 .a_transposed = true,
                                 .b = x.get(),
                                 .b_stride = k,
                                 .c = dw.get(),
                                 .c_stride = k};
  figures.push_back(measure(s, "dy^T x", bench, [&] { kernels::gemm(to_weights, &pool); }));
}

}  // namespace

double peak_gflops(int threads) {
  check(threads >= 1, "peak", "{} threads", threads);
  return peak(threads, 0.05);
}

std::vector<GemmFigure> bench_gemm(const GemmBench& bench) {
  check(bench.threads >= 1, "bench gemm", "{} threads", bench.threads);
  check(bench.seconds > 0, "bench gemm", "{} seconds per product", bench.seconds);
  std::vector<GemmShape> shapes = bench.shapes;
  if (shapes.empty())
    shapes = {{4096, 384, 128}, {4096, 128, 384},  {4096, 512, 512}, {4096, 2048, 512}, {4096, 512, 2048},
              {1024, 512, 512}, {1024, 2048, 512}, {256, 8000, 128}, {256, 8000, 512},  {40, 512, 512},
              {5, 512, 512},    {5, 128, 128},     {1, 512, 512}};
  for (const auto& s : shapes) {
    check(s.m > 0 && s.n > 0 && s.k > 0, "bench gemm", "shape {}x{}x{}", s.m, s.n, s.k);
    check(static_cast<double>(s.m) * static_cast<double>(s.n) * static_cast<double>(s.k) < 1e13, "bench gemm",
          "shape {}x{}x{} would take minutes", s.m, s.n, s.k);
  }
  ThreadPool pool(bench.threads);
  std::vector<GemmFigure> figures;
  for (const auto& s : shapes) measure_shape(s, bench, pool, figures);
  return figures;
}

}  // namespace attune
