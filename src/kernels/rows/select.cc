#include "kernels/rows/select.h"

#include <algorithm>
#include <numeric>

#include "base/denormals.h"
#include "kernels/row_blocks.h"

namespace attune::kernels {

namespace {

/// Whether element a comes before element b. Keys lie `stride` apart. x != x finds NaN.
template <class T, bool kDescending>
struct Before {
  const T* keys;
  int64_t stride;
  bool operator()(int32_t a, int32_t b) const {
    const T x = keys[a * stride], y = keys[b * stride];
    if (x < y) return !kDescending;
    if (y < x) return kDescending;
    const bool x_nan = x != x, y_nan = y != y;
    if (x_nan != y_nan) return x_nan != kDescending;
    return a < b;
  }
};

template <class T>
void sort_ids(int32_t* ids, int64_t n, const T* keys, int64_t stride, bool descending) {
  if (descending)
    std::sort(ids, ids + n, Before<T, true>{keys, stride});
  else
    std::sort(ids, ids + n, Before<T, false>{keys, stride});
}

/// f with a value of the key's type.
template <class F>
void by_key_type(DType type, F&& f) {
  if (type == DType::i32)
    f(int32_t{});
  else
    by_type(type, f);
}

template <class T>
void top_k_rows(const TopK& p, int64_t first, int64_t last, int32_t* space) {
  const FlushDenormals flushed;
  const int64_t cols = p.x.cols(), k = p.ids.cols();
  for (int64_t i = first; i < last; ++i) {
    const T* x = p.x.row<T>(i);
    std::iota(space, space + cols, 0);
    std::partial_sort(space, space + k, space + cols, Before<T, true>{x, 1});
    for (int64_t j = 0; j < k; ++j) {
      p.ids.row<int32_t>(i)[j] = space[j];
      p.values.row<T>(i)[j] = x[space[j]];
    }
  }
}

template <class T>
void top_k_backward_rows(const Tensor& dy, const Tensor& ids, const Tensor& dx, bool add, int64_t first, int64_t last) {
  const FlushDenormals flushed;
  for (int64_t i = first; i < last; ++i) {
    T* to = dx.row<T>(i);
    if (!add) std::fill_n(to, dx.cols(), T{0});
    for (int64_t j = 0; j < ids.cols(); ++j) to[ids.row<int32_t>(i)[j]] += dy.row<T>(i)[j];
  }
}

}  // namespace

void top_k(const TopK& p, ThreadPool* pool) {
  const int64_t rows = p.x.rows(), cols = p.x.cols(), each = rows_per_block(cols);
  if (p.x.size() < kSmallWork) pool = nullptr;
  by_type(p.x.dtype, [&](auto t) {
    parallel_for(pool, (rows + each - 1) / each, [&](int64_t block, int worker) {
      top_k_rows<decltype(t)>(p, block * each, std::min(rows, (block + 1) * each), p.space + worker * cols);
    });
  });
}

void top_k_backward(const Tensor& dy, const Tensor& ids, const Tensor& dx, bool add, ThreadPool* pool) {
  by_type(dx.dtype, [&](auto t) {
    for_row_blocks(pool, dx.rows(), dx.cols(), [&](int64_t first, int64_t last) {
      top_k_backward_rows<decltype(t)>(dy, ids, dx, add, first, last);
    });
  });
}

void argsort_rows(const Tensor& keys, bool descending, const Tensor& ids, ThreadPool* pool) {
  const int64_t cols = keys.cols();
  by_key_type(keys.dtype, [&](auto t) {
    for_blocks(pool, keys.rows(), rows_per_block(cols), keys.size(), [&](int64_t first, int64_t last) {
      const FlushDenormals flushed;
      for (int64_t i = first; i < last; ++i) {
        int32_t* to = ids.row<int32_t>(i);
        std::iota(to, to + cols, 0);
        sort_ids(to, cols, keys.row<decltype(t)>(i), 1, descending);
      }
    });
  });
}

void argsort_segments(const Tensor& keys, const Segments& segments, bool descending, const Tensor& ids,
                      ThreadPool* pool) {
  // Keys come as one row, or as a column, whose elements lie a stride apart.
  const int64_t stride = keys.cols() == 1 ? keys.stride : 1;
  int32_t* to = ids.as<int32_t>();
  by_key_type(keys.dtype, [&](auto t) {
    for_blocks(pool, segments.count(), 1, keys.size(), [&](int64_t first, int64_t last) {
      const FlushDenormals flushed;
      for (int64_t s = first; s < last; ++s) {
        const int64_t begin = segments.begin(s), n = segments.length(s);
        std::iota(to + begin, to + begin + n, static_cast<int32_t>(begin));
        sort_ids(to + begin, n, keys.as<decltype(t)>(), stride, descending);
      }
    });
  });
}

}  // namespace attune::kernels
