// Which columns random numbers choose by weight, when only the heaviest may be chosen.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace attune::kernels {

/// The k heaviest (0: all), and of these the fewest that have the share p of their weight together.
struct Heaviest {
  int64_t k = 0;
  double p = 1;
};

/// ids[d] by random[d], from 0 to below 1. Weights are at least 0, and not all 0. Of equal ones the lower column is
/// counted as the heavier. `scratch` is memory to use again.
void draw_columns(std::span<const float> weights, const Heaviest& of, std::span<const double> random,
                  std::vector<int32_t>& scratch, int32_t* ids);

}  // namespace attune::kernels
