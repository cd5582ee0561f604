// Lines that a model reads together, as many as the tokens allow: one group after another where there is one, each on a
// thread of its own where there are several.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/thread_pool.h"

namespace attune {

/// run(from, end, inner) for runs of lines [from, end) that cost up to `most` together, or are a single one; every
/// thread gets a part. `inner` is the pool that a run may use, nullptr where each has a thread.
template <class Cost, class Run>
void for_line_groups(ThreadPool& pool, size_t lines, int64_t most, Cost cost, Run run) {
  int64_t total = 0, sum = 0;
  for (size_t i = 0; i < lines; ++i) total += cost(i);
  most = std::min(most, (total + pool.threads() - 1) / pool.threads());
  std::vector<size_t> borders;
  for (size_t i = 0; i < lines; ++i) {
    const int64_t own = cost(i);
    if (borders.empty() || sum + own > most) {
      borders.push_back(i);
      sum = 0;
    }
    sum += own;
  }
  borders.push_back(lines);
  if (borders.size() == 2) return run(borders[0], borders[1], &pool);
  parallel_for(&pool, std::ssize(borders) - 1, [&](int64_t g, int) {
    run(borders[static_cast<size_t>(g)], borders[static_cast<size_t>(g) + 1], static_cast<ThreadPool*>(nullptr));
  });
}

}  // namespace attune
