// Fused attention, forward and backward, timed between measurements of the peak.
#include <algorithm>
#include <cmath>

#include "api/timing.h"
#include "attune/bench.h"
#include "base/error.h"
#include "kernels/attention.h"

namespace attune {

namespace {

AttentionFigure measure(const AttentionBench& bench, const Segments& segments, ThreadPool& pool) {
  const int64_t n = segments.rows(), d = int64_t{bench.heads} * bench.dim;
  const auto q = random_floats(n * d, 1), k = random_floats(n * d, 2), v = random_floats(n * d, 3);
  const auto dout = random_floats(n * d, 4);
  const Aligned<float> out(n * d), dq(n * d), dk(n * d), dv(n * d), log_sum(n * bench.heads);
  kernels::AttentionShape shape;
  shape.queries = shape.keys = &segments;
  shape.heads = shape.heads_kv = bench.heads;
  shape.dim = bench.dim;
  shape.scale = 1 / std::sqrt(static_cast<float>(bench.dim));
  shape.mask = bench.band ? Mask::band(bench.band, bench.causal) : bench.causal ? Mask::past() : Mask::none();
  shape.dropout.rate = static_cast<float>(bench.dropout);
  const int64_t scratch_bytes = std::max(kernels::attention_scratch(shape, bench.threads, false),
                                         kernels::attention_scratch(shape, bench.threads, true));
  const Aligned<char> scratch(scratch_bytes);
  const auto rows = [&](const Aligned<float>& x) { return kernels::Rows{x.data(), d}; };
  const kernels::AttentionForward forward{shape, rows(q), rows(k), rows(v), rows(out), log_sum.data(), scratch.data()};
  kernels::AttentionBackward backward;
  backward.shape = shape;
  backward.q = rows(q);
  backward.k = rows(k);
  backward.v = rows(v);
  backward.out = rows(out);
  backward.dout = rows(dout);
  backward.log_sum = log_sum.data();
  backward.dq = rows(dq);
  backward.dk = rows(dk);
  backward.dv = rows(dv);
  backward.scratch = scratch.data();

  const double flops = 4.0 * kernels::pairs_seen(shape.mask, segments) * static_cast<double>(d);
  const Speed f =
      measure_speed(flops, bench.threads, bench.seconds, [&] { kernels::attention_forward(forward, &pool); });
  const Speed b =
      measure_speed(2.5 * flops, bench.threads, bench.seconds, [&] { kernels::attention_backward(backward, &pool); });
  AttentionFigure figure;
  figure.forward_gflops = f.gflops;
  figure.forward_share_of_peak = f.share_of_peak;
  figure.forward_ms = flops * 1e-6 / f.gflops;
  figure.backward_gflops = b.gflops;
  figure.backward_share_of_peak = b.share_of_peak;
  figure.backward_ms = 2.5 * flops * 1e-6 / b.gflops;
  figure.rows = n;
  figure.peak_mb = static_cast<double>(scratch_bytes + 4 * (8 * n * d + n * bench.heads)) / (1 << 20);
  return figure;
}

}  // namespace

std::vector<AttentionFigure> bench_attention(const AttentionBench& bench) {
  check(bench.threads >= 1, "bench attention", "{} threads", bench.threads);
  check(bench.seconds > 0, "bench attention", "{} seconds per figure", bench.seconds);
  check(bench.heads >= 1 && bench.dim >= 1, "bench attention", "{} heads of {}", bench.heads, bench.dim);
  check(bench.band >= 0, "bench attention", "a band of {}", bench.band);
  check(bench.dropout >= 0 && bench.dropout < 1, "bench attention", "a dropout rate of {}", bench.dropout);
  ThreadPool pool(bench.threads);
  std::vector<AttentionFigure> figures;
  for (int64_t length : bench.lengths) {
    check(length >= 1 && length <= (1 << 20), "bench attention", "a length of {}, not 1 to {}", length, 1 << 20);
    const int64_t count = std::max<int64_t>(1, bench.rows / length);
    const Segments segments =
        Segments::of_lengths(std::vector<int32_t>(static_cast<size_t>(count), static_cast<int32_t>(length)));
    figures.push_back(measure(bench, segments, pool));
    figures.back().length = length;
  }
  if (bench.sentences > 0) {
    Random random(1);
    std::vector<int32_t> lengths(static_cast<size_t>(bench.sentences));
    for (auto& n : lengths) n = static_cast<int32_t>(8 + random.below(23));
    figures.push_back(measure(bench, Segments::of_lengths(lengths), pool));
  }
  return figures;
}

}  // namespace attune
