// A table that anybody can work out again, a row for each position, as far as positions were ever asked for: what a
// recipe allows costs nothing, what a text has does.
#pragma once
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "tensor/tensor.h"

namespace attune {

/// For any number of threads at once. Rows that were given stay where they are: each table that is made is at least
/// twice as long as the one before, which is kept.
class GrowingRows {
 public:
  using Fill = std::function<void(const Tensor& table)>;  // [rows, width], from row 0 on
  GrowingRows(int64_t width, Fill fill) : width_(width), fill_(std::move(fill)) {}
  /// All that there are, f32 [rows or more, width].
  Tensor at_least(int64_t rows);
  Tensor first(int64_t rows) { return at_least(rows).row_range(0, rows); }

 private:
  int64_t width_, rows_ = 0;
  Fill fill_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<float[]>> tables_;
};

}  // namespace attune
