#include "autograd/operations/arrange.h"

#include <functional>

#include "autograd/op_checks.h"
#include "autograd/operations/elementwise.h"

namespace attune {
namespace {

using Values = std::vector<double>;

/// A fixed list of ids as a Var; the memory must outlive the tape.
Var ids_var(Ctx& ctx, const std::vector<int32_t>& ids) {
  return ctx.input(Tensor(ids.data(), {static_cast<int64_t>(ids.size())}));
}

struct Mover {
  const char* name;
  CheckedOp op;
  std::vector<CheckInput> inputs;
  Values expected;
};

/// Rows of `x` chosen by index, or columns.
Values pick(const CheckInput& x, const std::vector<int64_t>& rows, const std::vector<int64_t>& cols) {
  Values y;
  for (int64_t i : rows)
    for (int64_t j : cols) y.push_back(x.values[static_cast<size_t>(i * x.shape.cols() + j)]);
  return y;
}
std::vector<int64_t> range(int64_t from, int64_t to) {
  std::vector<int64_t> r;
  for (int64_t i = from; i < to; ++i) r.push_back(i);
  return r;
}

std::vector<Mover> movers(int64_t rows, int64_t cols) {
  const CheckInput x = random_input({rows, cols}, 1), more = random_input({rows, 3}, 2);
  const CheckInput below = random_input({2, cols}, 3);
  const int64_t half = rows / 2, left = cols / 3, wide = cols - left;
  std::vector<int32_t> gathered, scattered;
  std::vector<int64_t> chosen;
  for (int64_t i = 0; i < (rows ? rows + 4 : 0); ++i) {
    gathered.push_back(static_cast<int32_t>(i * 7 % rows));
    chosen.push_back(gathered.back());
  }
  for (int64_t i = 0; i < rows; ++i) scattered.push_back(static_cast<int32_t>(i * i % 5));

  Values stacked = x.values, beside, transposed, sums(static_cast<size_t>(6 * cols));
  stacked.insert(stacked.end(), below.values.begin(), below.values.end());
  stacked.insert(stacked.end(), x.values.begin(), x.values.end());
  for (int64_t i = 0; i < rows; ++i) {
    for (const CheckInput* in : {&x, &more}) {
      const Values row = pick(*in, {i}, range(0, in->shape.cols()));
      beside.insert(beside.end(), row.begin(), row.end());
    }
    for (int64_t j = 0; j < cols; ++j)
      sums[static_cast<size_t>(scattered[static_cast<size_t>(i)] * cols + j)] +=
          x.values[static_cast<size_t>(i * cols + j)];
  }
  for (int64_t j = 0; j < cols; ++j)
    for (int64_t i = 0; i < rows; ++i) transposed.push_back(x.values[static_cast<size_t>(i * cols + j)]);

  using In = std::vector<Var>;
  return {{"copy", [](Ctx& c, const In& in) { return copy(c, in[0]); }, {x}, x.values},
          {"concatenate_rows",
           [](Ctx& c, const In& in) {
             return concatenate_rows(c, {in[0], in[1], in[0]});
           },
           {x, below},
           stacked},
          {"concatenate_columns", [](Ctx& c, const In& in) { return concatenate_columns(c, in); }, {x, more}, beside},
          {"slice_rows",
           [half](Ctx& c, const In& in) { return slice_rows(c, in[0], half, in[0].rows() - half); },
           {x},
           pick(x, range(half, rows), range(0, cols))},
          {"slice_columns",
           [left, wide](Ctx& c, const In& in) { return slice_columns(c, in[0], left, wide); },
           {x},
           pick(x, range(0, rows), range(left, cols))},
          {"transpose", [](Ctx& c, const In& in) { return transpose(c, in[0]); }, {x}, transposed},
          {"gather_rows",
           [gathered](Ctx& c, const In& in) { return gather_rows(c, in[0], ids_var(c, gathered)); },
           {x},
           pick(x, chosen, range(0, cols))},
          {"scatter_add_rows",
           [scattered](Ctx& c, const In& in) { return scatter_add_rows(c, in[0], ids_var(c, scattered), 6); },
           {x},
           sums}};
}

TEST(Arrange, ValuesAndGradients) {
  for (const Shape& s : {Shape{1, 1}, {7, 5}, {2, 63}, {65, 2}, {3, 17}, {0, 5}})
    for (const Mover& m : movers(s[0], s[1])) {
      const std::string where = m.name + s.text();
      expect_right(m.op, m.inputs, where);
      expect_views_and_plan(m.op, m.inputs);
      const Values y = run_checked(m.op, m.inputs, DType::f64).value;
      ASSERT_EQ(y.size(), m.expected.size()) << where;
      for (size_t i = 0; i < y.size(); ++i) EXPECT_NEAR(y[i], m.expected[i], 1e-14) << where;
    }
}

TEST(Arrange, SameBitsForThreadsAndInstructionSets) {
  for (const Mover& m : movers(301, 173)) expect_stable(m.op, m.inputs);
}

TEST(Arrange, GradientsAddUp) {
  for (const Mover& m : movers(5, 7)) {
    const CheckedOp twice = [&m](Ctx& ctx, const std::vector<Var>& in) {
      return multiply(ctx, m.op(ctx, in), m.op(ctx, in));
    };
    expect_right(twice, m.inputs, m.name);
  }
}

TEST(Arrange, HigherShapes) {
  const CheckInput x = random_input({2, 3, 5}, 1);
  const CheckedOp swapped = [](Ctx& ctx, const std::vector<Var>& in) { return transpose(ctx, in[0]); };
  expect_right(swapped, {x});
  expect_views_and_plan(swapped, {x});
  const CheckRun run = run_checked(swapped, {x}, DType::f64);
  EXPECT_TRUE(run.shape == (Shape{2, 5, 3}));
  for (size_t b = 0; b < 2; ++b)
    for (size_t i = 0; i < 3; ++i)
      for (size_t j = 0; j < 5; ++j) EXPECT_EQ(run.value[b * 15 + j * 3 + i], x.values[b * 15 + i * 5 + j]);
  expect_stable(swapped, {random_input({5, 130, 70}, 1)});
  Bench b;
  const Var v = b.make({2, 3, 5});
  EXPECT_EQ(slice_columns(b.ctx, v, 1, 3).shape().text(), "[2, 3, 3]");
  EXPECT_EQ(slice_rows(b.ctx, v, 1, 3).shape().text(), "[3, 5]");
  EXPECT_EQ(concatenate_columns(b.ctx, {v, v}).shape().text(), "[2, 3, 10]");
  EXPECT_EQ(concatenate_rows(b.ctx, {v, v}).shape().text(), "[12, 5]");
}

TEST(Arrange, MovesIdsToo) {
  Bench b;
  const Var ids = b.ids({5, 6, 7});
  const Var column = b.ctx.reshape(ids, {3, 1});
  const Var y = gather_rows(b.ctx, concatenate_rows(b.ctx, {column, slice_rows(b.ctx, column, 1, 1)}), b.ids({3, 0}));
  EXPECT_EQ(y.dtype(), DType::i32);
  EXPECT_EQ(y.value().as<int32_t>()[0], 6);
  EXPECT_EQ(y.value().as<int32_t>()[1], 5);
}

TEST(Arrange, ScatterUndoesAPermutedGather) {
  Bench b;
  const Var x = b.floats({3, 1}, {1, 2, 3}), order = b.ids({2, 0, 1});
  const Var back = scatter_add_rows(b.ctx, gather_rows(b.ctx, x, order), order, 3);
  EXPECT_EQ(std::memcmp(back.value().data, x.value().data, 12), 0);
}

TEST(Arrange, SaysWhatIsWrong) {
  Bench b;
  const Var x = b.make({3, 7}), ids = b.ids({0, 2, 3}), negative = b.ids({0, -1, 0});
  EXPECT_EQ(error_of([&] { slice_rows(b.ctx, x, 2, 2); }), "[slice_rows] rows 2 to 4 of 3");
  EXPECT_EQ(error_of([&] { slice_columns(b.ctx, x, -1, 2); }), "[slice_columns] columns -1 to 1 of 7");
  EXPECT_EQ(error_of([&] { concatenate_rows(b.ctx, {}); }), "[concatenate_rows] there are no parts");
  EXPECT_EQ(error_of([&] {
              concatenate_rows(b.ctx, {x, b.make({3, 8})});
            }),
            "[concatenate_rows] part 1 has 8 columns, part 0 has 7");
  EXPECT_EQ(error_of([&] {
              concatenate_columns(b.ctx, {x, b.make({4, 7})});
            }),
            "[concatenate_columns] part 1 has 4 rows, part 0 has 3");
  EXPECT_EQ(error_of([&] {
              concatenate_columns(b.ctx, {x, b.make({3, 7}, DType::f64)});
            }),
            "[concatenate_columns] part 1 is f64, part 0 is f32");
  EXPECT_EQ(error_of([&] { concatenate_columns(b.ctx, {x, Var()}); }), "[concatenate_columns] part 1 is missing");
  EXPECT_EQ(error_of([&] { transpose(b.ctx, b.make({3})); }), "[transpose] the value has 1 dimensions, not 2 to 3");
  EXPECT_EQ(error_of([&] { gather_rows(b.ctx, x, ids); }), "[gather_rows] id 3 at 2 is not a row of 3");
  EXPECT_EQ(error_of([&] { gather_rows(b.ctx, x, negative); }), "[gather_rows] id -1 at 1 is not a row of 3");
  EXPECT_EQ(error_of([&] { gather_rows(b.ctx, x, x); }), "[gather_rows] ids are f32, not i32");
  EXPECT_EQ(error_of([&] { gather_rows(b.ctx, Var(), ids); }), "[gather_rows] the value is missing");
  EXPECT_EQ(error_of([&] { scatter_add_rows(b.ctx, x, b.ids({0, 1}), 3); }), "[scatter_add_rows] 2 ids for 3 rows");
  EXPECT_EQ(error_of([&] { scatter_add_rows(b.ctx, x, ids, 3); }), "[scatter_add_rows] id 3 at 2 is not a row of 3");
  EXPECT_EQ(error_of([&] { scatter_add_rows(b.ctx, x, ids, -1); }), "[scatter_add_rows] a result of -1 rows");
  EXPECT_EQ(error_of([&] { copy(b.ctx, Var()); }), "[copy] the value is missing");
}

}  // namespace
}  // namespace attune
