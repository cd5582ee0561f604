// Cutting work into fixed blocks: where a cut falls depends on the shape alone, never on the number of threads.
#pragma once
#include <algorithm>
#include <cstdint>

#include "base/thread_pool.h"

namespace attune::kernels {

inline constexpr int64_t kSmallWork = 32768;  // elements below which waking a thread costs more than it saves
inline constexpr int64_t kBlockWork = 16384;  // elements of one block
inline constexpr int64_t kColumnBlock = 64;   // columns of one block, where the rows are a chain

/// How many rows of `cols` elements make a block.
inline int64_t rows_per_block(int64_t cols) { return std::max<int64_t>(1, kBlockWork / std::max<int64_t>(cols, 1)); }

/// body(from, to) for every block of `each` in [0, n); all at once on this thread when `work`, in elements, is small.
/// Blocks must be independent of each other: a result may not depend on where the cuts fall.
template <class Body>
void for_blocks(ThreadPool* pool, int64_t n, int64_t each, int64_t work, const Body& body) {
  if (n <= 0) return;
  if (!pool || work < kSmallWork) return body(int64_t{0}, n);
  parallel_for(pool, (n + each - 1) / each,
               [&](int64_t block, int) { body(block * each, std::min(n, (block + 1) * each)); });
}

}  // namespace attune::kernels
