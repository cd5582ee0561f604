#include "baseline/linear.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace attune::test {
namespace {

/// Rows of three of nine columns.
SparseRows some_rows(int count, std::vector<std::vector<uint32_t>>& columns) {
  std::mt19937 random(3);
  SparseRows rows;
  for (int i = 0; i < count; ++i) {
    std::vector<Feature> row;
    columns.emplace_back();
    for (int k = 0; k < 3; ++k) {
      columns.back().push_back(static_cast<uint32_t>(3 * k) + static_cast<uint32_t>(random() % 3));
      row.push_back({columns.back().back(), 2.0f});
    }
    rows.add(row);
  }
  return rows;
}

TEST(LinearBaseline, RowsAreOfLengthOne) {
  SparseRows rows;
  rows.add(std::vector<Feature>{{1, 3.0f}, {5, 4.0f}});
  rows.add({});
  ASSERT_EQ(rows.count(), 2);
  EXPECT_FLOAT_EQ(rows[0][0].value, 0.6f);
  EXPECT_FLOAT_EQ(rows[0][1].value, 0.8f);
  EXPECT_TRUE(rows[1].empty());
}

TEST(LinearBaseline, LearnsWhichOfThem) {
  std::vector<std::vector<uint32_t>> columns;
  const SparseRows rows = some_rows(300, columns);
  const auto right = [&](int64_t row) { return columns[static_cast<size_t>(row)][1] - 3; };
  LinearModel model = fit_linear(
      rows, [&](int64_t row, std::span<float> out) { out[right(row)] = 1; }, LinearModel(9, 3, LinearLink::one), 3);
  for (int64_t i = 0; i < rows.count(); ++i) {
    const auto said = model.ask(rows[i]);
    EXPECT_NEAR(said[0] + said[1] + said[2], 1, 1e-5);
    EXPECT_GT(said[right(i)], 0.8f);
  }
}

TEST(LinearBaseline, LearnsAnyNumberOfThem) {
  std::vector<std::vector<uint32_t>> columns;
  const SparseRows rows = some_rows(300, columns);
  const auto is_right = [&](int64_t row, size_t o) { return columns[static_cast<size_t>(row)][o] % 3 == 0; };
  const auto wanted = [&](int64_t row, std::span<float> out) {
    for (size_t o = 0; o < 3; ++o) out[o] = is_right(row, o) ? 1.0f : 0.0f;
  };
  LinearModel model = fit_linear(rows, wanted, LinearModel(9, 3, LinearLink::any), 3);
  for (int64_t i = 0; i < rows.count(); ++i)
    for (size_t o = 0; o < 3; ++o) EXPECT_EQ(model.ask(rows[i])[o] > 0.5f, is_right(i, o));
}

TEST(LinearBaseline, LearnsNumbers) {
  std::vector<std::vector<uint32_t>> columns;
  const SparseRows rows = some_rows(600, columns);
  const auto right = [&](int64_t row) {
    const auto& own = columns[static_cast<size_t>(row)];
    return static_cast<float>(own[0]) - 0.5f * static_cast<float>(own[2] - 6);
  };
  LinearModel model = fit_linear(
      rows, [&](int64_t row, std::span<float> out) { out[0] = right(row); }, LinearModel(9, 1, LinearLink::number), 1);
  double error = 0;
  for (int64_t i = 0; i < rows.count(); ++i) error += std::abs(model.ask(rows[i])[0] - right(i));
  EXPECT_LT(error / 600, 0.05);
}

TEST(LinearBaseline, ColumnsGrowWithWhatThereIsToAPoint) {
  EXPECT_EQ(hashed_columns(10, 2), 1024);
  EXPECT_EQ(hashed_columns(3000, 2), 8192);
  EXPECT_EQ(hashed_columns(1'000'000'000, 4), 1 << 20);
  EXPECT_EQ(hashed_columns(1'000'000'000, 1'000'000), 1024);
}

}  // namespace
}  // namespace attune::test
