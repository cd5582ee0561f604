#include "kernels/vocabulary/viterbi.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "base/portable_math.h"

namespace attune {

namespace {

void check_moves(const Tensor& scores, const Tensor& moves) {
  const int64_t labels = scores.cols();
  check(moves.rows() == labels + 2 && moves.cols() == labels, "best_labels", "moves are {} for {} labels",
        moves.shape.text(), labels);
}

/// log sum exp of term(0) to term(count - 1); of what is impossible alone, -inf.
template <class Term>
double log_sum(int64_t count, Term term) {
  double most = -std::numeric_limits<double>::infinity(), sum = 0;
  for (int64_t i = 0; i < count; ++i) most = std::max(most, term(i));
  if (std::isinf(most)) return most;
  for (int64_t i = 0; i < count; ++i) sum += portable::exp(term(i) - most);
  return most + portable::log(sum);
}

}  // namespace

void label_marginals(const Tensor& scores, const Tensor& moves, float* out) {
  check_moves(scores, moves);
  const int64_t n = scores.rows(), labels = scores.cols();
  if (n == 0) return;
  const auto move = [&](int64_t from, int64_t to) { return static_cast<double>(moves.row<float>(from)[to]); };
  const auto score = [&](int64_t t, int64_t label) { return static_cast<double>(scores.row<float>(t)[label]); };
  // Forward: all that leads to a label, its own score counted; backward: all that follows it.
  std::vector<double> forward(static_cast<size_t>(n * labels)), backward(forward);
  const auto at = [&](int64_t t, int64_t label) { return static_cast<size_t>(t * labels + label); };
  for (int64_t t = 0; t < n; ++t)
    for (int64_t j = 0; j < labels; ++j)
      forward[at(t, j)] =
          score(t, j) +
          (t == 0 ? move(labels, j) : log_sum(labels, [&](int64_t i) { return forward[at(t - 1, i)] + move(i, j); }));
  for (int64_t t = n - 1; t >= 0; --t)
    for (int64_t i = 0; i < labels; ++i)
      backward[at(t, i)] = t == n - 1 ? move(labels + 1, i) : log_sum(labels, [&](int64_t j) {
        return move(i, j) + score(t + 1, j) + backward[at(t + 1, j)];
      });
  const double all = log_sum(labels, [&](int64_t j) { return forward[at(n - 1, j)] + backward[at(n - 1, j)]; });
  for (int64_t i = 0; i < n * labels; ++i)
    out[i] = static_cast<float>(forward[static_cast<size_t>(i)] + backward[static_cast<size_t>(i)] - all);
}

std::vector<int32_t> best_labels(const Tensor& scores, const Tensor& moves) {
  check_moves(scores, moves);
  const int64_t n = scores.rows(), labels = scores.cols();
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
