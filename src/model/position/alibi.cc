#include "model/position/alibi.h"

#include <bit>
#include <cmath>

#include "base/error.h"
#include "base/portable_math.h"

namespace attune {

std::vector<double> alibi_slopes(int64_t heads) {
  const auto below = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(heads)));
  std::vector<double> slopes;
  for (int64_t h = 1; h <= below; ++h)
    slopes.push_back(portable::exp2(-8 * static_cast<double>(h) / static_cast<double>(below)));
  for (int64_t h = 1; std::ssize(slopes) < heads; h += 2)
    slopes.push_back(portable::exp2(-8 * static_cast<double>(h) / static_cast<double>(2 * below)));
  return slopes;
}

void AlibiScores::check_tables(const std::array<Var, 2>& tables, int64_t heads, int64_t) const {
  check(heads == std::ssize(slopes_), "alibi", "it was made for {} heads, there are {}", slopes_.size(), heads);
  check(!tables[0] && !tables[1], "alibi", "it reads no tables");
}

void AlibiScores::scores(const ScoreTile& tile, const HookTables&, float* s) const {
  const double slope = slopes_[static_cast<size_t>(tile.head)];
  kernels::add_biases(
      tile, s, [&](int64_t distance) { return static_cast<float>(-slope * static_cast<double>(std::abs(distance))); });
}

Var AlibiScores::scores_reference(Ctx& ctx, const Var& q, const ReferencePlace& place) const {
  const Var bias = ctx.make(Shape{place.queries, place.keys}, q.dtype(), {});
  const double slope = slopes_[static_cast<size_t>(place.head)];
  ctx.run([&] {
    by_type(q.dtype(), [&](auto t) {
      using T = decltype(t);
      for (int64_t i = 0; i < place.queries; ++i)
        for (int64_t j = 0; j < place.keys; ++j)
          bias.value().row<T>(i)[j] = static_cast<T>(-slope * static_cast<double>(std::abs(place.distance(i, j))));
    });
  });
  return bias;
}

}  // namespace attune
