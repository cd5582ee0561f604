#include "tensor/step_order.h"

#include <algorithm>
#include <numeric>

namespace attune {

StepOrder::StepOrder(const Segments& s, bool backwards) : order(static_cast<size_t>(s.count())) {
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) { return s.length(a) > s.length(b); });
  active.reserve(static_cast<size_t>(s.longest));
  row.reserve(static_cast<size_t>(s.rows()));
  int64_t going_on = s.count();
  for (int64_t t = 0; t < s.longest; ++t) {
    while (going_on > 0 && s.length(order[static_cast<size_t>(going_on - 1)]) <= t) --going_on;
    active.push_back(static_cast<int32_t>(going_on));
    for (int64_t i = 0; i < going_on; ++i) {
      const int32_t o = order[static_cast<size_t>(i)];
      row.push_back(static_cast<int32_t>(s.begin(o) + (backwards ? s.length(o) - 1 - t : t)));
    }
  }
}

}  // namespace attune
