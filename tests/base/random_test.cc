#include "base/random.h"

#include <gtest/gtest.h>

#include <vector>

namespace attune {
namespace {

TEST(Random, IsAFunctionOfKeyAndCounter) {
  Random a(7), b(7), other(8);
  std::vector<uint64_t> first;
  for (int i = 0; i < 10; ++i) first.push_back(a.next());
  for (size_t i = 10; i-- > 0;) EXPECT_EQ(b.at(i), first[i]);  // any order
  EXPECT_EQ(b.position(), 0u);
  b.seek(4);
  EXPECT_EQ(b.next(), first[4]);
  EXPECT_NE(other.at(0), first[0]);
}

TEST(Random, NeverChanges) {
  // Runs are resumed and repeated years later: these numbers are a promise.
  EXPECT_EQ(mix(1), 0x5692161d100b05e5ull);
  EXPECT_EQ(Random(1).at(0), mix(mix(1), 0));
}

TEST(Random, UniformAndNormalHaveTheirMoments) {
  Random r(3);
  const int n = 200000;
  double sum = 0, squares = 0, least = 1, most = 0, normal_sum = 0, normal_squares = 0;
  for (int i = 0; i < n; ++i) {
    const double u = r.uniform(), z = r.normal();
    sum += u;
    squares += u * u;
    least = std::min(least, u);
    most = std::max(most, u);
    normal_sum += z;
    normal_squares += z * z;
  }
  EXPECT_GE(least, 0);
  EXPECT_LT(most, 1);
  EXPECT_NEAR(sum / n, 0.5, 0.004);
  EXPECT_NEAR(squares / n, 1.0 / 3, 0.004);
  EXPECT_NEAR(normal_sum / n, 0, 0.012);
  EXPECT_NEAR(normal_squares / n, 1, 0.02);
}

TEST(Random, BelowIsEven) {
  Random r(5);
  std::vector<int> seen(7);
  for (int i = 0; i < 70000; ++i) ++seen.at(r.below(7));
  for (int count : seen) EXPECT_NEAR(count, 10000, 500);
  EXPECT_EQ(r.below(1), 0u);
}

TEST(Random, DropoutKeepsItsShareInRowsAndColumns) {
  const Dropout d{0.3f, 99, 0};
  const int rows = 512, columns = 256;
  std::vector<int> by_column(columns), both_neighbours(1);
  int all = 0;
  for (int r = 0; r < rows; ++r) {
    int in_row = 0;
    for (int c = 0; c < columns; ++c) {
      const bool gone = dropped(d, r, static_cast<uint32_t>(c));
      in_row += gone;
      by_column[static_cast<size_t>(c)] += gone;
      if (c && gone && dropped(d, r, static_cast<uint32_t>(c - 1))) ++both_neighbours[0];
    }
    EXPECT_NEAR(in_row, 0.3 * columns, 45);  // six standard deviations
    all += in_row;
  }
  for (int count : by_column) EXPECT_NEAR(count, 0.3 * rows, 63);
  EXPECT_NEAR(all, 0.3 * rows * columns, 1000);
  EXPECT_NEAR(both_neighbours[0], 0.09 * rows * (columns - 1), 700);
}

TEST(Random, DropoutDependsOnTheRowInTheWholeBatch) {
  const Dropout whole{0.5f, 1, 0}, shard{0.5f, 1, 100};
  for (uint32_t c = 0; c < 100; ++c) EXPECT_EQ(dropped(whole, 117, c), dropped(shard, 17, c));
  EXPECT_FALSE(Dropout{}.on());
  EXPECT_EQ(dropout_scale(0.5f), 2.0f);
  EXPECT_EQ(dropout_threshold(0.0f), 0u);
}

}  // namespace
}  // namespace attune
