#include "kernels/vocabulary/viterbi.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "checks.h"

namespace attune {
namespace {

/// Calls visit(sequence, its score) for all of them, the first label the slowest.
template <class Visit>
void each_sequence(const std::vector<float>& scores, const std::vector<float>& moves, int64_t n, int64_t labels,
                   Visit visit) {
  std::vector<int32_t> path(static_cast<size_t>(n), 0);
  const auto at = [&](const std::vector<float>& m, int64_t i, int64_t j) {
    return static_cast<double>(m[static_cast<size_t>(i * labels + j)]);
  };
  for (;;) {
    double sum = at(moves, labels, path[0]) + at(moves, labels + 1, path.back());
    for (size_t t = 0; t < path.size(); ++t) {
      sum += at(scores, static_cast<int64_t>(t), path[t]);
      if (t > 0) sum += at(moves, path[t - 1], path[t]);
    }
    visit(path, sum);
    size_t t = path.size();
    while (t > 0 && ++path[t - 1] == labels) path[--t] = 0;
    if (t == 0) return;
  }
}

std::vector<int32_t> by_trying(const std::vector<float>& scores, const std::vector<float>& moves, int64_t n,
                               int64_t labels) {
  std::vector<int32_t> best;
  double most = -std::numeric_limits<double>::infinity();
  each_sequence(scores, moves, n, labels, [&](const std::vector<int32_t>& path, double sum) {
    if (best.empty() || sum > most) best = path, most = sum;
  });
  return best;
}

TEST(Viterbi, MarginalsAreTheSharesOfAllSequences) {
  std::mt19937 random(5);
  std::normal_distribution<float> normal(0, 3);
  for (int round = 0; round < 60; ++round) {
    const int64_t n = 1 + round % 5, labels = 2 + round % 3;
    std::vector<float> scores(static_cast<size_t>(n * labels)), moves(static_cast<size_t>((labels + 2) * labels));
    for (auto* m : {&scores, &moves})
      for (float& x : *m) x = normal(random);
    if (round % 2) moves[1] = -std::numeric_limits<float>::infinity();  // from the first label to the second
    double all = 0;
    std::vector<double> shares(scores.size());
    each_sequence(scores, moves, n, labels, [&](const std::vector<int32_t>& path, double sum) {
      all += std::exp(sum);
      for (size_t t = 0; t < path.size(); ++t)
        shares[t * static_cast<size_t>(labels) + static_cast<size_t>(path[t])] += std::exp(sum);
    });
    std::vector<float> found(scores.size());
    label_marginals(Tensor(scores.data(), Shape{n, labels}), Tensor(moves.data(), Shape{labels + 2, labels}),
                    found.data());
    for (size_t i = 0; i < found.size(); ++i)
      EXPECT_NEAR(std::exp(static_cast<double>(found[i])), shares[i] / all, 1e-6) << round;
  }
}

TEST(Viterbi, IsTheBestOfAll) {
  std::mt19937 random(3);
  std::normal_distribution<float> normal;
  for (int round = 0; round < 200; ++round) {
    const int64_t n = 1 + round % 5, labels = 1 + round % 4;
    std::vector<float> scores(static_cast<size_t>(n * labels)), moves(static_cast<size_t>((labels + 2) * labels));
    for (auto* m : {&scores, &moves})
      for (float& x : *m) x = normal(random);
    EXPECT_EQ(best_labels(Tensor(scores.data(), Shape{n, labels}), Tensor(moves.data(), Shape{labels + 2, labels})),
              by_trying(scores, moves, n, labels))
        << round;
  }
}

TEST(Viterbi, ImpossibleMovesAreNeverTaken) {
  const float no = -std::numeric_limits<float>::infinity();
  // O, B, I: no I at the begin or after O.
  const std::vector<float> moves{0, 0, no, 0, 0, 0, 0, 0, 0, 0, 0, no, 0, 0, 0};
  const std::vector<float> scores{1, 0, 5, 0, 0, 9, 3, 0, 2.5f};
  EXPECT_EQ(best_labels(Tensor(scores.data(), Shape{3, 3}), Tensor(moves.data(), Shape{5, 3})),
            (std::vector<int32_t>{1, 2, 0}));
  EXPECT_TRUE(best_labels(Tensor(scores.data(), Shape{0, 3}), Tensor(moves.data(), Shape{5, 3})).empty());
  EXPECT_EQ(error_of([&] {
              best_labels(Tensor(scores.data(), Shape{3, 3}), Tensor(moves.data(), Shape{3, 3}));
            }),
            "[best_labels] moves are [3, 3] for 3 labels");
}

}  // namespace
}  // namespace attune
