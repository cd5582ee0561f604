#include "autograd/attention/rotate.h"

#include <memory>

#include "autograd/op_checks.h"

namespace attune {
namespace {

/// A table and positions that outlive the operation.
struct Places {
  std::vector<float> angles;
  Segments segments;
  std::vector<int32_t> offsets;
  Rotation rotation;

  Places(int64_t positions, int64_t dim, const std::vector<int32_t>& lengths, std::vector<int32_t> from = {})
      : angles(static_cast<size_t>(positions * dim)),
        segments(Segments::of_lengths(lengths)),
        offsets(std::move(from)) {
    rotation.table = Tensor(angles.data(), Shape{positions, dim});
    fill_rotations(rotation.table);
    rotation.where = {&segments, offsets};
  }
};

CheckedOp op_of(const std::shared_ptr<Places>& p, bool reference = false) {
  return [=](Ctx& ctx, const std::vector<Var>& in) {
    return reference ? rotate_reference(ctx, in[0], p->rotation) : rotate(ctx, in[0], p->rotation);
  };
}

std::shared_ptr<Places> places(int64_t dim, int64_t column, int64_t heads) {
  auto p = std::make_shared<Places>(100, dim, std::vector<int32_t>{5, 0, 1, 60}, std::vector<int32_t>{0, 3, 99, 40});
  p->rotation.column = column;
  p->rotation.heads = heads;
  return p;
}

TEST(Rotate, RightGradientsAndPrecision) {
  for (const int64_t dim : {2, 6, 16, 34, 64}) {
    const auto p = places(dim, 3, 2);
    const std::vector<CheckInput> in{random_input({66, 3 + 2 * dim + 2}, 1)};
    if (dim <= 16) { EXPECT_LT(gradient_error(op_of(p, true), in), 1e-6); }
    expect_precise(op_of(p), op_of(p, true), in);
    expect_views_and_plan(op_of(p), in);
  }
  const auto whole = places(16, 0, 3);
  expect_precise(op_of(whole), op_of(whole, true), {random_input({66, 48}, 1)});
}

TEST(Rotate, FixedBits) {
  auto p = std::make_shared<Places>(700, 64, std::vector<int32_t>{400, 1, 300});
  p->rotation.heads = 4;
  expect_fixed_bits(op_of(p), {random_input({701, 300}, 1)});
}

// Su et al. 2021, equation 34: (x_1, x_2, ..) cos(m theta) + (-x_2, x_1, ..) sin(m theta), theta_i = 10000^(-2(i-1)/d).
TEST(Rotate, IsThePapersFormula) {
  const auto p = places(6, 0, 2);
  const auto x = random_input({66, 12}, 1);
  const CheckRun run = run_checked(op_of(p), {x}, DType::f32);
  for (int64_t r = 0; r < 66; ++r) {
    const auto m = static_cast<double>(r < 5 ? r : r == 5 ? 99 : r - 6 + 40);
    for (size_t j = 0; j < 12; j += 2) {
      const double angle = m * std::pow(10000.0, -static_cast<double>(j % 6) / 6), c = std::cos(angle),
                   s = std::sin(angle);
      const auto at = static_cast<size_t>(r) * 12 + j;
      EXPECT_NEAR(run.value[at], x.values[at] * c - x.values[at + 1] * s, 1e-6);
      EXPECT_NEAR(run.value[at + 1], x.values[at + 1] * c + x.values[at] * s, 1e-6);
    }
  }
}

TEST(Rotate, ProductsDependOnTheDistanceAlone) {
  constexpr int64_t dim = 32, n = 50;
  const auto q = random_input({1, dim}, 1), k = random_input({1, dim}, 2);
  CheckInput queries{{n, dim}, {}}, keys{{n, dim}, {}};
  for (int64_t i = 0; i < n; ++i) {
    queries.values.insert(queries.values.end(), q.values.begin(), q.values.end());
    keys.values.insert(keys.values.end(), k.values.begin(), k.values.end());
  }
  const auto p = std::make_shared<Places>(n, dim, std::vector<int32_t>{n});
  const auto a = run_checked(op_of(p), {queries}, DType::f32).value,
             b = run_checked(op_of(p), {keys}, DType::f32).value;
  const auto product = [&](size_t i, size_t j) {
    double sum = 0;
    for (size_t d = 0; d < dim; ++d) sum += a[i * dim + d] * b[j * dim + d];
    return sum;
  };
  for (const size_t distance : {0, 1, 7, 30})
    for (size_t i = distance; i < n; ++i) EXPECT_NEAR(product(i, i - distance), product(distance, 0), 1e-4);
  EXPECT_GT(std::fabs(product(7, 0) - product(1, 0)), 1e-2);
}

TEST(Rotate, AnOffsetGoesOnWhereASequenceStopped) {
  const auto x = random_input({20, 16}, 1);
  const auto whole = std::make_shared<Places>(20, 16, std::vector<int32_t>{20});
  const auto all = run_checked(op_of(whole), {x}, DType::f32).value;
  const auto last = std::make_shared<Places>(20, 16, std::vector<int32_t>{1}, std::vector<int32_t>{19});
  const CheckInput row{{1, 16}, std::vector<double>(x.values.end() - 16, x.values.end())};
  EXPECT_TRUE(
      same_bits(run_checked(op_of(last), {row}, DType::f32).value, std::vector<double>(all.end() - 16, all.end())));
}

TEST(Rotate, ATurnIsThatOfTheToldPlace) {
  const auto x = random_input({20, 16}, 1);
  const auto index = std::make_shared<Places>(90, 16, std::vector<int32_t>{20});
  std::vector<int32_t> told, straight;
  for (int32_t i = 0; i < 20; ++i) {
    straight.insert(straight.end(), {i, -7});  // only the first axis counts
    told.push_back(i * 37 % 90);
  }
  const auto told_op = [&](const std::vector<int32_t>& places, int64_t axes) {
    auto p = std::make_shared<Places>(90, 16, std::vector<int32_t>{20});
    p->rotation.where.places = Tensor(places.data(), Shape{20, axes});
    return p;
  };
  EXPECT_TRUE(same_bits(run_checked(op_of(told_op(straight, 2)), {x}, DType::f32).value,
                        run_checked(op_of(index), {x}, DType::f32).value));
  const auto p = told_op(told, 1);
  const auto turned = run_checked(op_of(p), {x}, DType::f32).value;
  for (size_t i = 0; i < 20; ++i) {
    const double angle = told[i], c = std::cos(angle), s = std::sin(angle);  // of the first pair
    EXPECT_NEAR(turned[i * 16], x.values[i * 16] * c - x.values[i * 16 + 1] * s, 1e-5);
  }
  EXPECT_LT(gradient_error(op_of(p, true), {x}), 1e-6);
  expect_precise(op_of(p), op_of(p, true), {x});
}

TEST(Rotate, SaysWhatDoesNotFit) {
  const auto say = [](const Rotation& r, Shape shape) {
    Bench t;
    return error_of([&] { rotate(t.ctx, t.make(shape), r); });
  };
  Places p(10, 4, {8});
  EXPECT_EQ(say(p.rotation, {7, 8}), "[rotate] the segments have 8 rows, the values 7");
  p.rotation.heads = 3;
  EXPECT_EQ(say(p.rotation, {8, 8}), "[rotate] 3 heads of 4 need columns 0 to 12, rows have 8");
  Places odd(10, 5, {8});
  EXPECT_EQ(say(odd.rotation, {8, 8}), "[rotate] a head has 5 columns, which do not make pairs");
  const Places far(10, 4, {8}, {3});
  EXPECT_EQ(say(far.rotation, {8, 8}),
            "[rotate] segment 0 has the positions 3 to 10, the table of positions has 10 rows");
  const std::vector<int32_t> places{0, 1, 2, 3, 9, 8, 7, 10};
  Places told(10, 4, {8});
  told.rotation.where.places = Tensor(places.data(), Shape{7});
  EXPECT_EQ(say(told.rotation, {8, 8}), "[rotate] 7 places for 8 rows");
  told.rotation.where.places = Tensor(places.data(), Shape{8});
  EXPECT_EQ(say(told.rotation, {8, 8}), "[rotate] row 7 stands at 10, the table of positions has 10 rows");
}

}  // namespace
}  // namespace attune
