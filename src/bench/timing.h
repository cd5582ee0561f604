// Timing kernels between measurements of the peak they are compared with.
#pragma once
#include <cstdint>
#include <vector>

#include "base/aligned.h"
#include "base/function_ref.h"
#include "base/load.h"

namespace attune {

/// Uniform numbers in [-1, 1), fixed by the seed.
Aligned<float> random_floats(int64_t count, uint64_t seed);

struct Speed {
  double gflops = 0, share_of_peak = 0;
};

/// How fast `call`, of so many floating point operations, runs. The clock of a CPU drifts, so calls and peak take
/// turns: the speed is the best round's, the share is the median over rounds, each against the peak just before and
/// after it. Takes about `seconds`, or one call for each of the rounds.
Speed measure_speed(double flops, int threads, double seconds, FunctionRef<void()> call);

/// Writes what the meter saw into all figures.
template <class Figure>
void note_load(const LoadMeter& meter, std::vector<Figure>& figures) {
  const Load load = meter.load();
  for (Figure& f : figures) f.load = load;
}

}  // namespace attune
