// The three products of training, timed between measurements of the peak they are compared with.
#include <algorithm>
#include <vector>

#include "attune/bench.h"
#include "base/error.h"
#include "base/load.h"
#include "base/thread_pool.h"
#include "bench/timing.h"
#include "kernels/matrix/gemm.h"

namespace attune {

namespace {

GemmFigure measure_product(const GemmShape& s, const char* product, const GemmBench& bench, FunctionRef<void()> call) {
  const double flops = 2.0 * static_cast<double>(s.m) * static_cast<double>(s.n) * static_cast<double>(s.k);
  const Speed speed = measure_speed(flops, bench.threads, bench.seconds, call);
  return {s.m, s.n, s.k, product, speed.gflops, speed.share_of_peak};
}

void measure_shape(const GemmShape& s, const GemmBench& bench, ThreadPool& pool, std::vector<GemmFigure>& figures) {
  const auto [m, n, k] = s;
  const auto x = random_floats(m * k, 1), w = random_floats(k * n, 2), dy = random_floats(m * n, 3);
  const Aligned<float> y(m * n), dx(m * k), dw(n * k);
  const Aligned<float> panels(std::max(kernels::packed_floats(k, n), kernels::packed_floats(n, k)));

  // Weights are packed once per update, not once per product, so packing them is not part of the time.
  PackedMatrix packed = kernels::pack(w.data(), n, false, k, n, panels.data(), &pool);
  const kernels::Gemm forward{
      .m = m, .n = n, .k = k, .a = x.data(), .a_stride = k, .packed = &packed, .c = y.data(), .c_stride = n};
  figures.push_back(measure_product(s, "x W", bench, [&] { kernels::gemm(forward, &pool); }));

  packed = kernels::pack(w.data(), n, true, n, k, panels.data(), &pool);
  const kernels::Gemm to_input{
      .m = m, .n = k, .k = n, .a = dy.data(), .a_stride = n, .packed = &packed, .c = dx.data(), .c_stride = k};
  figures.push_back(measure_product(s, "dy W^T", bench, [&] { kernels::gemm(to_input, &pool); }));

  const kernels::Gemm to_weights{.m = n,
                                 .n = k,
                                 .k = m,
                                 .a = dy.data(),
                                 .a_stride = n,
                                 .a_transposed = true,
                                 .b = x.data(),
                                 .b_stride = k,
                                 .c = dw.data(),
                                 .c_stride = k};
  figures.push_back(measure_product(s, "dy^T x", bench, [&] { kernels::gemm(to_weights, &pool); }));
}

}  // namespace

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
  const LoadMeter meter;
  for (const auto& s : shapes) measure_shape(s, bench, pool, figures);
  note_load(meter, figures);
  return figures;
}

}  // namespace attune
