// Attention along lists: its kernel against plain operations, those against finite differences and, where lists hold
// all keys, against attention as published.
#include "autograd/attention/list_attention.h"

#include "autograd/attention/attention.h"
#include "autograd/op_checks.h"

namespace attune {
namespace {

struct ListCase {
  int64_t rows, keys, heads, heads_kv, dim;
  int most;  // keys of a row
  float dropout = 0;
};

std::shared_ptr<const KeyLists> lists_of(const ListCase& c) {
  auto lists = std::make_shared<KeyLists>();
  std::mt19937 random(5);
  for (int64_t i = 0; i < c.rows; ++i) {
    const auto count = random() % static_cast<unsigned>(c.most + 1);
    for (unsigned t = 0; t < count; ++t) lists->add(random() % static_cast<unsigned>(c.keys));
    lists->end_row();
  }
  lists->finish(c.keys);
  return lists;
}

CheckedOp list_op(const ListCase& c, bool reference = false, bool joined = false) {
  const auto lists = lists_of(c);
  return [=](Ctx& ctx, const std::vector<Var>& in) {
    ListAttention a;
    a.q = in[0];
    a.k = joined ? in[0] : in[1];
    a.v = joined ? in[0] : in[2];
    if (joined) a.k_column = c.heads * c.dim, a.v_column = a.k_column + c.heads_kv * c.dim;
    a.lists = lists.get();
    a.heads = c.heads;
    a.heads_kv = c.heads_kv;
    a.dim = c.dim;
    a.dropout = {c.dropout, 42, 1000};
    const Var y = reference ? list_attention_reference(ctx, a) : list_attention(ctx, a);
    keep(ctx, std::shared_ptr<const KeyLists>(lists));
    return y;
  };
}

std::vector<CheckInput> list_inputs(const ListCase& c) {
  return {random_input({c.rows, c.heads * c.dim}, 1), random_input({c.keys, c.heads_kv * c.dim}, 2),
          random_input({c.keys, c.heads_kv * c.dim}, 3)};
}

TEST(ListAttention, NearItsReference) {
  for (const float dropout : {0.0f, 0.3f})
    for (const ListCase& shape :
         {ListCase{200, 150, 2, 2, 16, 5}, ListCase{70, 70, 4, 2, 33, 40}, ListCase{5, 300, 1, 1, 64, 200},
          ListCase{3, 2, 3, 1, 7, 20}, ListCase{64, 40, 1, 1, 80, 3}, ListCase{0, 4, 1, 1, 8, 3},
          ListCase{9, 9, 2, 2, 1, 4}}) {
      ListCase c = shape;
      c.dropout = dropout;
      if (c.rows == 0) {
        EXPECT_EQ(run_checked(list_op(c), list_inputs(c), DType::f32).value.size(), 0u);
        continue;
      }
      EXPECT_LT(precision_error(list_op(c), list_op(c, true), list_inputs(c)), 2e-4)
          << c.rows << " x " << c.keys << " dim " << c.dim << " dropout " << dropout;
    }
}

TEST(ListAttention, ReferenceHasRightGradients) {
  const ListCase c{6, 5, 2, 1, 3, 4, 0.3f};
  EXPECT_LT(gradient_error(list_op(c, true), list_inputs(c)), 1e-6);
}

TEST(ListAttention, FixedBits) {
  const ListCase c{300, 200, 4, 2, 24, 30, 0.1f};
  expect_fixed_bits(list_op(c), list_inputs(c));
}

TEST(ListAttention, OfAllKeysIsAttention) {
  constexpr int64_t n = 50, heads = 2, dim = 16;
  const auto lists = std::make_shared<KeyLists>();
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j <= i; ++j) lists->add(j);
    lists->end_row();
  }
  lists->finish(n);
  const Segments one = Segments::single(n);
  const std::vector<CheckInput> in{random_input({n, heads * dim}, 1), random_input({n, heads * dim}, 2),
                                   random_input({n, heads * dim}, 3)};
  const CheckRun a = run_checked(
      [&](Ctx& ctx, const std::vector<Var>& v) {
        ListAttention x;
        x.q = v[0];
        x.k = v[1];
        x.v = v[2];
        x.lists = lists.get();
        x.heads = heads;
        x.dim = dim;
        return list_attention(ctx, x);
      },
      in, DType::f32);
  const CheckRun b = run_checked(
      [&](Ctx& ctx, const std::vector<Var>& v) {
        Attention x{v[0], v[1], v[2]};
        x.queries = x.keys = &one;
        x.heads = heads;
        x.dim = dim;
        x.mask = Mask::past();
        return attention(ctx, x);
      },
      in, DType::f32);
  EXPECT_LT(row_error(a, b, in), 1e-5);
}

