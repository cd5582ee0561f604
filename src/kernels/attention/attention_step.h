// Softmax attention of single rows, for decoding: each row has one query and a list of keys of its own, which lie
// wherever they were written. A row's bits depend on its own query and keys alone.
#pragma once
#include <cstdint>

#include "base/thread_pool.h"
#include "kernels/attention/attention.h"

namespace attune::kernels {

/// Vectors in pages of 2^page_bits rows, `stride` floats apart; a single matrix is one large page.
struct PagedRows {
  const float* const* pages = nullptr;
  int page_bits = 62;
  int64_t stride = 0;
  int64_t column = 0;  // where head 0 begins

  const float* row(int64_t i) const {
    return pages[i >> page_bits] + (i & ((int64_t{1} << page_bits) - 1)) * stride + column;
  }
};

/// out[i, h] = softmax over j of (scale q[i, h] . key_j) times value_j. The j-th key of row i is the row
/// ids[j * rows + i] of `keys` and `values`, or first[i] + j where there are no ids. A row without keys becomes zeros.
struct AttentionStep {
  int64_t rows = 0, heads = 1, heads_kv = 1, dim = 0;
  float scale = 1;
  Rows q, out;
  PagedRows keys, values;
  const int32_t* ids = nullptr;                      // [longest, rows]: then every row has `longest` keys
  const int32_t *first = nullptr, *count = nullptr;  // [rows]
  int64_t longest = 0;                               // keys of the row that has most
  const TileHook* hook = nullptr;                    // sees tiles of one row, the last of `positions`
  HookTables tables = {};
  int64_t positions = 0;  // so far, this step's included: a row's keys are the last of them; 0: it has all
  const int32_t* key_places = nullptr;  // [longest]: where they stand if they are others; the query is at the last
  void* scratch = nullptr;              // attention_step_scratch bytes
};
void attention_step(const AttentionStep& a, ThreadPool* pool = nullptr);

int64_t attention_step_scratch(int64_t longest, int workers, const TileHook* hook = nullptr, int64_t dim = 0);

}  // namespace attune::kernels
