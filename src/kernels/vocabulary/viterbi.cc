#include "kernels/vocabulary/viterbi.h"

#include "base/error.h"

namespace attune {

std::vector<int32_t> best_labels(const Tensor& scores, const Tensor& moves) {
  const int64_t n = scores.rows(), labels = scores.cols();
  check(moves.rows() == labels + 2 && moves.cols() == labels, "best_labels", "moves are {} for {} labels",
        moves.shape.text(), labels);
  if (n == 0) return {};
  const auto move = [&](int64_t from, int64_t to) { return static_cast<double>(moves.row<float>(from)[to]); };
  const auto score = [&](int64_t t, int64_t label) { return static_cast<double>(scores.row<float>(t)[label]); };
  std::vector<int32_t> before(static_cast<size_t>(n * labels));  // the label that leads to each best
  std::vector<double> best(static_cast<size_t>(labels)), next(best);
  for (int64_t j = 0; j < labels; ++j) best[static_cast<size_t>(j)] = move(labels, j) + score(0, j);
  const auto lead = [&](auto&& through) {
    int64_t first = 0;
    for (int64_t i = 1; i < labels; ++i)
      if (best[static_cast<size_t>(i)] + through(i) > best[static_cast<size_t>(first)] + through(first)) first = i;
    return first;
  };
  for (int64_t t = 1; t < n; ++t) {
    for (int64_t j = 0; j < labels; ++j) {
      const int64_t i = lead([&](int64_t from) { return move(from, j); });
      before[static_cast<size_t>(t * labels + j)] = static_cast<int32_t>(i);
      next[static_cast<size_t>(j)] = best[static_cast<size_t>(i)] + move(i, j) + score(t, j);
    }
    best.swap(next);
  }
  std::vector<int32_t> path(static_cast<size_t>(n));
  path.back() = static_cast<int32_t>(lead([&](int64_t last) { return move(labels + 1, last); }));
  for (int64_t t = n - 1; t > 0; --t)
    path[static_cast<size_t>(t) - 1] = before[static_cast<size_t>(t * labels + path[static_cast<size_t>(t)])];
  return path;
}

}  // namespace attune
