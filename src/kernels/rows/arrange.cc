#include "kernels/rows/arrange.h"

#include <algorithm>
#include <cstring>

#include "base/denormals.h"
#include "kernels/row_blocks.h"

namespace attune::kernels {

namespace {

char* bytes_at(const Tensor& t, int64_t row) { return static_cast<char*>(t.data) + row * t.stride * bytes_of(t.dtype); }

template <class T>
void add_row(const T* from, T* to, int64_t n) {
  for (int64_t j = 0; j < n; ++j) to[j] += from[j];
}

/// to's row (+)= from's row.
void move_row(const Tensor& from, int64_t i, const Tensor& to, int64_t j, bool add) {
  if (add)
    by_type(to.dtype, [&](auto t) { add_row(from.row<decltype(t)>(i), to.row<decltype(t)>(j), to.cols()); });
  else
    std::memcpy(bytes_at(to, j), bytes_at(from, i), static_cast<size_t>(to.cols() * bytes_of(to.dtype)));
}

/// body(from, to) over the rows of t in blocks.
template <class Body>
void over_rows(const Tensor& t, ThreadPool* pool, const Body& body) {
  if (t.size() == 0) return;  // also keeps memcpy from the null data of empty tensors
  for_row_blocks(pool, t.rows(), t.cols(), [&](int64_t from, int64_t to) {
    const FlushDenormals flushed;
    body(from, to);
  });
}

/// Rows [first, last) of the transposed matrices, in squares that pass through a buffer: rows that lie a power of two
/// apart share few places in the cache, so each is read and written in whole lines.
template <class T>
void transpose_rows(const Tensor& from, const Tensor& to, bool add, int64_t first, int64_t last) {
  constexpr int64_t side = 16;
  const int rank = to.shape.rank();
  const int64_t rows = to.shape[rank - 2], cols = to.shape[rank - 1];
  T square[side][side];
  for (int64_t r = first, count = 0; r < last; r += count) {
    const int64_t j = r % rows;
    count = std::min({side, last - r, rows - j});
    for (int64_t i = 0; i < cols; i += side) {
      const int64_t n = std::min(side, cols - i);
      for (int64_t p = 0; p < n; ++p) {
        const T* s = from.row<T>(r / rows * cols + i + p) + j;
        for (int64_t q = 0; q < count; ++q) square[q][p] = s[q];
      }
      for (int64_t q = 0; q < count; ++q) {
        T* d = to.row<T>(r + q) + i;
        for (int64_t p = 0; p < n; ++p) d[p] = add ? d[p] + square[q][p] : square[q][p];
      }
    }
  }
}

template <class T>
void scatter_columns(const Tensor& from, const int32_t* ids, const Tensor& to, int64_t first, int64_t last) {
  for (int64_t i = 0; i < from.rows(); ++i) add_row(from.row<T>(i) + first, to.row<T>(ids[i]) + first, last - first);
}

}  // namespace

void copy(const Tensor& from, const Tensor& to, bool add, ThreadPool* pool) {
  over_rows(to, pool, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) move_row(from, i, to, i, add);
  });
}

void fill_zero(const Tensor& to, ThreadPool* pool) {
  over_rows(to, pool, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i)
      std::memset(bytes_at(to, i), 0, static_cast<size_t>(to.cols() * bytes_of(to.dtype)));
  });
}

void transpose(const Tensor& from, const Tensor& to, bool add, ThreadPool* pool) {
  over_rows(to, pool, [&](int64_t first, int64_t last) {
    by_type(to.dtype, [&](auto t) { transpose_rows<decltype(t)>(from, to, add, first, last); });
  });
}

bool ids_fit(const Tensor& ids, int64_t rows, int64_t* at) {
  const int32_t* id = ids.as<int32_t>();
  for (*at = 0; *at < ids.size(); ++*at)
    if (id[*at] < 0 || id[*at] >= rows) return false;
  return true;
}

void gather_rows(const Tensor& from, const Tensor& ids, const Tensor& to, bool add, ThreadPool* pool) {
  const int32_t* id = ids.as<int32_t>();
  over_rows(to, pool, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) move_row(from, id[i], to, i, add);
  });
}

/// Threads share the columns: each output row must see its inputs in order.
void scatter_add_rows(const Tensor& from, const Tensor& ids, const Tensor& to, ThreadPool* pool) {
  if (from.size() == 0) return;
  for_blocks(pool, from.cols(), kColumnBlock, from.size(), [&](int64_t first, int64_t last) {
    const FlushDenormals flushed;
    by_type(to.dtype, [&](auto t) { scatter_columns<decltype(t)>(from, ids.as<int32_t>(), to, first, last); });
  });
}

}  // namespace attune::kernels
