// Cutting row-wise work for a pool: blocks whose size follows from the shape alone.
#pragma once
#include <algorithm>
#include <cstdint>

#include "base/thread_pool.h"

namespace attune::kernels {

/// Below this many elements waking a second thread costs more than it saves.
inline constexpr int64_t kSmallWork = 32768;

inline bool worth_a_pool(const ThreadPool* pool, int64_t elements) {
  return workers_of(pool) > 1 && elements >= kSmallWork;
}

/// body(from, to) over blocks of [0, count), `each` long but for the last; in one piece on the caller when the whole
/// is not worth a pool.
inline void for_blocks(ThreadPool* pool, int64_t count, int64_t each, int64_t elements,
                       FunctionRef<void(int64_t from, int64_t to)> body) {
  if (count <= 0) return;
  if (!worth_a_pool(pool, elements)) return body(0, count);
  parallel_for(pool, (count + each - 1) / each,
               [&](int64_t block, int) { body(block * each, std::min(count, (block + 1) * each)); });
}

/// The same over rows of `cols` elements, some 16k elements a block.
inline void for_row_blocks(ThreadPool* pool, int64_t rows, int64_t cols,
                           FunctionRef<void(int64_t from, int64_t to)> body) {
  for_blocks(pool, rows, std::max<int64_t>(1, kSmallWork / 2 / std::max<int64_t>(1, cols)), rows * cols, body);
}

}  // namespace attune::kernels
