// What a search may say next: the most probable columns of each row of logits, without writing all probabilities down.
#pragma once
#include <cstdint>
#include <span>

#include "base/thread_pool.h"
#include "tensor/tensor.h"

namespace attune::kernels {

/// What may not be said: those columns count in the softmax and are never chosen.
struct Unsaid {
  std::span<const int32_t> hidden = {};  // in no row
  /// In row i: banned[start[i]] to banned[start[i + 1] - 1]. None where start is empty.
  std::span<const int32_t> start = {}, banned = {};
  /// Of each row the only column it may choose, whatever is hidden or banned; -1: any. None: any in all rows.
  std::span<const int32_t> forced = {};

  std::span<const int32_t> banned_in(int64_t row) const {
    if (start.empty()) return {};
    const auto i = static_cast<size_t>(row);
    return banned.subspan(static_cast<size_t>(start[i]), static_cast<size_t>(start[i + 1] - start[i]));
  }
  int32_t forced_in(int64_t row) const { return forced.empty() ? -1 : forced[static_cast<size_t>(row)]; }
};

/// log softmax(x)[i, j] for the `ids.cols()` largest columns j of each row, largest first; of equal ones the lower
/// column. Where there are too few (unsaid, minus infinity or not a number), ids are -1 and the log-probability is
/// minus infinity. Spoils x.
struct Candidates {
  Tensor x = {};  // [n, V], f32
  Unsaid unsaid = {};
  Tensor ids = {}, log_probs = {};  // [n, k]: i32, f32
};
void candidates(const Candidates& a, ThreadPool* pool = nullptr);

/// Columns drawn at random by their probabilities: softmax(x / temperature), of which the top_k most probable stay (0:
/// all), and of these the fewest that have the share top_p together (Holtzman et al. 2020, "The curious case of neural
/// text degeneration"). Equal ones: the lower column comes first. log_probs are those of softmax(x). Where nothing can
/// be said: as above. Spoils x.
struct Draws {
  Tensor x = {};  // [n, V], f32
  Unsaid unsaid = {};
  double temperature = 1;
  int64_t top_k = 0;
  double top_p = 1;
  std::span<const double> random = {};  // [n, k], from 0 to below 1
  Tensor ids = {}, log_probs = {};      // [n, k]: i32, f32
};
void draws(const Draws& a, ThreadPool* pool = nullptr);

}  // namespace attune::kernels
