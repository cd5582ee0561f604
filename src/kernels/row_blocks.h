// Cutting work into fixed blocks for a pool: where a cut falls depends on the shape alone, never on the number of
// threads.
#pragma once
#include <algorithm>
#include <cstdint>

#include "base/thread_pool.h"

namespace attune::kernels {

inline constexpr int64_t kSmallWork = 32768;  // elements below which waking a thread costs more than it saves
inline constexpr int64_t kBlockWork = 16384;  // elements of one block
inline constexpr int64_t kColumnBlock = 64;   // columns of one block, where the rows are a chain

inline bool worth_a_pool(const ThreadPool* pool, int64_t elements) {
  return workers_of(pool) > 1 && elements >= kSmallWork;
}

/// How many rows of `cols` elements make a block.
inline int64_t rows_per_block(int64_t cols) { return std::max<int64_t>(1, kBlockWork / std::max<int64_t>(cols, 1)); }

/// body(from, to) over blocks of [0, count), `each` long but for the last; in one piece on the caller when the whole,
/// in elements, is not worth a pool. Blocks must be independent of each other: a result may not depend on the cuts.
/// The body is called through a pointer, so that it is compiled once.
inline void for_blocks(ThreadPool* pool, int64_t count, int64_t each, int64_t elements,
                       FunctionRef<void(int64_t from, int64_t to)> body) {
  if (count <= 0) return;
  if (!worth_a_pool(pool, elements)) return body(0, count);
  parallel_for(pool, (count + each - 1) / each,
               [&](int64_t block, int) { body(block * each, std::min(count, (block + 1) * each)); });
}

/// The same over rows of `cols` elements.
inline void for_row_blocks(ThreadPool* pool, int64_t rows, int64_t cols,
                           FunctionRef<void(int64_t from, int64_t to)> body) {
  for_blocks(pool, rows, rows_per_block(cols), rows * cols, body);
}

}  // namespace attune::kernels
