#include "bench/timing.h"

#include <algorithm>
#include <thread>
#include <vector>

#include "attune/bench.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/random.h"
#include "kernels/matrix/gemm.h"

namespace attune {

namespace {

constexpr int kRounds = 7;

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

/// Seconds of one call, from as many as fit `seconds` (at least one). Of one thread its processor time counts, of more
/// the time that passes.
double time_calls(int threads, double seconds, FunctionRef<void()> call) {
  const auto now = threads == 1 ? thread_seconds : now_seconds;
  const double start = now();
  int64_t calls = 0;
  double passed = 0;
  do {
    call();
    ++calls;
    passed = now() - start;
  } while (passed < seconds);
  return passed / static_cast<double>(calls);
}

}  // namespace

Aligned<float> random_floats(int64_t count, uint64_t seed) {
  Aligned<float> f(count);
  Random random(seed);
  for (int64_t i = 0; i < count; ++i) f.data()[i] = static_cast<float>(random.uniform(-1, 1));
  return f;
}

Speed measure_speed(double flops, int threads, double seconds, FunctionRef<void()> call) {
  Speed speed;
  call();  // takes the packing space and wakes the threads
  std::vector<double> shares;
  double before = peak(threads, 0.2 * seconds / kRounds);
  for (int round = 0; round < kRounds; ++round) {
    const double gflops = flops * 1e-9 / time_calls(threads, 0.8 * seconds / kRounds, call);
    const double after = peak(threads, 0.2 * seconds / kRounds);
    shares.push_back(gflops / (0.5 * (before + after)));
    speed.gflops = std::max(speed.gflops, gflops);
    before = after;
  }
  std::nth_element(shares.begin(), shares.begin() + kRounds / 2, shares.end());
  speed.share_of_peak = shares[kRounds / 2];
  return speed;
}

double peak_gflops(int threads) {
  check(threads >= 1, "peak", "{} threads", threads);
  return peak(threads, 0.05);
}

}  // namespace attune
