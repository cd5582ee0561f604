#include "tensor/tensor.h"

#include <gtest/gtest.h>

#include <vector>

#include "attune/error.h"
#include "checks.h"
#include "tensor/segments.h"

namespace attune {
namespace {

template <class F>
std::string usage_error(F f) {
  return error_of(f, ErrorKind::usage);
}

TEST(Shape, RowsColumnsAndText) {
  const Shape scalar, vector{5}, matrix{3, 4}, empty{0, 4}, deep{2, 3, 4, 5};
  EXPECT_EQ(scalar.size(), 1);
  EXPECT_EQ(scalar.rows() * scalar.cols(), 1);
  EXPECT_EQ(vector.rows(), 1);
  EXPECT_EQ(vector.cols(), 5);
  EXPECT_EQ(matrix.text(), "[3, 4]");
  EXPECT_EQ(empty.size(), 0);
  EXPECT_EQ(deep.rows(), 24);
  EXPECT_EQ(deep.cols(), 5);
  EXPECT_EQ(matrix, (Shape{3, 4}));
  EXPECT_FALSE(matrix == (Shape{3, 4, 1}));
  EXPECT_FALSE(matrix == (Shape{4, 3}));
  EXPECT_EQ(usage_error([] { Shape{1, -2}; }), "[shape] dimension 1 is negative: -2");
  EXPECT_EQ(usage_error([] { Shape{1, 1, 1, 1, 1}; }), "[shape] 5 dimensions, at most 4 are possible");
}

TEST(Tensor, TypesKnowTheirSize) {
  EXPECT_EQ(bytes_of(DType::f64), 8);
  EXPECT_EQ(bytes_of(DType::bf16), 2);
  EXPECT_STREQ(name_of(DType::i8), "i8");
  EXPECT_EQ(dtype_of<double>(), DType::f64);
  EXPECT_EQ(dtype_of<int32_t>(), DType::i32);
  EXPECT_EQ(by_type(DType::f64, [](auto t) { return sizeof t; }), 8u);
  EXPECT_EQ(by_type(DType::f32, [](auto t) { return sizeof t; }), 4u);
}

TEST(Tensor, ViewsShareMemory) {
  std::vector<float> memory(12);
  for (size_t i = 0; i < 12; ++i) memory[i] = static_cast<float>(i);
  const Tensor t(memory.data(), Shape{3, 4});
  EXPECT_TRUE(t.contiguous());
  const Tensor middle = t.columns(1, 2);
  EXPECT_EQ(middle.shape, (Shape{3, 2}));
  EXPECT_EQ(middle.stride, 4);
  EXPECT_FALSE(middle.contiguous());
  EXPECT_EQ(middle.row<float>(2)[1], 10.0f);
  const Tensor last = middle.row_range(1, 2);
  EXPECT_EQ(last.row<float>(0)[0], 5.0f);
  EXPECT_EQ(last.row<float>(1)[1], 10.0f);
  EXPECT_TRUE(middle.row_range(2, 1).contiguous());  // one row always is
  last.row<float>(0)[0] = -1;
  EXPECT_EQ(memory[5], -1.0f);
  EXPECT_EQ(t.row_range(3, 0).size(), 0);

  EXPECT_EQ(usage_error([&] { t.columns(3, 2); }), "[columns] columns 3 to 5 of a tensor with 4");
  EXPECT_EQ(usage_error([&] { t.row_range(-1, 2); }), "[row_range] rows -1 to 1 of a tensor with 3");
  EXPECT_FALSE(Tensor());
}

TEST(Tensor, RowsOfADeepTensorAreFlat) {
  std::vector<double> memory(24);
  memory[17] = 3;
  const Tensor t(memory.data(), Shape{2, 3, 4});
  EXPECT_EQ(t.dtype, DType::f64);
  EXPECT_EQ(t.row<double>(4)[1], 3.0);
  EXPECT_EQ(t.row_range(4, 1).shape, (Shape{1, 4}));
}

TEST(Segments, LieOneAfterAnother) {
  const Segments s = Segments::of_lengths({3, 0, 5});
  EXPECT_EQ(s.count(), 3);
  EXPECT_EQ(s.rows(), 8);
  EXPECT_EQ(s.longest, 5);
  EXPECT_EQ(s.begin(2), 3);
  EXPECT_EQ(s.length(1), 0);
  EXPECT_EQ(Segments().count(), 0);
  EXPECT_EQ(Segments().rows(), 0);
  EXPECT_EQ(Segments::single(7).length(0), 7);
  EXPECT_EQ(usage_error([] { Segments::of_lengths({1, -1}); }), "[segments] sequence 1 has length -1");
  EXPECT_EQ(usage_error([] {
              Segments::of_lengths({INT32_MAX, 1});
            }),
            "[segments] more than 2147483647 rows in one batch");
}

}  // namespace
}  // namespace attune