TEST(ListAttention, AColumnRangeOfOneMatrixIsAsGoodAsThree) {
  const ListCase c{80, 80, 2, 2, 16, 9};
  const auto in = list_inputs(c);
  const CheckRun apart = run_checked(list_op(c), in, DType::f32);
  CheckInput joined{{80, 3 * 32}, {}, true};
  for (size_t row = 0; row < 80; ++row)
    for (size_t part = 0; part < 3; ++part)
      for (size_t d = 0; d < 32; ++d) joined.values.push_back(in[part].values[row * 32 + d]);
  const CheckRun together = run_checked(list_op(c, false, true), {joined}, DType::f32);
  EXPECT_TRUE(same_bits(apart.value, together.value));
  for (size_t row = 0; row < 80; ++row)
    for (size_t part = 0; part < 3; ++part)
      for (size_t d = 0; d < 32; ++d)
        ASSERT_EQ(together.grads[0][(row * 3 + part) * 32 + d], apart.grads[part][row * 32 + d]);
}

TEST(ListAttention, RowsOfTwoSourcesAreAsGoodAsOne) {
  for (const int64_t split : {1, 50, 79}) {
    const ListCase c{80, 80, 4, 2, 16, 20, 0.2f};
    const auto in = list_inputs(c);
    const CheckRun one = run_checked(list_op(c), in, DType::f32);
    const auto at = [&](size_t of, size_t row) { return in[of].values.begin() + static_cast<ptrdiff_t>(row * 32); };
    const auto cut = static_cast<size_t>(split);
    std::vector<CheckInput> parts{
        in[0], {{split, 32}, {}, true}, {{split, 32}, {}, true}, {{80 - split, 64}, {}, true}};
    for (size_t row = 0; row < 80; ++row)
      for (const size_t of : {1, 2}) {
        auto& to = parts[row < cut ? of : 3].values;
        to.insert(to.end(), at(of, row), at(of, row + 1));
      }
    const auto with_more = [&](bool reference) -> CheckedOp {
      return [=, lists = lists_of(c)](Ctx& ctx, const std::vector<Var>& v) {
        ListAttention a;
        a.q = v[0];
        a.k = v[1];
        a.v = v[2];
        a.more = v[3];
        a.lists = lists.get();
        a.heads = c.heads;
        a.heads_kv = c.heads_kv;
        a.dim = c.dim;
        a.dropout = {c.dropout, 42, 1000};
        keep(ctx, std::shared_ptr<const KeyLists>(lists));
        return reference ? list_attention_reference(ctx, a) : list_attention(ctx, a);
      };
    };
    const CheckRun two = run_checked(with_more(false), parts, DType::f32);
    EXPECT_TRUE(same_bits(one.value, two.value)) << split;
    EXPECT_TRUE(same_bits(one.grads[0], two.grads[0])) << split;
    for (size_t row = 0; row < 80; ++row)
      for (const size_t of : {1, 2})
        for (size_t d = 0; d < 32; ++d)
          ASSERT_EQ(row < cut ? two.grads[of][row * 32 + d] : two.grads[3][(row - cut) * 64 + (of - 1) * 32 + d],
                    one.grads[of][row * 32 + d])
              << split;
    EXPECT_LT(precision_error(with_more(false), with_more(true), parts), 2e-4) << split;
  }
}

TEST(ListAttention, SaysWhatDoesNotFit) {
  const ListCase c{4, 3, 1, 1, 8, 2};
  auto in = list_inputs(c);
  in[1] = random_input({5, 8}, 2);
  EXPECT_EQ(error_of([&] { run_checked(list_op(c), in, DType::f32); }),
            "[list_attention] lists of 3 keys, there are 5 and 3 values");
}

}  // namespace
}  // namespace attune
